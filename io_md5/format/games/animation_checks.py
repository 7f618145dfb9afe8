"""Checks of .md5anim files, and of numbers in both kinds of file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....io_common.counting import counted
from ....io_common.findings import Finding
from ..model import Animation
from ..skeleton import ALL_COMPONENTS, COMPONENTS
from . import skeleton_checks
from .rules import Rule, Subject, listing

# Smaller components of the base frame count as 0.
_ZERO = 1e-6


def joint_numbers(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A joint of the bind pose or base frame has a number that is not finite."""
    if subject.model is not None:
        joints = subject.model.joints
        names, table = joints.names, np.column_stack([joints.positions, joints.orientations])
    elif subject.animation is not None:
        animation = subject.animation
        names = animation.names
        table = np.column_stack([animation.base_positions, animation.base_orientations])
    else:
        return
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        yield rule.finding(
            f"a joint has a number that is not finite: {listing([names[joint] for joint in bad])}", joints=bad
        )


def frame_numbers(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A frame holds a number that is not finite."""
    if subject.animation is not None and not np.isfinite(subject.animation.frames).all():
        frame = int(np.flatnonzero(~np.isfinite(subject.animation.frames).all(axis=1))[0])
        yield rule.finding(f"frame {frame} holds a number that is not finite", frame)


def no_frames(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There is no frame."""
    if subject.animation is not None and subject.animation.frame_count == 0:
        yield rule.finding("there are no frames", 0)


def frame_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """There are more frames than the limit."""
    count = subject.animation.frame_count if subject.animation is not None else 0
    if count > rule.limit:
        yield rule.finding(counted(count, "frames"), count)


def rate_positive(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The frame rate is not positive."""
    rate = subject.frame_rate
    if rate is not None and not rate > 0.0:
        yield rule.finding(f"a frame rate of {rate:g}", f"{rate:g}")


def rate_below_one(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The frame rate is below the limit."""
    rate = subject.frame_rate
    if rate is not None and 0.0 < rate < rule.limit:
        yield rule.finding(f"a frame rate of {rate:g}", f"{rate:g}")


def rate_fraction(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The frame rate is not a whole number; the finding gives the rate in the game."""
    rate = subject.frame_rate
    if rate is None or rate < 1.0 or not math.isfinite(rate) or rate == math.floor(rate):
        return
    used = math.floor(rate)
    yield rule.finding(
        f"a frame rate of {rate:g}: {rule.engine} will play {counted(used, 'frames')} per second", f"{rate:g}"
    )


def bounds_count(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The number of bounds is not the number of frames."""
    animation = subject.animation
    if animation is not None and len(animation.bounds) != animation.frame_count:
        yield rule.finding(
            f"there are bounds for {counted(len(animation.bounds), 'frames')} instead of {animation.frame_count}",
            len(animation.bounds),
        )


def components(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A joint's components do not exist: starts must be in [0, C) even where no flag is set, if C is not 0."""
    animation = subject.animation
    if animation is None:
        return
    count = animation.frames.shape[1] if animation.frames.ndim == 2 else 0
    sizes = np.array([int(flags).bit_count() for flags in animation.flags.tolist()], dtype=np.int64)
    starts = animation.starts.astype(np.int64)
    wrong = np.flatnonzero((starts < 0) | (starts + sizes > count) | ((count > 0) & (starts >= count)))
    if len(wrong):
        names = listing([animation.names[joint] for joint in wrong])
        yield rule.finding(f"components of joints do not exist: {names}", names, joints=wrong)


def other_joints(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The joints are not those of the mesh, index by index."""
    animation, joints = subject.animation, subject.joints
    if animation is None or joints is None:
        return
    if len(animation.names) != len(joints):
        yield rule.finding(
            f"{counted(len(animation.names), 'joints')}, but {len(joints)} in the mesh", len(animation.names)
        )
        return
    differ = [
        index
        for index, (name, parent) in enumerate(zip(animation.names, animation.parents.tolist(), strict=True))
        if name != joints.names[index] or parent != joints.parents[index]
    ]
    if differ:
        names = listing([animation.names[joint] for joint in differ])
        yield rule.finding(
            f"its joints are not those of the mesh, index by index: {names}", names, joints=differ
        )


def several_roots(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """An animation has more than one root joint."""
    if subject.animation is not None:
        yield from skeleton_checks.several_roots(rule, subject)


def base_root_away(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """The first joint's base translation is farther from the origin than the limit."""
    animation = subject.animation
    if animation is None or not len(animation.base_positions):
        return
    mesh = subject.joints
    if mesh is not None and mesh.names[:1] == ["origin"] and np.linalg.norm(mesh.positions[0]) <= rule.limit:
        # Add Root Bone adds none above a joint of that name which is there in the mesh.
        rule = replace(rule, remedy="key it at the origin in the first frame")
    yield from skeleton_checks.root_away(rule, animation.names[0], animation.base_positions[0])


def base_frame_needed(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A component without a flag is not 0 in the base frame."""
    animation = subject.animation
    if animation is None:
        return
    joints = np.flatnonzero(_only_in_base_frame(animation).any(axis=1))
    if len(joints):
        names = listing([animation.names[joint] for joint in joints])
        yield rule.finding(
            f"components of {counted(len(joints), 'joints')} are only in the base frame: {names}",
            len(joints),
            joints=joints,
        )


def _only_in_base_frame(animation: Animation) -> np.ndarray:
    """Which components are not 0 and have no flag, bool (J, 6)."""
    base = np.column_stack([animation.base_positions, animation.base_orientations])
    flagged = ((animation.flags & ALL_COMPONENTS)[:, None] >> np.arange(len(COMPONENTS))) & 1
    result: np.ndarray = (np.abs(base) > _ZERO) & (flagged == 0)
    return result
