"""Sequences of an imported model that were renamed in the timeline: import marks where each begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy

from ..io_common.scene import names, versions
from . import source
from .format import FrameSequence, find_sequences
from .format.naming import number_frames

if TYPE_CHECKING:
    from bpy.types import Scene

    from ..io_common.reports import Report
    from .source import StoredModel

_NAMELESS = "frame"


def marker_name(sequence: FrameSequence) -> str:
    """What the marker of a sequence is called."""
    return names.for_blender(sequence.name, versions.MAX_NAME, _NAMELESS)


def renamed_frames(
    stored: StoredModel | None, frames: Sequence[int], times: Sequence[int], scene: Scene, report: Report
) -> dict[int, str]:
    """The names of frames whose sequence has a marker of another name now, by their place in the new file.

    A marker where the sequence begins counts if there is none with the sequence's own name, and only one.

    Args:
        stored: the imported model; None if the frames are of none.
        frames: the frame of the imported file that each frame of the new one is; negative if it is new.
        times: the frame of the scene that each is shown on.
        scene: with the markers.
        report: is told of new names.
    """
    result: dict[int, str] = {}
    if stored is None:
        return result
    for sequence in find_sequences(stored.frame_names):
        mine = [place for place, frame in enumerate(frames) if sequence.first <= frame <= sequence.last]
        if not mine or frames[mine[0]] != sequence.first:
            continue
        there = {
            marker.name
            for marker in scene.timeline_markers
            # Markers that bind cameras are cuts of a film.
            if marker.frame == times[mine[0]] and marker.camera is None
        }
        if len(there) != 1 or marker_name(sequence) in there or there & _imported_names():
            continue
        named = number_frames([*there] * len(mine))
        result |= dict(zip(mine, named, strict=True))
        report.warn(
            f"the marker of the sequence {sequence.name} is called {there.pop()} now: its frames are named {named[0]} "
            f"to {named[-1]}"
        )
    return result


def _imported_names() -> set[str]:
    """What the markers of all imported models were called."""
    models = [source.load_model(mesh) for mesh in bpy.data.meshes]
    return {
        marker_name(sequence)
        for model in models
        if model is not None
        for sequence in find_sequences(model.frame_names)
    }
