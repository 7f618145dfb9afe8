"""Skeletons: hierarchies, and poses relative to the parent or to the model (MD5 specification).

A joint's transform relative to its parent is composed as
``position = parent position + parent orientation · local position`` and
``orientation = parent orientation · local orientation``, normalised.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .errors import Md5Error
from .model import ROOT, Animation, Floats, Ints, as_singles

COMPONENTS = ("Tx", "Ty", "Tz", "Qx", "Qy", "Qz")
"""The components of a joint in the order of their flags, bit 0 first."""

ALL_COMPONENTS = (1 << len(COMPONENTS)) - 1
"""The flags of a joint that is animated in every component."""

_UNKNOWN, _IN_PROGRESS = -1, -2

# Poses that are closer to each other than this count as the same.
_SAME_POSE = 1e-6


class CyclicHierarchyError(Md5Error):
    """A cycle in a hierarchy; `joint` is the index of one of its joints."""

    def __init__(self, joint: int) -> None:
        super().__init__("a joint is its own ancestor")
        self.joint = joint


def depths(parents: npt.ArrayLike) -> Ints:
    """The number of ancestors of each joint, int32 (J,).

    A parent is -1 for a root, and may come after its child. Raises CyclicHierarchyError if a joint is its own ancestor,
    and Md5Error if a parent does not exist.
    """
    table = np.asarray(parents).tolist()
    if missing := [parent for parent in table if not ROOT <= parent < len(table)]:
        raise Md5Error("a parent does not exist", found=str(missing[0]), expected=f"-1 to {len(table) - 1}")
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


def order_with_early_parents(parents: Ints, last: int) -> Ints | None:
    """The order in which no joint after index `last` has children, (J,): those without children come last.

    None if it is so already, or if more joints than that have children. Each parent must come before its children.
    """
    is_parent = np.zeros(len(parents), dtype=bool)
    is_parent[parents[parents != ROOT]] = True
    if parents.max(initial=ROOT) <= last or np.count_nonzero(is_parent) > last + 1:
        return None
    return np.argsort(~is_parent, kind="stable").astype(np.int32)


def compose(parents: Ints, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Joints in the space of the model from joints relative to their parents.

    Args:
        parents: int32 (J,).
        positions: (…, J, 3), for instance one row for each frame.
        orientations: unit quaternions w x y z (…, J, 4).

    Returns:
        Positions and orientations w x y z of the same shapes, float64.

    Raises:
        CyclicHierarchyError: a joint is its own ancestor.
        Md5Error: a parent does not exist.
    """
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    levels = depths(parents)
    order = np.argsort(levels, kind="stable")
    for joints in np.split(order, np.flatnonzero(np.diff(levels[order])) + 1)[1:]:
        parent = parents[joints]
        rotation = orientations[..., parent, :]
        positions[..., joints, :] = positions[..., parent, :] + quat.rotate(
            rotation, positions[..., joints, :]
        )
        orientations[..., joints, :] = quat.normalise(quat.multiply(rotation, orientations[..., joints, :]))
    return positions, orientations


