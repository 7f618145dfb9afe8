"""Animations with joints turned and moved by `md5adjust`.

From Sauerbraten's `skelmodel.h` (`skeladjust`) and `geom.h` (`dualquat::mulorient`): a joint relative to its parent is
turned by yaw around z, then pitch around -y, then roll around -x, and then moved by a quarter of the given lengths.
Turning keeps its position, but the part of it along the axis is multiplied by the cosine of the angle. y points to the
other side than in the files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..io_common.game_data.character import JointAdjustment
from ..io_md5.format import Animation
from ..io_md5.format import quaternions as quat
from ..io_md5.format.encoding import split_components
from ..io_md5.format.skeleton import components

_UNITS = 0.25
# The axis of yaw, pitch and roll in the file, and the direction.
_AXES = ((2, -1.0), (1, -1.0), (0, 1.0))


def adjustments_of(adjustments: Iterable[JointAdjustment], index: int) -> dict[str, JointAdjustment]:
    """The adjustments that apply to an animation, by joint: the last one of each.

    Args:
        adjustments: of a part.
        index: of the animation in the part.
    """
    found = {one.joint: one for one in adjustments if one.first_animation <= index}
    return {joint: one for joint, one in found.items() if any(one.rotation) or any(one.translation)}


def adjusted(animation: Animation, adjustments: dict[str, JointAdjustment]) -> Animation:
    """An animation with joints turned and moved; joints that it does not have are left out."""
    joints = {name: joint for joint, name in enumerate(animation.names) if name in adjustments}
    if not joints:
        return animation
    table = components(animation)
    for name, joint in joints.items():
        adjustment = adjustments[name]
        positions, orientations = table[:, joint, :3], quat.wxyz_from_xyz(table[:, joint, 3:])
        for degrees, (axis, direction) in zip(adjustment.rotation, _AXES, strict=True):
            angle = np.radians(degrees) * direction
            turn = np.zeros(4)
            turn[0], turn[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
            orientations = quat.normalise(quat.multiply(turn, orientations))
            positions[:, axis] *= np.cos(angle)
        x, y, z = adjustment.translation
        table[:, joint, :3] = positions + np.array((x, -y, z)) * _UNITS
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
