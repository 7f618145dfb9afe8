"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from ...io_common.arrays import MAX_INT32
from ...io_common.frames import FRAME_NAME_SIZE
from ...io_common.names import fold, without_image_extension
from ...io_common.rules import Check, Finding, Profile, Rule, Subject, find, find_invalid, limited
from ...io_common.texts import listing
from ...io_common.textures.conventions import MESH_IMAGE_FOLDERS, TextureRules, mesh_image_names
from .model import FRAMES_PER_SECOND, NAME_SIZE, TURN_STEPS, Model, validate_model


class Game(Enum):
    """The game that is to load a file."""

    ANY = "ANY"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    QUAKE3 = "QUAKE3"
    GZDOOM = "GZDOOM"
    SRB2 = "SRB2"
    EDGE = "EDGE"
    DOOM3 = "DOOM3"
    UNVANQUISHED = "UNVANQUISHED"


def _counts(model: Model, what: str) -> list[tuple[str, int]]:
    """The numbers of a model, or of each of its surfaces, with the words for whose they are."""
    if what in ("frames", "tags", "surfaces"):
        return [("The model has", len(getattr(model, {"frames": "frame_names", "tags": "tag_names"}.get(what, what))))]
    attribute = "st" if what == "vertices" else what
    return [(f"The surface {one.name!r} has", len(getattr(one, attribute))) for one in model.surfaces]


def _at_least(what: str) -> Check:
    return limited(_counts, what, is_least=True)


def _unterminated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    model = subject.model
    kinds = {
        "model": [model.name],
        "tag": model.tag_names,
        "frame": model.frame_names,
        "surface": [surface.name for surface in model.surfaces],
        "shader (material)": [name for surface in model.surfaces for name in surface.shaders],
    }
    for kind, names in kinds.items():
        most = FRAME_NAME_SIZE if kind == "frame" else NAME_SIZE
        long = [name for name in dict.fromkeys(names) if len(name) >= most]
        if long:
            yield rule.finding(f"the name of the {kind} {long[0]!r} fills all {most} bytes of the field", len(long))


def _repeated(what: str, names_of: Callable[[Model], Iterable[str]]) -> Check:
    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        counts = Counter(name.lower() for name in names_of(subject.model))
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            yield rule.finding(f"Several {what} are named {listing(repeated)}", len(repeated))

    return check


_repeated_surfaces = _repeated("surfaces", lambda model: [surface.name for surface in model.surfaces])
_repeated_frames = _repeated("frames", lambda model: model.frame_names)


def _sprite_frames(rule: Rule, subject: Subject) -> Iterator[Finding]:
    names = subject.model.frame_names
    bad = [name for name in names if name.startswith(_SPRITES) and not _SPRITE_FRAME.fullmatch(name)]
    if bad:
        yield rule.finding(f"Frames are named {listing(bad)}", bad[0])


