"""Sequences: their actions and markers, and their names as a file can have them and as renamed in the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender import versions
from ...io_blender.clips.clip import range_markers
from ...io_blender.clips.keyframes import marker_name
from ...io_blender.clips.shape_key_frames import build_frame_action
from ...io_blender.reports import Report, listing
from ...io_blender.scene.shape_keys import require_shape_keys
from ..format import Model, find_sequences, number_digits
from ..format.sequences import MAX_FRAME_NAME, MAX_SEQUENCE_NAME, clean_name, number_frames
from ..records import StoredModel, load_model

if TYPE_CHECKING:
    from bpy.types import Action, Object, Scene

RELATIVE, ABSOLUTE, NONE = "RELATIVE", "ABSOLUTE", "NONE"


def build_actions(
    name: str, obj: Object, model: Model, *, frame_start: int, per_sequence: bool
) -> list[Action]:
    """Makes the action of all frames, with `name`, which becomes the active one, and on request one of each sequence.

    The object must have a shape key of each frame. Each action begins at `frame_start`.
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


def clean_names(names: Sequence[str], longest: int, report: Report, consequence: str) -> list[str]:
    """Names as a file can have them; each one that had to change is warned about. `consequence` may have {name}."""
    cleaned = [clean_name(name, longest) for name in names]
    for name, clean in zip(names, cleaned, strict=True):
        # That blanks become underscores need not be mentioned.
        if clean != "_".join(name.split()):
            text = f"frame names can have only {MAX_FRAME_NAME} Latin-1 characters, so {consequence}"
            report.warn(text.replace("{name}", clean), name)
    return cleaned


def sequence_names(names: Sequence[str], report: Report) -> list[str]:
    """Names of sequences as a file can have them; warns of those that had to change, and of repeated ones."""
    cleaned = clean_names(names, MAX_SEQUENCE_NAME, report, "the sequence was named {name}")
    repeated = sorted({name for name in cleaned if cleaned.count(name) > 1})
    if repeated:
        report.warn(
            f"several sequences have the same name, and their frames are numbered on: {listing(repeated)}"
        )
    return cleaned


def renamed_frames(
    stored: StoredModel | None, frames: Sequence[int], times: Sequence[float], scene: Scene, report: Report
) -> dict[int, str]:
    """The new names of frames whose sequence has a renamed marker now, by their position in the new file.

    A sequence is renamed if just one marker is where it begins, and that has another name. For each frame of the new
    file, `frames` has the frame of the imported file that it is, negative if it is new, and `times` that of the scene.
    """
    result: dict[int, str] = {}
    markers: dict[float, set[str]] = {}
    for marker in range_markers(scene):
        markers.setdefault(marker.frame, set()).add(marker.name)
    if stored is None or not markers:
        return result
    found = np.asarray(frames)
    for sequence in find_sequences(stored.frame_names):
        positions = np.flatnonzero((found >= sequence.first) & (found <= sequence.last)).tolist()
        if not positions or frames[positions[0]] != sequence.first:
            continue
        shown = markers.get(times[positions[0]], set())
        if len(shown) != 1 or marker_name(sequence.name) in shown or shown & _imported_names():
            continue
        (new_name,) = shown
        named = number_frames([new_name] * len(positions), number_digits(stored.frame_names))
        result |= dict(zip(positions, named, strict=True))
        report.warn(
            f"the marker of the sequence {sequence.name} was renamed to {new_name}: its frames were named {named[0]} "
            f"to {named[-1]}"
        )
    return result


def _imported_names() -> set[str]:
    models = [stored for mesh in bpy.data.meshes if (stored := load_model(mesh)) is not None]
    return {marker_name(sequence.name) for model in models for sequence in find_sequences(model.frame_names)}
