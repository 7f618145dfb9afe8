"""What imports write: keyframes of F-curves as whole arrays, actions of shape keys, markers of sequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Action, FCurve, Key, Scene

from ...io_common import names
from ...io_common.frames import FrameSequence
from .. import versions
from ..frames.shape_keys import points_of_frame, value_path
from ..scene.mesh_data import read_array
from .actions import store_owner

_GROUP = "Frames"
_INTERPOLATIONS: Any = bpy.types.Keyframe.bl_rna.properties["interpolation"]

LINEAR: int = _INTERPOLATIONS.enum_items["LINEAR"].value
"""Linear interpolation up to the next keyframe, as `foreach_set` takes it."""

CONSTANT: int = _INTERPOLATIONS.enum_items["CONSTANT"].value  # the value is held up to the next keyframe


Numbers = Sequence[float] | npt.NDArray[Any]


def write_keyframes(curve: FCurve, points: Numbers, interpolation: Numbers | None = None) -> None:
    """Gives a curve its keyframes: `points` holds frame and value of each in turn, ascending."""
    # `interpolation` is that from each keyframe to the next; None for `LINEAR`. Keyframes that are there keep theirs.
    count = len(points) // 2
    keyframes = curve.keyframe_points
    existing = len(keyframes)
    if existing > count:
        keyframes.clear()
        existing = 0
    if existing < count:
        keyframes.add(count - existing)
        kinds = [LINEAR] * count if interpolation is None else interpolation[:count]
        keyframes.foreach_set("interpolation", kinds)
    keyframes.foreach_set("co", points)
    curve.update()


class KeyframeWriter:
    """Writes curves that share `count` consecutive frames; values at indices in `held` are held."""

    def __init__(self, frame_start: float, count: int, held: npt.NDArray[np.integer] | Sequence[int] = ()) -> None:
        self._points = np.empty((count, 2), dtype=np.float32)
        self._points[:, 0] = np.arange(frame_start, frame_start + count)
        self._interpolation = np.full(count, LINEAR, dtype=np.int32)
        self._interpolation[np.asarray(held, dtype=np.int64)] = CONSTANT

    def write(
        self, curve: FCurve, values: npt.NDArray[np.floating], chosen: slice | npt.NDArray[np.integer] = slice(None)
    ) -> None:
        """Gives an empty curve keyframes with those of the values of all frames, (n,), that are `chosen`."""
        points = self._points[chosen]
        points[:, 1] = values[chosen]
        write_keyframes(curve, points.ravel(), self._interpolation[chosen])


class SequenceActions:
    """The actions of sequences, by name: one with a slot for each that plays it; before Blender 4.4 one each."""

    def __init__(self) -> None:
        self._first: dict[str, Action] = {}

    def get(self, name: str, player: str, frame_start: int, frame_count: int, *, is_loop: bool = False) -> Action:
        """The action of a sequence for what has the name `player`, not assigned yet."""
        if name in self._first and versions.SHARES_ACTIONS:
            return self._first[name]
        shown = name if name not in self._first else player if player.startswith(name) else f"{name} {player}"
        action = bpy.data.actions.new(names.for_blender(shown, versions.MAX_ID_NAME, "frame"))
        action.use_frame_range, action.use_cyclic = True, is_loop
        action.frame_start, action.frame_end = frame_start, frame_start + frame_count - 1
        self._first.setdefault(name, action)
        return action


def build_frame_action(
    sequence: FrameSequence, keys: Key, frame_start: int, actions: SequenceActions | None = None, player: str = ""
) -> Action:
    """An action, not assigned yet, that plays the keys of a sequence, one on each frame of the scene."""
    # `actions` has it if others play the sequence too; its slot then has the name `player`. After the last frame of
    # a loop, it goes on with the frame that the game shows next.
    first, last, following = sequence.first, sequence.last, sequence.following
    count, is_loop = sequence.frame_count, following is not None
    action = (actions or SequenceActions()).get(sequence.name, player, frame_start, count, is_loop=is_loop)
    frame_end = frame_start + last - first
    curves = versions.ActionCurves(action, "KEY", player)
    if keys.use_relative:
        # Keys of other frames are held at 0, or they would keep the value of the last action. The basis needs no value.
        for index, key_name in enumerate([key.name for key in keys.key_blocks][1:], 1):
            points = points_of_frame(frame_start + index - first, frame_start, frame_end)
            if following != last and following is not None and index in (last, following):
                held = [frame_end, 0.0] if index == following and points[-2] < frame_end else []
                points += [*held, frame_end + 1, float(index == following)]
            write_keyframes(curves.new(value_path(key_name), 0, _GROUP), points)
    else:
        times = read_array(keys.key_blocks, "frame")
        # They can blend with the next key alone, so a loop has no way from the last one to the first.
        values = np.column_stack([np.arange(frame_start, frame_end + 1), times[first : last + 1]])
        write_keyframes(curves.new("eval_time", 0, _GROUP), values.ravel().tolist())
    store_owner(action, keys, sequence.name)
    return action


def marker_name(sequence: str) -> str:
    """The name of the marker of a sequence."""
    return names.for_blender(sequence, versions.MAX_NAME, "frame")


def add_markers(scene: Scene, starts: Iterable[tuple[str, int]]) -> None:
    """Adds a marker for each sequence in `starts`, name and first frame, unless it is there already."""
    existing = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    for sequence, frame in starts:
        name = marker_name(sequence)
        if (name, frame) not in existing:
            scene.timeline_markers.new(name, frame=frame)
