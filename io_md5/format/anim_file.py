"""The .md5anim file: the motion of a skeleton, frame by frame.

    MD5Version 10
    commandline "…"
    numFrames 2
    numJoints 2
    frameRate 24
    numAnimatedComponents 3
    hierarchy {
        "origin" -1 0 0                         // name, parent, flags, first component
        "hips" 0 7 0
    }
    bounds {
        ( -1 -1 0 ) ( 1 1 2 )                   // for each frame
        …
    }
    baseframe {
        ( 0 0 0 ) ( 0 0 0 )                     // position and x y z of the orientation, for each joint
        …
    }
    frame 0 {
        0 0 1
    }
    …

Every joint is relative to its parent. Doom 3 wants the keys in this order; they are read in any.
Counts and the numbers of frames are hints: the frames are those of the file, in its order.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import old_layout
from .model import ROOT, Animation, Floats, Ints
from .regular_files import read_file
from .skeleton import ALL_COMPONENTS, COMPONENTS
from .text import blocks, printing
from .text.contents import read_contents
from .text.frame_rows import extract_frames
from .text.scanner import IntArray, Scan


def read_animation(path: str | os.PathLike[str]) -> Animation:
    """Reads an .md5anim file.

    Raises:
        Md5Error: the file cannot be understood; the message names the place.
        OSError: it cannot be opened.
    """
    return parse_animation(read_file(path), os.fspath(path))


def parse_animation(data: bytes, path: str = "") -> Animation:
    """Reads the bytes of an .md5anim file.

    Args:
        data: the whole file.
        path: its name, for messages.

    Raises:
        Md5Error: the bytes cannot be understood; the message names the place.
    """
    scan = Scan(extract_frames(data), path)
    chunks: list[_Frames] = []

    def frames(token: int) -> int:
        chunk, after = _parse_frames(scan, token)
        chunks.append(chunk)
        return after

    contents = read_contents(
        scan,
        numbers=("numframes", "numjoints", "framerate", "numanimatedcomponents", "numchannels"),
        once=("hierarchy", "bounds", "baseframe"),
        repeated=("channel",),
        others={"frame": frames},
    )
    contents.warn_of_stray()
    if "hierarchy" in contents.opened:
        animation = _assemble(scan, contents.opened, chunks, contents.numbers)
    elif contents.repeated["channel"]:
        animation = old_layout.parse_channels(scan, contents.repeated["channel"])
    else:
        raise contents.missing("md5anim", "hierarchy")
    animation.commandline = contents.commandline
    animation.warnings = scan.warnings
    return animation


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames of equal size that follow each other.

    Attributes:
        token: the token of the first.
        rows: their components, float64 (n, C).
        numbers: what stands behind the word ``frame``, float64 (n,), or none.
    """

    token: int
    rows: Floats
    numbers: Floats


def _parse_frames(scan: Scan, token: int) -> tuple[_Frames, int]:
    """The frames from a token on, as many as are alike, and the token after them.

    In good files these are all frames at once.
    """
    taken_out = scan.rows(token)
    if taken_out is not None:
        return _Frames(token, taken_out[:, 1:], taken_out[:, 0]), token + 3
    blocks.check_only_numbers(scan, token + 1, "a frame")
    size = len(scan.values(token + 1))
    count = _alike(scan, token, size)
    if count > 1:
        last = token + 3 * count
        table = scan.numbers[scan.token_first_numbers[token] : scan.token_first_numbers[last - 1]].reshape(
            count, size + 1
        )
        return _Frames(token, table[:, 1:], table[:, 0]), last
    return _Frames(token, scan.values(token + 1)[None], scan.values(token)[:1]), token + 3


def _alike(scan: Scan, token: int, size: int) -> int:
    """How many times ``frame i { … }`` with `size` numbers, and nothing else, stands from a token on."""
    blocks_left = (len(scan) - token) // 3
    window = 1
    while True:
        # What is looked at is at most twice what is alike, however often frames differ.
        codes = scan.token_codes[token : token + 3 * window].reshape(window, 3)
        counts = scan.counts(token, token + 3 * window).reshape(window, 3)
        alike = (codes == codes[0]).all(axis=1) & (counts == (1, size, 0)).all(axis=1)
        if not alike.all():
            return int(np.argmin(alike))
        if window == blocks_left:
            return blocks_left
        window = min(2 * window, blocks_left)


