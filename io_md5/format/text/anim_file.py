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

Every joint is relative to its parent. Doom 3 requires the keys in this order; any order is read.
Counts are not used. Frames are ordered by their numbers, which must be 0 to F - 1 (MD5 specification; Doom 3 also
requires the order).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....io_common.counting import counted
from ....io_common.files.sources import Source, Target, read_source, write_target
from ..model import ROOT, Animation, Floats, Ints, Md5Error
from ..skeleton import ALL_COMPONENTS, COMPONENTS
from ..validation import validate_animation
from . import blocks, old_layout, printing
from .blocks import read_contents
from .rows import extract_frames
from .scanner import IntArray, Scan, read_head, whole_file


def read_animation(source: Source) -> Animation:
    """The animation in an .md5anim file.

    Args:
        source: a path, the bytes of the file, or a binary file object.

    Raises:
        Md5Error: the file cannot be understood; the message names the line.
        OSError: it cannot be opened.
    """
    return parse_animation(*read_source(source))


def parse_animation(data: bytes | bytearray | memoryview, path: str = "") -> Animation:
    """The animation in the bytes of an .md5anim file.

    Args:
        data: the whole file.
        path: its name, for messages.

    Raises:
        Md5Error: the bytes cannot be understood; the message names the line.
    """
    data = bytes(data)
    try:
        return _parse(Scan(extract_frames(data), path))
    except _UnknownLineError:
        # Only the scanner knows the line of each frame.
        return _parse(Scan(data, path))


class _UnknownLineError(Exception):
    """An error in frames that were extracted."""


def _parse(scan: Scan) -> Animation:
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
    """Consecutive frames of equal size.

    Attributes:
        token: of the first frame.
        rows: the components, float64 (n, C).
        numbers: the numbers after the word ``frame``, float64 (n,); may be empty.
    """

    token: int
    rows: Floats
    numbers: Floats


def _parse_frames(scan: Scan, token: int) -> tuple[_Frames, int]:
    """The frames of equal size that begin at a token, and the token after them.

    In valid files these are all frames.
    """
    extracted = scan.rows(token)
    if extracted is not None:
        return _Frames(token, extracted[:, 1:], extracted[:, 0]), token + 3
    blocks.check_only_numbers(scan, token + 1, "a frame")
    size = len(scan.values(token + 1))
    count = _equal_frame_count(scan, token, size)
    if count > 1:
        last = token + 3 * count
        table = scan.numbers[scan.token_first_numbers[token] : scan.token_first_numbers[last - 1]].reshape(
            count, size + 1
        )
        return _Frames(token, table[:, 1:], table[:, 0]), last
    return _Frames(token, scan.values(token + 1)[None], scan.values(token)[:1]), token + 3


def _equal_frame_count(scan: Scan, token: int, size: int) -> int:
    """The count of consecutive ``frame i { … }`` blocks with exactly `size` numbers that begin at a token."""
    blocks_left = (len(scan) - token) // 3
    window = 1
    while True:
        # At most twice as many frames are compared as are equal, so frames that differ cost no quadratic time.
        codes = scan.token_codes[token : token + 3 * window].reshape(window, 3)
        counts = scan.counts(token, token + 3 * window).reshape(window, 3)
        is_equal = (codes == codes[0]).all(axis=1) & (counts == (1, size, 0)).all(axis=1)
        if not is_equal.all():
            return int(np.argmin(is_equal))
        if window == blocks_left:
            return blocks_left
        window = min(2 * window, blocks_left)


def parse_hierarchy(scan: Scan, opening: int) -> tuple[list[str], Ints, blocks.Table]:
    """The names of the joints, their parents (J,), and the rows of the hierarchy, given its opening brace.

    Raises Md5Error if a row is incomplete, a parent does not exist, or a joint is its own ancestor.
    """
    first = opening + 1
    last = scan.block_end(opening)
    blocks.check_begins_with_name(scan, opening)
    names = [scan.name(token) for token in range(first, last)]
    rows = blocks.table(scan, [(first, last)], 3, "the joint", "parent, flags, first component")
    parents = rows.indices(slice(0, 1), "the parent", len(names), lowest=ROOT)[:, 0]
    blocks.check_hierarchy(scan, names, parents, range(first, last))
    return names, parents, rows


