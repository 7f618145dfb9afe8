"""The frames of an animation whose poses differ most from each other: there, Blender and games differ most."""

from __future__ import annotations

import numpy as np

from ..format import quaternions as quat
from ..format.model import ROOT, Floats, Ints

# Poses that are closer to each other than this count as the same.
_SAME = 1e-6


def distinct_frames(parents: Ints, positions: Floats, orientations: Floats, chosen: list[int]) -> list[int]:
    """As many frames as were chosen: the first and the last of them, and those with the most extreme poses.

    One after the other, the frame is taken whose pose differs most from all that were taken before: by the turn of a
    joint against its parent, its distance from it, or the turn or motion of a root. Where no pose differs, the chosen
    frame stays.

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
    longest = float(lengths.max(initial=0.0)) or 1.0
    lengths /= longest
    places = positions[:, roots]
    places = places / max(longest, float(np.linalg.norm(np.ptp(places, axis=0), axis=1).max()))
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
        take(most_different if nearest[most_different] > _SAME else frame)
    return sorted(set(result))