def _assemble(
    scan: Scan, opened: dict[str, int], chunks: list[_Frames], header: dict[str, float]
) -> Animation:
    first = opened["hierarchy"] + 1
    last = scan.block_end(first - 1)
    blocks.check_begins_with_name(scan, first - 1)
    names = [scan.name(token) for token in range(first, last)]
    rows = blocks.table(scan, [(first, last)], 3, "the joint", "parent, flags, first component")
    parents = rows.indices(slice(0, 1), "the parent", len(names), lowest=ROOT)[:, 0]
    blocks.check_hierarchy(scan, names, parents, range(first, last))
    flags, starts = rows.integers(slice(1, 3), "flags or first component").T
    if (flags & ~ALL_COMPONENTS).any():
        scan.warnings.append("flags of joints have bits that mean nothing; ignored")
        flags = flags & ALL_COMPONENTS

    blocks.check_pose_count(scan, len(names), sum(len(chunk.rows) for chunk in chunks))
    frames = _join_frames(scan, chunks, header, _needed_components(scan, names, flags, starts, rows))
    base = _base_frame(scan, opened, len(names), needed=bool((flags != ALL_COMPONENTS).any()))
    blocks.check_count(scan, header.get("numjoints"), len(names), "joints")
    return Animation(
        names=names,
        parents=parents,
        flags=flags.copy(),
        starts=np.where(flags != 0, starts, 0).astype(np.int32),
        bounds=_bounds(scan, opened, len(frames)),
        base_positions=base[:, :3].copy(),
        base_orientations=base[:, 3:].copy(),
        frames=frames,
        frame_rate=blocks.frame_rate(scan, header.get("framerate", 0.0)),
    )


def _needed_components(
    scan: Scan, names: list[str], flags: Ints, starts: Ints, rows: blocks.Table
) -> IntArray:
    """How many components a frame must have for each joint, (J,)."""
    if (negative := np.flatnonzero((starts < 0) & (flags != 0))).size:
        joint = int(negative[0])
        raise rows.error(
            f"the first component of joint {names[joint]!r} does not exist", joint, 2, "0 or more"
        )
    sizes = ((flags[:, None] >> np.arange(len(COMPONENTS))) & 1).sum(axis=1)
    return np.where(flags != 0, starts.astype(np.int64) + sizes, 0)


def _join_frames(scan: Scan, chunks: list[_Frames], header: dict[str, float], needed: IntArray) -> Floats:
    """The frames of the file, float64 (F, C); the declared counts are hints."""
    if not chunks:
        raise scan.error("the animation has no frames", len(scan), expected="frame 0 { … }")
    least = int(needed.max(initial=0))
    sizes = {chunk.rows.shape[1] for chunk in chunks}
    for chunk in chunks:
        if chunk.rows.shape[1] < least:
            raise scan.error(
                "a frame has too few components for the flags of the joints", chunk.token,
                found=f"{chunk.rows.shape[1]} numbers", expected=f"{least} or more",
            )  # fmt: skip
    if len(sizes) > 1:
        scan.warnings.append("the frames differ in their number of components; what no joint uses is ignored")
        chunks = [_Frames(chunk.token, chunk.rows[:, :least], chunk.numbers) for chunk in chunks]
    frames = np.concatenate([chunk.rows for chunk in chunks])
    blocks.check_numbering(scan, np.concatenate([chunk.numbers for chunk in chunks]), "the frames")
    blocks.check_count(scan, header.get("numframes"), len(frames), "frames")
    blocks.check_count(scan, header.get("numanimatedcomponents"), frames.shape[1], "components in a frame")
    return frames


