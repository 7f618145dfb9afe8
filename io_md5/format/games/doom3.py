"""Doom 3, games with its engine, and the BFG Edition."""

from __future__ import annotations

from . import animation_checks as anims
from . import camera_checks as cameras
from . import mesh_checks as meshes
from .common import (
    DOOM3_ANIM,
    ONE_ROOT,
    ROOT_AT_ORIGIN,
    UNNAMED,
    bias_sums,
    joint_count,
    vertex_count,
    weights_as_bytes,
)
from .profile import Game, Profile
from .rules import Rule
from .weight_bytes import Keeper

_ROOT_TO_ZERO = f"{DOOM3_ANIM} 299–324: the root's base translation is replaced by 0"
_CAMERA = "Doom 3 `d3xp/Camera.cpp`, `LoadAnim`"
_MOVED = "Doom 3 moves the model by its distance"
RATE_FRACTION = Rule(
    "rate_fraction", False, anims.rate_fraction, "Doom 3", "a whole frame rate", "",
    "set Frame Rate to a whole number", f"{DOOM3_ANIM}, `LoadAnim`: `ParseInt` drops the fraction",
)  # fmt: skip
_DOOM3_RULES = (
    UNNAMED,
    Rule(
        "rate_below_one", True, anims.rate_below_one, "Doom 3", "a frame rate of at least 1",
        "Doom 3 divides by its whole part, which is 0", "set Frame Rate to 1 or more",
        f"{DOOM3_ANIM}, `LoadAnim`: `ParseInt`, then a division by it", 1,
    ),
    RATE_FRACTION,
    Rule(
        "root_away", False, meshes.root_away, "Doom 3", "the root joint at the origin, within 0.01", _MOVED,
        ROOT_AT_ORIGIN,
        _ROOT_TO_ZERO, 0.01,
    ),
    Rule(
        "base_root_away", False, anims.base_root_away, "Doom 3",
        "the root joint at the origin in the base frame, within 0.01", _MOVED,
        ROOT_AT_ORIGIN, _ROOT_TO_ZERO, 0.01,
    ),
    Rule(
        "equal_materials", False, meshes.equal_materials, "Doom 3",
        "materials that differ before the last dot of their names, in more than case",
        "Doom 3 ignores case and what follows the last dot", "rename the materials",
        "Doom 3 `framework/DeclManager.cpp`, `MakeNameCanonical`",
    ),
    Rule(
        "silhouette_edges", False, meshes.silhouette_edges, "Doom 3", "at most 65,536 silhouette edges in a mesh",
        "Doom 3 draws no shadows of further edges", "split the object",
        "Doom 3 `renderer/tr_trisurf.cpp`, `MAX_SIL_EDGES`", 65536,
    ),
    Rule(
        "several_roots", False, meshes.several_roots, "Doom 3", "one root joint", "Doom 3 refuses its animations",
        ONE_ROOT, f"{DOOM3_ANIM}, `LoadAnim`",
    ),
    Rule(
        "animation_roots", True, anims.several_roots, "Doom 3", "one root joint in an animation",
        "Doom 3 needs one and refuses the file", ONE_ROOT, f"{DOOM3_ANIM}, `LoadAnim`",
    ),
    Rule(
        "first_cut", True, cameras.first_cut, "Doom 3", "cuts of a camera path from frame 1 on",
        "Doom 3 refuses the camera path", "delete the marker on the first frame", _CAMERA, 1,
    ),
    Rule(
        "cut_groups", True, cameras.cut_groups, "Doom 3", "cuts of a camera path that are numbers alone",
        "Doom 3 refuses the camera path",
        "delete the custom property md5 of the camera data; the path is then made of its keys", _CAMERA,
    ),
    Rule(
        "fields_of_view", True, cameras.fields_of_view, "Doom 3", "fields of view above 0",
        "Doom 3 stops when it plays them", "key another focal length", "Doom 3 `Game_local.cpp`, `CalcFov`",
    ),
)  # fmt: skip


DOOM3 = Profile(
    Game.DOOM3, "Doom 3", "Doom 3, dhewm3, The Dark Mod, Prey, Quake 4", "id's Doom 3, dhewm3",
    _DOOM3_RULES,
)  # fmt: skip

DOOM3_BFG = Profile(
    Game.DOOM3_BFG, "Doom 3 BFG", "Doom 3 BFG Edition and RBDOOM-3-BFG", "RBDOOM-3-BFG",
    (
        *_DOOM3_RULES,
        joint_count("Doom 3 BFG", 255, "RBDOOM-3-BFG `renderer/Model_md5.cpp`"),
        vertex_count("Doom 3 BFG", 65535, "RBDOOM-3-BFG `renderer/Model_md5.cpp`: indices of 16 bits"),
        *weights_as_bytes(
            (Keeper("Doom 3 BFG", fills_up=True),), "RBDOOM-3-BFG `renderer/Model_md5.cpp`, `ParseMesh`"
        ),
        bias_sums(
            "Doom 3 BFG", 0.001, "Doom 3 BFG scales them", "RBDOOM-3-BFG `renderer/Model_md5.cpp`, `ParseMesh`"
        ),
    ),
)  # fmt: skip
