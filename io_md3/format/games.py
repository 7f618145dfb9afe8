"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender. At the
end are the sequences of a model: those of Quake III's `animation.cfg`, else of the names of its frames.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ...io_common.frames import FRAME_NAME_SIZE, FrameSequence, find_sequences
from ...io_common.names import fold, without_image_extension
from ...io_common.rules import Check, Finding, Profile, Rule, Subject, find, find_invalid
from ...io_common.texts import counted
from ...io_common.textures.conventions import MESH_IMAGE_FOLDERS, TextureRules, mesh_image_names
from .model import FRAMES_PER_SECOND, NAME_SIZE, Model, validate_model


class Game(Enum):
    """The game that is to load a file."""

    ANY = "ANY"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    QUAKE3 = "QUAKE3"


def _counts(model: Model, what: str) -> list[tuple[str, int]]:
    """The numbers of a model, or of each of its surfaces, with the words for whose they are."""
    if what in ("frames", "tags", "surfaces"):
        count = {"frames": model.frame_count, "tags": len(model.tag_names), "surfaces": len(model.surfaces)}[what]
        return [("The model", count)]
    lists = {"vertices": "st", "triangles": "triangles", "shaders": "shaders"}
    return [(f"The surface {one.name!r}", len(getattr(one, lists[what]))) for one in model.surfaces]


def _at_most(what: str) -> Check:
    return _compared(what, operator.gt)


def _at_least(what: str) -> Check:
    return _compared(what, operator.lt)


def _compared(what: str, breaks: Callable[[float, float], bool]) -> Check:
    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        source = subject.source
        is_in_source = source is not None and any(breaks(one, rule.limit) for _, one in _counts(source, what))
        for whose, count in _counts(subject.model, what):
            if breaks(count, rule.limit):
                text = f"{whose} has {counted(count, what) if count else f'no {what}'}"
                yield rule.finding(text, count, is_in_source=is_in_source)

    return check


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


def _repeated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    names = [surface.name.lower() for surface in subject.model.surfaces]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        yield rule.finding(f"Several surfaces are named {', '.join(repeated)}", len(repeated))


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
    return Rule(f"too_many_{what}", is_error, _at_most(what), engine, *words, source, most)


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
    Rule("surface_names_repeated", False, _repeated, "all", "every surface has a name of its own",
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
    )
}  # fmt: skip
"""The games, by identifier."""


def game_named(name: str) -> Game:
    """The game with an identifier; ANY for that of another family."""
    return Game(name) if name in {game.value for game in Game} else Game.ANY


def surface_limits(game: Game) -> tuple[int, int]:
    """How many vertices and triangles a surface for a game can have."""
    rules = {rule.code: int(rule.limit) for rule in PROFILES[game].rules_with(COMMON)}
    return rules["too_many_vertices"], rules["too_many_triangles"]


def check_model(model: Model, game: Game = Game.ANY, source: Model | None = None) -> list[Finding]:
    """What a game would refuse or show differently.

    Args:
        model: it is not changed.
        game: whose rules are checked.
        source: the file that it was imported from; what that already broke is no error.

    Returns:
        The findings, errors first.
    """
    invalid = find_invalid("not_valid", lambda: validate_model(model))
    return invalid or find(PROFILES[game].rules_with(COMMON), Subject(model, source))


CONFIG_NAME = "animation.cfg"

# In the order of the file (Quake III `bg_public.h`, `animNumber_t`).
_NAMES = (
    "BOTH_DEATH1", "BOTH_DEAD1", "BOTH_DEATH2", "BOTH_DEAD2", "BOTH_DEATH3", "BOTH_DEAD3", "TORSO_GESTURE",
    "TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE", "TORSO_STAND", "TORSO_STAND2", "LEGS_WALKCR",
    "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_JUMP", "LEGS_LAND", "LEGS_JUMPB", "LEGS_LANDB",
    "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN",
)  # fmt: skip
_LINE = re.compile(r"\s*(-?\d+)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+(?:\.\d+)?)\s*(?://\s*([A-Za-z]\w*))?")
_PARTS = {"lower": ("BOTH_", "LEGS_"), "upper": ("BOTH_", "TORSO_")}


@dataclass(frozen=True)
class Sequence(FrameSequence):
    """Frames one after another that belong together, and how they play.

    Attributes:
        frame_rate: frames per second.
        looping: how many frames at the end are repeated; 0 if it plays once.
    """

    frame_rate: float = FRAMES_PER_SECOND
    looping: int = 0


def parse_animation_config(text: str) -> list[Sequence]:
    """The sequences of an `animation.cfg`, in its own frames: those of the torso, and after them of the legs.

    Sequences are named by their place in the file, as in Quake III; other models by the comment at the end of the line.
    A count below 0 plays backward (Quake III Team Arena); the frames are the same.

    Args:
        text: of the file. Lines that are not four numbers, such as `sex m`, are left out.
    """
    rows = [found for line in text.splitlines() if (found := _LINE.match(line))]
    is_player = any((row[5] or "").upper() in _NAMES for row in rows) or len(rows) >= len(_NAMES)
    result = []
    for number, row in enumerate(rows):
        first, count, looping, rate = int(row[1]), abs(int(row[2])), int(row[3]), float(row[4])
        name = _NAMES[number] if is_player and number < len(_NAMES) else (row[5] or f"sequence{number + 1}").upper()
        if first >= 0 and count:
            result.append(Sequence(name, first, first + count - 1, abs(rate) or FRAMES_PER_SECOND, max(looping, 0)))
    return result


def sequences_of(
    stem: str,
    frame_names: Iterable[str],
    frame_rate: float = FRAMES_PER_SECOND,
    config: Iterable[Sequence] = (),
    warnings: list[str] | None = None,
) -> list[Sequence]:
    """The sequences of one model in its own frames.

    Args:
        stem: the name of the file without suffix: the sequences of `lower` are those of the legs and of both parts, of
            `upper` those of the torso and of both.
        frame_names: the names of its frames.
        frame_rate: frames per second where `config` has none.
        config: what `parse_animation_config` gives; without a sequence that fits, the names of the frames decide.
        warnings: gets a sentence about sequences of a player that are beyond the frames.
    """
    frame_names, config = list(frame_names), list(config)
    part = next((name for name in _PARTS if re.match(rf"{name}(_\d)?$", stem.lower())), "")
    by_name = {sequence.name: sequence for sequence in config}
    # The legs have no frames of the torso, which the file counts (Quake III `cg_players.c`, `CG_ParseAnimationFile`).
    skipped = 0
    if part == "lower" and {"TORSO_GESTURE", "LEGS_WALKCR"} <= by_name.keys():
        skipped = by_name["LEGS_WALKCR"].first - by_name["TORSO_GESTURE"].first
    result, beyond = [], []
    for one in config:
        shift = skipped if one.name.startswith("LEGS_") else 0
        is_played = not part or one.name.startswith(_PARTS[part])
        if is_played and one.first - shift >= 0 and one.last - shift < len(frame_names):
            moved = (one.first - shift, one.last - shift)
            result.append(Sequence(one.name, *moved, one.frame_rate, one.looping))
        elif is_played and part:
            beyond.append(one.name)
    if beyond and warnings is not None:
        frames = counted(len(frame_names), "frames")
        warnings.append(f"sequences of {CONFIG_NAME} beyond the {frames}: {', '.join(beyond)}")
    return result or [Sequence(one.name, one.first, one.last, frame_rate) for one in find_sequences(frame_names)]


TEXTURE_RULES = TextureRules(config_name="md3.cfg", has_shaders=True, has_mesh_images=True)
"""How images are found for the shaders of surfaces."""
