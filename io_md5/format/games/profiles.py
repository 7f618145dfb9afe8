"""All games, with the rules of each, from the published source code of the loaders.

A rule is an error if the loader refuses the file or crashes, a warning if it shows something else than Blender.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

from ....io_common import rules
from ....io_common.rules import Check, Rule
from ....io_common.skeletal import formats
from ....io_common.texts import counted
from ..model import CAMERA_SUFFIX
from . import checks
from . import mesh_checks as meshes
from .checks import NameRule
from .mesh_checks import Keeper


class Game(Enum):
    """A game to write files for."""

    ANY = "ANY"
    DOOM3 = "DOOM3"
    DOOM3_BFG = "DOOM3_BFG"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    SAUERBRATEN = "SAUERBRATEN"
    UNVANQUISHED = "UNVANQUISHED"


class Comments(Enum):
    """Which meshes get a comment ``// meshes: NAME``."""

    EXISTING = "those that had one"
    AMBIGUOUS = "those that had one, and meshes with the same name and shader"
    ALL = "all"


@dataclass(frozen=True)
class Writing(formats.Writing):
    """How files are written for a game."""

    computes_w: bool = True
    all_components: bool = False  # of every joint in every frame of an animation
    name_lines: bool = True  # meshes keep the line with their name
    comments: Comments = Comments.EXISTING  # which meshes get a comment with their name
    max_commandline: int = 0  # in bytes; 0 for no limit
    needs_animation: bool = False  # the game loads no mesh without an animation of its name
    names: NameRule = field(default_factory=NameRule)


@dataclass(frozen=True)
class Profile(rules.Profile):
    """A game, and how files for it are written."""

    writing: Writing = Writing()


def does(engine: str, what: str) -> str:
    """What an engine does, or several: ``Quake II takes 5``, ``Ironwail and vkQuake take 5``."""
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


def _in_a_mesh(code: str, check: Check, what: str) -> Callable[..., Rule]:
    words = f"at most {{limit:,}} {what} in a mesh", "takes {limit:,} in a mesh", "turn on Split Surfaces"
    return partial(_shared, code, check, *words)


vertex_count = _in_a_mesh("vertex_count", meshes.vertex_count, "vertices")
triangle_count = _in_a_mesh("triangle_count", meshes.triangle_count, "triangles")
weight_count = _in_a_mesh("weight_count", meshes.weight_count, "weights")
no_meshes = partial(_shared, "no_meshes", meshes.no_meshes, "at least one mesh", "refuses that",
                    "add a mesh that the armature deforms")  # fmt: skip
name_line = partial(_shared, "name_line", meshes.name_line, "no line `name` in a mesh", "wants shader first",
                    "export it for this game, which leaves the line out")  # fmt: skip
no_animation = partial(_shared, "no_animation", meshes.no_animation, "an animation of the same name beside the mesh",
                       "needs one", "export an animation, or the rest pose, under the mesh's name")  # fmt: skip


def _common(code: str, check: Check, requirement: str, why: str, remedy: str, source: str) -> Rule:
    return Rule(code, True, check, "all", requirement, why, remedy, source)


def as_warning(rule: Rule) -> Rule:
    """The same rule for a game that loads a file that breaks it."""
    return replace(rule, is_error=False)


def bias_sums(engine: str, limit: float, why: str, source: str) -> Rule:
    """The rule that biases sum to 1, within a limit."""
    return Rule("bias_sums", False, meshes.bias_sums, engine, f"the biases of a vertex sum to 1, within {limit:g}",
                why, "normalise the weights", source, limit)  # fmt: skip


_DOOM3_MESH = "Doom 3 `renderer/Model_md5.cpp`"
_DOOM3_ANIM = "Doom 3 `d3xp/anim/Anim.cpp`"
_NAME_FORMAT = "Doom 3 `idlib/Lexer.cpp`: a string ends with its line and has no escapes"
_FLOATS = "Doom 3 `idlib/Lexer.cpp` reads plain decimals"

