"""Animations with joints turned and moved by `md5adjust`.

From Sauerbraten's `skelmodel.h` (`skeladjust`) and `geom.h` (`dualquat::mulorient`): a joint relative to its parent is
turned by yaw around z, then pitch around -y, then roll around -x, and then moved by a quarter of the given lengths.
Turning keeps its position, but the part of it along the axis is multiplied by the cosine of the angle. y points to the
other side than in the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..io_common.game_data.character import JointAdjustment
from ..io_md5.format import Animation
from ..io_md5.format import quaternions as quat
from ..io_md5.format.model import Floats
from ..io_md5.format.skeleton import components, split_components

_UNITS = 0.25
_SMALLEST = 1e-6
# The axis of yaw, pitch and roll in the file, and the direction.
_AXES = ((2, -1.0), (1, -1.0), (0, 1.0))


def adjustments_of(adjustments: Iterable[JointAdjustment], index: int) -> dict[str, JointAdjustment]:
    """The adjustments that apply to the animation with this index in a part, by joint: the last one of each."""
    found = {one.joint: one for one in adjustments if one.first_animation <= index}
    return {joint: one for joint, one in found.items() if any(one.rotation) or any(one.translation)}


def adjusted(animation: Animation, adjustments: dict[str, JointAdjustment]) -> Animation:
    """An animation with joints turned and moved; joints that it does not have are left out."""
    return _changed(animation, adjustments, _adjust)


def unadjusted(animation: Animation, adjustments: dict[str, JointAdjustment]) -> Animation:
    """The animation that `adjusted` gives this one for."""
    return _changed(animation, adjustments, _restore)


def _changed(
    animation: Animation,
    adjustments: dict[str, JointAdjustment],
    change: Callable[[Floats, Floats, JointAdjustment], tuple[Floats, Floats]],
) -> Animation:
    joints = {name: joint for joint, name in enumerate(animation.names) if name in adjustments}
    if not joints:
        return animation
    table = components(animation)
    for name, joint in joints.items():
        positions, orientations = change(
            table[:, joint, :3].copy(), quat.wxyz_from_xyz(table[:, joint, 3:]), adjustments[name]
        )
        table[:, joint, :3] = positions
        table[:, joint, 3:] = quat.xyz_from_wxyz(orientations)
    flags, starts, base, frames = split_components(table, np.zeros(table.shape[1:]))
    return replace(
        animation,
        flags=flags,
        starts=starts,
        base_positions=base[:, :3].copy(),
        base_orientations=base[:, 3:].copy(),
        frames=frames,
    )


def _adjust(positions: Floats, orientations: Floats, adjustment: JointAdjustment) -> tuple[Floats, Floats]:
    for degrees, (axis, direction) in zip(adjustment.rotation, _AXES, strict=True):
        angle = np.radians(degrees) * direction
        orientations = quat.normalise(quat.multiply(_turn(axis, angle), orientations))
        positions[:, axis] *= np.cos(angle)
    return positions + _offset(adjustment), orientations


def _restore(positions: Floats, orientations: Floats, adjustment: JointAdjustment) -> tuple[Floats, Floats]:
    positions = positions - _offset(adjustment)
    for degrees, (axis, direction) in reversed(list(zip(adjustment.rotation, _AXES, strict=True))):
        angle = np.radians(degrees) * direction
        orientations = quat.normalise(quat.multiply(_turn(axis, -angle), orientations))
        # A right angle has lost the length along its axis.
        if abs(np.cos(angle)) > _SMALLEST:
            positions[:, axis] /= np.cos(angle)
    return positions, orientations


def _turn(axis: int, angle: float) -> Floats:
    turn = np.zeros(4)
    turn[0], turn[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return turn


def _offset(adjustment: JointAdjustment) -> Floats:
    x, y, z = adjustment.translation
    return np.array((x, -y, z)) * _UNITS
