"""Skeletons: hierarchies, poses relative to the parent or to the model, and animations made of poses.

``position = parent position + parent orientation · local position`` and
``orientation = parent orientation · local orientation``, normalised (MD5 specification).

An animation stores poses as small as a precision allows: a component that stays near its value in the first frame is in
the base frame only (id's exporter: 0.125 units and 1/8192). The w of a quaternion is computed from x y z, which
multiplies an error by 1 / w, so x y z are rounded more finely where w is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import DECIMALS, ROOT, Animation, AnimationHeader, Floats, Ints, Joints, SkeletalError, as_singles
from .quaternions import SMALL_W

COMPONENTS = ("Tx", "Ty", "Tz", "Qx", "Qy", "Qz")  # in the order of their flags, bit 0 first
ALL_COMPONENTS = (1 << len(COMPONENTS)) - 1  # the flags of a joint that is animated in every component
_UNKNOWN, _IN_PROGRESS = -1, -2


class CyclicHierarchyError(SkeletalError):
    """A cycle in a hierarchy; `joint` is the index of one of its joints."""

    def __init__(self, joint: int) -> None:
        super().__init__("a joint is its own ancestor")
        self.joint = joint


def depths(parents: npt.ArrayLike) -> Ints:
    """The number of ancestors, (J,); raises CyclicHierarchyError, or SkeletalError if a parent does not exist."""
    table = np.asarray(parents).tolist()
    if missing := [parent for parent in table if not ROOT <= parent < len(table)]:
        raise SkeletalError("a parent does not exist", found=str(missing[0]), expected=f"-1 to {len(table) - 1}")
    result = [_UNKNOWN] * len(table)
    for joint in range(len(table)):
        chain = []
        ancestor = joint
        while ancestor != ROOT and result[ancestor] == _UNKNOWN:
            result[ancestor] = _IN_PROGRESS
            chain.append(ancestor)
            ancestor = table[ancestor]
        if ancestor != ROOT and result[ancestor] == _IN_PROGRESS:
            raise CyclicHierarchyError(ancestor)
        depth = -1 if ancestor == ROOT else result[ancestor]
        for member in reversed(chain):
            depth += 1
            result[member] = depth
    return np.array(result, dtype=np.int32)


def ancestors(parents: Ints, joint: int) -> list[int]:
    """The ancestors of a joint, the nearest first."""
    result = []
    while (joint := int(parents[joint])) != ROOT:
        result.append(joint)
    return result


def first_indices(names: Sequence[str]) -> dict[str, int]:
    """The index of the first joint with each name."""
    return {name: joint for joint, name in reversed(list(enumerate(names)))}


def order_with_early_parents(parents: Ints, last: int) -> Ints | None:
    """The order in which no joint after index `last` has children, (J,); None if not needed or possible."""
    # Each parent must come before its children; joints without children come last.
    is_parent = np.zeros(len(parents), dtype=bool)
    is_parent[parents[parents != ROOT]] = True
    if parents.max(initial=ROOT) <= last or np.count_nonzero(is_parent) > last + 1:
        return None
    return np.argsort(~is_parent, kind="stable").astype(np.int32)


def compose(parents: npt.ArrayLike, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Joints in the space of the model from joints relative to their parents, float64 of the same shapes.

    Parents are int32 (J,), positions (…, J, 3), for instance one row for each frame, orientations unit quaternions w x
    y z (…, J, 4). Raises CyclicHierarchyError if a joint is its own ancestor, SkeletalError if a parent does not exist.
    """
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    parents = np.asarray(parents, dtype=np.int32)
    levels = depths(parents)
    order = np.argsort(levels, kind="stable")
    for joints in np.split(order, np.flatnonzero(np.diff(levels[order])) + 1)[1:]:
        parent = parents[joints]
        rotation = orientations[..., parent, :]
        positions[..., joints, :] = positions[..., parent, :] + quat.rotate(rotation, positions[..., joints, :])
        orientations[..., joints, :] = quat.normalise(quat.multiply(rotation, orientations[..., joints, :]))
    return positions, orientations