_ROOT_AT_ORIGIN = "set Add Root Bone to Always"
_ONE_ROOT = f"{_ROOT_AT_ORIGIN}, or parent them to one root"

_UNNAMED = Rule("unnamed_joints", False, checks.unnamed_joints, "all", "every joint has a name", "", "name the bones",
               f"{_DOOM3_MESH}, `GetJointHandle`")  # fmt: skip


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


# The rules of every game.
COMMON: tuple[Rule, ...] = (
    _common("no_joints", checks.no_joints, "at least one joint", "no game loads that",
            "add a bone, or enable Deform on bones", f"{_DOOM3_MESH}, `LoadModel`"),
    _common("parents_first", checks.parents_first, "parents before their children", "the games refuse that",
            "parent the bones again", f"{_DOOM3_ANIM}, `LoadAnim`"),
    _common("unwritable_names", checks.unwritable_names, "no double quote and no line break in a joint name",
            "the format cannot store that", "rename the bones, or export with Make Names Safe", _NAME_FORMAT),
    as_warning(_common("repeated_names", checks.repeated_names, "joint names are unique",
                       "the games find only the first", "rename the bones", f"{_DOOM3_MESH}, `GetJointHandle`")),
    _common("joint_numbers", checks.joint_numbers, "finite numbers in joints", "the format cannot store that",
            "clear the bone's transform", _FLOATS),
    _common("mesh_names", meshes.mesh_names, "no double quote and no line break in a shader",
            "the format cannot store that", "rename the material", _NAME_FORMAT),
    _common("mesh_numbers", meshes.not_finite, "finite numbers in meshes", "the format cannot store that",
            "repair the vertices or their UVs", _FLOATS),
    _common("invalid_references", meshes.invalid_references, "triangles, vertices and weights have valid indices",
            "the games refuse that or crash", "export the model again", f"{_DOOM3_MESH}, `ParseMesh`"),
    _common("unweighted_vertices", meshes.unweighted_vertices, "at least one weight for every vertex",
            "the games refuse that", "assign the vertices to a vertex group of a deforming bone",
            f"{_DOOM3_MESH}, `ParseMesh`: Vertex without any joint weights"),
    bias_sums("all", 0.01, "the games show the vertex at another position", f"{_DOOM3_MESH} does not normalise biases"),
    _common("frame_numbers", checks.frame_numbers, "finite numbers in frames", "the format cannot store that",
            "repair the F-curves", _FLOATS),
    _common("no_frames", checks.no_frames, "at least one frame", "the games refuse that", "export a longer range",
            f"{_DOOM3_ANIM}, `LoadAnim`"),
    _common("rate_positive", checks.rate_positive, "a frame rate above 0", "the games refuse that",
            "set a frame rate", f"{_DOOM3_ANIM}, `LoadAnim`"),
    _common("bounds_count", checks.bounds_count, "bounds for every frame", "the games read one box for each frame",
            "export the animation again", f"{_DOOM3_ANIM}, `LoadAnim`"),
    _common("components", checks.components, "first components within the frame, even where no flag is set",
            "the games refuse that", "export the animation again", f"{_DOOM3_ANIM}, `LoadAnim`"),
    _common("other_joints", checks.other_joints, "the joints of an animation are those of the mesh, index by index",
            "the games refuse that", "export mesh and animation together", f"{_DOOM3_ANIM}, `CheckModelHierarchy`"),
)  # fmt: skip