def _base_frame(scan: Scan, opened: dict[str, int], joint_count: int, *, needed: bool) -> Floats:
    """Positions and x y z of orientations of the base frame, float64 (J, 6)."""
    if "baseframe" not in opened and not needed:
        scan.warnings.append("there is no base frame; every component is animated, so none is needed")
        return np.zeros((joint_count, 6))
    if "baseframe" not in opened:
        raise scan.error("there is no base frame", len(scan), expected='a block "baseframe { … }"')
    blocks.check_only_numbers(scan, opened["baseframe"], "the base frame")
    values = scan.values(opened["baseframe"])
    if len(values) < 6 * joint_count:
        raise scan.error(
            "the base frame is incomplete", opened["baseframe"],
            found=f"{len(values)} numbers", expected=f"{6 * joint_count}, 6 for each joint",
        )  # fmt: skip
    if len(values) > 6 * joint_count:
        scan.warnings.append("the base frame holds more than the joints; the rest is ignored")
    return values[: 6 * joint_count].reshape(joint_count, 6)


def _bounds(scan: Scan, opened: dict[str, int], frame_count: int) -> Floats:
    """The boxes of the frames, float64 (B, 2, 3)."""
    values = scan.values(opened["bounds"]) if "bounds" in opened else np.empty(0)
    boxes = values[: len(values) // 6 * 6].reshape(-1, 2, 3).copy()
    if len(boxes) != frame_count or boxes.size != values.size:
        scan.warnings.append(f"there are bounds for {len(boxes)} frames instead of {frame_count}")
    return boxes


def write_animation(animation: Animation, path: str | os.PathLike[str]) -> None:
    """Writes an .md5anim file.

    Raises:
        Md5Error: a name or number cannot be written.
        OSError: the file cannot be written.
    """
    Path(path).write_bytes(format_animation(animation))


def format_animation(animation: Animation) -> bytes:
    """The bytes of an .md5anim file, laid out as id's exporter does.

    Raises:
        Md5Error: a name holds a character that no string of the format can, or a number is not finite.
    """
    names = [printing.quoted(name) for name in animation.names]
    parents = animation.parents.tolist()
    flags = animation.flags.tolist()
    comments = [
        _hierarchy_comment(animation, parent, flag) for parent, flag in zip(parents, flags, strict=True)
    ]
    base = np.column_stack([animation.base_positions, animation.base_orientations])
    starts = np.where(animation.flags != 0, animation.starts, 0)  # Doom 3 checks them even where none is used
    vectors = "\t( %s %s %s ) ( %s %s %s )"
    lines = [
        *printing.header(animation.commandline),
        f"numFrames {animation.frame_count}",
        f"numJoints {len(names)}",
        f"frameRate {printing.decimals([animation.frame_rate])[0]}",
        f"numAnimatedComponents {animation.frames.shape[1]}",
        "",
        "hierarchy {",
        *("\t%s\t%d %d %d\t//%s" % row for row in zip(
            names, parents, flags, starts.tolist(), comments, strict=True)),
        "}",
        "",
        "bounds {",
        *(vectors % row for row in zip(*printing.columns(animation.bounds.reshape(-1, 6)), strict=True)),
        "}",
        "",
        "baseframe {",
        *(vectors % row for row in zip(*printing.columns(base), strict=True)),
        "}",
    ]  # fmt: skip
    return "\n".join([*lines, _format_frames(animation)]).encode("utf-8", "surrogateescape")


def _hierarchy_comment(animation: Animation, parent: int, flags: int) -> str:
    """The parent's name and the animated components, as id's exporter notes them."""
    moving = [component for bit, component in enumerate(COMPONENTS) if flags >> bit & 1]
    above = f" {animation.names[parent]}" if parent != ROOT else ""
    return above + (f" ( {' '.join(moving)} )" if moving else "")


def _format_frames(animation: Animation) -> str:
    """The frames, a line for the components of each joint."""
    sizes = ((animation.flags[:, None] >> np.arange(len(COMPONENTS))) & 1).sum(axis=1)
    width = animation.frames.shape[1]
    # Where lines end in a frame; what no joint refers to stands on a line of its own.
    stops = np.unique(np.concatenate([(animation.starts + sizes)[sizes > 0], [width]]))
    lines = ["\t" + " ".join(["%f"] * count) for count in np.diff(stops, prepend=0).tolist()]
    layout = "\n".join(["", "frame %d {", *lines, "}"])
    return printing.rows(layout, np.arange(animation.frame_count), animation.frames)
