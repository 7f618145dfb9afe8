"""The games: what each accepts, by the published sources of the loaders, and how files for them are written.

A rule is an error where the loader refuses the file, a warning where the result looks different from Blender. At the
end are the sequences of players, which are those of Quake II's ``m_player.h``: it plays them by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum

import numpy as np

from ...io_common.companions import Companion, match_sequences
from ...io_common.frames import FRAME_NAME_SIZE, FrameSequence, to_latin1
from ...io_common.rules import Check, Finding, Profile, Rule, Subject, find, find_invalid, limited
from ...io_common.texts import counted, listing
from ...io_common.textures.conventions import TextureRules
from .glcommands import drawn_triangles, sorted_numbers
from .model import FRAMES_PER_SECOND, SKIN_NAME_SIZE, Model, validate_structure
from .normals import NORMAL_COUNT


class Game(Enum):
    """The game that is to load a file."""

    ANY = "ANY"
    QUAKE2 = "QUAKE2"
    QUAKE2_MODERN = "QUAKE2_MODERN"
    GZDOOM = "GZDOOM"


_IMAGES = (".pcx", ".wal", ".tga", ".png", ".jpg")
_INT16 = np.iinfo(np.int16)
_WORDS = {"skin_height": "texels", "st": "texture coordinates"}


# Checks of numbers


def _counts(model: Model, what: str) -> list[tuple[str, int]]:
    """A number of a model, with the words for whose it is."""
    if what == "skin_height":
        return [("The skin height is", model.skin_height)]
    attribute = "frame_names" if what == "frames" else what
    return [("The model has", model.vertex_count if what == "vertices" else len(getattr(model, attribute)))]


def _at_most(what: str) -> Check:
    return limited(_counts, what, _WORDS.get(what, what), selected=what in ("vertices", "triangles"))


def _at_least(what: str) -> Check:
    return limited(_counts, what, _WORDS.get(what, what), is_least=True)


def _corner_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Triangles have more distinct pairs of a vertex and the value of a texture coordinate than the limit."""
    model = subject.model
    if 3 * model.triangle_count <= rule.limit:
        return
    texels = model.st[model.triangle_st].astype(np.int64) - _INT16.min
    size = 1 << 16
    pairs = (model.triangles.astype(np.int64) * size + texels[..., 0]) * size + texels[..., 1]
    count = len(np.unique(pairs))
    if count > rule.limit:
        yield rule.finding(f"The triangles have {counted(count, 'distinct corners')}", count)


def _st_range(rule: Rule, subject: Subject) -> Iterator[Finding]:
    st = subject.model.st
    bad = np.asarray(((st < _INT16.min) | (st > _INT16.max)).any(axis=1))
    if bad.any():
        first = st[bad.argmax()].tolist()
        count = counted(int(bad.sum()), "texture coordinates", "do")
        triangles = np.flatnonzero(bad[subject.model.triangle_st].any(axis=1))
        yield rule.finding(f"{count} not fit into 16 bits, such as {first}", first, triangles=triangles)


def _st_outside(rule: Rule, subject: Subject) -> Iterator[Finding]:
    model = subject.model
    if model.skin_width <= 0 or model.skin_height <= 0:
        return
    # Negative ones are too large without their sign.
    beyond = model.st.astype(np.uint64) >= np.array([model.skin_width, model.skin_height], np.uint64)
    if beyond.any():
        outside = np.asarray(beyond.any(axis=1))
        count = int(outside.sum())
        what = f"{counted(count, 'texture coordinates', 'lie')} outside the skin"
        yield rule.finding(what, count, triangles=np.flatnonzero(outside[model.triangle_st].any(axis=1)))


def _empty_skin(rule: Rule, subject: Subject) -> Iterator[Finding]:
    model, source = subject.model, subject.source
    if min(model.skin_width, model.skin_height) <= 0:
        size = f"{model.skin_width} x {model.skin_height}"
        is_in_source = source is not None and min(source.skin_width, source.skin_height) <= 0
        yield rule.finding(f"The skin is {size} texels", size, is_in_source=is_in_source)