_ROOT_TO_ZERO = f"{_DOOM3_ANIM} 299–324: the root's base translation is replaced by 0"
_CAMERA = "Doom 3 `d3xp/Camera.cpp`, `LoadAnim`"
_MOVED = "Doom 3 moves the model by its distance"
_CAMERA_RULES = (
    Rule("first_cut", True, checks.first_cut, "Doom 3", "cuts of a camera path from frame 1 on",
         "Doom 3 refuses the camera path", "delete the marker on the first frame", _CAMERA, 1),
    Rule("cut_groups", True, checks.cut_groups, "Doom 3", "cuts of a camera path that are numbers alone",
         "Doom 3 refuses the camera path",
         "delete the custom property md5 of the camera data; the path is then made of its keys", _CAMERA),
    Rule("fields_of_view", True, checks.fields_of_view, "Doom 3", "fields of view above 0",
         "Doom 3 stops when it plays them", "key another focal length", "Doom 3 `Game_local.cpp`, `CalcFov`"),
)  # fmt: skip
_DOOM3_RULES = (
    _UNNAMED,
    Rule("rate_below_one", True, checks.rate_below_one, "Doom 3", "a frame rate of at least 1",
         "Doom 3 divides by its whole part, which is 0", "set Frame Rate to 1 or more",
         f"{_DOOM3_ANIM}, `LoadAnim`: `ParseInt`, then a division by it", 1),
    Rule("rate_fraction", False, checks.rate_fraction, "Doom 3", "a whole frame rate", "",
         "set Frame Rate to a whole number", f"{_DOOM3_ANIM}, `LoadAnim`: `ParseInt` drops the fraction"),
    Rule("root_away", False, checks.model_root_away, "Doom 3", "the root joint at the origin, within 0.01", _MOVED,
         _ROOT_AT_ORIGIN, _ROOT_TO_ZERO, 0.01),
    Rule("base_root_away", False, checks.base_root_away, "Doom 3",
         "the root joint at the origin in the base frame, within 0.01", _MOVED, _ROOT_AT_ORIGIN, _ROOT_TO_ZERO, 0.01),
    Rule("equal_materials", False, meshes.equal_materials, "Doom 3",
         "materials that differ before the last dot of their names, in more than case",
         "Doom 3 ignores case and what follows the last dot", "rename the materials",
         "Doom 3 `framework/DeclManager.cpp`, `MakeNameCanonical`"),
    Rule("silhouette_edges", False, meshes.silhouette_edges, "Doom 3", "at most 65,536 silhouette edges in a mesh",
         "Doom 3 draws no shadows of further edges", "split the object",
         "Doom 3 `renderer/tr_trisurf.cpp`, `MAX_SIL_EDGES`", 65536),
    Rule("several_roots", False, checks.model_roots, "Doom 3", "one root joint", "Doom 3 refuses its animations",
         _ONE_ROOT, f"{_DOOM3_ANIM}, `LoadAnim`"),
    Rule("animation_roots", True, checks.animation_roots, "Doom 3", "one root joint in an animation",
         "Doom 3 needs one and refuses the file", _ONE_ROOT, f"{_DOOM3_ANIM}, `LoadAnim`"),
    *_CAMERA_RULES,
)  # fmt: skip


DOOM3 = Profile(
    Game.DOOM3, "Doom 3", "Doom 3, dhewm3, The Dark Mod, Prey, Quake 4", "id's Doom 3, dhewm3",
    _DOOM3_RULES,
    writing=Writing(single_root=True, root_at_origin=True),
)  # fmt: skip

DOOM3_BFG = Profile(
    Game.DOOM3_BFG, "Doom 3 BFG", "Doom 3 BFG Edition and RBDOOM-3-BFG", "RBDOOM-3-BFG",
    (
        *_DOOM3_RULES,
        joint_count("Doom 3 BFG", "RBDOOM-3-BFG `renderer/Model_md5.cpp`", 255),
        vertex_count("Doom 3 BFG", "RBDOOM-3-BFG `renderer/Model_md5.cpp`: indices of 16 bits", 65535),
        *weights_as_bytes(Keeper("Doom 3 BFG", fills_up=True),
                          source="RBDOOM-3-BFG `renderer/Model_md5.cpp`, `ParseMesh`"),
        bias_sums("Doom 3 BFG", 0.001, "Doom 3 BFG scales them",
                  "RBDOOM-3-BFG `renderer/Model_md5.cpp`, `ParseMesh`"),
    ),
    writing=Writing(max_influences=4, single_root=True, root_at_origin=True),
)  # fmt: skip


