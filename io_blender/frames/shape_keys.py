"""Shape keys as the frames of a model, relative to the first, the basis: making, showing, and how they play.

Import gives each key a curve that is 1 at its own frame, 0 at all others and linear between, as games mix two frames;
or one curve of the evaluation time for absolute keys. While they play like that, the keys are the frames; otherwise the
frames are what the scene shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import FCurve, Key, Object, Scene, ShapeKey

from ...io_common import names
from .. import state, versions
from ..records import SourceFrames
from ..scene.mesh_data import read_array
from ..scene.time_dependence import is_animated

_TOLERANCE = 1e-4
# The evaluation time of late frames has only three exact decimals.
_TIME_TOLERANCE = 1e-3


def shape_keys(obj: Object) -> Key | None:
    """The shape keys of a mesh object; None if it has none."""
    return obj.data.shape_keys  # type: ignore[union-attr, no-any-return]


def frame_keys(obj: Object) -> list[ShapeKey]:
    """The shape keys that are frames: those that are not muted."""
    keys = shape_keys(obj)
    return [key for key in keys.key_blocks if not key.mute] if keys is not None else []


def value_path(name: str) -> str:
    """The data path of the value of a shape key with that name."""
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


def has_effect(key: ShapeKey) -> bool:
    """Whether a shape key differs from the one that it is relative to."""
    return not np.array_equal(read_array(key.points, "co", 3), read_array(key.relative_key.points, "co", 3))


def add_frame_keys(
    obj: Object, frame_names: Sequence[str], positions: npt.NDArray[np.floating], *, relative: bool
) -> list[str]:
    """Makes a shape key of each frame, (F, V, 3) in the scene's space; returns their names in Blender."""
    # The object has no shape keys, and its mesh has the shape of the first frame.
    points = np.ascontiguousarray(positions, dtype=np.float32).reshape(len(frame_names), -1)
    wanted = [names.for_blender(name, versions.MAX_NAME, "frame") for name in frame_names]
    key_names = []
    for name, coordinates in zip(names.distinct(wanted, versions.MAX_NAME), points, strict=True):
        key = obj.shape_key_add(name=name, from_mix=False)
        # `points` is `data` without a wrapper for every point: forty times as fast.
        key.points.foreach_set("co", coordinates)
        key_names.append(key.name)
    keys = shape_keys(obj)
    # Blender 5 gives new keys the value 1.
    keys.key_blocks.foreach_set("value", np.zeros(len(key_names), dtype=np.float32))
    keys.use_relative = relative
    obj.active_shape_key_index = 0
    return key_names


def full_value(key: ShapeKey) -> float:
    """The value at which a shape key has its whole effect: 1, or what its range has nearest to that."""
    return min(max(1.0, key.slider_min), key.slider_max)


def differs_from_stored(keys: Key, key: ShapeKey) -> bool:
    """Whether a shape key at its full value gives other positions than those stored in it."""
    # A vertex group, a range of values without 1, or another key than the basis to be relative to do that.
    if not keys.use_relative or key == keys.reference_key:
        return False
    return bool(key.vertex_group) or key.relative_key != keys.reference_key or full_value(key) != 1.0


@contextmanager
def solo_keys(objects: Sequence[Object]) -> Iterator[Callable[[Object, int], None]]:
    """Yields a function that shows a shape key of an object alone; restores what was shown before."""
    all_keys = [keys for obj in objects if (keys := shape_keys(obj)) is not None]
    drivers = [driver for keys in all_keys if keys.animation_data is not None for driver in keys.animation_data.drivers]
    before = [
        state.Saved(objects, "active_shape_key_index", "show_only_shape_key"),
        state.Saved((key for keys in all_keys for key in keys.key_blocks), "value"),
        state.Saved(drivers, "mute"),
    ]
    try:
        for driver in drivers:
            driver.mute = True
        yield _show_alone
    finally:
        for saved in before:
            saved.restore()


def _show_alone(obj: Object, index: int) -> None:
    """Shows one shape key of an object: pinned, or at its full value where that gives other positions."""
    keys = shape_keys(obj)
    key = keys.key_blocks[index]
    obj.show_only_shape_key = not differs_from_stored(keys, key)
    obj.active_shape_key_index = index
    if not obj.show_only_shape_key:
        for other in keys.key_blocks:
            other.value = 0.0
        key.value = full_value(key)


class Playback(Enum):
    """How shape keys play."""

    STATIC = "nothing animates them"
    IN_ORDER = "each key of the imported file is shown alone at its own frame"
    OTHER = "in any other way"


def points_of_frame(frame: int, first: int, last: int) -> list[float]:
    """Frame and value of each keyframe of a key that is shown alone at `frame`."""
    if not first <= frame <= last:
        return [first, 0.0]
    points = [frame - 1, 0.0, frame, 1.0, frame + 1, 0.0]
    return points[2 * (frame == first) : 4 if frame == last else 6]


def playback_of(obj: Object, source: SourceFrames, scene: Scene) -> Playback:
    """How the shape keys of an imported object play."""
    keys = shape_keys(obj)
    if keys is None or not is_animated(keys):
        return Playback.STATIC
    data = keys.animation_data
    is_plain = not data.drivers and not (data.use_nla and data.nla_tracks)
    if not is_plain or scene.render.frame_map_old != scene.render.frame_map_new:
        return Playback.OTHER
    curves = {curve.data_path: curve for curve in versions.played_fcurves(data)}
    # Versions of Blender differ in the effect of a muted group.
    if any(
        curve.mute or len(curve.modifiers) or (curve.group is not None and curve.group.mute)
        for curve in curves.values()
    ):
        return Playback.OTHER
    plays_in_order = _relative_in_order if keys.use_relative else _absolute_in_order
    return Playback.IN_ORDER if plays_in_order(keys, curves, source) else Playback.OTHER


