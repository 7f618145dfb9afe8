"""The checks that rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.counting import counted
from ...io_common.findings import Finding
from .counts import Counts
from .glcommands import drawn_triangles
from .model import FRAME_NAME_SIZE, NAME_ENCODING, SKIN_NAME_SIZE
from .normal_table import NORMAL_COUNT
from .rules import Check, Rule, Subject

_IMAGES = (".pcx", ".wal", ".tga", ".png", ".jpg")
_NAMED = 5
_INT16 = np.iinfo(np.int16)
_WORDS = {
    "triangles": "triangles",
    "vertices": "vertices",
    "frames": "frames",
    "skins": "skins",
    "skin_width": "texels",
    "skin_height": "texels",
    "st": "texture coordinates",
}


def at_most(what: str) -> Check:
    """A check that a number is not above the limit; `what` is an attribute of `Counts`."""

    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        count = getattr(subject.counts, what)
        if count > rule.limit:
            yield rule.finding(
                _amount(what, count),
                count,
                **_beyond(what, rule.limit, count),
                is_in_source=_was_broken(subject.source_counts, what, lambda value: value > rule.limit),
            )

    return check


def at_least(what: str) -> Check:
    """A check that a number is not below the limit; `what` is an attribute of `Counts`."""

    def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
        count = getattr(subject.counts, what)
        if count < rule.limit:
            yield rule.finding(
                _amount(what, count),
                count,
                is_in_source=_was_broken(subject.source_counts, what, lambda value: value < rule.limit),
            )

    return check


def _amount(what: str, count: int) -> str:
    """What the model has of something."""
    if what in ("skin_width", "skin_height"):
        return f"The {what.replace('_', ' ')} is {counted(count, _WORDS[what])}"
    return f"The model has {counted(count, _WORDS[what]) if count else f'no {_WORDS[what]}'}"


def _beyond(what: str, limit: int, count: int) -> dict[str, Any]:
    """The indices of the surplus elements, where they can be selected."""
    return {what: range(limit, count)} if what in ("vertices", "triangles") else {}


def _was_broken(source_counts: Counts | None, what: str, breaks: Callable[[int], bool]) -> bool:
    return source_counts is not None and bool(breaks(getattr(source_counts, what)))


# Numbers


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
    """Texture coordinates do not fit into the file."""
    st = subject.model.st
    bad = np.asarray(((st < _INT16.min) | (st > _INT16.max)).any(axis=1))
    if bad.any():
        entry = int(np.flatnonzero(bad)[0])
        yield rule.finding(
            f"{counted(int(bad.sum()), 'texture coordinates', 'do')} not fit into 16 bits, "
            f"such as {st[entry].tolist()}",
            st[entry].tolist(),
            triangles=_triangles_of_st(subject, bad),
        )


def st_outside(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Texture coordinates lie outside the skin."""
    model = subject.model
    if model.skin_width <= 0 or model.skin_height <= 0:
        return
    skin_size = (model.skin_width, model.skin_height)
    outside = np.asarray(((model.st < 0) | (model.st >= skin_size)).any(axis=1))
    if outside.any():
        yield rule.finding(
            f"{counted(int(outside.sum()), 'texture coordinates', 'lie')} outside the skin",
            int(outside.sum()),
            triangles=_triangles_of_st(subject, outside),
        )