_BOTH = "Ironwail and vkQuake"
_QUAKE_MESH = "Ironwail and vkQuake `gl_model.c`, `Mod_LoadMD5MeshModel`"
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
    Game.QUAKE, "Quake re-release", "The re-release of Quake, Ironwail, vkQuake, FTEQW, QuakeSpasm-Spiked",
    "Ironwail, vkQuake, FTEQW",
    (
        _UNNAMED,
        unsafe_names("Ironwail", _QUAKE_NAMES, "joint names of at most 31 bytes",
                     "Ironwail shortens them in the mesh only, and refuses the model; vkQuake compares 31 bytes",
                     f"{_QUAKE_MESH}: `boneinfo_t`, `jointinfo_t`"),
        name_line(_BOTH, _QUAKE_MESH),
        Rule("commandline_length", True, checks.commandline_length, "Ironwail",
             "a command line of at most 1,023 bytes", "Ironwail reads no more and refuses the file",
             "export it for this game, which shortens it", "Ironwail `common.c`, `COM_Parse`: `com_token`",
             _LONGEST_TOKEN),
        no_meshes(_BOTH, _QUAKE_MESH),
        joint_count(_BOTH, f"{_QUAKE_MESH}: indices of joints are bytes", 256),
        vertex_count(_BOTH, f"{_QUAKE_MESH}: indices of 16 bits", 65535),
        no_animation(_BOTH, f"{_QUAKE_MESH}: a model without poses is not drawn"),
        *weights_as_bytes(Keeper("Ironwail"), Keeper("vkQuake", most=8, has_points=True),
                          source=f"{_QUAKE_MESH}, `MD5_BakeInfluences`"),
        bias_sums(_BOTH, 0.0001, does(_BOTH, "scales") + " them", f"{_QUAKE_MESH}, `MD5_BakeInfluences`"),
        Rule("skin_path", False, meshes.skin_path, "Ironwail", "shaders that are plain names, such as `knight`",
             "Ironwail adds the folder and the numbers itself; vkQuake also looks without the folder, and in textures/",
             "rename the material",
             "Ironwail `gl_model.c`, `MD5_LoadSkins`: `progs/%s_%02u_%02u`; vkQuake `Mod_LoadMDXSkinTask`"),
        Rule("skin_length", False, meshes.skin_length, _BOTH, "paths of skins of at most 63 bytes",
             does(_BOTH, "reads") + " no more", "shorten the name of the material", f"{_QUAKE_MESH}: `MAX_QPATH`",
             63),
        Rule("several_roots", False, checks.several_roots, "FTEQW", "one root joint", "FTEQW refuses the model",
             _ONE_ROOT, "FTEQW `com_mesh.c`"),
        Rule("base_frame_needed", False, checks.base_frame_needed, "Ironwail",
             "all six components of every joint in every frame",
             "Ironwail, and vkQuake before August 2026, use 0 instead and the model collapses",
             "export it for this game, which writes all", "Ironwail `gl_model.c`, `MD5Anim_Load` skips `baseframe`"),
        no_cameras("Quake"),
    ),
    writing=Writing(
        all_components=True, name_lines=False, max_commandline=_LONGEST_TOKEN, needs_animation=True,
        names=_QUAKE_NAMES, frame_rate=_RATE, max_influences=4, single_root=True,
    ),
    written=(
        "all six components of every joint (flags 63), because Ironwail does not read `baseframe`",
        "no line `name`; the name is written as a comment",
        "a command line of at most 1,023 bytes",
        _BESIDE,
    ),
)  # fmt: skip