def _relative_in_order(keys: Key, curves: dict[str, FCurve], source: SourceFrames) -> bool:
    first = source.frame_start
    frame_of_key = {name: first + index for index, name in enumerate(source.key_names)}
    blocks = list(keys.key_blocks)
    last = first + len(source.key_names) - 1
    found, expected, added = [np.empty(0, np.float32)], list[float](), []
    # The first one, the basis, is shown where no other is.
    for position, key in enumerate(blocks[1:], 1):
        if key.mute:
            continue
        if not key.slider_min <= 0.0 <= key.slider_max:
            return False
        curve = curves.get(value_path(key.name))
        frame = frame_of_key.get(key.name)
        if frame is None:
            added.append((position, key, curve))
            continue
        points = points_of_frame(frame, first, last)
        if curve is None or 2 * len(curve.keyframe_points) != len(points):
            return False
        found.append(read_array(curve.keyframe_points, "co", 2).ravel())
        expected += points
    # Compared at once, as there may be a thousand keys.
    if not (np.abs(np.concatenate(found) - expected) <= _TOLERANCE).all():
        return False
    frames = [frame_of_key[key.name] for key in blocks if key.name in frame_of_key] if added else []
    return all(
        _is_added_frame(key, curve, first + position, frames, list(curves.values())) for position, key, curve in added
    )


def _is_added_frame(
    key: ShapeKey, curve: FCurve | None, frame_of_key: int, others: list[int], curves: list[FCurve]
) -> bool:
    """Whether a key that is not in the file leaves the file's frames alone, and has its own if animated."""
    # `frame_of_key` is that of its position, `others` are those of the file's keys, `curves` those of all keys.
    if curve is None:
        return key.value == 0.0 or not has_effect(key)
    if any(abs(curve.evaluate(frame)) > _TOLERANCE for frame in others if frame != frame_of_key):
        return False
    return all(abs(other.evaluate(frame_of_key) - (other == curve)) <= _TOLERANCE for other in curves)


def _absolute_in_order(keys: Key, curves: dict[str, FCurve], source: SourceFrames) -> bool:
    curve = curves.get("eval_time")
    if curve is None:
        return False
    times = {key.name: key.frame for key in keys.key_blocks if not key.mute}
    return all(
        abs(curve.evaluate(source.frame_start + index) - times[name]) <= _TOLERANCE
        for index, name in enumerate(source.key_names)
        if name in times
    )


def keys_in_all_frames(obj: Object, source: SourceFrames) -> list[ShapeKey]:
    """The keys that are not in the file and that nothing animates, but that change what is shown."""
    keys = shape_keys(obj)
    if keys is None or not keys.use_relative or keys.animation_data is None:
        return []
    curves = [*versions.played_fcurves(keys.animation_data), *keys.animation_data.drivers]
    known = {*(curve.data_path for curve in curves), *(value_path(name) for name in source.key_names)}
    return [
        key
        for key in keys.key_blocks
        if value_path(key.name) not in known and key.value != 0.0 and not key.mute and has_effect(key)
    ]


def played_range(obj: Object, source: SourceFrames) -> tuple[int, int] | None:
    """First and last frame of what plays on the shape keys of an object; None if nothing does."""
    # The range that import gave the action only counts as long as the keyframes fill it.
    keys = shape_keys(obj)
    if keys is None or not is_animated(keys):
        return None
    data = keys.animation_data
    action = data.action
    ranges = keyed_ranges(data)
    if action is not None and action.use_frame_range:
        manual = round(action.frame_start), round(action.frame_end)
        imported = (source.frame_start, source.frame_start + len(source.frame_names) - 1)
        if manual != imported or not versions.played_fcurves(data):
            return manual
    if not ranges:
        return None
    return math.floor(min(first for first, _ in ranges)), math.ceil(max(last for _, last in ranges))


def keyed_ranges(data: Any) -> list[Any]:
    """First and last frame of each F-curve and strip that plays on something, which has the animation data."""
    # The stubs say that a range is a Vector, which has no iterator there.
    ranges: list[Any] = [curve.range() for curve in versions.played_fcurves(data)]
    if data.use_nla:
        tracks = [track for track in data.nla_tracks if not track.mute]
        ranges += [(strip.frame_start, strip.frame_end) for track in tracks for strip in track.strips]
    return ranges


def keys_at_frames(obj: Object, frames: Sequence[float], scene: Scene) -> list[str | None]:
    """The key shown alone on each frame; None for a mix. The scene is left at another frame."""
    keys = shape_keys(obj)
    if keys is None or not is_animated(keys):
        return [None] * len(frames)
    key_names = [key.name for key in keys.key_blocks]
    basis = key_names.index(keys.reference_key.name)
    without_effect = read_array(keys.key_blocks, "mute", dtype=bool)
    without_effect[basis] = True
    times = np.array([key.frame for key in keys.key_blocks])
    result: list[str | None] = []
    for frame in frames:
        state.set_frame(scene, frame)
        played = keys.evaluated_get(bpy.context.evaluated_depsgraph_get())
        if keys.use_relative:
            values = read_array(played.key_blocks, "value")
            values[without_effect] = 0.0
            shown = np.flatnonzero(np.abs(values) > _TOLERANCE).tolist() or [basis]
            values[basis] = 1.0
            if len(shown) > 1 or abs(values[shown[0]] - 1.0) > _TOLERANCE:
                shown = []
        else:
            shown = np.flatnonzero(np.abs(times - played.eval_time) <= _TIME_TOLERANCE).tolist()
        result.append(key_names[shown[0]] if shown else None)
    return result