def _images_of_meshes(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for number, surface in enumerate(subject.model.surfaces):
        wanted = mesh_image_names(surface.name, number, subject.model.name.rpartition("/")[2], 0)
        shader = fold(without_image_extension(surface.shaders[0])) if surface.shaders else ""
        if shader not in {fold(f"{folder}/{name}") for folder in MESH_IMAGE_FOLDERS for name in wanted}:
            *others, last = wanted[:3]
            text = f"The image of the surface {surface.name!r} is looked for as {', '.join(others)} or {last}"
            instead = f", not as {surface.shaders[0]}" if surface.shaders else ""
            yield rule.finding(f"{text} in {' or '.join(MESH_IMAGE_FOLDERS)}{instead}", shader)


def _paths_of_images(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for surface in subject.model.surfaces:
        bad = [name for name in surface.shaders or [""] if len(name) < 5 or name[-4] != "."]
        if bad:
            shader = f"the shader {bad[0]!r}, which is no path with an extension" if surface.shaders else "no shader"
            yield rule.finding(f"The surface {surface.name!r} has {shader}", bad[0])


_SPRITES = ("SPR2_", "SUPER")
_SPRITE_FRAME = re.compile(r"(?:SPR2_|SUPER)[A-Z0-9_]{4}[0-9]{1,2}")

_HEADER = "id's `qfiles.h`; few loaders check it"

# Each game has one rule with this code.
_IMAGE_NOT_FOUND = "image_not_found"
_SURFACES = "reduce the mesh, or turn on Split Surfaces"
_REMEDIES = {
    "frames": "export fewer frames", "tags": "remove tags", "surfaces": "join objects", "vertices": _SURFACES,
    "triangles": _SURFACES, "shaders": "remove materials",
}  # fmt: skip


def _limit(what: str, most: int, engine: str, why: str, source: str, *, is_error: bool = True) -> Rule:
    """The rule of a most number of frames, tags or surfaces, or of vertices, triangles or shaders in a surface."""
    where = " in a surface" if what in ("vertices", "triangles", "shaders") else ""
    words = (f"at most {most:,} {what}{where}", why, _REMEDIES[what])
    return Rule(f"too_many_{what}", is_error, limited(_counts, what), engine, *words, source, most)


def _common(what: str, most: int) -> Rule:
    return _limit(what, most, "all", f"the format supports {most:,}", _HEADER, is_error=False)


COMMON: tuple[Rule, ...] = (
    _common("frames", 1024),
    _common("tags", 16),
    _common("surfaces", 32),
    _common("vertices", 4096),
    _common("triangles", 8192),
    _common("shaders", 256),
    Rule("name_unterminated", False, _unterminated, "all", "names of at most 63 bytes, of frames 15",
         "engines read past its end", "shorten the name", _HEADER),
    Rule("surface_names_repeated", False, _repeated_surfaces, "all", "every surface has a name of its own",
         ".skin files give them the same image", "rename the objects",
         "ioquake3 `tr_image.c`, `RE_RegisterSkin`; `tr_mesh.c`, `R_AddMD3Surfaces`"),
    Rule(_IMAGE_NOT_FOUND, False, _at_least("shaders"), "all", "every surface has a shader",
         "engines draw their default image or leave the surface out", "give all faces a material",
         "ioquake3 `tr_mesh.c`, `R_AddMD3Surfaces`; GZDoom `models_md3.cpp`, `FMD3Model::RenderFrame`", 1),
)  # fmt: skip
"""The rules of every game."""

_QUAKE = "Ironwail and vkQuake `gl_model.c`, `Mod_LoadMD3Model`; QuakeSpasm-Spiked `model_alias.c`"
_QUAKE_RULES = (
    Rule("no_surfaces", True, _at_least("surfaces"), "Quake", "at least one surface", "the engines stop",
         "export a mesh", _QUAKE, 1),
    _limit("frames", 1024, "Quake", "the engines stop", f"{_QUAKE}: `MAXALIASFRAMES`"),
    _limit("vertices", 65535, "Quake", "the engines have indices of 16 bits", _QUAKE),
    Rule(_IMAGE_NOT_FOUND, False, _images_of_meshes, "Quake",
         "images are named after the surfaces, in `progs` or `textures`", "the engines read no shaders",
         "rename the image or the object, or write a .skin file", _QUAKE),
)  # fmt: skip

_Q2PRO = "q2pro `refresh/models.c`, `MOD_ValidateMD3` and `MOD_ValidateMD3Mesh`"
_QUAKE2_RULES = (
    Rule("no_surfaces", True, _at_least("surfaces"), "q2pro", "at least one surface", "q2pro refuses the model",
         "export a mesh", _Q2PRO, 1),
    _limit("frames", 1024, "q2pro", "q2pro takes 1,024", _Q2PRO),
    _limit("surfaces", 32, "q2pro", "q2pro takes 32", _Q2PRO),
    _limit("vertices", 6144, "q2pro", "q2pro takes 6,144", f"{_Q2PRO}: `TESS_MAX_VERTICES`"),
    Rule("few_vertices", True, _at_least("vertices"), "q2pro", "at least 3 vertices in a surface",
         "q2pro refuses the model", "remove the empty object", _Q2PRO, 3),
    _limit("triangles", 6144, "q2pro", "q2pro takes 6,144", f"{_Q2PRO}: `TESS_MAX_INDICES / 3`"),
    Rule("no_triangles", True, _at_least("triangles"), "q2pro", "at least one triangle in a surface",
         "q2pro refuses the model", "remove the empty object", _Q2PRO, 1),
    _limit("shaders", 256, "q2pro", "q2pro takes 256", _Q2PRO),
    Rule(_IMAGE_NOT_FOUND, False, _paths_of_images, "Quake II",
         "shaders are paths of images with an extension, such as `models/imp/skin.pcx`",
         "the engines show no texture", "name the material after the image in the game",
         "q2pro `refresh/images.c`, `IMG_Find`; yquake2 `image.c`, `R_FindImage`"),
)  # fmt: skip

_IOQUAKE3 = "ioquake3 `tr_model.c`, `R_LoadMD3`"
_QUAKE3_RULES = (
    _limit("vertices", 999, "ioquake3", "ioquake3 takes 999", f"{_IOQUAKE3}: `SHADER_MAX_VERTEXES`"),
    _limit("triangles", 1999, "ioquake3", "ioquake3 takes 1,999", f"{_IOQUAKE3}: `SHADER_MAX_INDEXES`"),
)

_UNLIMITED = tuple(f"too_many_{what}" for what in _REMEDIES)
_FRAME_NAMES = ("every frame has a name of its own", "the game takes the first of a name", "rename the shape keys")
_GZDOOM_RULES = (
    Rule("frame_names_repeated", False, _repeated_frames, "GZDoom", *_FRAME_NAMES,
         "GZDoom `models_md3.cpp`, `FMD3Model::FindFrame`"),
    _limit("surfaces", 32, "GZDoom", "`SurfaceSkin` of MODELDEF reaches the first 32",
           "GZDoom `r_data/models.h`: `MD3_MAX_SURFACES`", is_error=False),
)  # fmt: skip
_SRB2_RULES = (
    _limit("vertices", 65536, "SRB2", "SRB2 has indices of 16 bits", "SRB2 `hw_md3load.c`, `MD3_LoadModel`"),
    Rule("frame_names", False, _sprite_frames, "SRB2",
         "frames of players are named as `SPR2_STND00`: `SPR2_` or `SUPER`, four letters, a number from 0",
         "SRB2 does not find them", "rename the action or the shape keys", "SRB2 `hw_model.c`, `LoadModelSprite2`"),
)  # fmt: skip
_EDGE = "EDGE-Classic `r_md2.cc`, `MD3_LoadModel`"
_EDGE_RULES = (
    _limit("surfaces", 1, "EDGE-Classic", "EDGE-Classic shows the first alone", _EDGE, is_error=False),
    Rule("no_surfaces", True, _at_least("surfaces"), "EDGE-Classic", "at least one surface",
         "EDGE-Classic reads other data", "export a mesh", _EDGE, 1),
    Rule("frame_names_repeated", False, _repeated_frames, "EDGE-Classic", *_FRAME_NAMES,
         "EDGE-Classic `r_md2.cc`, `MD2_FindFrame`"),
)  # fmt: skip
_DHEWM3 = "dhewm3 `Model_md3.cpp`, `idRenderModelMD3::InitFromFile`"
_DOOM3_RULES = (
    _limit("vertices", 1000, "Doom 3", "Doom 3 takes 1,000", f"{_DHEWM3}: `SHADER_MAX_VERTEXES`"),
    _limit("triangles", 2000, "Doom 3", "Doom 3 takes 2,000", f"{_DHEWM3}: `SHADER_MAX_INDEXES`"),
    Rule(_IMAGE_NOT_FOUND, True, _at_least("shaders"), "Doom 3", "every surface has a shader",
         "Doom 3 reads other data", "give all faces a material", "dhewm3 `Model_md3.cpp`, `InstantiateDynamicModel`",
         1),
)  # fmt: skip
_DAEMON = "Daemon `tr_model_md3.cpp`, `R_LoadMD3`"
_UNVANQUISHED_RULES = (
    _limit("vertices", 10000, "Daemon", "Daemon takes 10,000", f"{_DAEMON}: `SHADER_MAX_VERTEXES`"),
    _limit("triangles", 20000, "Daemon", "Daemon takes 20,000", f"{_DAEMON}: `SHADER_MAX_INDEXES`"),
)

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(Game.ANY, "Any", "Everything that the format can hold", "the format"),
        Profile(
            Game.QUAKE, "Quake", "Ironwail, vkQuake, QuakeSpasm-Spiked", "Ironwail, vkQuake, QuakeSpasm-Spiked",
            _QUAKE_RULES,
            ("these engines ignore tags, and find skins by the names of the surfaces or in a .skin file",),
            FRAMES_PER_SECOND,
        ),
        Profile(
            Game.QUAKE2, "Quake II", "q2pro, yquake2, Quake II RTX", "q2pro, yquake2", _QUAKE2_RULES,
            (
                "yquake2 has no limits of its own (`models.c`, `Mod_LoadModel_MD3`), but rounds texture coordinates to "
                "1/256 of the image",
            ),
            FRAMES_PER_SECOND,
        ),
        Profile(Game.QUAKE3, "Quake III", "Quake III Arena and ioquake3", "ioquake3", _QUAKE3_RULES),
        Profile(
            Game.GZDOOM, "GZDoom", "GZDoom, UZDoom, Zandronum", "GZDoom", _GZDOOM_RULES,
            (
                "a shader is an image by its path in the archive, else beside the model (png, jpg, tga or pcx)",
                "Zandronum takes 4 models for an actor; tags are not used",
            ),
            lacks=_UNLIMITED,
        ),
        Profile(
            Game.SRB2, "Sonic Robo Blast 2", "Sonic Robo Blast 2", "SRB2", _SRB2_RULES,
            ("new frames are numbered from 0; images are found by the name of the model, tags are not used",),
            lacks=(*_UNLIMITED, _IMAGE_NOT_FOUND),
        ),
        Profile(
            Game.EDGE, "EDGE-Classic", "EDGE-Classic", "EDGE-Classic", _EDGE_RULES,
            ("normals become the 162 of MD2; images are those of the DDF, tags are not used",),
            lacks=(*_UNLIMITED, _IMAGE_NOT_FOUND),
        ),
        Profile(
            Game.DOOM3, "Doom 3", "Doom 3 and dhewm3", "dhewm3", _DOOM3_RULES,
            ("Doom 3 computes normals from faces; shaders are names of materials, tags are not used",),
        ),
        Profile(
            Game.UNVANQUISHED, "Unvanquished", "Unvanquished (Daemon)", "Daemon", _UNVANQUISHED_RULES,
            ("of a surface the first shader is used",),
        ),
    )
}  # fmt: skip
"""The games, by identifier."""


