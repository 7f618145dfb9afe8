"""What games limit in a model, and the checks that their rules are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.arrays import NAME_ENCODING
from ...io_common.frames import FRAME_NAME_SIZE
from ...io_common.rules import Check, Finding, Rule, Subject, limited
from ...io_common.texts import counted
from .glcommands import drawn_triangles, sorted_numbers
from .model import SKIN_NAME_SIZE, Model
from .normals import NORMAL_COUNT

_IMAGES = (".pcx", ".wal", ".tga", ".png", ".jpg")
_NAMED = 5
_INT16 = np.iinfo(np.int16)
WORDS = {"skin_height": "texels", "st": "texture coordinates"}


# Numbers


def _counts(model: Model, what: str) -> list[tuple[str, int]]:
    """A number of a model, with the words for whose it is."""
    if what == "skin_height":
        return [("The skin height is", model.skin_height)]
    attribute = "frame_names" if what == "frames" else what
    return [("The model has", model.vertex_count if what == "vertices" else len(getattr(model, attribute)))]


def at_most(what: str) -> Check:
    """A check that a model has no more than the limit; `what` is what is counted."""
    return limited(_counts, what, WORDS.get(what, what), selected=what in ("vertices", "triangles"))


def at_least(what: str) -> Check:
    """A check that a model has no fewer than the limit; `what` is what is counted."""
    return limited(_counts, what, WORDS.get(what, what), is_least=True)


def corner_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Triangles have more distinct pairs of a vertex and the value of a texture coordinate than the limit."""
    model = subject.model
    if 3 * model.triangle_count <= rule.limit:
        return
    inside = (model.triangle_st >= 0) & (model.triangle_st < len(model.st))
    texels = model.st[model.triangle_st[inside]].astype(np.int64) - _INT16.min
    size = 1 << 16
    pairs = (model.triangles[inside].astype(np.int64) * size + texels[:, 0]) * size + texels[:, 1]
    count = len(np.unique(pairs))
    if count > rule.limit:
        yield rule.finding(f"The triangles have {counted(count, 'distinct corners')}", count)


def st_range(rule: Rule, subject: Subject) -> Iterator[Finding]:
    st = subject.model.st
    bad = np.asarray(((st < _INT16.min) | (st > _INT16.max)).any(axis=1))
    if bad.any():
        first = st[bad.argmax()].tolist()
        count = counted(int(bad.sum()), "texture coordinates", "do")
        triangles = _triangles_of_st(subject, bad)
        yield rule.finding(f"{count} not fit into 16 bits, such as {first}", first, triangles=triangles)


def st_outside(rule: Rule, subject: Subject) -> Iterator[Finding]:
    model = subject.model
    if model.skin_width <= 0 or model.skin_height <= 0:
        return
    # Negative ones are too large without their sign.
    beyond = model.st.astype(np.uint64) >= np.array([model.skin_width, model.skin_height], np.uint64)
    if beyond.any():
        outside = np.asarray(beyond.any(axis=1))
        count = int(outside.sum())
        what = f"{counted(count, 'texture coordinates', 'lie')} outside the skin"
        yield rule.finding(what, count, triangles=_triangles_of_st(subject, outside))


def _triangles_of_st(subject: Subject, chosen: NDArray[Any]) -> NDArray[np.int64]:
    """The triangles that use one of the chosen texture coordinates (S,)."""
    indices = subject.model.triangle_st
    inside = (indices >= 0) & (indices < len(chosen))
    uses = inside & np.append(chosen, False)[np.where(inside, indices, -1)]
    return np.flatnonzero(uses.any(axis=1))


def empty_skin(rule: Rule, subject: Subject) -> Iterator[Finding]:
    model, source = subject.model, subject.source
    if min(model.skin_width, model.skin_height) <= 0:
        size = f"{model.skin_width} x {model.skin_height}"
        is_in_source = source is not None and min(source.skin_width, source.skin_height) <= 0
        yield rule.finding(f"The skin is {size} texels", size, is_in_source=is_in_source)


def bad_normals(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if subject.model.normals.max(initial=0) >= NORMAL_COUNT:
        bad = subject.model.normals >= NORMAL_COUNT
        count = int(bad.sum())
        what = f"{counted(count, 'normal indices', 'are')} {NORMAL_COUNT} or more"
        yield rule.finding(what, count, vertices=np.flatnonzero(bad.any(axis=0)))


# Names


def name_characters(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for kind, name, data, _size in _names(subject):
        if data is None:
            yield rule.finding(f"The {kind} name {name!r} has characters that are not in Latin-1", name)


def name_too_long(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for kind, name, data, size in _names(subject):
        if data is not None and (len(data) > size or "\0" in name):
            yield rule.finding(f"The {kind} name {name!r} does not fit into {size} bytes", len(data))


def unterminated(wanted: str) -> Check:
    """A check that names of skins or frames leave room for their terminator."""

    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        for kind, name, data, size in _names(subject):
            if kind == wanted and len(data or b"") == size:
                what = f"The {kind} name {name!r} leaves no room for its terminator in {size} bytes"
                yield rule.finding(what, size)

    return check


def _names(subject: Subject) -> Iterator[tuple[str, str, bytes | None, int]]:
    """Each distinct name: its kind (skin or frame), itself, its bytes if it has any, and its field's size."""
    model = subject.model
    for kind, names, size in (("skin", model.skins, SKIN_NAME_SIZE), ("frame", model.frame_names, FRAME_NAME_SIZE)):
        for name in dict.fromkeys(names):
            try:
                data = name.encode(NAME_ENCODING)
            except UnicodeEncodeError:
                yield kind, name, None, size
            else:
                yield kind, name, data, size


def skin_not_image(rule: Rule, subject: Subject) -> Iterator[Finding]:
    names = [name for name in subject.model.skins if not name.lower().endswith(_IMAGES)]
    if names:
        listed = ", ".join(map(repr, names[:_NAMED]))
        yield rule.finding(f"skins that are not paths of images: {listed}", names[0])


def frame_names_empty(rule: Rule, subject: Subject) -> Iterator[Finding]:
    if "" in subject.model.frame_names:
        yield rule.finding("Frames have no names")


def _repeated_names(model: Model) -> int:
    return len(model.frame_names) - len(set(model.frame_names))


def frame_names_repeated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """More frames share a name than in the imported file."""
    repeated = _repeated_names(subject.model)
    if repeated and (subject.source is None or repeated > _repeated_names(subject.source)):
        yield rule.finding(f"{counted(repeated, 'frames', 'have')} the name of an earlier one", repeated)


# GL commands


def commands_differ(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The GL commands draw other triangles than the list has; degenerate ones do not count."""
    model = subject.model
    if not len(model.gl_commands.counts):
        return
    listed = sorted_numbers(model.triangles)
    drawn = sorted_numbers(drawn_triangles(model.gl_commands)[0])
    if not np.array_equal(listed, drawn):
        count = counted(len(drawn), "triangles")
        yield rule.finding(f"The GL commands draw {count}, not the {len(listed)} of the list", len(drawn))
