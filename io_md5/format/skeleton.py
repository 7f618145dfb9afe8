"""Skeletons: what a hierarchy must be, and how joints are placed along it (MD5 specification).

A joint's transform relative to its parent is composed as
``position = parent position + parent orientation · local position`` and
``orientation = parent orientation · local orientation``, normalised.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import ROOT, Animation, Floats, Ints

COMPONENTS = ("Tx", "Ty", "Tz", "Qx", "Qy", "Qz")
"""The components of a joint in the order of their flags, bit 0 first."""

ALL_COMPONENTS = (1 << len(COMPONENTS)) - 1
"""The flags of a joint that is animated in every component."""

_UNKNOWN, _IN_PROGRESS = -1, -2


class CyclicHierarchyError(ValueError):
    """Joints that are each other's ancestors; `joint` is the index of one of them."""

    def __init__(self, joint: int) -> None:
        super().__init__("a joint is its own ancestor")
        self.joint = joint


def depths(parents: npt.ArrayLike) -> Ints:
    """How many ancestors each joint has, int32 (J,).

    Args:
        parents: (J,), -1 for a root; a parent may come after its child.

    Raises:
        CyclicHierarchyError: joints are each other's ancestors.
    """
    table = np.asarray(parents).tolist()
    result = [_UNKNOWN] * len(table)
    for joint in range(len(table)):
        chain = []
        at = joint
        while at != ROOT and result[at] == _UNKNOWN:
            result[at] = _IN_PROGRESS
            chain.append(at)
            at = table[at]
        if at != ROOT and result[at] == _IN_PROGRESS:
            raise CyclicHierarchyError(at)
        depth = -1 if at == ROOT else result[at]
        for member in reversed(chain):
            depth += 1
            result[member] = depth
    return np.array(result, dtype=np.int32)


def compose(parents: Ints, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Joints in the space of the model from joints relative to their parents.

    Args:
        parents: int32 (J,).
        positions: (…, J, 3), for instance a row for each frame.
        orientations: unit quaternions (…, J, 4).

    Returns:
        Positions and orientations of the same shapes, float64.

    Raises:
        CyclicHierarchyError: joints are each other's ancestors.
    """
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    levels = depths(parents)
    order = np.argsort(levels, kind="stable")
    for joints in np.split(order, np.flatnonzero(np.diff(levels[order])) + 1)[1:]:
        above = parents[joints]
        turn = orientations[..., above, :]
        positions[..., joints, :] = positions[..., above, :] + quat.rotate(turn, positions[..., joints, :])
        orientations[..., joints, :] = quat.normalise(quat.multiply(turn, orientations[..., joints, :]))
    return positions, orientations


def decompose(parents: Ints, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Joints relative to their parents from joints in the space of the model: the inverse of `compose`.

    Args:
        parents: int32 (J,).
        positions: (…, J, 3).
        orientations: unit quaternions (…, J, 4).

    Returns:
        Positions and orientations of the same shapes, float64.
    """
    positions = np.array(positions, dtype=np.float64)
    orientations = np.array(orientations, dtype=np.float64)
    joints = np.flatnonzero(parents != ROOT)
    above = parents[joints]
    back = quat.conjugate(orientations[..., above, :])
    offsets = positions[..., joints, :] - positions[..., above, :]
    local_orientations = quat.multiply(back, orientations[..., joints, :])
    positions[..., joints, :] = quat.rotate(back, offsets)
    orientations[..., joints, :] = local_orientations
    return positions, orientations


def components(animation: Animation) -> Floats:
    """Tx Ty Tz Qx Qy Qz of every joint in every frame, relative to its parent, float64 (F, J, 6).

    The base frame's values, replaced by the frame's where a flag says so (MD5 specification).
    """
    base = np.concatenate([animation.base_positions, animation.base_orientations], axis=1)
    result = np.repeat(base[None], animation.frame_count, axis=0)
    joints, bits, columns = component_columns(animation.flags, animation.starts)
    result[:, joints, bits] = animation.frames[:, columns]
    return result


def component_columns(flags: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """Where each animated component stands in a frame: joints, components 0 … 5 and columns, each int32 (C,)."""
    animated = flags[:, None] & (1 << np.arange(len(COMPONENTS))) != 0
    joints, bits = np.nonzero(animated)
    ranks = np.cumsum(animated, axis=1)[joints, bits] - 1
    columns = starts[joints] + ranks
    return joints.astype(np.int32), bits.astype(np.int32), columns.astype(np.int32)


def local_poses(animation: Animation) -> tuple[Floats, Floats]:
    """Every joint relative to its parent in every frame: positions (F, J, 3) and orientations (F, J, 4)."""
    table = components(animation)
    return table[..., :3].copy(), quat.with_w(table[..., 3:])


def poses(animation: Animation) -> tuple[Floats, Floats]:
    """Every joint in the space of the model in every frame: positions (F, J, 3) and orientations (F, J, 4)."""
    return compose(animation.parents, *local_poses(animation))