# Others read normals as q3map writes them. ioquake3 looks up sines in a table of 1,024 (`tr_surface.c`,
# `LerpMeshVertexes`); q2pro `refresh/mesh.c`; GZDoom, SRB2 and EDGE-Classic where they load models.
_TURN_STEPS = {
    Game.QUAKE2: 256.0, Game.QUAKE3: 1023.0 / 4.0, Game.GZDOOM: 256.0, Game.SRB2: 256.0, Game.EDGE: 256.0,
}  # fmt: skip


def turn_steps(game: Game) -> float:
    """How many steps of the angles of normals a game has in a full turn."""
    return _TURN_STEPS.get(game, TURN_STEPS)


def surface_limits(game: Game) -> tuple[int, int]:
    """How many vertices and triangles a surface for a game can have."""
    rules = {rule.code: int(rule.limit) for rule in PROFILES[game].rules_with(COMMON)}
    return rules.get("too_many_vertices", MAX_INT32), rules.get("too_many_triangles", MAX_INT32)


def check_model(model: Model, game: Game = Game.ANY, source: Model | None = None) -> list[Finding]:
    """What a game would refuse or show differently, errors first.

    What the file that the model was imported from, `source`, already broke is no error.
    """
    invalid = find_invalid("not_valid", lambda: validate_model(model))
    return invalid or find(PROFILES[game].rules_with(COMMON), Subject(model, source))


TEXTURE_RULES = TextureRules(config_name="md3.cfg", has_shaders=True, has_mesh_images=True)
"""How images are found for the shaders of surfaces."""