def _assemble(
    scan: Scan, opened: dict[str, int], chunks: list[_Frames], header: dict[str, float]
) -> Animation:
    names, parents, rows = parse_hierarchy(scan, opened["hierarchy"])
    flags, starts = rows.integers(slice(1, 3), "flags or first component").T
    if (flags & ~ALL_COMPONENTS).any():
        scan.warnings.append("flags of joints have unknown bits; ignored")
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
    """The count of components that each joint requires in a frame, (J,)."""
    if (negative := np.flatnonzero((starts < 0) & (flags != 0))).size:
        joint = int(negative[0])
        raise rows.error(
            f"the first component of joint {names[joint]!r} does not exist", joint, 2, "0 or more"
        )
    sizes = ((flags[:, None] >> np.arange(len(COMPONENTS))) & 1).sum(axis=1)
    return np.where(flags != 0, starts.astype(np.int64) + sizes, 0)


def _join_frames(scan: Scan, chunks: list[_Frames], header: dict[str, float], needed: IntArray) -> Floats:
    """The frames of the file, float64 (F, C); declared counts are only compared."""
    if not chunks:
        raise scan.error("the animation has no frames", len(scan), expected="frame 0 { … }")
    min_size = int(needed.max(initial=0))
    sizes = {chunk.rows.shape[1] for chunk in chunks}
    for chunk in chunks:
        if chunk.rows.shape[1] < min_size:
            raise scan.error(
                "a frame has too few components for the flags of the joints", chunk.token,
                found=counted(chunk.rows.shape[1], "numbers"), expected=f"{min_size} or more",
            )  # fmt: skip
    if len(sizes) > 1:
        scan.warnings.append("the frames differ in their number of components; unused components are ignored")
        chunks = [_Frames(chunk.token, chunk.rows[:, :min_size], chunk.numbers) for chunk in chunks]
    frames = np.concatenate([chunk.rows for chunk in chunks]) if len(chunks) > 1 else chunks[0].rows
    blocks.check_count(scan, header.get("numframes"), len(frames), "frames")
    blocks.check_count(scan, header.get("numanimatedcomponents"), frames.shape[1], "components in a frame")
    order = _frame_order(scan, chunks, len(frames))
    return frames if order is None else frames[order]


def _frame_order(scan: Scan, chunks: list[_Frames], count: int) -> IntArray | None:
    """The position in the file of each frame 0 … F - 1, (F,); None if they are in order.

    Raises Md5Error if a frame has no number, or the numbers are not 0 to F - 1, each once.
    """
    for chunk in chunks:
        if len(chunk.numbers) != len(chunk.rows):
            raise scan.error("a frame has no number", chunk.token, expected="frame 0 { … }")
    numbers = np.concatenate([chunk.numbers for chunk in chunks])
    if np.array_equal(numbers, np.arange(count)):
        return None
    order = np.argsort(numbers, kind="stable")
    wrong = np.flatnonzero(numbers[order] != np.arange(count))
    if len(wrong):
        frame = int(order[wrong[0]])
        firsts = np.cumsum([0, *(len(chunk.rows) for chunk in chunks)])
        at = int(np.searchsorted(firsts, frame, side="right")) - 1
        if scan.rows(chunks[at].token) is not None:
            raise _UnknownLineError
        token = chunks[at].token + 3 * (frame - int(firsts[at]))
        raise scan.error(
            f"the frames are not numbered 0 to {count - 1}, each once", token,
            found=f"frame {numbers[frame]:.10g}", expected=f"frame {int(wrong[0])}",
        )  # fmt: skip
    scan.warnings.append("the frames are not in the order of their numbers; they are put in order")
    return order


