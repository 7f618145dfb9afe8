"""Actions of the frames of a model, which are shape keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_blender import versions
from ...io_blender.clips.shape_key_playback import build_frame_action
from ...io_blender.scene.shape_keys import require_shape_keys
from ..format import Model, find_sequences

if TYPE_CHECKING:
    from bpy.types import Action, Object

RELATIVE, ABSOLUTE, NONE = "RELATIVE", "ABSOLUTE", "NONE"


def build_actions(
    name: str, obj: Object, model: Model, *, frame_start: int, per_sequence: bool
) -> list[Action]:
    """Makes the action of all frames, which becomes the active one, and on request one of each sequence.

    `name` is for the action of all frames; those of sequences bear the sequence's name. `obj` must have a shape key of
    each frame. Each action begins at `frame_start`.
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
