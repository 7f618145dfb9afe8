"""The games: what each accepts, by the published sources of the loaders.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from ...io_common.frame_names import FRAME_NAME_SIZE
from ...io_common.rules import Check, Finding, Profile, Rule, find, find_invalid
from ...io_common.texts import counted
from .model import NAME_SIZE, Model, validate_model


class Game(Enum):
    """The game that is to load a file."""

    ANY = "ANY"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    QUAKE3 = "QUAKE3"


@dataclass(frozen=True)
class Subject:
    """What is checked."""

    model: Model
    source: Model | None = None  # the file that it was imported from


def _counts(model: Model, what: str) -> list[tuple[str, int]]:
    """The numbers of a model, or of each of its surfaces, with the words for whose they are."""
    if what in ("frames", "tags", "surfaces"):
        count = {"frames": model.frame_count, "tags": len(model.tag_names), "surfaces": len(model.surfaces)}[what]
        return [("The model", count)]
    numbers = ((one.vertex_count, one.triangle_count, len(one.shaders)) for one in model.surfaces)
    column = ("vertices", "triangles", "shaders").index(what)
    names = [one.name for one in model.surfaces]
    return [(f"The surface {name!r}", row[column]) for name, row in zip(names, numbers, strict=True)]


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


_HEADER = "id's `qfiles.h`; few loaders check it"

COMMON: tuple[Rule, ...] = (
    Rule("too_many_frames", False, _at_most("frames"), "all", "at most 1,024 frames", "the format supports 1,024",
         "export fewer frames", _HEADER, 1024),
    Rule("too_many_tags", False, _at_most("tags"), "all", "at most 16 tags", "the format supports 16",
         "remove tags", _HEADER, 16),
    Rule("too_many_surfaces", False, _at_most("surfaces"), "all", "at most 32 surfaces", "the format supports 32",
         "join objects", _HEADER, 32),
    Rule("too_many_vertices", False, _at_most("vertices"), "all", "at most 4,096 vertices in a surface",
         "the format supports 4,096", "reduce the mesh, or turn on Split Surfaces", _HEADER, 4096),
    Rule("too_many_triangles", False, _at_most("triangles"), "all", "at most 8,192 triangles in a surface",
         "the format supports 8,192", "reduce the mesh, or turn on Split Surfaces", _HEADER, 8192),
    Rule("too_many_shaders", False, _at_most("shaders"), "all", "at most 256 shaders in a surface",
         "the format supports 256", "remove materials", _HEADER, 256),
    Rule("name_unterminated", False, _unterminated, "all", "names of at most 63 bytes, of frames 15",
         "engines read past its end", "shorten the name", _HEADER),
    Rule("surface_names_repeated", False, _repeated, "all", "every surface has a name of its own",
         ".skin files give them the same image", "rename the objects",
         "ioquake3 `tr_image.c`, `RE_RegisterSkin`; `tr_mesh.c`, `R_AddMD3Surfaces`"),
)  # fmt: skip
"""The rules of every game."""

_QUAKE = "Ironwail and vkQuake `gl_model.c`, `Mod_LoadMD3Model`; QuakeSpasm-Spiked `model_alias.c`"
_QUAKE_RULES = (
    Rule("no_surfaces", True, _at_least("surfaces"), "Quake", "at least one surface", "the engines stop",
         "export a mesh", _QUAKE, 1),
    Rule("too_many_frames", True, _at_most("frames"), "Quake", "at most 1,024 frames", "the engines stop",
         "export fewer frames", f"{_QUAKE}: `MAXALIASFRAMES`", 1024),
    Rule("too_many_vertices", True, _at_most("vertices"), "Quake", "at most 65,535 vertices in a surface",
         "the engines have indices of 16 bits", "reduce the mesh, or turn on Split Surfaces", _QUAKE, 65535),
)  # fmt: skip

_Q2PRO = "q2pro `refresh/models.c`, `MOD_ValidateMD3` and `MOD_ValidateMD3Mesh`"
_QUAKE2_RULES = (
    Rule("no_surfaces", True, _at_least("surfaces"), "q2pro", "at least one surface", "q2pro refuses the model",
         "export a mesh", _Q2PRO, 1),
    Rule("too_many_frames", True, _at_most("frames"), "q2pro", "at most 1,024 frames", "q2pro takes 1,024",
         "export fewer frames", _Q2PRO, 1024),
    Rule("too_many_surfaces", True, _at_most("surfaces"), "q2pro", "at most 32 surfaces", "q2pro takes 32",
         "join objects", _Q2PRO, 32),
    Rule("too_many_vertices", True, _at_most("vertices"), "q2pro", "at most 6,144 vertices in a surface",
         "q2pro takes 6,144", "reduce the mesh, or turn on Split Surfaces", f"{_Q2PRO}: `TESS_MAX_VERTICES`", 6144),
    Rule("few_vertices", True, _at_least("vertices"), "q2pro", "at least 3 vertices in a surface",
         "q2pro refuses the model", "remove the empty object", _Q2PRO, 3),
    Rule("too_many_triangles", True, _at_most("triangles"), "q2pro", "at most 6,144 triangles in a surface",
         "q2pro takes 6,144", "reduce the mesh, or turn on Split Surfaces", f"{_Q2PRO}: `TESS_MAX_INDICES / 3`", 6144),
    Rule("no_triangles", True, _at_least("triangles"), "q2pro", "at least one triangle in a surface",
         "q2pro refuses the model", "remove the empty object", _Q2PRO, 1),
    Rule("too_many_shaders", True, _at_most("shaders"), "q2pro", "at most 256 shaders in a surface",
         "q2pro takes 256", "remove materials", _Q2PRO, 256),
)  # fmt: skip

_IOQUAKE3 = "ioquake3 `tr_model.c`, `R_LoadMD3`"
_QUAKE3_RULES = (
    Rule("too_many_vertices", True, _at_most("vertices"), "ioquake3", "at most 999 vertices in a surface",
         "ioquake3 takes 999", "reduce the mesh, or turn on Split Surfaces",
         f"{_IOQUAKE3}: `SHADER_MAX_VERTEXES`", 999),
    Rule("too_many_triangles", True, _at_most("triangles"), "ioquake3", "at most 1,999 triangles in a surface",
         "ioquake3 takes 1,999", "reduce the mesh, or turn on Split Surfaces", f"{_IOQUAKE3}: `SHADER_MAX_INDEXES`",
         1999),
)  # fmt: skip

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(Game.ANY, "Any", "Everything that the format can hold", "the format"),
        Profile(
            Game.QUAKE, "Quake", "Ironwail, vkQuake, QuakeSpasm-Spiked", "Ironwail, vkQuake, QuakeSpasm-Spiked",
            _QUAKE_RULES,
            ("these engines ignore tags, and find skins by the names of the surfaces or in a .skin file",),
        ),
        Profile(
            Game.QUAKE2, "Quake II", "q2pro, yquake2, Quake II RTX", "q2pro, yquake2", _QUAKE2_RULES,
            (
                "yquake2 has no limits of its own (`models.c`, `Mod_LoadModel_MD3`), but rounds texture coordinates to "
                "1/256 of the image",
            ),
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