def _base_frame(scan: Scan, opened: dict[str, int], joint_count: int, *, needed: bool) -> Floats:
    """Positions and x y z of orientations of the base frame, float64 (J, 6)."""
    if "baseframe" not in opened and not needed:
        scan.warnings.append("there is no base frame; it is not needed, because every component is animated")
        return np.zeros((joint_count, 6))
    if "baseframe" not in opened:
        raise scan.error("there is no base frame", len(scan), expected='a block "baseframe { … }"')
    blocks.check_only_numbers(scan, opened["baseframe"], "the base frame")
    values = scan.values(opened["baseframe"])
    if len(values) < 6 * joint_count:
        raise scan.error(
            "the base frame is incomplete", opened["baseframe"],
            found=counted(len(values), "numbers"), expected=f"{6 * joint_count}, 6 for each joint",
        )  # fmt: skip
    if len(values) > 6 * joint_count:
        scan.warnings.append("the base frame has more values than the joints need; the rest is ignored")
    return values[: 6 * joint_count].reshape(joint_count, 6)


def _bounds(scan: Scan, opened: dict[str, int], frame_count: int) -> Floats:
    """The boxes of the frames, float64 (F, 2, 3); the last is repeated for frames without one."""
    values = scan.values(opened["bounds"]) if "bounds" in opened else np.empty(0)
    boxes = values[: len(values) // 6 * 6].reshape(-1, 2, 3)
    if len(boxes) != frame_count or boxes.size != values.size:
        scan.warnings.append(f"there are bounds for {counted(len(boxes), 'frames')} instead of {frame_count}")
    if not len(boxes):
        return np.zeros((frame_count, 2, 3))
    return boxes[np.minimum(np.arange(frame_count), len(boxes) - 1)]


def write_animation(animation: Animation, target: Target) -> None:
    """Writes an .md5anim file.

    Args:
        animation: what to write.
        target: a path or a binary file object.

    Raises:
        Md5Error: a name or number cannot be written.
        OSError: the file cannot be written.
    """
    write_target(format_animation(animation), target)


def format_animation(animation: Animation) -> bytes:
    """The bytes of an .md5anim file, in the layout of id's exporter.

    Raises:
        Md5Error: the animation is not valid; see `validate_animation`.
    """
    validate_animation(animation)
    names = [printing.quoted(name) for name in animation.names]
    parents = animation.parents.tolist()
    flags = animation.flags.tolist()
    comments = [
        _hierarchy_comment(animation, parent, flag) for parent, flag in zip(parents, flags, strict=True)
    ]
    base = np.column_stack([animation.base_positions, animation.base_orientations])
    starts = np.where(
        animation.flags != 0, animation.starts, 0
    )  # Doom 3 checks starts even where no flag is set
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
    data = "\n".join([*lines, _format_frames(animation)]).encode("utf-8", "surrogateescape")
    poses = len(names) * animation.frame_count
    if poses > blocks.pose_limit(len(data)):
        raise Md5Error(
            "Animation.frames: too many frames without motion for a file of this size",
            found=f"{counted(len(names), 'joints')} in {counted(animation.frame_count, 'frames')}",
            expected=f"at most {blocks.pose_limit(len(data))} joint poses, or the file could not be read",
        )  # fmt: skip
    return data


def _hierarchy_comment(animation: Animation, parent: int, flags: int) -> str:
    """The parent's name and the animated components, as in the comments of id's exporter."""
    animated = [component for bit, component in enumerate(COMPONENTS) if flags >> bit & 1]
    parent_name = f" {animation.names[parent]}" if parent != ROOT else ""
    return parent_name + (f" ( {' '.join(animated)} )" if animated else "")


def _format_frames(animation: Animation) -> str:
    """The text of the frames, with a line for the components of each joint."""
    sizes = ((animation.flags[:, None] >> np.arange(len(COMPONENTS))) & 1).sum(axis=1)
    width = animation.frames.shape[1]
    # The components after which lines end; those that no joint uses are on a line of their own.
    stops = np.unique(np.concatenate([(animation.starts + sizes)[sizes > 0], [width]]))
    lines = ["\t" + " ".join(["%f"] * count) for count in np.diff(stops, prepend=0).tolist()]
    layout = "\n".join(["", "frame %d {", *lines, "}"])
    return printing.rows(layout, np.arange(animation.frame_count), animation.frames)


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
