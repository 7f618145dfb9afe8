"""The frames of an animation whose poses differ most from each other.

Blender and games differ where bones turn far, as with *Preserve Volume* or B-Bones. This may be on a few frames only.
"""

from __future__ import annotations

import numpy as np

from .format import quaternions as quat
from .format.model import ROOT, Floats, Ints

# Poses that are closer to each other than this count as the same.
_SAME = 1e-6


def distinct_frames(parents: Ints, positions: Floats, orientations: Floats, chosen: list[int]) -> list[int]:
    """As many frames as were chosen: the first and the last of them, and those with the most extreme poses.

    One after the other, the frame is taken whose pose differs most from all that were taken before. Where no pose
    differs, the chosen frame stays. The motion of the root does not count, as it bends nothing.

    Args:
        parents: int32 (J,).
        positions: of the joints in the space of the model, (F, J, 3).
        orientations: quaternions w x y z (F, J, 4).
        chosen: indices of all frames, or of at least two, rising.

    Returns:
        Indices of frames, rising.
    """
    joints = np.flatnonzero(parents != ROOT)
    if not len(joints) or len(chosen) == len(positions):
        return chosen
    above = parents[joints]
    turns = quat.multiply(quat.conjugate(orientations[:, above]), orientations[:, joints])
    lengths = np.linalg.norm(positions[:, joints] - positions[:, above], axis=2)
    lengths /= lengths.max() or 1.0
    nearest = np.full(len(turns), np.inf)
    result: list[int] = []

    def take(frame: int) -> None:
        result.append(frame)
        turned = 1.0 - np.abs(np.einsum("fjc,jc->fj", turns, turns[frame]))
        stretched = (lengths - lengths[frame]) ** 2
        np.minimum(nearest, np.maximum(turned, stretched).max(axis=1), out=nearest)

    take(chosen[0])
    take(chosen[-1])
    for frame in chosen[1:-1]:
        furthest = int(nearest.argmax())
        take(furthest if nearest[furthest] > _SAME else frame)
    return sorted(set(result))
