"""Actions and timeline markers of the frames of a model, which are shape keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..io_common.scene import versions
from ..io_common.scene.shape_key_playback import build_frame_action
from ..io_common.scene.shape_keys import require_shape_keys
from .format import Model, find_sequences
from .sequence_names import marker_name

if TYPE_CHECKING:
    from bpy.types import Action, Object, Scene

RELATIVE, ABSOLUTE, NONE = "RELATIVE", "ABSOLUTE", "NONE"


def build_actions(
    name: str, obj: Object, model: Model, *, frame_start: int, per_sequence: bool
) -> list[Action]:
    """Makes the action of all frames, which becomes the active one, and on request one of each sequence.

    Args:
        name: of the action of all frames; those of sequences bear the sequence's name.
        obj: with a shape key of each frame.
        model: whose frames they are.
        frame_start: the scene frame of each action's first frame.
        per_sequence: whether to make those of the sequences.
    """
    keys = require_shape_keys(obj)
    actions = [build_frame_action(name, keys, 0, model.frame_count - 1, frame_start)]
    versions.assign_action(keys.animation_data_create(), actions[0], "KEY")
    if per_sequence:
        for sequence in find_sequences(model.frame_names):
            action = build_frame_action(sequence.name, keys, sequence.first, sequence.last, frame_start)
            action.use_fake_user = True
            actions.append(action)
    return actions


def add_markers(scene: Scene, model: Model, frame_start: int) -> int:
    """Adds a timeline marker where each sequence begins, unless the same marker is there already.

    Returns:
        The number of sequences.
    """
    existing = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    sequences = find_sequences(model.frame_names)
    for sequence in sequences:
        name = marker_name(sequence)
        if (name, frame_start + sequence.first) not in existing:
            scene.timeline_markers.new(name, frame=frame_start + sequence.first)
    return len(sequences)
