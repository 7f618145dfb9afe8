"""How the shape keys of an object play over the frames of the scene.

Import gives each key a curve that is 1 at its own frame and 0 at all others, or one curve of the evaluation time that
walks along the keys. As long as that is how they play, the keys are the frames. Otherwise the artist has re-timed or
mixed them, and the frames are what the scene shows.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..io_common.scene import versions

if TYPE_CHECKING:
    from bpy.types import FCurve, Key, Object, Scene, ShapeKey

    from .source import StoredModel

_SAME = 1e-4


class Playback(Enum):
    """How shape keys play."""

    STILL = "nothing animates them"
    IN_ORDER = "each key of the imported file shows alone at its own frame"
    OTHERWISE = "in any other way"


def shape_keys(obj: Object) -> Key | None:
    """The shape keys of a mesh object."""
    return obj.data.shape_keys


def frame_keys(obj: Object) -> list[ShapeKey]:
    """The shape keys that are frames: those that are not muted."""
    keys = shape_keys(obj)
    return [key for key in keys.key_blocks if not key.mute] if keys is not None else []


def playback_of(obj: Object, stored: StoredModel, scene: Scene) -> Playback:
    """How the keys of an imported object play.

    Args:
        obj: with shape keys.
        stored: what it was imported as.
        scene: that plays it.
    """
    keys = shape_keys(obj)
    if keys is None or not is_animated(keys):
        return Playback.STILL
    data = keys.animation_data
    is_plain = not data.drivers and not (data.use_nla and data.nla_tracks)
    if not is_plain or scene.render.frame_map_old != scene.render.frame_map_new:
        return Playback.OTHERWISE
    curves = {curve.data_path: curve for curve in versions.played_fcurves(data)}
    if any(curve.mute or len(curve.modifiers) for curve in curves.values()):
        return Playback.OTHERWISE
    plays = _relative_in_order if keys.use_relative else _absolute_in_order
    return Playback.IN_ORDER if plays(keys, curves, stored) else Playback.OTHERWISE


def is_animated(keys: Key) -> bool:
    """Whether anything animates shape keys."""
    data = keys.animation_data
    if data is None:
        return False
    return bool(data.action or data.drivers or (data.use_nla and data.nla_tracks))


def _relative_in_order(keys: Key, curves: dict[str, FCurve], stored: StoredModel) -> bool:
    first = stored.frame_start
    own_frames = {name: first + index for index, name in enumerate(stored.key_names)}
    blocks = list(keys.key_blocks)
    last = first + len(stored.key_names) - 1
    found, expected, added = _Points(2 * 3 * len(blocks)), [], []
    # The first one, the basis, shows where no other does.
    for position, key in enumerate(blocks[1:], 1):
        if key.mute:
            continue
        if not key.slider_min <= 0.0 <= key.slider_max:
            # It never shows less than that.
            return False
        name = key.name
        curve = curves.get(f'key_blocks["{_escaped(name)}"].value')
        frame = own_frames.get(name)
        if frame is None:
            added.append((position, key, curve))
            continue
        points = tent(frame, first, last)
        if curve is None or not found.read(curve, len(points)):
            return False
        expected += points
    if not found.equal(expected):
        return False
    if not added:
        return True
    frames = [own_frames[key.name] for key in blocks if key.name in own_frames]
    return all(
        _is_added_frame(key, curve, first + position, frames, list(curves.values()))
        for position, key, curve in added
    )


class _Points:
    """Keyframes of one curve after the other: frame and value of each.

    Args:
        size: the most numbers.
    """

    def __init__(self, size: int) -> None:
        self._values = np.empty(size, dtype=np.float32)
        self._end = 0

    def read(self, curve: FCurve, count: int) -> bool:
        """Reads the keyframes of a curve if these are as many numbers as they should be."""
        points = curve.keyframe_points
        if 2 * len(points) != count:
            return False
        points.foreach_get("co", self._values[self._end : self._end + count])
        self._end += count
        return True

    def equal(self, expected: list[float]) -> bool:
        """Whether what was read is what was expected."""
        return bool((np.abs(self._values[: self._end] - expected) <= _SAME).all())


def _is_added_frame(
    key: ShapeKey, curve: FCurve | None, own: int, others: list[int], curves: list[FCurve]
) -> bool:
    """Whether a key that is not in the file shows on no frame that is, and if it is animated, alone on its own one.

    Args:
        key: the key.
        curve: of its value.
        own: the frame that it would have by its place in the list.
        others: the frames of the keys of the file.
        curves: of all keys.
    """
    if curve is None:
        return key.value == 0.0 or not has_effect(key)
    if any(abs(curve.evaluate(frame)) > _SAME for frame in others if frame != own):
        return False
    return all(abs(other.evaluate(own) - (other == curve)) <= _SAME for other in curves)


def _escaped(name: str) -> str:
    return bpy.utils.escape_identifier(name)


def tent(frame: int, first: int, last: int) -> list[float]:
    """Frame and value of each keyframe of a key that shows alone at `frame`, from `first` to `last`."""
    if not first <= frame <= last:
        return [first, 0.0]
    points = [frame - 1, 0.0, frame, 1.0, frame + 1, 0.0]
    return points[2 * (frame == first) : 4 if frame == last else 6]


def has_effect(key: ShapeKey) -> bool:
    """Whether a key differs from the one that it is relative to."""
    count = 3 * len(key.data)
    own, other = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    key.points.foreach_get("co", own)
    key.relative_key.points.foreach_get("co", other)
    return not np.array_equal(own, other)


def _absolute_in_order(keys: Key, curves: dict[str, FCurve], stored: StoredModel) -> bool:
    curve = curves.get("eval_time")
    if curve is None:
        return False
    times = {key.name: key.frame for key in keys.key_blocks if not key.mute}
    return all(
        abs(curve.evaluate(stored.frame_start + index) - times[name]) <= _SAME
        for index, name in enumerate(stored.key_names)
        if name in times
    )


def played_range(obj: Object, stored: StoredModel | None) -> tuple[int, int] | None:
    """First and last frame of what plays on the shape keys of an object; None if nothing does.

    The range that import gave the action only counts as long as the keyframes fill it.
    """
    keys = shape_keys(obj)
    if keys is None or not is_animated(keys):
        return None
    data = keys.animation_data
    action = data.action
    ranges = [curve.range() for curve in versions.played_fcurves(data)]
    if action is not None and action.use_frame_range:
        manual = round(action.frame_start), round(action.frame_end)
        imported = stored and (stored.frame_start, stored.frame_start + len(stored.frame_names) - 1)
        if manual != imported or not ranges:
            return manual
    if data.use_nla:
        ranges += [
            (strip.frame_start, strip.frame_end)
            for track in data.nla_tracks
            if not track.mute
            for strip in track.strips
        ]
    if not ranges:
        return None
    return math.floor(min(first for first, _ in ranges)), math.ceil(max(last for _, last in ranges))


def shown_keys(obj: Object, frames: list[int]) -> list[str | None]:
    """The name of the key that shows alone on each frame of the scene; None where several do, or it is not known."""
    keys = shape_keys(obj)
    data = keys.animation_data if keys is not None else None
    if data is None or data.action is None or data.drivers or (data.use_nla and data.nla_tracks):
        return [None] * len(frames)
    curves = {curve.data_path: curve for curve in versions.played_fcurves(data) if not curve.mute}
    if not keys.use_relative:
        curve = curves.get("eval_time")
        names = {round(key.frame, 3): key.name for key in keys.key_blocks}
        return [names.get(round(curve.evaluate(frame), 3)) if curve else None for frame in frames]
    others = [key for key in keys.key_blocks if key != keys.reference_key and not key.mute]
    values = np.zeros((len(others), len(frames)))
    for row, key in enumerate(others):
        curve = curves.get(f'key_blocks["{_escaped(key.name)}"].value')
        values[row] = [curve.evaluate(frame) for frame in frames] if curve else key.value
    is_zero, is_one = np.abs(values) <= _SAME, np.abs(values - 1.0) <= _SAME
    shown: list[str | None] = []
    for column in range(len(frames)):
        ones = np.flatnonzero(is_one[:, column])
        if is_zero[:, column].all():
            shown.append(keys.reference_key.name)
        elif len(ones) == 1 and is_zero[:, column].sum() == len(others) - 1:
            shown.append(others[ones[0]].name)
        else:
            shown.append(None)
    return shown