def decompose(parents: Ints, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Joints relative to their parents from joints in the space of the model: the inverse of `compose`.

    Args:
        parents: int32 (J,).
        positions: (…, J, 3).
        orientations: unit quaternions w x y z (…, J, 4).

    Returns:
        Positions and orientations w x y z of the same shapes, float64.
    """
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    joints = np.flatnonzero(parents != ROOT)
    parent = parents[joints]
    inverse = quat.conjugate(orientations[..., parent, :])
    offsets = positions[..., joints, :] - positions[..., parent, :]
    local_orientations = quat.multiply(inverse, orientations[..., joints, :])
    positions[..., joints, :] = quat.rotate(inverse, offsets)
    orientations[..., joints, :] = local_orientations
    return positions, orientations


def components(animation: Animation, frames: npt.ArrayLike | None = None) -> Floats:
    """Tx Ty Tz Qx Qy Qz of every joint in every frame, relative to its parent, float64 (F, J, 6).

    The values of the base frame, replaced by those of the frame where a flag is set (MD5 specification).

    Args:
        animation: with J joints.
        frames: indices of the frames wanted, (F,); all if None.
    """
    rows = animation.frames if frames is None else animation.frames[np.asarray(frames)]
    base = np.concatenate([animation.base_positions, animation.base_orientations], axis=1)
    result = np.repeat(base[None], len(rows), axis=0)
    joints, bits, columns = component_columns(animation.flags, animation.starts)
    result[:, joints, bits] = rows[:, columns]
    return result


def component_columns(flags: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """The column of each animated component in a frame: joints, components 0 … 5 and columns, each int32 (C,)."""
    animated = flags[:, None] & (1 << np.arange(len(COMPONENTS))) != 0
    joints, bits = np.nonzero(animated)
    ranks = np.cumsum(animated, axis=1)[joints, bits] - 1
    columns = starts[joints] + ranks
    return joints.astype(np.int32), bits.astype(np.int32), columns.astype(np.int32)


def local_poses(
    animation: Animation, frames: npt.ArrayLike | None = None, *, as_read: bool = False
) -> tuple[Floats, Floats]:
    """Every joint relative to its parent: positions (F, J, 3) and orientations w x y z (F, J, 4).

    Args:
        animation: with J joints.
        frames: indices of the frames wanted, (F,); all if None.
        as_read: as games read them, with 32-bit floats.
    """
    table = components(animation, frames)
    if as_read:
        return as_singles(table[..., :3]).astype(np.float64), quat.wxyz_as_read(table[..., 3:])
    return table[..., :3].copy(), quat.wxyz_from_xyz(table[..., 3:])


def poses(
    animation: Animation, frames: npt.ArrayLike | None = None, *, as_read: bool = False
) -> tuple[Floats, Floats]:
    """Every joint in the space of the model: positions (F, J, 3) and orientations w x y z (F, J, 4).

    Args:
        animation: with J joints.
        frames: indices of the frames wanted, (F,); all if None.
        as_read: as games read them, with 32-bit floats.
    """
    return compose(animation.parents, *local_poses(animation, frames, as_read=as_read))


def distinct_frames(parents: Ints, positions: Floats, orientations: Floats, chosen: list[int]) -> list[int]:
    """As many frames as were chosen: the first and the last of them, and those with the most extreme poses.

    There, Blender and games differ most. One after the other, the frame is taken whose pose differs most from all that
    were taken before: by the turn of a joint against its parent, its distance from it, or the turn or motion of a root.
    Where no pose differs, the chosen frame stays.

    Joints are in the space of the model: positions (F, J, 3), orientations w x y z (F, J, 4). `chosen` has the rising
    indices of all frames, or of at least two; the result rises too.
    """
    if not len(parents) or len(chosen) == len(positions):
        return chosen
    joints, roots = np.flatnonzero(parents != ROOT), np.flatnonzero(parents == ROOT)
    turns = orientations.copy()
    turns[:, joints] = quat.multiply(
        quat.conjugate(orientations[:, parents[joints]]), orientations[:, joints]
    )
    lengths = np.linalg.norm(positions[:, joints] - positions[:, parents[joints]], axis=2)
    longest_bone = float(lengths.max(initial=0.0)) or 1.0
    lengths /= longest_bone
    places = positions[:, roots]
    places = places / max(longest_bone, float(np.linalg.norm(np.ptp(places, axis=0), axis=1).max()))
    nearest = np.full(len(turns), np.inf)
    result: list[int] = []

    def take(frame: int) -> None:
        result.append(frame)
        turned = 1.0 - np.abs(np.einsum("fjc,jc->fj", turns, turns[frame]))
        stretched = (lengths - lengths[frame]) ** 2
        moved = ((places - places[frame]) ** 2).sum(axis=2)
        furthest = [part.max(axis=1, initial=0.0) for part in (turned, stretched, moved)]
        np.minimum(nearest, np.maximum.reduce(furthest), out=nearest)

    take(chosen[0])
    take(chosen[-1])
    for frame in chosen[1:-1]:
        most_different = int(nearest.argmax())
        take(most_different if nearest[most_different] > _SAME_POSE else frame)
    return sorted(set(result))
