"""The head of an .md5anim file: its joints, frames and rate, without its frames.

Files in id's layout begin with the counts and the hierarchy, a few kilobytes at most. Only these are read. A file in
another order, or in the layout before Doom 3's release, is read as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...io_common.files.sources import Source
from .anim_file import parse_animation, parse_hierarchy
from .model import Animation, Ints
from .text import blocks
from .text.contents import read_contents
from .text.heads import read_head, whole_file
from .text.scanner import Scan

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


def read_animation_header(source: Source) -> AnimationHeader:
    """The head of an .md5anim file. What follows it is not checked.

    Args:
        source: a path, the bytes of the file, or a binary file object.

    Raises:
        Md5Error: the head, or in unusual layouts the file, cannot be understood; the message names the line.
        OSError: it cannot be opened, or is not a regular file.
    """
    data, end, path = read_head(source, "hierarchy")
    header = _parse_head(data[:end], path) if end else None
    if header is not None:
        return header
    return _of_animation(parse_animation(whole_file(source, data), path))


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
