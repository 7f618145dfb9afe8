"""The names of sequences: as a file can have them, and as renamed in the timeline, where import marks each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender.clips.markers import marker_name
from ...io_blender.reports import Report, listing
from ..format import find_sequences, number_digits
from ..format.sequences import MAX_FRAME_NAME, MAX_SEQUENCE_NAME, clean_name, number_frames
from ..records import StoredModel, load_model

if TYPE_CHECKING:
    from bpy.types import Scene


def sequence_names(names: Sequence[str], report: Report) -> list[str]:
    """Names of sequences as a file can have them: a frame's name also has a number.

    Warns about names that had to change, and about those that are there twice.
    """
    cleaned = [clean_name(name, MAX_SEQUENCE_NAME) for name in names]
    for name, clean in zip(names, cleaned, strict=True):
        # That blanks become underscores need not be mentioned.
        if clean != "_".join(name.split()):
            report.warn(
                f"frame names can have only {MAX_FRAME_NAME} Latin-1 characters, so the sequence was named {clean}",
                name,
            )
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

    A sequence is renamed if just one marker is where it begins, and that has another name. Each one is warned about.

    `stored` is None if the frames are of no imported model. For each frame of the new file, `frames` has the frame of
    the imported file that it is, negative if it is new, and `times` the frame of the scene that it is shown on.
    """
    result: dict[int, str] = {}
    markers: dict[float, set[str]] = {}
    for marker in scene.timeline_markers:
        # Markers that bind cameras are cuts of a film.
        if marker.camera is None:
            markers.setdefault(marker.frame, set()).add(marker.name)
    if stored is None or not markers:
        return result
    found = np.asarray(frames)
    for sequence in find_sequences(stored.frame_names):
        positions = np.flatnonzero((found >= sequence.first) & (found <= sequence.last)).tolist()
        if not positions or frames[positions[0]] != sequence.first:
            continue
        marker_names = markers.get(times[positions[0]], set())
        if (
            len(marker_names) != 1
            or marker_name(sequence.name) in marker_names
            or marker_names & _imported_names()
        ):
            continue
        named = number_frames([*marker_names] * len(positions), number_digits(stored.frame_names))
        result |= dict(zip(positions, named, strict=True))
        (new_name,) = marker_names
        report.warn(
            f"the marker of the sequence {sequence.name} was renamed to {new_name}: its frames were named {named[0]} "
            f"to {named[-1]}"
        )
    return result


def _imported_names() -> set[str]:
    """The names of the sequence markers of all imported models."""
    models = [load_model(mesh) for mesh in bpy.data.meshes]
    return {
        marker_name(sequence.name)
        for model in models
        if model is not None
        for sequence in find_sequences(model.frame_names)
    }