def empty_skin(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The skin has no texels."""
    counts, source_counts = subject.counts, subject.source_counts
    if counts.skin_width <= 0 or counts.skin_height <= 0:
        yield rule.finding(
            f"The skin is {counts.skin_width} x {counts.skin_height} texels",
            f"{counts.skin_width} x {counts.skin_height}",
            is_in_source=source_counts is not None
            and min(source_counts.skin_width, source_counts.skin_height) <= 0,
        )


def bad_normals(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Indices of normals are outside the table of normals."""
    bad = subject.model.normals >= NORMAL_COUNT
    if bad.any():
        yield rule.finding(
            f"{counted(int(bad.sum()), 'normal indices', 'are')} {NORMAL_COUNT} or more",
            int(bad.sum()),
            vertices=np.flatnonzero(bad.any(axis=0)),
        )


def _triangles_of_st(subject: Subject, chosen: NDArray[Any]) -> NDArray[np.int64]:
    """The triangles that use one of the chosen texture coordinates (S,)."""
    indices = subject.model.triangle_st
    inside = (indices >= 0) & (indices < len(chosen))
    uses = inside & np.append(chosen, False)[np.where(inside, indices, -1)]
    return np.flatnonzero(uses.any(axis=1))


# Names


def name_characters(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A name has characters that are not in Latin-1."""
    for kind, name, _size in _names(subject):
        if _bytes(name) is None:
            yield rule.finding(f"The {kind} name {name!r} has characters that are not in Latin-1", name)


def name_too_long(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A name does not fit into its field."""
    for kind, name, size in _names(subject):
        data = _bytes(name)
        if data is not None and (len(data) > size or "\0" in name):
            yield rule.finding(f"The {kind} name {name!r} does not fit into {size} bytes", len(data))


def skin_unterminated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The name of a skin leaves no room for its terminator."""
    yield from _unterminated(rule, subject, "skin")


def skin_not_image(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The name of a skin does not end like that of an image that Quake II loads."""
    names = [name for name in subject.model.skins if not name.lower().endswith(_IMAGES)]
    if names:
        yield rule.finding(
            f"skins that are not paths of images: {', '.join(map(repr, names[:_NAMED]))}", names[0]
        )


def frame_unterminated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The name of a frame leaves no room for its terminator."""
    yield from _unterminated(rule, subject, "frame")


def _unterminated(rule: Rule, subject: Subject, wanted: str) -> Iterator[Finding]:
    for kind, name, size in _names(subject):
        if kind == wanted and len(_bytes(name) or b"") == size:
            yield rule.finding(
                f"The {kind} name {name!r} leaves no room for its terminator in {size} bytes", size
            )


def frame_names_empty(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Frames have no names."""
    if "" in subject.model.frame_names:
        yield rule.finding("Frames have no names")


def frame_names_repeated(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """More frames share a name than in the imported file."""
    repeated = subject.counts.repeated_names
    known = subject.source_counts.repeated_names if subject.source_counts is not None else 0
    if repeated > known:
        yield rule.finding(f"{counted(repeated, 'frames', 'have')} the name of an earlier one", repeated)


def _names(subject: Subject) -> Iterator[tuple[str, str, int]]:
    """The distinct names: the kind (skin or frame), the name, and the size of its field in bytes."""
    model = subject.model
    for kind, names, size in (
        ("skin", model.skins, SKIN_NAME_SIZE),
        ("frame", model.frame_names, FRAME_NAME_SIZE),
    ):
        for name in dict.fromkeys(names):
            yield kind, name, size


def _bytes(name: str) -> bytes | None:
    try:
        return name.encode(NAME_ENCODING)
    except UnicodeEncodeError:
        return None


# GL commands


def commands_differ(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The GL commands draw other triangles than the list has; degenerate ones are invisible and do not count."""
    model = subject.model
    if not len(model.gl_commands.counts):
        return
    drawn, _ = drawn_triangles(model.gl_commands)
    listed, drawn = _sorted(model.triangles), _sorted(drawn)
    if not np.array_equal(listed, drawn):
        yield rule.finding(
            f"The GL commands draw {counted(len(drawn), 'triangles')}, not the {len(listed)} of the list",
            len(drawn),
        )


def _sorted(triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """The triangles (T, 3) that are not degenerate, each from its lowest vertex on, in rising order."""
    a, b, c = triangles.T
    proper = triangles[(a != b) & (b != c) & (c != a)]
    first = proper.argmin(axis=1)[:, None]
    rotated = np.take_along_axis(proper, (first + np.arange(3)) % 3, axis=1)
    result: NDArray[np.int32] = rotated[np.lexsort(rotated.T[::-1])]
    return result