def _bad_normals(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if subject.model.normals.max(initial=0) >= NORMAL_COUNT:
        bad = subject.model.normals >= NORMAL_COUNT
        count = int(bad.sum())
        what = f"{counted(count, 'normal indices', 'are')} {NORMAL_COUNT} or more"
        yield rule.finding(what, count, vertices=np.flatnonzero(bad.any(axis=0)))


# Checks of names


def _name_characters(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for kind, name, _size in _names(subject):
        if to_latin1(name) != name:
            yield rule.finding(f"The {kind} name {name!r} has characters that are not in Latin-1", name)


def _name_too_long(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for kind, name, size in _names(subject):
        if len(name) > size or "\0" in name:
            yield rule.finding(f"The {kind} name {name!r} does not fit into {size} bytes", len(name))


def _unterminated(wanted: str) -> Check:
    """A check that names of skins or frames leave room for their terminator."""

    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        for kind, name, size in _names(subject):
            if kind == wanted and len(name) == size:
                what = f"The {kind} name {name!r} leaves no room for its terminator in {size} bytes"
                yield rule.finding(what, size)

    return check


def _names(subject: Subject) -> Iterator[tuple[str, str, int]]:
    """Each distinct name: its kind (skin or frame), itself, and its field's size."""
    for name in dict.fromkeys(subject.model.skins):
        yield "skin", name, SKIN_NAME_SIZE
    for name in dict.fromkeys(subject.model.frame_names):
        yield "frame", name, FRAME_NAME_SIZE


def _skin_not_image(rule: Rule, subject: Subject) -> Iterator[Finding]:
    names = [name for name in subject.model.skins if not name.lower().endswith(_IMAGES)]
    if names:
        yield rule.finding(f"skins that are not paths of images: {listing(list(map(repr, names)))}", names[0])


def _frame_names_empty(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if "" in subject.model.frame_names:
        yield rule.finding("Frames have no names")


def _repeated_names(model: Model) -> int:
    return len(model.frame_names) - len(set(model.frame_names))


def _frame_names_repeated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """More frames share a name than in the imported file."""
    repeated = _repeated_names(subject.model)
    if repeated and (subject.source is None or repeated > _repeated_names(subject.source)):
        yield rule.finding(f"{counted(repeated, 'frames', 'have')} the name of an earlier one", repeated)


def _commands_differ(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The GL commands draw other triangles than the list has; degenerate ones do not count."""
    model = subject.model
    if not len(model.gl_commands.counts):
        return
    listed = sorted_numbers(model.triangles)
    drawn = sorted_numbers(drawn_triangles(model.gl_commands)[0])
    if not np.array_equal(listed, drawn):
        count = counted(len(drawn), "triangles")
        yield rule.finding(f"The GL commands draw {count}, not the {len(listed)} of the list", len(drawn))


# Rules

_FORMAT = "the layout of the file"
_UNTERMINATED = Rule(
    "skin_name_unterminated", False, _unterminated("skin"), "all", "skin names of at most 63 bytes",
    "engines read past its end", "shorten the name", "id's `ref_gl/gl_model.c`: `strcpy` style reading of 64 bytes",
    SKIN_NAME_SIZE - 1,
)  # fmt: skip

_REMEDIES = {
    "vertices": "reduce the mesh", "triangles": "reduce the mesh", "frames": "export fewer frames",
    "skins": "remove materials", "st": "reduce the mesh or merge UV islands",
}  # fmt: skip


def _most(
    what: str, most: int, engine: str, why: str, source: str, code: str = "too_many_{}", *, is_error: bool = True
) -> Rule:
    words = f"at most {most:,} {_WORDS.get(what, what)}"
    return Rule(code.format(what), is_error, _at_most(what), engine, words, why, _REMEDIES[what], source, most)


def _least(code: str, what: str, least: int, engine: str, why: str, source: str) -> Rule:
    words = counted(least, _WORDS.get(what, what)).replace("1 ", "one ")
    remedy = "export the model again: the export adds some" if what == "st" else "export a mesh with faces"
    return Rule(code, True, _at_least(what), engine, f"at least {words}", why, remedy, source, least)


_BEYOND = ("all", "a triangle can refer to 65536", _FORMAT, "{}_beyond_format")

COMMON: tuple[Rule, ...] = (
    Rule("no_frames", True, _at_least("frames"), "all", "at least one frame", "games refuse an empty model",
         "export at least one frame", _FORMAT, 1),
    _most("vertices", 65536, *_BEYOND),
    _most("st", 65536, *_BEYOND),
    Rule("st_range", True, _st_range, "all", "texture coordinates of 16 bits", "the file holds 16 bits",
         "move the UVs onto the image", _FORMAT),
    Rule("name_characters", True, _name_characters, "all", "names of Latin-1 characters", "",
         "rename the image or the frame", _FORMAT),
    Rule("name_too_long", True, _name_too_long, "all",
         "names of at most 64 bytes for skins and 16 for frames", "", "shorten the name", _FORMAT),
    _UNTERMINATED,
    Rule("frame_name_unterminated", False, _unterminated("frame"), "all", "frame names of at most 15 bytes",
         "engines read past its end", "shorten the name", _FORMAT, 15),
    Rule("frame_name_empty", False, _frame_names_empty, "all", "every frame has a name", "",
         "name the frames", "viewers list them"),
    Rule("frame_names_repeated", False, _frame_names_repeated, "all", "every frame has a name of its own",
         "", "", "viewers list them"),
    Rule("no_vertices", False, _at_least("vertices"), "all", "at least one vertex", "", "", _FORMAT, 1),
    Rule("no_triangles", False, _at_least("triangles"), "all", "at least one triangle", "", "", _FORMAT, 1),
    Rule("bad_normals", False, _bad_normals, "all", "indices of normals below 162",
         "engines shade them differently", "", "id's `anorms.h`", 161),
    Rule("empty_skin", False, _empty_skin, "all", "a skin of at least 1 x 1 texels",
         "engines divide by its size", "choose a Skin Size", _FORMAT),
    Rule("st_outside_skin", False, _st_outside, "all", "texture coordinates on the skin",
         "software renderers read outside the image", "", "id's `ref_soft`"),
    Rule("gl_commands_differ", False, _commands_differ, "all",
         "GL commands draw the triangles of the list", "GL and software renderers show different models",
         "export the model again: the export writes new ones", "id's `ref_gl/gl_mesh.c` and `ref_soft/r_alias.c`"),
)  # fmt: skip
"""The rules of every game."""

_IMAGE = Rule(
    "skin_not_image", False, _skin_not_image, "Quake II",
    "skins that are paths of images, such as `models/imp/skin.pcx`", "Quake II shows no texture",
    "name the material after the image in the game",
    "id's `ref_gl/gl_image.c`, `GL_FindImage`; q2pro `refresh/images.c`, `find_or_load_image`",
)  # fmt: skip

_ID = "id's `ref_gl/gl_model.c`, `Mod_LoadAliasModel`; yquake2 `ref_gl1`, `Mod_LoadMD2`"
_HEADER = "id's `qfiles.h`; the loader does not check it"
_QUAKE2_RULES = (
    Rule("skin_too_tall", True, _at_most("skin_height"), "Quake II", "a skin of at most 480 texels in height",
         "Quake II takes 480", "use a lower image, or set Skin Size to Custom", _ID, 480),
    _most("vertices", 2048, "Quake II", "Quake II takes 2,048", _ID),
    _least("missing_vertices", "vertices", 1, "Quake II", "Quake II refuses the model", _ID),
    _least("missing_triangles", "triangles", 1, "Quake II", "Quake II refuses the model", _ID),
    _least("missing_st", "st", 1, "Quake II", "Quake II refuses the model", _ID),
    _most("triangles", 4096, "Quake II", "Quake II supports 4,096", _HEADER, is_error=False),
    _most("frames", 512, "Quake II", "Quake II supports 512", _HEADER, is_error=False),
    _most("skins", 32, "Quake II", "Quake II reads the first 32", f"{_HEADER}: `MAX_MD2SKINS`", is_error=False),
    _IMAGE,
)  # fmt: skip

_Q2PRO = "q2pro `refresh/models.c`, `MOD_ValidateMD2`"
_Q2PRO_LOAD = "q2pro `refresh/models.c`, `MOD_LoadMD2`"
_MODERN_RULES = (
    _most("triangles", 6144, "q2pro", "q2pro takes 6,144", f"{_Q2PRO}: `TESS_MAX_INDICES / 3`"),
    _most("frames", 1024, "q2pro", "q2pro takes 1,024", _Q2PRO),
    Rule("too_many_corners", True, _corner_count, "q2pro",
         "at most 6,144 distinct pairs of vertex and texture coordinate",
         "q2pro makes a vertex of each and takes 6,144",
         "reduce the mesh or merge UV islands", f"{_Q2PRO_LOAD}: `TESS_MAX_VERTICES`", 6144),
    _least("few_vertices", "vertices", 3, "q2pro", "q2pro ignores the model as empty", _Q2PRO_LOAD),
    _least("missing_triangles", "triangles", 1, "q2pro", "q2pro ignores the model as empty", _Q2PRO_LOAD),
    _least("few_st", "st", 3, "q2pro", "q2pro ignores the model as empty", _Q2PRO_LOAD),
    Rule("empty_skin", True, _empty_skin, "q2pro", "a skin of at least 1 x 1 texels", "q2pro refuses the model",
         "choose a Skin Size", _Q2PRO),
    replace(_UNTERMINATED, is_error=True, engine="q2pro", why="q2pro refuses the model",
            source=f"{_Q2PRO_LOAD}: `Q_memccpy`"),
    _most("vertices", 2048, "q2pro", "older q2pro versions take 2,048", f"{_Q2PRO}: `MD2_MAX_VERTS`", is_error=False),
    _most("skins", 32, "q2pro", "older q2pro versions take 32", f"{_Q2PRO}: `MD2_MAX_SKINS`", is_error=False),
    _IMAGE,
)  # fmt: skip

_WRITTEN = (
    "at least 3 texture coordinates: unused ones are added",
    "GL commands draw the triangles of the list, so that all renderers draw the same: those of the imported file while "
    "they do, else new ones",
)

PROFILES: dict[Game, Profile] = {
    profile.game: profile
    for profile in (
        Profile(
            Game.ANY, "Any", "Cube, Sauerbraten, AssaultCube, Egoboo, viewers: everything that the format can hold",
            "the format", (), _WRITTEN, FRAMES_PER_SECOND,
        ),
        Profile(
            Game.QUAKE2, "Quake II", "id's Quake II and yquake2", "id's Quake II, yquake2", _QUAKE2_RULES, _WRITTEN,
            FRAMES_PER_SECOND,
        ),
        Profile(
            Game.QUAKE2_MODERN, "Quake II, modern", "q2pro and the re-release of Quake II", "q2pro", _MODERN_RULES,
            _WRITTEN, FRAMES_PER_SECOND,
        ),
        Profile(
            Game.GZDOOM, "GZDoom", "GZDoom, UZDoom, Zandronum", "GZDoom `models_md2.cpp`, `FMD2Model`", (),
            (
                *_WRITTEN,
                "a skin is the name of an image beside the model (png, jpg, tga or pcx); texture coordinates are shown "
                "half a pixel of the skin off",
            ),
        ),
    )
}  # fmt: skip
"""All games, `Game.ANY` first."""


def prepare_model(model: Model, game: Game = Game.ANY) -> tuple[Model, list[str]]:
    """A model prepared for a game, with unused texture coordinates added until there are three, if it has triangles.

    All games require the same. The list of warnings about what was replaced or shortened is empty.
    """
    del game
    missing = 3 - len(model.st)
    if missing <= 0 or not model.triangle_count:
        return model, []
    last = model.st[-1:] if len(model.st) else np.zeros((1, 2), model.st.dtype)
    return replace(model, st=np.concatenate([model.st, np.repeat(last, missing, axis=0)])), []


def check_model(model: Model, game: Game = Game.ANY, source: Model | None = None) -> list[Finding]:
    """What is wrong with a model, errors first. A model without errors can be written.

    An error is what the game or the format refuses; a warning is what looks different from Blender. What exceeded a
    limit in ``source``, the file that the model was imported from, is a warning only: it is a model of another game.
    """
    # The rules rely on it.
    if invalid := find_invalid("invalid_model", lambda: validate_structure(model)):
        return invalid
    return find(PROFILES[game].rules_with(COMMON), Subject(model, source))


def find_oddities(model: Model) -> list[str]:
    """Sentences about what is unusual in a file that was read, such as numbers beyond Quake II's limits."""
    rules, subject = [rule for rule in (*COMMON, *_QUAKE2_RULES) if rule.code in _ODDITIES], Subject(model)
    found = [finding for rule in rules for finding in rule.check(rule, subject)]
    # The remedy concerns an export, not a file that was read.
    return [finding.text.removesuffix(f": {finding.remedy}") for finding in found]


_ODDITIES = (
    "no_vertices", "no_triangles", "bad_normals", "empty_skin", "st_outside_skin", "too_many_triangles",
    "too_many_vertices", "too_many_frames", "too_many_skins", "skin_too_tall",
)  # fmt: skip


PLAYER_SEQUENCES = tuple(
    FrameSequence(*row)
    for row in (
        ("stand", 0, 39), ("run", 40, 45), ("attack", 46, 53), ("pain1", 54, 57), ("pain2", 58, 61),
        ("pain3", 62, 65), ("jump", 66, 71), ("flip", 72, 83), ("salute", 84, 94), ("taunt", 95, 111),
        ("wave", 112, 122), ("point", 123, 134), ("crstnd", 135, 153), ("crwalk", 154, 159), ("crattak", 160, 168),
        ("crpain", 169, 172), ("crdeath", 173, 177), ("death1", 178, 183), ("death2", 184, 189), ("death3", 190, 197),
    )
)  # fmt: skip
"""The sequences of a Quake II player model, which has 198 frames."""


_PLAYER = Companion(
    "", Game.QUAKE2, tuple(f"{one.name}{number:02d}" for one in PLAYER_SEQUENCES for number in range(one.frame_count))
)


def match_template(template: str, sequences: Sequence[tuple[str, int]]) -> tuple[list[int], list[str]]:
    """The indices of sequences, names and numbers of frames, in the order of a template, and what does not fit."""
    if template == "NONE":
        return list(range(len(sequences))), []
    order, problems, others = match_sequences(_PLAYER, [((name,), count) for name, count in sequences])
    return order, [*problems, *([f"not in the template, or there twice: {', '.join(others)}"] if others else [])]


TEXTURE_RULES = TextureRules(config_name="md2.cfg", has_player_skins=True)
"""How images are found for the skins."""
