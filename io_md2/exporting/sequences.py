"""The sequences that are chosen from a list of animations, and the names of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.clips.clip import AnimationList, animation_list, range_markers
from ...io_blender.clips.frame_plan import (
    FrameOptions,
    FramePlan,
    Segment,
    frames_of_keys,
    owner_of_list,
    playing_action,
    sequence_frames,
)
from ...io_blender.clips.keyframes import marker_name
from ...io_blender.records import NONE
from ...io_blender.scene.objects import NothingToExportError
from ...io_common.texts import UnknownFieldError
from ..format import FrameSequence, find_sequences, number_digits
from ..format.sequences import (
    MAX_FRAME_NAME,
    MAX_SEQUENCE_NAME,
    Template,
    clean_name,
    make_unique,
    match_template,
    number_frames,
)
from ..importing.importer import clean_names, renamed_frames, sequence_names

if TYPE_CHECKING:
    from bpy.types import Object, Scene

    from ...io_blender.reports import Report
    from ..records import StoredModel

LABELS = {Template.NONE: "model", Template.QUAKE2_PLAYER: "Quake II player"}
"""What the models of each template are called."""


def list_of(objects: Sequence[Object], scene: Scene) -> AnimationList:
    """The animation list of objects that are exported together; there must be at least one."""
    return animation_list(owner_of_list(objects), scene)


def sequences_of_list(
    found: AnimationList, options: FrameOptions, template: Template, report: Report
) -> list[Segment]:
    """The checked animations in the order of the template, else of the list; raises NothingToExportError."""
    rows = found.require_checked(report, "Frames", "animate it", "sequence")
    try:
        names = sequence_names([found.name(row) for row in rows], report)
    except UnknownFieldError as error:
        raise NothingToExportError(str(error)) from error
    clips = [row.animation for row in rows]
    segments = [
        Segment(name, sequence_frames(clip, options, found.scene), clip)
        for name, clip in zip(names, clips, strict=True)
    ]
    match = match_template(template, [(one.name, len(one.frames)) for one in segments])
    if match.problems:
        raise NothingToExportError(
            f"the checked animations are not those of a {LABELS[template]}; {'; '.join(match.problems)}. Rename, "
            "check or uncheck animations, or choose no template"
        )
    return [segments[index] for index in match.order]


def frame_names(
    plan: FramePlan, objects: list[Object], source: StoredModel | None, scene: Scene, report: Report
) -> list[str]:
    """Names of the file or of shape keys, else new ones; unique unless the imported file repeats them."""
    if plan.segments:
        sources, generated = _name_segments(plan, source)
    elif plan.scene_frames is None:
        sources, generated = _name_keys(plan, source, scene, report)
    else:
        sources, generated = _name_scene(plan, plan.scene_frames, objects, source, scene, report)
    stored = [
        source.frame_names[frame] if source is not None and frame != NONE else None
        for frame in sources.tolist()
    ]
    new = [name for name, old in zip(generated, stored, strict=True) if old is None]
    names = iter(make_unique(new, [old for old in stored if old is not None]))
    return [next(names) if old is None else old for old in stored]


def single_frame_name(names: list[str], source: StoredModel | None) -> list[str]:
    """The name of the first frame alone: that of the imported file, if it has just one frame."""
    if source is not None and len(source.frame_names) == 1:
        return source.frame_names
    return names[:1]


# Each returns the frame of the file that names a frame, or NONE, and the name that it has then.

_Names = tuple[npt.NDArray[np.int64], list[str]]


def _name_keys(plan: FramePlan, source: StoredModel | None, scene: Scene, report: Report) -> _Names:
    sources = frames_of_keys(plan.key_names, source)
    names = [""] * plan.frame_count
    new = np.flatnonzero(sources == NONE).tolist()
    cleaned = clean_names(
        [plan.key_names[position] or "" for position in new],
        MAX_FRAME_NAME,
        report,
        "the name was changed in the file: rename the shape key to choose another",
    )
    for position, name in zip(new, cleaned, strict=True):
        names[position] = name
    start = source.frame_start if source is not None else 0
    times = (sources + start).tolist()
    for position, name in renamed_frames(source, sources.tolist(), times, scene, report).items():
        sources[position], names[position] = NONE, name
    return sources, names


def _name_scene(
    plan: FramePlan,
    frames: Sequence[float],
    objects: list[Object],
    source: StoredModel | None,
    scene: Scene,
    report: Report,
) -> _Names:
    # Each name of the file or of a shape key is used once, by the first frame.
    sources = plan.source.copy()
    names = [""] * plan.frame_count
    taken: set[str] = set()
    for position, name in enumerate(plan.key_names):
        if name is None or name in taken:
            sources[position] = NONE
        elif sources[position] == NONE:
            names[position] = clean_name(name)
        taken.add(name or "")
    for position, name in renamed_frames(source, sources.tolist(), frames, scene, report).items():
        sources[position], names[position] = NONE, name
    new = [position for position, name in enumerate(names) if sources[position] == NONE and not name]
    chosen = _sequences(objects, scene, [frames[position] for position in new])
    distinct = list(dict.fromkeys(chosen))
    cleaned = dict(zip(distinct, sequence_names(distinct, report), strict=True))
    numbered = number_frames([cleaned[name] for name in chosen], _digits(source))
    for position, name in zip(new, numbered, strict=True):
        names[position] = name
    return sources, names


def _sequences(objects: list[Object], scene: Scene, frames: list[float]) -> list[str]:
    """The sequence of each frame of the scene, named by the marker before it, or by the action."""
    markers = sorted(((marker.frame, marker.name) for marker in range_markers(scene)), reverse=True)
    action = playing_action(objects)
    fallback = action.name if action is not None else ""
    return [next((name for start, name in markers if start <= frame), fallback) for frame in frames]


def _name_segments(plan: FramePlan, source: StoredModel | None) -> _Names:
    """The names of frames of a list: those of the file where a sequence of it was chosen whole, else new ones."""
    sources = plan.source.copy()
    imported: dict[int, FrameSequence] = {}
    for sequence in find_sequences(source.frame_names) if source is not None else ():
        imported |= dict.fromkeys(range(sequence.first, sequence.last + 1), sequence)
    owners = [segment.name for segment in plan.segments for _ in segment.frames]
    taken: set[int] = set()
    end = 0
    for segment in plan.segments:
        begin, end = end, end + len(segment.frames)
        frames = sources[begin:end].tolist()
        first = imported.get(frames[0])
        if (
            first is not None
            and frames == list(range(first.first, first.last + 1))
            and clean_name(marker_name(first.name), MAX_SEQUENCE_NAME) == segment.name
            and taken.isdisjoint(frames)
        ):
            taken.update(frames)
        else:
            sources[begin:end] = NONE
    new = np.flatnonzero(sources == NONE).tolist()
    names = [""] * plan.frame_count
    numbered = number_frames([owners[position] for position in new], _digits(source))
    for position, name in zip(new, numbered, strict=True):
        names[position] = name
    return sources, names


def _digits(source: StoredModel | None) -> int:
    return number_digits(source.frame_names if source is not None else ())
