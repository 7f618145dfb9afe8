"""The re-releases of Quake and Quake II, and the engines that read the same files."""

from __future__ import annotations

from . import animation_checks as anims
from . import mesh_checks as meshes
from . import scale_checks as scales
from . import skeleton_checks as joints
from .common import (
    ONE_ROOT,
    UNNAMED,
    bias_sums,
    does,
    joint_count,
    name_line,
    no_animation,
    no_cameras,
    no_meshes,
    unsafe_names,
    vertex_count,
    weights_as_bytes,
)
from .names import NameRule
from .profile import Game, Profile, Writing
from .rules import Rule
from .weight_bytes import Keeper

_BOTH = "ironwail and vkQuake"
_QUAKE_MESH = "ironwail and vkQuake `gl_model.c`, `Mod_LoadMD5MeshModel`"
_QUAKE_NAMES = NameRule(31, problem="are longer than 31 bytes")
_LONGEST_TOKEN = 1023
# The game's code shows one frame of the MDL or MD2 after the other, every tenth of a second.
_RATE = 10.0
_BESIDE = (
    "an animation with the mesh's name beside it: a single action gets that name, and without any the rest pose is "
    "written"
)
_Q2PRO_MESH = "q2pro `refresh/models.c`, `MD5_ParseMesh`"
_Q2PRO_ANIM = "q2pro `refresh/models.c`, `MD5_ParseAnim`"

QUAKE = Profile(
    Game.QUAKE, "Quake re-release", "The re-release of Quake, ironwail, vkQuake, FTEQW, Quakespasm-Spiked",
    "ironwail, vkQuake, FTEQW",
    (
        UNNAMED,
        unsafe_names(
            "ironwail", _QUAKE_NAMES, "joint names of at most 31 bytes",
            "ironwail shortens them in the mesh only, and refuses the model; vkQuake compares 31 bytes",
            f"{_QUAKE_MESH}: `boneinfo_t`, `jointinfo_t`",
        ),
        name_line(_BOTH, _QUAKE_MESH),
        Rule(
            "commandline_length", True, joints.commandline_length, "ironwail",
            "a command line of at most 1,023 bytes", "ironwail reads no more and refuses the file",
            "export it for this game, which shortens it", "ironwail `common.c`, `COM_Parse`: `com_token`",
            _LONGEST_TOKEN,
        ),
        no_meshes(_BOTH, _QUAKE_MESH),
        joint_count(_BOTH, 256, f"{_QUAKE_MESH}: indices of joints are bytes"),
        vertex_count(_BOTH, 65535, f"{_QUAKE_MESH}: indices of 16 bits"),
        no_animation(_BOTH, f"{_QUAKE_MESH}: a model without poses is not drawn"),
        *weights_as_bytes(
            (Keeper("ironwail"), Keeper("vkQuake", most=8, has_points=True)),
            f"{_QUAKE_MESH}, `MD5_BakeInfluences`",
        ),
        bias_sums(_BOTH, 0.0001, does(_BOTH, "scales") + " them", f"{_QUAKE_MESH}, `MD5_BakeInfluences`"),
        Rule(
            "skin_path", False, meshes.skin_path, "ironwail", "shaders that are plain names, such as `knight`",
            "ironwail adds the folder and the numbers itself; vkQuake also looks without the folder, and in textures/",
            "rename the material",
            "ironwail `gl_model.c`, `MD5_LoadSkins`: `progs/%s_%02u_%02u`; vkQuake `Mod_LoadMDXSkinTask`",
        ),
        Rule(
            "skin_length", False, meshes.skin_length, _BOTH, "paths of skins of at most 63 bytes",
            does(_BOTH, "reads") + " no more", "shorten the name of the material",
            f"{_QUAKE_MESH}: `MAX_QPATH`", 63,
        ),
        Rule(
            "several_roots", False, joints.several_roots, "FTEQW", "one root joint", "FTEQW refuses the model",
            ONE_ROOT, "FTEQW `com_mesh.c`",
        ),
        Rule(
            "base_frame_needed", False, anims.base_frame_needed, "ironwail",
            "all six components of every joint in every frame",
            "ironwail, and vkQuake before August 2026, use 0 instead and the model collapses",
            "export it for this game, which writes all", "ironwail `gl_model.c`, `MD5Anim_Load` skips `baseframe`",
        ),
        no_cameras("Quake"),
    ),
    Writing(
        all_components=True, name_lines=False, max_commandline=_LONGEST_TOKEN, animation_beside=True,
        names=_QUAKE_NAMES, frame_rate=_RATE,
    ),
    (
        "all six components of every joint (flags 63), because ironwail does not read `baseframe`",
        "no line `name`; the name is written as a comment",
        "a command line of at most 1,023 bytes",
        _BESIDE,
    ),
)  # fmt: skip

