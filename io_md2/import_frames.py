"""Frames into shape keys and the action that plays them.

Every frame is a key; the first one is the basis that the others are relative to. With relative keys the value of
key i is 1 at its frame, 0 at the frames beside it and linear between, so that two keys are mixed as the game mixes
two frames. With absolute keys one curve of the evaluation time walks along their row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ..io_common.scene import names, versions
from .format import FrameSequence, Md2Model, find_sequences
from .key_playback import tent
from .sequence_names import marker_name

if TYPE_CHECKING:
    from bpy.types import Action, FCurve, Key, Object, Scene

RELATIVE, ABSOLUTE, NONE = "RELATIVE", "ABSOLUTE", "NONE"

_GROUP = "Frames"
_NAMELESS = "frame"


def add_keys(
    obj: Object, model: Md2Model, positions: npt.NDArray[np.floating], *, relative: bool
) -> list[str]:
    """Makes a shape key of every frame.

    Args:
        obj: a mesh object without shape keys, whose mesh has the shape of the first frame.
        model: whose frames they are.
        positions: in the coordinates of the scene, (F, V, 3).
        relative: the kind of keys.

    Returns:
        The names that Blender gave them.
    """
    points = np.ascontiguousarray(positions, dtype=np.float32).reshape(model.num_frames, -1)
    wanted = [names.for_blender(name, versions.MAX_NAME, _NAMELESS) for name in model.frame_names]
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


def shape_keys(obj: Object) -> Key:
    """The shape keys of a mesh object that has some."""
    keys = obj.data.shape_keys  # type: ignore[union-attr]
    assert keys is not None
    return keys


def build_actions(
    name: str, obj: Object, model: Md2Model, *, frame_start: int, per_sequence: bool
) -> list[Action]:
    """Makes the action of all frames, which becomes the active one, and on request one of each sequence.

    Args:
        name: of the action of all frames; those of sequences bear the sequence's name.
        obj: with a shape key of each frame.
        model: whose frames they are.
        frame_start: the scene frame of each action's first frame.
        per_sequence: whether to make those of the sequences.
    """
    keys = shape_keys(obj)
    whole = FrameSequence(name, 0, model.num_frames - 1)
    actions = [_build_action(keys, whole, frame_start)]
    versions.assign_action(keys.animation_data_create(), actions[0], "KEY")
    if per_sequence:
        for sequence in find_sequences(model.frame_names):
            action = _build_action(keys, sequence, frame_start)
            action.use_fake_user = True
            actions.append(action)
    return actions


def _build_action(keys: Key, sequence: FrameSequence, frame_start: int) -> Action:
    """An action that plays the frames of a sequence."""
    action = bpy.data.actions.new(names.for_blender(sequence.name, versions.MAX_ID_NAME, _NAMELESS))
    last = frame_start + sequence.num_frames - 1
    action.use_frame_range = True
    action.frame_start = frame_start
    action.frame_end = last
    curves = versions.ActionCurves(action, "KEY")
    if keys.use_relative:
        # Keys of other frames are held at 0, lest the last action shine through. The basis needs no value.
        for index, name in enumerate([key.name for key in keys.key_blocks][1:], 1):
            path = f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'
            frame = frame_start + index - sequence.first
            _write(curves.new(path, 0, _GROUP), tent(frame, frame_start, last))
    else:
        times = np.empty(len(keys.key_blocks), dtype=np.float32)
        keys.key_blocks.foreach_get("frame", times)
        frames = np.arange(frame_start, last + 1)
        points = np.column_stack([frames, times[sequence.first : sequence.last + 1]])
        _write(curves.new("eval_time", 0, _GROUP), points.ravel().tolist())
    return action


def _write(curve: FCurve, points: list[float]) -> None:
    """Sets all keys of an empty curve, frame and value of each in turn, linear between and constant beyond them."""
    count = len(points) // 2
    keyframes = curve.keyframe_points
    keyframes.add(count)
    keyframes.foreach_set("co", points)
    keyframes.foreach_set("interpolation", [versions.LINEAR] * count)
    curve.update()


def add_markers(scene: Scene, model: Md2Model, frame_start: int) -> int:
    """Marks where each sequence begins; a marker that is there already, as of another model's, is not repeated.

    Returns:
        The number of sequences.
    """
    there = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    sequences = find_sequences(model.frame_names)
    for sequence in sequences:
        shown = marker_name(sequence)
        if (shown, frame_start + sequence.first) not in there:
            scene.timeline_markers.new(shown, frame=frame_start + sequence.first)
    return len(sequences)