QUAKE2 = Profile(
    Game.QUAKE2, "Quake II re-release", "The re-release of Quake II and q2pro: MD5 beside the MD2", "q2pro",
    (
        _UNNAMED,
        name_line("Quake II", _Q2PRO_MESH),
        no_meshes("Quake II", _Q2PRO_MESH),
        joint_count("Quake II", f"{_Q2PRO_MESH}: `MD5_MAX_JOINTS`", 256),
        Rule("mesh_count", True, meshes.mesh_count, "Quake II", "at most 32 meshes", "Quake II takes 32",
             "join objects", f"{_Q2PRO_MESH}: `MD5_MAX_MESHES`", 32),
        vertex_count("Quake II", f"{_Q2PRO_MESH}: `TESS_MAX_VERTICES`", 6144),
        triangle_count("Quake II", f"{_Q2PRO_MESH}: `TESS_MAX_INDICES / 3`", 6144),
        weight_count("Quake II", f"{_Q2PRO_MESH}: `MD5_MAX_WEIGHTS`", 8192),
        Rule("weight_starts", True, meshes.weight_starts, "Quake II",
             "weights of a vertex that begin at 65,535 or before", "Quake II reads no higher index",
             "turn on Split Surfaces", f"{_Q2PRO_MESH}: `UINT16_MAX`", 65535),
        Rule("frame_count", True, checks.frame_count, "Quake II", "at most 1,024 frames", "Quake II takes 1,024",
             "export a shorter range", f"{_Q2PRO_ANIM}: `MD5_MAX_FRAMES`", 1024),
        no_animation("Quake II", "q2pro `refresh/models.c`, `MOD_LoadMD5`"),
        Rule("several_materials", False, meshes.several_materials, "Quake II", "one material for all meshes",
             "Quake II shows one skin on the whole model, that of the MD2", "bake them into one image",
             "q2pro `refresh/mesh.c`, `skin_for_mesh`"),
        Rule("scale_count", False, checks.scale_count, "Quake II", "a `.md5scale` of at most 4,096 JSON tokens",
             "Quake II reads at most 4,096 and ignores all scales", "scale fewer bones, or on fewer frames",
             "q2pro `refresh/models.c`, `MD5_LoadScales`: `tokens`", 4096),
        no_cameras("Quake II"),
        Rule("scale_names", False, checks.scale_names, "Quake II",
             "names of scaled joints of at most 47 bytes, without backslashes and control characters",
             "Quake II does not scale them", "rename the bones",
             "q2pro `refresh/models.c`, `MD5_LoadScales`: `MD5_MAX_JOINTNAME`", 47),
    ),
    writing=Writing(name_lines=False, needs_animation=True, joint_scales=True, frame_rate=_RATE),
    written=(
        "the scales of bones, in a file `.md5scale` beside the animation",
        "no line `name`; the name is written as a comment",
        _BESIDE,
    ),
)  # fmt: skip


_SAUER_NAMES = NameRule(98, '["\t\n\v\f\r ]', "contain white space or quotes, or are longer than 98 bytes")
_SAUER = "Sauerbraten `md5.h`"
_DAEMON = "Daemon `tr_model_md5.cpp`, `R_LoadMD5`"
_LAST_PARENT = 127
_IQM = "iqm `iqm.cpp`"

ANY = Profile(
    Game.ANY, "Any", "No particular game: warns about the limits of all", "iqm's compiler",
    (
        as_warning(joint_count("iqm's compiler", f"{_IQM}: indices of joints are bytes", 255)),
        Rule("equal_meshes", False, meshes.equal_meshes, "iqm's compiler", "meshes differ in name or shader",
             "iqm's compiler keeps only one of them", "rename the objects", f"{_IQM}, `makemeshes`"),
        # No other game plays camera paths.
        *map(as_warning, _CAMERA_RULES),
    ),
    writing=Writing(comments=Comments.AMBIGUOUS),
    written=(
        "meshes with the same shader get a comment `// meshes: NAME`, so that iqm's compiler keeps all of them",
    ),
)  # fmt: skip

