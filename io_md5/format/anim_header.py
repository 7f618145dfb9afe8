"""The head of an .md5anim file: its joints, frames and rate, without its frames.

Files in id's layout begin with the counts and the hierarchy, a few kilobytes at most. Only these are read. A file in
another order, or in the layout before Doom 3's release, is read as a whole.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from io import BufferedReader

from .anim_file import parse_animation, parse_hierarchy
from .model import Animation, Ints
from .regular_files import open_file
from .text import blocks
from .text.contents import read_contents
from .text.scanner import Scan

_CHUNK = 1 << 16
# Strings and comments are skipped: they may contain anything.
_PART = re.compile(
    rb'"[^"\r\n]*"?|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)|(?P<word>[A-Za-z_]\w*)|(?P<brace>[{}])'
)
_NUMBERS = ("numframes", "numjoints", "framerate", "numanimatedcomponents")


@dataclass(frozen=True, eq=False)
class AnimationHeader:
    """The head of an animation with J joints.

    Attributes:
        names: of the joints.
        parents: index of each joint's parent or `ROOT`, int32 (J,).
        frame_count: as declared; the number of frames if the whole file was read.
        frame_rate: frames per second.
        has_hierarchy: whether the file has parents, which the layout before Doom 3's release has not.
    """

    names: list[str]
    parents: Ints
    frame_count: int
    frame_rate: float
    has_hierarchy: bool = True


def read_animation_header(path: str | os.PathLike[str]) -> AnimationHeader:
    """The head of an .md5anim file. What follows it is not checked.

    Args:
        path: the file.

    Raises:
        Md5Error: the head, or in unusual layouts the file, cannot be understood; the message names the line.
        OSError: it cannot be opened, or is not a regular file.
    """
    with open_file(path) as file:
        data, end = _read_head(file)
    if end:
        header = _parse_head(data[:end], os.fspath(path))
        if header is not None:
            return header
        with open_file(path) as file:
            data = file.read()
    return _of_animation(parse_animation(data, os.fspath(path)))


def _read_head(file: BufferedReader) -> tuple[bytes, int]:
    """The bytes of a file up to the end of its hierarchy, and where that is; all bytes and 0 if there is none."""
    data = b""
    size = _CHUNK
    while chunk := file.read(size):
        data += chunk
        end = _hierarchy_end(data)
        if end:
            return data, end
        # Doubled, so that a long file without a hierarchy is searched in time in proportion to its length.
        size = len(data)
    return data, 0


def _hierarchy_end(data: bytes) -> int:
    """The offset after the brace that closes the hierarchy; 0 if it is not in the data."""
    is_named = is_open = False
    for part in _PART.finditer(data):
        if part["word"]:
            is_named = is_named or (not is_open and part["word"].lower() == b"hierarchy")
        elif part["brace"] == b"{":
            is_open = is_open or is_named
        elif part["brace"] == b"}" and is_open:
            return part.end()
    return 0


def _parse_head(data: bytes, path: str) -> AnimationHeader | None:
    """The head in the bytes up to the end of the hierarchy; None if a count or the rate is not among them."""
    scan = Scan(data, path)
    contents = read_contents(scan, numbers=_NUMBERS, once=("hierarchy",))
    frames, rate = contents.numbers.get("numframes"), contents.numbers.get("framerate")
    if "hierarchy" not in contents.opened or frames is None or rate is None or not 0 <= frames <= 1 << 31:
        return None
    names, parents, _ = parse_hierarchy(scan, contents.opened["hierarchy"])
    return AnimationHeader(names, parents, int(frames), blocks.frame_rate(scan, rate))


def _of_animation(animation: Animation) -> AnimationHeader:
    return AnimationHeader(
        animation.names,
        animation.parents,
        animation.frame_count,
        animation.frame_rate,
        animation.has_hierarchy,
    )