def decompose(parents: npt.ArrayLike, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The inverse of `compose`: joints relative to their parents from joints of a model; see `compose`."""
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    parents = np.asarray(parents, dtype=np.int32)
    joints = np.flatnonzero(parents != ROOT)
    parent = parents[joints]
    inverse = quat.conjugate(orientations[..., parent, :])
    offsets = positions[..., joints, :] - positions[..., parent, :]
    local_orientations = quat.multiply(inverse, orientations[..., joints, :])
    positions[..., joints, :] = quat.rotate(inverse, offsets)
    orientations[..., joints, :] = local_orientations
    return positions, orientations


def of_parents(parents: Ints, values: Floats) -> Floats:
    """The values (…, J, n) of each joint's parent, 1 for a root."""
    return np.where((parents != ROOT)[:, None], values[..., parents, :], 1.0)


def multiply_by_parents(parents: Ints, values: Floats) -> Floats:
    """Values (…, J, n) times those of all ancestors, as scales that children inherit."""
    result = values.copy()
    for joint in np.argsort(depths(parents), kind="stable").tolist():
        if parents[joint] != ROOT:
            result[..., joint, :] *= result[..., parents[joint], :]
    return result


def components(animation: Animation, frames: npt.ArrayLike | None = None) -> Floats:
    """Tx Ty Tz Qx Qy Qz of every joint in every frame, relative to its parent, float64 (F, J, 6).

    The values of the base frame, replaced by those of the frame where a flag is set (MD5 specification). `frames` are
    indices of the frames wanted; all if None.
    """
    rows = animation.frames if frames is None else animation.frames[np.asarray(frames)]
    base = np.concatenate([animation.base_positions, animation.base_orientations], axis=1)
    result = np.repeat(base[None], len(rows), axis=0)
    joints, bits, columns = component_columns(animation.flags, animation.starts)
    result[:, joints, bits] = rows[:, columns]
    return result


def is_animated(flags: Ints) -> npt.NDArray[np.bool_]:
    """Which components of each joint are animated, (J, 6)."""
    return np.asarray(flags[:, None] & (1 << np.arange(len(COMPONENTS))) != 0)


def component_columns(flags: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """Joints, components 0 … 5 and columns of the animated components in a frame, each (C,)."""
    animated = is_animated(flags)
    joints, bits = np.nonzero(animated)
    ranks = np.cumsum(animated, axis=1)[joints, bits] - 1
    columns = starts[joints] + ranks
    return joints.astype(np.int32), bits.astype(np.int32), columns.astype(np.int32)


def local_poses(
    animation: Animation, frames: npt.ArrayLike | None = None, *, as_read: bool = False
) -> tuple[Floats, Floats]:
    """Every joint relative to its parent: positions (F, J, 3) and orientations w x y z (F, J, 4).

    `frames` are indices of the frames wanted; all if None. With `as_read`, 32-bit floats are used, as games do.
    """
    table = components(animation, frames)
    if as_read:
        return as_singles(table[..., :3]).astype(np.float64), quat.wxyz_as_read(table[..., 3:])
    return table[..., :3].copy(), quat.wxyz_from_xyz(table[..., 3:])


def poses(animation: Animation, frames: npt.ArrayLike | None = None, *, as_read: bool = False) -> tuple[Floats, Floats]:
    """Every joint in the space of the model: positions (F, J, 3) and orientations w x y z (F, J, 4).

    `frames` and `as_read` are those of `local_poses`.
    """
    return compose(animation.parents, *local_poses(animation, frames, as_read=as_read))


class Precision(NamedTuple):
    """How exact the joints of an animation are: smaller changes are dropped."""

    position: float = 1e-5  # of a joint relative to its parent, in units
    orientation: float = 1e-6  # of the quaternion of a joint relative to its parent


PRECISION = Precision()  # that of animations unless another one is asked for


def encode_poses(
    names: list[str],
    parents: npt.ArrayLike,
    positions: npt.ArrayLike,
    orientations: npt.ArrayLike,
    *,
    frame_rate: float,
    bounds: npt.ArrayLike | None = None,
    commandline: str = "",
    precision: Precision = PRECISION,
) -> Animation:
    """An animation of poses in the space of the model.

    Parents are int32 (J,), positions (F, J, 3), orientations unit quaternions w x y z (F, J, 4). Bounds are the lower
    and upper corner of the model in each frame, (F, 2, 3), see `pose_bounds`; zeros if None.
    """
    local = decompose(parents, positions, orientations)
    return encode_local_poses(
        names, parents, *local, frame_rate=frame_rate, bounds=bounds, commandline=commandline, precision=precision
    )


def encode_local_poses(
    names: list[str],
    parents: npt.ArrayLike,
    positions: npt.ArrayLike,
    orientations: npt.ArrayLike,
    *,
    frame_rate: float,
    bounds: npt.ArrayLike | None = None,
    commandline: str = "",
    precision: Precision = PRECISION,
) -> Animation:
    """An animation of poses relative to the parents, with orientations w x y z; see `encode_poses`."""
    positions, orientations = np.asarray(positions, np.float64), np.asarray(orientations, np.float64)
    xyz = quat.xyz_from_wxyz(orientations)
    w = np.minimum(np.abs(orientations[..., :1]), 1.0)
    # Near half turns every digit counts.
    steps = np.where(w < SMALL_W, 0.0, precision.orientation * w)
    table = np.concatenate([_rounded(positions, np.full(1, precision.position)), _rounded(xyz, steps)], axis=-1)
    limits = np.empty((len(names), len(COMPONENTS)))
    limits[:, :3] = precision.position
    limits[:, 3:] = steps.min(axis=0)
    animation = Animation(names, np.asarray(parents, np.int32), frame_rate=frame_rate, commandline=commandline)
    boxes = np.zeros((len(positions), 2, 3)) if bounds is None else np.asarray(bounds, np.float64)
    return with_components(animation, table, bounds=boxes, limits=limits)


def with_components(
    animation: Animation, table: Floats, *, bounds: Floats | None = None, limits: npt.ArrayLike = 0.0
) -> Animation:
    """The animation with other components of all joints, (F, J, 6), and bounds; for limits see `split_components`."""
    flags, starts, base, frames = split_components(table, np.broadcast_to(limits, table.shape[1:]))
    return replace(
        animation, flags=flags, starts=starts, frames=frames, bounds=animation.bounds if bounds is None else bounds,
        base_positions=base[:, :3].copy(), base_orientations=base[:, 3:].copy(),
    )  # fmt: skip


def split_components(table: Floats, limits: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Flags (J,), starts (J,), base frame (J, 6) and frames (F, C) of Tx Ty Tz Qx Qy Qz, (F, J, 6)."""
    # The base frame is the first frame, as in id's exporter; a component is animated if any frame differs from it by
    # more than its limit, (J, 6), or that is below 0.
    base = table[0] if len(table) else np.zeros(table.shape[1:])
    animated = (np.abs(table - base) > limits).any(axis=0) | (limits < 0.0)
    flags = (animated << np.arange(len(COMPONENTS))).sum(axis=1).astype(np.int32)
    sizes = animated.sum(axis=1)
    starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, 0).astype(np.int32)
    return flags, starts, base.copy(), table[:, animated]


def _rounded(values: Floats, precision: Floats) -> Floats:
    """Values rounded to the decimals that the precision requires, at most those that are printed."""
    digits = np.clip(np.ceil(-np.log10(np.maximum(precision, 10.0**-DECIMALS))), 0, DECIMALS)
    factors = 10.0**digits
    return np.round(values * factors) / factors


Fit = Literal["full", "part", "none"]
"""How an animation fits a skeleton: it has exactly its joints, some of them, or none."""


@dataclass(frozen=True)
class Match:
    """Which joints of an animation move which bones.

    Attributes:
        joints: indices of joints of the animation.
        bones: the bone of each, as an index into the skeleton.
        extra: names of joints that the skeleton does not have.
        missing: names of bones that the animation does not move.
        differing: names of joints whose parent is another one than in the skeleton; they are not moved.
        renamed: names of joints that have one that is not that of their bone, of a skeleton whose joints match one to
            one in order and parents.
    """

    joints: list[int] = field(default_factory=list)
    bones: list[int] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the animation has exactly the joints of the skeleton."""
        return not (self.extra or self.missing or self.differing or self.renamed)

    @property
    def named_count(self) -> int:
        """How many joints were matched by their names."""
        return len(self.joints) - len(self.renamed)

    @property
    def fit(self) -> Fit:
        """How much of the skeleton the animation moves."""
        return "full" if self.is_complete else "part" if self.joints else "none"


def match_joints(animation: Animation | AnimationHeader, joints: Joints) -> Match:
    """The match between the joints of an animation and of a skeleton, the bones; of equal names the first is used.

    The joints may be others, or in another order; the head of the animation's file is enough. Joints with other names,
    or none, that match one to one in order and parents are those of the same skeleton.
    """
    match = Match()
    bones = first_indices(joints.names)
    animation_parents = _parent_names(animation.names, animation.parents)
    rig_parents = _parent_names(joints.names, joints.parents)
    for joint, name in enumerate(animation.names):
        bone = bones.pop(name, None)
        if bone is None:
            match.extra.append(name)
        elif animation.has_hierarchy and animation_parents[joint] != rig_parents[bone]:
            match.differing.append(name)
        else:
            match.joints.append(joint)
            match.bones.append(bone)
    match.missing.extend(joints.names[bone] for bone in sorted(bones.values()))
    if match.is_complete or not animation.has_hierarchy or not is_same_order(animation, joints):
        return match
    order, pairs = list(range(len(joints))), zip(animation.names, joints.names, strict=True)
    return Match(order, order, renamed=[name for name, bone_name in pairs if name and name != bone_name])


def is_same_order(animation: Animation | AnimationHeader | Joints, joints: Joints) -> bool:
    """Whether the joints match one to one in order and parents, and names that both have are of the same joint."""
    indices = first_indices(joints.names)
    return np.array_equal(animation.parents, joints.parents) and all(
        indices.get(name, joint) == joint for joint, name in enumerate(animation.names)
    )


def _parent_names(names: list[str], parents: Ints) -> list[str | None]:
    return [names[parent] if parent != ROOT else None for parent in parents.tolist()]
