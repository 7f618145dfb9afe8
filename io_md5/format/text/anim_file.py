"""The .md5anim file: the motion of a skeleton, frame by frame, every joint relative to its parent.

    MD5Version 10
    commandline "…"
    numFrames 1
    numJoints 1
    frameRate 24
    numAnimatedComponents 3
    hierarchy {
        "origin" -1 7 0                         // name, parent, flags, first component
    }
    bounds {
        ( -1 -1 0 ) ( 1 1 2 )                   // for each frame
    }
    baseframe {
        ( 0 0 0 ) ( 0 0 0 )                     // position and x y z of the orientation, for each joint
    }
    frame 0 {
        0 0 1
    }

Doom 3 requires the keys in this order; any order is read, and counts are not used. Frames are ordered by their numbers,
which must be 0 to F - 1 (MD5 specification; Doom 3 also requires the order).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ....io_common.files import Source, Target, read_source, write_target
from ....io_common.skeletal.model import ROOT, Animation, AnimationHeader, Floats
from ....io_common.skeletal.skeleton import ALL_COMPONENTS, COMPONENTS, is_animated
from ....io_common.texts import counted
from ..model import Md5Error
from ..validation import validate_animation
from . import blocks, old_layout, printing
from .blocks import Contents, read_contents
from .columns import Offsets
from .rows import extract_frames
from .scanner import CLOSE, Scan, read_head, whole_file

_HIERARCHY = "parent, flags, first component"
_NUMBERS = ("numframes", "numjoints", "framerate", "numanimatedcomponents", "numchannels")


def read_animation(source: Source, name: str = "") -> Animation:
    """The animation in an .md5anim file; for source, name and errors see `read_mesh`."""
    return parse_animation(*read_source(source, name))


def parse_animation(data: bytes | bytearray | memoryview, name: str = "") -> Animation:
    """The animation in the bytes of an .md5anim file, of which `name` is the name for messages; raises Md5Error."""
    data = bytes(data)
    try:
        return _parse(Scan(extract_frames(data), name))
    except _NotExtractedError:
        # Only the scanner knows the line of each frame, or takes frames of several layouts.
        return _parse(Scan(data, name))


class _NotExtractedError(Exception):
    """Frames were extracted that have to be scanned."""


def read_animation_header(source: Source, name: str = "") -> AnimationHeader:
    """The head of an .md5anim file, without its frames. What follows it is not checked.

    Files in id's layout begin with the counts and the hierarchy, a few kilobytes at most. Only these are read. A file
    in another order, or in the layout before Doom 3's release, is read as a whole. Source, name and errors are those of
    `read_mesh`, but the file must be a regular one.
    """
    data, end, name = read_head(source, "hierarchy", name)
    with suppress(Md5Error, KeyError):
        scan = Scan(data[:end], name)
        contents = read_contents(scan, numbers=_NUMBERS, once=("hierarchy",))
        frames, rate = contents.numbers["numframes"], contents.numbers["framerate"]
        if 0 <= frames <= 1 << 31:
            names, parents, _ = blocks.read_joints(scan, contents.opened["hierarchy"], 3, _HIERARCHY)
            return AnimationHeader(names, parents, int(frames), blocks.frame_rate(scan, rate))
    whole = parse_animation(whole_file(source, data), name)
    return AnimationHeader(whole.names, whole.parents, whole.frame_count, whole.frame_rate, whole.has_hierarchy)


def _parse(scan: Scan) -> Animation:
    contents = read_contents(
        scan, numbers=_NUMBERS, once=("hierarchy", "bounds", "baseframe"), repeated=("frame", "channel")
    )
    if contents.is_current("md5anim", "hierarchy", "channel"):
        animation = _assemble(scan, contents)
    else:
        animation = old_layout.parse_channels(scan, contents.repeated["channel"])
    animation.commandline = contents.commandline
    animation.warnings = scan.warnings
    return animation


def _assemble(scan: Scan, contents: Contents) -> Animation:
    opened, header = contents.opened, contents.numbers
    names, parents, rows = blocks.read_joints(scan, opened["hierarchy"], 3, _HIERARCHY)
    flags, starts = rows.integers(slice(1, 3), "flags or first component").T
    if (flags & ~ALL_COMPONENTS).any():
        scan.warnings.append("flags of joints have unknown bits; ignored")
        flags = flags & ALL_COMPONENTS
    negative = np.flatnonzero((starts < 0) & (flags != 0))
    if len(negative):
        reason = f"the first component of joint {names[negative[0]]!r} does not exist"
        raise rows.error(reason, int(negative[0]), 2, "0 or more")
    ends = np.where(flags != 0, starts.astype(np.int64) + is_animated(flags).sum(axis=1), 0)

    frames = _frames(scan, contents, len(names), int(ends.max(initial=0)))
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


def _frames(scan: Scan, contents: Contents, joint_count: int, least: int) -> Floats:
    """The frames in the order of their numbers, (F, C); joints require `least` components."""
    openings = np.array(contents.repeated["frame"], dtype=np.int64)
    if not len(openings):
        raise scan.error("the animation has no frames", len(scan), expected="frame 0 { … }")
    extracted = scan.rows(int(openings[0]) - 1)
    if not scan.is_reduced:
        numbers, frames = _scanned_frames(scan, openings, joint_count, least)
    elif extracted is None or len(openings) > 1 or extracted.shape[1] <= least:
        raise _NotExtractedError
    else:
        numbers, frames = extracted[:, 0], extracted[:, 1:]
    count = len(frames)
    blocks.check_pose_count(scan, joint_count, count)
    blocks.check_count(scan, contents.numbers.get("numframes"), count, "frames")
    declared = contents.numbers.get("numanimatedcomponents")
    blocks.check_count(scan, declared, frames.shape[1], "components in a frame")
    if np.array_equal(numbers, np.arange(count)):
        return frames
    order = np.argsort(numbers, kind="stable")
    wrong = np.flatnonzero(numbers[order] != np.arange(count))
    if len(wrong):
        if extracted is not None:
            raise _NotExtractedError
        frame = int(order[wrong[0]])
        raise scan.error(
            f"the frames are not numbered 0 to {count - 1}, each once", int(openings[frame]) - 1,
            found=f"frame {numbers[frame]:.10g}", expected=f"frame {int(wrong[0])}",
        )  # fmt: skip
    scan.warnings.append("the frames are not in the order of their numbers; they are put in order")
    return frames[order]


def _scanned_frames(scan: Scan, openings: Offsets, joint_count: int, least: int) -> tuple[Floats, Floats]:
    """The numbers (F,) and the components (F, C) of frames, given their opening braces."""
    blocks.check_pose_count(scan, joint_count, len(openings))
    # What follows the numbers is the closing brace.
    for opening in openings[scan.token_codes[openings + 1] != CLOSE][:1].tolist():
        blocks.check_only_numbers(scan, opening, "a frame")
    firsts = scan.token_first_numbers
    sizes = firsts[openings + 1] - firsts[openings]
    for opening in openings[sizes < least][:1].tolist():
        raise scan.error(
            "a frame has too few components for the flags of the joints", opening - 1,
            found=counted(int(firsts[opening + 1] - firsts[opening]), "numbers"), expected=f"{least} or more",
        )  # fmt: skip
    for opening in openings[firsts[openings] == firsts[openings - 1]][:1].tolist():
        raise scan.error("a frame has no number", opening - 1, expected="frame 0 { … }")
    width = int(sizes[0])
    if (sizes != width).any():
        scan.warnings.append("the frames differ in their number of components; unused components are ignored")
        width = least
    frames = scan.numbers[firsts[openings][:, None] + np.arange(width)]
    return scan.numbers[firsts[openings - 1]], frames


def _base_frame(scan: Scan, opened: dict[str, int], joint_count: int, *, needed: bool) -> Floats:
    """Positions and x y z of orientations of the base frame, (J, 6)."""
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
    """The boxes of the frames, (F, 2, 3); the last is repeated for frames without one."""
    values = scan.values(opened["bounds"]) if "bounds" in opened else np.empty(0)
    boxes = values[: len(values) // 6 * 6].reshape(-1, 2, 3)
    if len(boxes) != frame_count or boxes.size != values.size:
        scan.warnings.append(f"there are bounds for {counted(len(boxes), 'frames')} instead of {frame_count}")
    if not len(boxes):
        return np.zeros((frame_count, 2, 3))
    return boxes[np.minimum(np.arange(frame_count), len(boxes) - 1)]


def write_animation(animation: Animation, target: Target) -> None:
    """Writes an .md5anim file to a path or binary file object; raises Md5Error as `format_animation`, or OSError."""
    write_target(format_animation(animation), target)


def format_animation(animation: Animation) -> bytes:
    """The bytes of an .md5anim file, in the layout of id's exporter; raises Md5Error as `validate_animation` does."""
    validate_animation(animation)
    names = [printing.quoted(name) for name in animation.names]
    parents = animation.parents.tolist()
    flags = animation.flags.tolist()
    comments = [_hierarchy_comment(animation, parent, flag) for parent, flag in zip(parents, flags, strict=True)]
    starts = np.where(animation.flags != 0, animation.starts, 0)  # Doom 3 checks starts even where no flag is set
    vectors = "\t( %f %f %f ) ( %f %f %f )"
    lines = [
        *printing.header(animation.commandline),
        f"numFrames {animation.frame_count}",
        f"numJoints {len(names)}",
        f"frameRate {printing.decimal(animation.frame_rate)}",
        f"numAnimatedComponents {animation.frames.shape[1]}",
        "",
        "hierarchy {",
        *("\t%s\t%d %d %d\t//%s" % row for row in zip(
            names, parents, flags, starts.tolist(), comments, strict=True)),
        "}",
        "",
        "bounds {",
        printing.rows(vectors, animation.bounds.reshape(-1, 6)) + "}",
        "",
        "baseframe {",
        printing.rows(vectors, animation.base_positions, animation.base_orientations) + "}",
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
    sizes = is_animated(animation.flags).sum(axis=1)
    width = animation.frames.shape[1]
    # The components after which lines end; those that no joint uses are on a line of their own.
    stops = np.unique(np.concatenate([(animation.starts + sizes)[sizes > 0], [width]]))
    lines = ["\t" + " ".join(["%f"] * count) for count in np.diff(stops, prepend=0).tolist()]
    layout = "\n".join(["", "frame %d {", *lines, "}"])
    return printing.rows(layout, np.arange(animation.frame_count), animation.frames)
