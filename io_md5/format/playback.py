"""Playback of an animation: the two frames around a time, and the interpolated pose (MD5 specification)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Animation, Floats, Ints
from .skeleton import local_poses


def frame_pair(
    seconds: npt.ArrayLike, frame_count: int, frame_rate: float, *, cyclic: bool = True
) -> tuple[Ints, Ints, Floats]:
    """The frames before and after a time, and the fraction between them.

    Args:
        seconds: since the first frame, of any shape.
        frame_count: F, at least 1.
        frame_rate: frames per second.
        cyclic: repeat at the end. The last frame of a cycle equals its first (Doom 3), so F frames last
            (F - 1) / frame_rate. Otherwise the last frame is held.

    Returns:
        The two frames, int32, and the fraction from 0 up to 1, float64, each of the shape of `seconds`.
    """
    last = frame_count - 1
    position = np.maximum(np.asarray(seconds, dtype=np.float64) * frame_rate, 0.0)
    position = np.mod(position, last) if cyclic and last > 0 else np.minimum(position, last)
    first = np.minimum(np.floor(position), last)
    second = np.minimum(first + 1, last)
    return first.astype(np.int32), second.astype(np.int32), position - first


def interpolate(
    positions_a: npt.ArrayLike,
    orientations_a: npt.ArrayLike,
    positions_b: npt.ArrayLike,
    orientations_b: npt.ArrayLike,
    fraction: npt.ArrayLike,
) -> tuple[Floats, Floats]:
    """The pose interpolated between two others: positions by lerp, orientations by slerp.

    Args:
        positions_a: (…, J, 3).
        orientations_a: unit quaternions (…, J, 4).
        positions_b: (…, J, 3).
        orientations_b: (…, J, 4).
        fraction: (…,), 0 for a and 1 for b.

    Returns:
        Positions (…, J, 3) and orientations (…, J, 4).
    """
    fraction = np.asarray(fraction, dtype=np.float64)[..., None]
    return quat.lerp(positions_a, positions_b, fraction), quat.slerp(orientations_a, orientations_b, fraction)


def local_pose_at(
    animation: Animation, seconds: npt.ArrayLike, *, cyclic: bool = True
) -> tuple[Floats, Floats]:
    """Every joint relative to its parent at a time, as in the games.

    Returns:
        Positions (…, J, 3) and orientations (…, J, 4) for times of shape (…).
    """
    positions, orientations = local_poses(animation)
    first, second, fraction = frame_pair(seconds, animation.frame_count, animation.frame_rate, cyclic=cyclic)
    return interpolate(
        positions[first], orientations[first], positions[second], orientations[second], fraction
    )