SAUERBRATEN = Profile(
    Game.SAUERBRATEN, "Sauerbraten", "Sauerbraten, Tesseract, Red Eclipse", "Red Eclipse `md5.h`",
    (
        _UNNAMED,
        unsafe_names("Sauerbraten", _SAUER_NAMES, "no white space and no quotes in joint names, and at most 98 bytes",
                     "Sauerbraten crashes on the animation", f"{_SAUER}: `sscanf(\" %100s %d %d %d\")`"),
        no_meshes("Sauerbraten", _SAUER),
        joint_count("Sauerbraten", f"{_SAUER}: indices of joints are bytes", 256),
        vertex_count("Sauerbraten", f"{_SAUER}: indices of 16 bits", 65535),
        Rule("total_vertices", False, meshes.total_vertices, "Sauerbraten", "at most 65,535 vertices in all meshes",
             "Sauerbraten draws further triangles elsewhere", "remove vertices, or export two models",
             "Sauerbraten `skelmodel.h`, `genvbo`: indices of 16 bits for all meshes", 65535),
        weight_count("Sauerbraten", f"{_SAUER}: `ushort start`", 65535),
        influences("Sauerbraten", "Sauerbraten `skelmodel.h`, `blendcombo`"),
        bias_sums("Sauerbraten", 0.0001, "Sauerbraten scales them", "Sauerbraten `skelmodel.h`, `blendcombo`"),
        Rule("unnamed_mesh", False, meshes.unnamed_mesh, "Sauerbraten", "a comment `// meshes: NAME` in every mesh",
             "md5skin in md5.cfg finds meshes by it", "export it for this game, which adds the comment",
             f"{_SAUER}, `md5mesh::load`"),
        no_cameras("Sauerbraten"),
    ),
    writing=Writing(comments=Comments.ALL, names=_SAUER_NAMES, max_influences=4),
    written=("a comment `// meshes: NAME` in every mesh, for `md5skin NAME …` in `md5.cfg`",),
)  # fmt: skip

UNVANQUISHED = Profile(
    Game.UNVANQUISHED, "Unvanquished", "Unvanquished and other games of the Daemon engine", "Daemon",
    (
        _UNNAMED,
        name_line("Unvanquished", _DAEMON),
        no_meshes("Unvanquished", _DAEMON),
        joint_count("Unvanquished", "Daemon `tr_local.h`: `numChannels` is an unsigned byte", 255),
        Rule("parent_indices", True, checks.parent_indices, "Unvanquished", "parents among the first 128 joints",
             "Unvanquished would detach them", "remove bones, or export with Deform Bones Only",
             "Daemon `tr_local.h`: `parentIndex` is a signed byte", _LAST_PARENT),
        influences("Unvanquished", f"{_DAEMON}: `MAX_WEIGHTS`", is_error=True),
        no_cameras("Unvanquished"),
    ),
    writing=Writing(name_lines=False, last_parent=_LAST_PARENT, max_influences=4),
    written=(
        "no line `name`; the name is written as a comment",
        "joints without children last, where that brings all parents among the first 128",
    ),
)  # fmt: skip


PROFILES: dict[Game, Profile] = {
    profile.game: profile for profile in (ANY, DOOM3, DOOM3_BFG, QUAKE, QUAKE2, SAUERBRATEN, UNVANQUISHED)
}
"""All games, `Game.ANY` first."""


def rules_of(game: Game) -> tuple[Rule, ...]:
    """The rules of a game: its own, and those of every game that it does not override by code."""
    return PROFILES[game].rules_with(COMMON)


def mesh_limits(game: Game) -> dict[str, int]:
    """How much a mesh for a game can have, by the code of the rule."""
    limits = {rule.code: int(rule.limit) for rule in rules_of(game)}
    return {code: limits[code] for code in ("vertex_count", "triangle_count", "weight_count") if code in limits}


# Games by the names that they have for files of other formats: q2pro and the re-release read MD2 files as well.
OTHER_NAMES = {"QUAKE2_MODERN": Game.QUAKE2}


def game_named(name: str) -> Game:
    """The game with a name; `Game.ANY` for names of games that have no MD5 files."""
    return Game(name) if name in Game.__members__ else OTHER_NAMES.get(name, Game.ANY)
