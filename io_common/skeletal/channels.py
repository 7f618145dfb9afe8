"""Joints as ten channels relative to their parents, translation, rotation x y z w and scale, as IQM has them; and back.

There a joint scales its children, and has a scale for each axis, also in the bind pose. The shared model has no scale
in the bind pose, and its `ScaleTable` one scale for each joint, which its children do not inherit. So positions of the
shared model include the scales of the parents, and a `ScaleTable` has the scale of a joint relative to its bind pose
with those of its parents: what `skin` needs, and what keys a bone whose *Inherit Scale* is *None*. A joint that scales
its axes differently gets their mean, with a warning. Scales of the bind pose are relative to the parent, (J, 3).
"""

from __future__ import annotations

import numpy as np

from ..texts import listing
from . import quaternions as quat
from .model import LARGEST, Animation, Floats, Ints, Joints, SkeletalError
from .scales import NamedAnimation, ScaleTable, scaled_poses
from .skeleton import compose, decompose, local_poses, multiply_by_parents, of_parents, with_components

# What 32 bits lose after some steps: relative to the size of a skeleton or a value, of quaternions and scales.
SAME = 1e-5
_SAME_SCALE = 2e-5  # scales that are nearer to each other are one: 16 bits round them
_WXYZ, _XYZW = [6, 3, 4, 5], [1, 2, 3, 0]


@np.errstate(over="ignore", invalid="ignore")
def joints_of_channels(names: list[str], parents: Ints, channels: Floats, scales: Floats) -> Joints:
    """The bind pose of channels, (J, 10), with the scales of the bind pose; raises SkeletalError if it is too large."""
    above = of_parents(parents, multiply_by_parents(parents, scales))
    positions, orientations = compose(parents, channels[:, :3] * above, quat.normalise(channels[:, _WXYZ]))
    _check_size(positions, "the bind pose")
    return Joints(list(names), parents.copy(), positions, _with_negative_w(orientations))


def channels_of_joints(joints: Joints, scales: Floats) -> Floats:
    """The channels of a bind pose with scales, (J, 10)."""
    above = of_parents(joints.parents, multiply_by_parents(joints.parents, scales))
    positions, turns = decompose(joints.parents, joints.positions, joints.orientations)
    return np.hstack([positions / above, _with_negative_w(turns)[:, _XYZW], scales])


@np.errstate(over="ignore", invalid="ignore")
def animation_of_channels(
    name: str, names: list[str], parents: Ints, channels: Floats, scales: Floats, frame_rate: float
) -> NamedAnimation:
    """An animation of channels, (F, J, 10), of joints whose bind pose has scales; SkeletalError if it is too large."""
    relative = channels[..., 7:] / scales
    uneven = uneven_joints(relative, names)
    even = relative.mean(axis=-1, keepdims=True)
    even[np.abs(even - 1.0) < _SAME_SCALE] = 1.0
    sizes = multiply_by_parents(parents, even)
    above = of_parents(parents, multiply_by_parents(parents, scales)) * of_parents(parents, sizes)
    turns = _with_negative_w(quat.normalise(channels[..., _WXYZ]))
    table = np.concatenate([channels[..., :3] * above, turns[..., 1:]], axis=2)
    _check_size(np.concatenate([table, sizes], axis=2), f"the animation {name!r}")
    animation = Animation(list(names), parents.copy(), frame_rate=frame_rate)
    animation = with_components(animation, table, bounds=np.zeros((len(table), 2, 3)))
    if uneven:
        animation.warnings.append(f"axes of joints are scaled differently, their mean is used: {listing(uneven)}")
    found = ScaleTable(sizes[..., 0], np.zeros(len(names), dtype=bool))
    return NamedAnimation(name, animation, found if found.is_used else None)


def channels_of_animation(one: NamedAnimation, scales: Floats) -> Floats:
    """The channels of an animation of joints whose bind pose has scales, (F, J, 10)."""
    parents = one.animation.parents
    if one.scales is None:
        places, turns = local_poses(one.animation)
        sizes = np.ones((*turns.shape[:2], 1))
    else:
        places, turns = decompose(parents, *scaled_poses(one.animation, one.scales))
        sizes = one.scales.values[..., None]
    inherited = of_parents(parents, sizes)
    # What hangs on a joint of no size has none either.
    inherited = np.where(inherited == 0.0, 1.0, inherited)
    above = inherited * of_parents(parents, multiply_by_parents(parents, scales))
    turns = quat.make_continuous(_with_negative_w(turns))[..., _XYZW]
    return np.concatenate([places / above, turns, sizes / inherited * scales], axis=2)


def is_same_animation(one: NamedAnimation, other: NamedAnimation) -> bool:
    """Whether two animations of one skeleton move its joints alike, but for what 32 bits lose."""
    poses, expected = local_poses(one.animation), local_poses(other.animation)
    if poses[0].shape != expected[0].shape or one.animation.frame_rate != other.animation.frame_rate:
        return False
    size = max(1.0, float(np.abs(expected[0]).max(initial=0.0)))
    ours, theirs = (np.ones(1) if found.scales is None else found.scales.values for found in (one, other))
    return bool(
        np.abs(poses[0] - expected[0]).max(initial=0.0) <= SAME * size
        and np.abs(np.einsum("fji,fji->fj", poses[1], expected[1])).min(initial=1.0) >= 1.0 - SAME**2 / 2
        and np.abs(ours - theirs).max(initial=0.0) <= SAME
    )


def without_bind_scales(table: ScaleTable, parents: Ints, scales: Floats) -> ScaleTable:
    """The scales of an animation that was read without those of the bind pose, relative to it."""
    values = table.values / multiply_by_parents(parents, scales).mean(axis=1)
    return ScaleTable(np.where(np.abs(values - 1.0) < _SAME_SCALE, 1.0, values), table.scales_position)


def uneven_joints(scales: Floats, names: list[str]) -> list[str]:
    """The names of joints whose axes (…, J, 3) have different scales."""
    differs = np.ptp(scales, axis=-1) > _SAME_SCALE * np.abs(scales).max(axis=-1)
    return [names[joint] or f"joint {joint}" for joint in np.flatnonzero(np.atleast_2d(differs).any(axis=0)).tolist()]


def _with_negative_w(orientations: Floats) -> Floats:
    return np.where(orientations[..., :1] > 0.0, -orientations, orientations)


def _check_size(values: Floats, what: str) -> None:
    if not (np.abs(values) <= LARGEST).all():
        raise SkeletalError(f"{what} is too large: scales of joints multiply", expected="numbers of 32 bits")