QUAKE2 = Profile(
    Game.QUAKE2, "Quake II re-release", "The re-release of Quake II and q2pro: MD5 beside the MD2", "q2pro",
    (
        UNNAMED,
        name_line("Quake II", _Q2PRO_MESH),
        no_meshes("Quake II", _Q2PRO_MESH),
        joint_count("Quake II", 256, f"{_Q2PRO_MESH}: `MD5_MAX_JOINTS`"),
        Rule(
            "mesh_count", True, meshes.mesh_count, "Quake II", "at most 32 meshes", "Quake II takes 32",
            "join objects", f"{_Q2PRO_MESH}: `MD5_MAX_MESHES`", 32,
        ),
        vertex_count("Quake II", 6144, f"{_Q2PRO_MESH}: `TESS_MAX_VERTICES`"),
        Rule(
            "triangle_count", True, meshes.triangle_count, "Quake II", "at most 6,144 triangles in a mesh",
            "Quake II takes 6,144 in a mesh", "split the object", f"{_Q2PRO_MESH}: `TESS_MAX_INDICES / 3`", 6144,
        ),
        Rule(
            "weight_count", True, meshes.weight_count, "Quake II", "at most 8,192 weights in a mesh",
            "Quake II takes 8,192 in a mesh", "split the object, or export with fewer Bone Influences",
            f"{_Q2PRO_MESH}: `MD5_MAX_WEIGHTS`", 8192,
        ),
        Rule(
            "weight_starts", True, meshes.weight_starts, "Quake II",
            "weights of a vertex that begin at 65,535 or before", "Quake II reads no higher index",
            "split the object", f"{_Q2PRO_MESH}: `UINT16_MAX`", 65535,
        ),
        Rule(
            "frame_count", True, anims.frame_count, "Quake II", "at most 1,024 frames", "Quake II takes 1,024",
            "export a shorter range", f"{_Q2PRO_ANIM}: `MD5_MAX_FRAMES`", 1024,
        ),
        no_animation("Quake II", "q2pro `refresh/models.c`, `MOD_LoadMD5`"),
        Rule(
            "several_materials", False, meshes.several_materials, "Quake II", "one material for all meshes",
            "Quake II shows one skin on the whole model, that of the MD2", "bake them into one image",
            "q2pro `refresh/mesh.c`, `skin_for_mesh`",
        ),
        Rule(
            "scale_count", False, scales.scale_count, "Quake II", "a `.md5scale` of at most 4,096 JSON tokens",
            "Quake II reads at most 4,096 and ignores all scales", "scale fewer bones, or on fewer frames",
            "q2pro `refresh/models.c`, `MD5_LoadScales`: `tokens`", 4096,
        ),
        no_cameras("Quake II"),
        Rule(
            "scale_names", False, scales.scale_names, "Quake II",
            "names of scaled joints of at most 47 bytes, without backslashes and control characters",
            "Quake II does not scale them", "rename the bones",
            "q2pro `refresh/models.c`, `MD5_LoadScales`: `MD5_MAX_JOINTNAME`", 47,
        ),
    ),
    Writing(name_lines=False, animation_beside=True, joint_scales=True, frame_rate=_RATE),
    (
        "the scales of bones, in a file `.md5scale` beside the animation",
        "no line `name`; the name is written as a comment",
        _BESIDE,
    ),
)  # fmt: skip
