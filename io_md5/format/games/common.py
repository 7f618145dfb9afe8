"""Rules of all games, and rules that several games have with different limits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ....io_common.rules import Check, Rule
from ....io_common.texts import counted
from ..model import CAMERA_SUFFIX
from . import checks
from . import mesh_checks as meshes
from .mesh_checks import Keeper
from .profile import NameRule


def does(engine: str, what: str) -> str:
    """What an engine does, or several: ``Quake II takes 5``, ``ironwail and vkQuake take 5``."""
    verb, space, rest = what.partition(" ")
    return f"{engine} {verb.removesuffix('s') if ' and ' in engine else verb}{space}{rest}"


def _shared(
    code: str, check: Check, requirement: str, why: str, remedy: str, engine: str, source: str, limit: int = 0
) -> Rule:
    """An error of an engine, whose limit the words may contain."""
    words = (requirement.format(limit=limit), does(engine, why.format(limit=limit)))
    return Rule(code, True, check, engine, *words, remedy, source, limit)


joint_count = partial(_shared, "joint_count", checks.joint_count, "at most {limit} joints", "takes {limit}",
                      "remove bones, or export with Deform Bones Only")  # fmt: skip
vertex_count = partial(_shared, "vertex_count", meshes.vertex_count, "at most {limit:,} vertices in a mesh",
                       "takes {limit:,} in a mesh", "split the object")  # fmt: skip
no_meshes = partial(_shared, "no_meshes", meshes.no_meshes, "at least one mesh", "refuses that",
                    "add a mesh that the armature deforms")  # fmt: skip
name_line = partial(_shared, "name_line", meshes.name_line, "no line `name` in a mesh", "wants shader first",
                    "export it for this game, which leaves the line out")  # fmt: skip
no_animation = partial(_shared, "no_animation", meshes.no_animation, "an animation of the same name beside the mesh",
                       "needs one", "export an animation, or the rest pose, under the mesh's name")  # fmt: skip


def _common(code: str, check: Check, requirement: str, why: str, remedy: str, source: str, limit: float = 0) -> Rule:
    return Rule(code, True, check, "all", requirement, why, remedy, source, limit)


def as_warning(rule: Rule) -> Rule:
    """The same rule for a game that loads a file that breaks it."""
    return replace(rule, is_error=False)


def bias_sums(engine: str, limit: float, why: str, source: str) -> Rule:
    """The rule that biases sum to 1, within a limit."""
    return Rule("bias_sums", False, meshes.bias_sums, engine, f"the biases of a vertex sum to 1, within {limit:g}",
                why, "normalise the weights", source, limit)  # fmt: skip


DOOM3_MESH = "Doom 3 `renderer/Model_md5.cpp`"
DOOM3_ANIM = "Doom 3 `d3xp/anim/Anim.cpp`"
_NAME_FORMAT = "Doom 3 `idlib/Lexer.cpp`: a string ends with its line and has no escapes"
_FLOATS = "Doom 3 `idlib/Lexer.cpp` reads plain decimals"

ONE_ROOT = "turn on Add Root Bone, or parent them to one root"
"""The remedy for several roots."""

ROOT_AT_ORIGIN = "turn on Add Root Bone"
"""The remedy for a root away from the origin."""

UNNAMED = Rule("unnamed_joints", False, checks.unnamed_joints, "all", "every joint has a name", "", "name the bones",
               f"{DOOM3_MESH}, `GetJointHandle`")  # fmt: skip
"""The rule that every joint has a name."""


def influences(engine: str, source: str, *keepers: Keeper, is_error: bool = False, why: str = "") -> Rule:
    """The limit on weights of a vertex, 4 in all games that have one."""
    why = why or (f"{engine} refuses the model" if is_error else f"{engine} keeps 4 and drops the rest")
    return Rule("influences", is_error, meshes.influences(*keepers), engine, "at most 4 weights for a vertex", why,
                "set Bone Influences to 4", source, 4)  # fmt: skip


def weights_as_bytes(*keepers: Keeper, source: str) -> tuple[Rule, Rule]:
    """The rules of engines that keep a few weights of a vertex, each as a byte."""
    engine = " and ".join(keeper.engine for keeper in keepers)
    first, *others = keepers
    kept = f"{first.engine} keeps {counted(first.most, 'weights')}"
    kept = "; ".join([kept, *(f"{one.engine} {one.most}" for one in others)])
    return (
        influences(engine, source, *keepers, why=kept),
        Rule("rounded_weights", False, meshes.rounded_weights(*keepers), engine,
             "vertices that weights in steps of 1/255 move by at most 0.1 % of the mesh's size",
             does(engine, "keeps") + " weights as bytes", "weight vertices to one bone where it shows", source,
             meshes.VISIBLE),
    )  # fmt: skip


def no_cameras(engine: str) -> Rule:
    """The rule of games that have no camera paths."""
    return Rule("no_cameras", False, checks.camera_path, engine, "no camera path", f"{engine} reads none",
                "export it for Doom 3", f"only Doom 3's engine has `{CAMERA_SUFFIX}`")  # fmt: skip


def unsafe_names(engine: str, names: NameRule, requirement: str, why: str, source: str) -> Rule:
    """The rule of games that do not accept every joint name."""
    return Rule("unsafe_names", True, partial(checks.unsafe_names, names), engine, requirement, why,
                "export with Make Names Safe, or rename the bones", source, names.max_bytes)  # fmt: skip


COMMON: tuple[Rule, ...] = (
    _common("no_joints", checks.no_joints, "at least one joint", "no game loads that",
            "add a bone, or enable Deform on bones", f"{DOOM3_MESH}, `LoadModel`"),
    _common("parents_first", checks.parents_first, "parents before their children", "the games refuse that",
            "parent the bones again", f"{DOOM3_ANIM}, `LoadAnim`"),
    _common("unwritable_names", checks.unwritable_names, "no double quote and no line break in a joint name",
            "the format cannot store that", "rename the bones, or export with Make Names Safe", _NAME_FORMAT),
    as_warning(_common("repeated_names", checks.repeated_names, "joint names are unique",
                       "the games find only the first", "rename the bones", f"{DOOM3_MESH}, `GetJointHandle`")),
    _common("joint_numbers", checks.joint_numbers, "finite numbers in joints", "the format cannot store that",
            "clear the bone's transform", _FLOATS),
    _common("mesh_names", meshes.mesh_names, "no double quote and no line break in a shader",
            "the format cannot store that", "rename the material", _NAME_FORMAT),
    _common("mesh_numbers", meshes.not_finite, "finite numbers in meshes", "the format cannot store that",
            "repair the vertices or their UVs", _FLOATS),
    _common("invalid_references", meshes.invalid_references, "triangles, vertices and weights have valid indices",
            "the games refuse that or crash", "export the model again", f"{DOOM3_MESH}, `ParseMesh`"),
    _common("unweighted_vertices", meshes.unweighted_vertices, "at least one weight for every vertex",
            "the games refuse that", "assign the vertices to a vertex group of a deforming bone",
            f"{DOOM3_MESH}, `ParseMesh`: Vertex without any joint weights"),
    bias_sums("all", 0.01, "the games show the vertex at another position", f"{DOOM3_MESH} does not normalise biases"),
    _common("frame_numbers", checks.frame_numbers, "finite numbers in frames", "the format cannot store that",
            "repair the F-curves", _FLOATS),
    _common("no_frames", checks.no_frames, "at least one frame", "the games refuse that", "export a longer range",
            f"{DOOM3_ANIM}, `LoadAnim`"),
    _common("rate_positive", checks.rate_positive, "a frame rate above 0", "the games refuse that",
            "set a frame rate", f"{DOOM3_ANIM}, `LoadAnim`"),
    _common("bounds_count", checks.bounds_count, "bounds for every frame", "the games read one box for each frame",
            "export the animation again", f"{DOOM3_ANIM}, `LoadAnim`"),
    _common("components", checks.components, "first components within the frame, even where no flag is set",
            "the games refuse that", "export the animation again", f"{DOOM3_ANIM}, `LoadAnim`"),
    _common("other_joints", checks.other_joints, "the joints of an animation are those of the mesh, index by index",
            "the games refuse that", "export mesh and animation together", f"{DOOM3_ANIM}, `CheckModelHierarchy`"),
)  # fmt: skip
"""The rules of every game."""
