"""The names of frames: those of the imported file or of shape keys, else made of markers or actions and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.clips.frame_plan import frames_of_keys, playing_action
from ...io_blender.clips.markers import marker_name
from ...io_blender.records import NONE
from ..format import FrameSequence, find_sequences, number_digits
from ..format.sequences import MAX_FRAME_NAME, MAX_SEQUENCE_NAME, clean_name, make_unique, number_frames
from ..importing.sequence_names import renamed_frames, sequence_names

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from ...io_blender.clips.frame_plan import FramePlan
    from ...io_blender.reports import Report
    from ..records import StoredModel


def frame_names(
    plan: FramePlan, objects: list[Object], source: StoredModel | None, scene: Scene, report: Report
) -> list[str]:
    """The name of each frame of a plan in the file, unique unless the imported file repeats it.

    `source` is the imported model that the frames come from; None if there is none.
    """
    if plan.segments:
        return _segment_names(plan, source)
    if plan.scene_frames is None:
        return _key_frame_names(plan, source, scene, report)
    return _scene_frame_names(plan, objects, source, scene, report)


def single_frame_name(names: list[str], source: StoredModel | None) -> list[str]:
    """The name of the first frame alone: that of the imported file, if it has just one frame."""
    if source is not None and len(source.frame_names) == 1:
        return source.frame_names
    return names[:1]


def _key_frame_names(plan: FramePlan, source: StoredModel | None, scene: Scene, report: Report) -> list[str]:
    sources = frames_of_keys(plan.key_names, source)
    cleaned = [""] * plan.frame_count
    for position in np.flatnonzero(sources == NONE).tolist():
        name = plan.key_names[position] or ""
        cleaned[position] = clean_name(name)
        # That blanks become underscores need not be mentioned.
        if cleaned[position] != "_".join(name.split()):
            report.warn(
                f"frame names can have only {MAX_FRAME_NAME} Latin-1 characters, so the name was changed in the file: "
                "rename the shape key to choose another",
                name,
            )
    start = source.frame_start if source is not None else 0
    times = (sources + start).tolist()
    for position, name in renamed_frames(source, sources.tolist(), times, scene, report).items():
        sources[position], cleaned[position] = NONE, name
    return _merged(sources, cleaned, source)


def _scene_frame_names(
    plan: FramePlan, objects: list[Object], source: StoredModel | None, scene: Scene, report: Report
) -> list[str]:
    """The names of frames of the scene; each name of the file or of a shape key is used once, by the first frame."""
    sources = plan.source.copy()
    generated = [""] * plan.frame_count
    taken: set[str] = set()
    for position, name in enumerate(plan.key_names):
        if name is None or name in taken:
            sources[position] = NONE
        elif sources[position] == NONE:
            generated[position] = clean_name(name)
        taken.add(name or "")
    frames = plan.scene_frames
    assert frames is not None
    for position, name in renamed_frames(source, sources.tolist(), frames, scene, report).items():
        sources[position], generated[position] = NONE, name
    new = [
        position
        for position in range(plan.frame_count)
        if sources[position] == NONE and not generated[position]
    ]
    chosen = _sequences(objects, scene, [frames[position] for position in new])
    distinct = list(dict.fromkeys(chosen))
    cleaned = dict(zip(distinct, sequence_names(distinct, report), strict=True))
    sequences = [cleaned[name] for name in chosen]
    digits = number_digits(source.frame_names if source is not None else ())
    for position, name in zip(new, number_frames(sequences, digits), strict=True):
        generated[position] = name
    return _merged(sources, generated, source)


def _segment_names(plan: FramePlan, source: StoredModel | None) -> list[str]:
    """The names of frames of a list: those of the file where a sequence of it was chosen whole, else new ones."""
    sources = plan.source.copy()
    imported: dict[int, FrameSequence] = {}
    for sequence in find_sequences(source.frame_names) if source is not None else ():
        imported |= dict.fromkeys(range(sequence.first, sequence.last + 1), sequence)
    new: list[str] = []
    positions: list[int] = []
    taken: set[int] = set()
    for segment in plan.segments:
        rows = range(segment.first, segment.first + segment.count)
        frames = sources[rows.start : rows.stop].tolist()
        first = imported.get(frames[0])
        is_same = (
            first is not None
            and frames == list(range(first.first, first.last + 1))
            and clean_name(marker_name(first.name), MAX_SEQUENCE_NAME) == segment.name
            and taken.isdisjoint(frames)
        )
        if is_same:
            taken.update(frames)
            continue
        sources[rows.start : rows.stop] = NONE
        new += [segment.name] * segment.count
        positions += rows
    generated = [""] * plan.frame_count
    digits = number_digits(source.frame_names if source is not None else ())
    for position, name in zip(positions, number_frames(new, digits), strict=True):
        generated[position] = name
    return _merged(sources, generated, source)


def _sequences(objects: list[Object], scene: Scene, frames: list[float]) -> list[str]:
    """The sequence that each frame of the scene belongs to, named by the marker before it, or by the action."""
    # Markers that bind cameras are cuts of a film.
    markers = sorted(
        ((marker.frame, marker.name) for marker in scene.timeline_markers if marker.camera is None),
        reverse=True,
    )
    action = playing_action(objects)
    fallback = action.name if action is not None else ""
    return [next((name for start, name in markers if start <= frame), fallback) for frame in frames]


def _merged(sources: npt.NDArray[np.int64], generated: list[str], source: StoredModel | None) -> list[str]:
    """The names that frames had in the file, and unique ones for the others."""
    stored_names = {
        position: source.frame_names[frame]
        for position, frame in enumerate(sources.tolist())
        if source is not None and frame != NONE
    }
    new = [position for position in range(len(sources)) if position not in stored_names]
    names = make_unique([generated[position] for position in new], stored_names.values())
    merged = {**stored_names, **dict(zip(new, names, strict=True))}
    return [name for _position, name in sorted(merged.items())]
