"""Playback of an animation: the two frames around a time, the pose between them, and how it repeats.

Games interpolate poses relative to the parents, the MD5 specification after the skeletons are built; half-way between
two frames the results differ by up to 4 % of the size of a model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..frames import Wrap, find_frame_pair
from . import quaternions as quat
from .model import ROOT, Animation, Floats, Ints, SkeletalError
from .skeleton import components, compose, local_poses, poses
from .validation import check_components

Space = Literal["joints", "model"]
"""Where poses are interpolated: ``"joints"``, relative to the parents (the games); ``"model"``, as built skeletons."""

LoopType = Literal["closed", "open", "none"]
"""How an animation repeats.

``"closed"``: its last frame repeats the first; ``"open"``: it ends one step before its first frame; ``"none"``: it is
no loop, or has too few frames to tell.
"""

_SAME_POSE = 1e-6  # poses that are closer to each other than this count as the same

WRAPS: dict[LoopType, Wrap] = {"closed": "jump", "open": "blend", "none": "hold"}
"""The playback that suits each type of loop."""

# The first and last frame of a closed loop differ by no more than this part of the whole motion, and of a step.
_CLOSED, _CLOSED_STEP = 0.01, 0.25
# The step over the end of an open loop is no greater than this many times the greater of the steps beside it.
_OPEN = 1.5


def frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float, *, wrap: Wrap = "blend"
) -> tuple[Ints, Ints, Floats]:
    """The frames before and after some times, int32, and the fractions between them, float64.

    `seconds`, of any shape, count from the first frame; before it, ``"blend"`` and ``"jump"`` count backwards from the
    end, and ``"hold"`` shows the first frame. The whole animation is played from 0 to ``frame_count - 1``. Raises
    SkeletalError if there are no frames, or a time or the rate is not valid.
    """
    return find_frame_pair(seconds, first, last, frame_rate, wrap, SkeletalError)


def interpolate(
    start: tuple[npt.ArrayLike, npt.ArrayLike], end: tuple[npt.ArrayLike, npt.ArrayLike], fraction: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """The pose interpolated between two others: positions by lerp, orientations by slerp (MD5 specification).

    Each pose is positions (…, J, 3) and unit quaternions w x y z (…, J, 4). The fraction (…,) is 0 for the first and 1
    for the second; outside of these it goes on beyond them.
    """
    fraction = np.asarray(fraction, dtype=np.float64)[..., None]
    return quat.lerp(start[0], end[0], fraction), quat.slerp(start[1], end[1], fraction)


def pose_at(
    animation: Animation, seconds: npt.ArrayLike, space: Space = "joints", *, wrap: Wrap | None = None
) -> tuple[Floats, Floats]:
    """Every joint in the space of the model at some times (…): positions (…, J, 3) and orientations w x y z (…, J, 4).

    The space ``"joints"`` interpolates joints relative to their parents, then builds the skeleton (the games);
    ``"model"`` builds both skeletons, then interpolates (MD5 specification). With `wrap`, the cost does not depend on
    the number of frames. None calls `loop_type`, which looks at all frames: in a loop of a program, call it once and
    pass ``wrap=WRAPS[loop_type(animation)]``. Raises SkeletalError as `frame_pair` does.
    """
    if space == "joints":
        return compose(animation.parents, *local_pose_at(animation, seconds, wrap=wrap))
    if space != "model":
        raise SkeletalError("unknown space", found=repr(space), expected="'joints' or 'model'")
    return _interpolated(animation, seconds, wrap, poses)


def local_pose_at(animation: Animation, seconds: npt.ArrayLike, *, wrap: Wrap | None = None) -> tuple[Floats, Floats]:
    """Every joint relative to its parent at some times, as in the games; the same as `pose_at` otherwise."""
    return _interpolated(animation, seconds, wrap, local_poses)


def _interpolated(
    animation: Animation, seconds: npt.ArrayLike, wrap: Wrap | None, poses_of: Callable[..., tuple[Floats, Floats]]
) -> tuple[Floats, Floats]:
    """The pose at a time between those that a function gives for the frames around it."""
    check_components(animation)
    wrap = WRAPS[loop_type(animation)] if wrap is None else wrap
    first, second, fraction = frame_pair(seconds, 0, animation.frame_count - 1, animation.frame_rate, wrap=wrap)
    used, rows = np.unique(np.stack([first, second]), return_inverse=True)
    positions, orientations = poses_of(animation, used)
    first, second = rows.reshape(2, *first.shape)
    return interpolate((positions[first], orientations[first]), (positions[second], orientations[second]), fraction)


def loop_type(animation: Animation) -> LoopType:
    """How an animation repeats, judged by its animated components.

    It is closed if the last frame differs from the first by less than 1 % of the whole motion and a quarter of the
    greater of the steps beside the end. It is open if the step from the last frame to the first is no more than 1.5
    times that step, and less than half of the whole motion. Positions are divided by the extent of all positions, so
    that they weigh like quaternions.

    Raises:
        SkeletalError: its arrays do not fit together.
    """
    check_components(animation)
    return loop_type_of_components(components(animation))


def loop_type_of_components(table: Floats) -> LoopType:
    """How an animation with these components repeats, see `skeleton.components`, (F, J, 6)."""
    if len(table) < 3 or not table.shape[1]:
        return "none"
    lowest, highest = table.min(axis=0), table.max(axis=0)
    extent = float((highest[:, :3].max(axis=0) - lowest[:, :3].min(axis=0)).max()) or 1.0
    weights = np.where(np.arange(6) < 3, 1.0 / extent, 1.0)
    motion = float(np.linalg.norm((highest - lowest) * weights))
    if motion == 0.0:
        return "closed"
    ends = table[[-2, -1, 0, 1]]
    # A loop may end with the negative of its first quaternion, which is the same rotation.
    orientations = quat.make_continuous(quat.wxyz_from_xyz(ends[..., 3:]))
    four = np.concatenate([ends[..., :3] / extent, orientations], axis=2).reshape(4, -1)
    before, seam, after = np.linalg.norm(np.diff(four, axis=0), axis=1).tolist()
    neighbour = max(before, after)
    if seam == 0.0 or (seam <= _CLOSED * motion and seam <= _CLOSED_STEP * neighbour):
        return "closed"
    return "open" if seam <= _OPEN * neighbour and seam < motion / 2 else "none"


def distinct_frames(parents: Ints, positions: Floats, orientations: Floats, chosen: list[int]) -> list[int]:
    """As many frames as were chosen: the first and last, and those where Blender and games differ most."""
    # One after the other, the frame is taken whose pose differs most from all that were taken before: by the turn of a
    # joint against its parent, its distance from it, or the turn or motion of a root. Where none differs, the chosen
    # frame stays. Joints are in the space of the model; `chosen` has two or more ascending indices, or all.
    if not len(parents) or len(chosen) == len(positions):
        return chosen
    joints, roots = np.flatnonzero(parents != ROOT), np.flatnonzero(parents == ROOT)
    turns = orientations.copy()
    turns[:, joints] = quat.multiply(quat.conjugate(orientations[:, parents[joints]]), orientations[:, joints])
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
