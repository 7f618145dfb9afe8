"""Names of the frames of vertex-animated models, and of their sequences: from files, shape keys, markers and lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from bpy.types import Object, Scene

from ...io_common import frames as file_frames
from ...io_common.texts import UnknownFieldError
from ..clips.clip import AnimationList, range_markers
from ..clips.keyframes import marker_name
from ..records import NONE, SourceFrames
from ..reports import Report, listing
from ..scene.objects import NothingToExportError
from .frame_plan import FrameOptions, FramePlan, Segment, frames_of_keys, playing_action


def segments_of_list(found: AnimationList, options: FrameOptions, report: Report) -> list[Segment]:
    """The checked animations in the order of the list; raises NothingToExportError."""
    rows = found.require_checked(report, "Frames", "animate it", "sequence")
    try:
        names = sequence_names([found.name(row) for row in rows], report)
    except UnknownFieldError as error:
        raise NothingToExportError(str(error)) from error
    clips = [row.animation for row in rows]
    return [Segment(name, options.of_clip(clip, found.scene), clip) for name, clip in zip(names, clips, strict=True)]


def clean_names(names: Sequence[str], longest: int, report: Report, consequence: str) -> list[str]:
    """Names as a file can have them; each change is a warning with `consequence`, which may have {name}."""
    cleaned = [file_frames.clean_name(name, longest) for name in names]
    for name, clean in zip(names, cleaned, strict=True):
        # That blanks become underscores need not be mentioned.
        if clean != "_".join(name.split()):
            text = f"frame names can have only {file_frames.MAX_FRAME_NAME} Latin-1 characters, so {consequence}"
            report.warn(text.replace("{name}", clean), name)
    return cleaned


def sequence_names(names: Sequence[str], report: Report) -> list[str]:
    """Names of sequences as a file can have them; warns of those that had to change, and of repeated ones."""
    cleaned = clean_names(names, file_frames.MAX_SEQUENCE_NAME, report, "the sequence was named {name}")
    repeated = sorted({name for name in cleaned if cleaned.count(name) > 1})
    if repeated:
        report.warn(f"several sequences have the same name, and their frames are numbered on: {listing(repeated)}")
    return cleaned


@dataclass(eq=False)
class FrameNamer:
    """Finds the frame of the imported file that names each frame, or NONE, and the name that it has then."""

    plan: FramePlan
    objects: Sequence[Object]
    scene: Scene
    models: Iterable[SourceFrames]
    report: Report
    first_number: int = 1

    def __post_init__(self) -> None:
        self._source, self._sources, self._names = self.plan.file, self.plan.source.copy(), [""] * self.plan.frame_count

    def find_names(self) -> list[str]:
        """Names of the file or of shape keys, else new ones; unique unless the imported file repeats them."""
        plan, source = self.plan, self._source
        if plan.segments:
            self._name_segments()
        elif plan.scene_frames is None:
            self._name_keys()
        else:
            self._name_scene(plan.scene_frames)
        frames = self._sources.tolist()
        stored = [source.frame_names[frame] if source is not None and frame != NONE else None for frame in frames]
        new = [name for name, old in zip(self._names, stored, strict=True) if old is None]
        names = iter(file_frames.make_unique(new, [old for old in stored if old is not None]))
        return [next(names) if old is None else old for old in stored]

    def _number(self, names: list[str]) -> list[str]:
        digits = file_frames.number_digits(self._source.frame_names if self._source is not None else ())
        return file_frames.number_frames(names, digits, self.first_number)

    def _set(self, positions: Iterable[int], names: Iterable[str]) -> None:
        for position, name in zip(positions, names, strict=True):
            self._sources[position], self._names[position] = NONE, name

    def _name_keys(self) -> None:
        key_names, source = self.plan.key_names, self._source
        self._sources = frames_of_keys(key_names, source)
        new = np.flatnonzero(self._sources == NONE).tolist()
        self._set(new, self._clean_keys([key_names[position] or "" for position in new]))
        start = source.frame_start if source is not None else 0
        self._rename((self._sources + start).tolist())

    def _clean_keys(self, names: Sequence[str]) -> list[str]:
        consequence = "the name was changed in the file: rename the shape key to choose another"
        return clean_names(names, file_frames.MAX_FRAME_NAME, self.report, consequence)

    def _name_scene(self, frames: Sequence[float]) -> None:
        # Each name of the file or of a shape key is used once, by the first frame.
        taken: set[str] = set()
        for position, name in enumerate(self.plan.key_names):
            if name is None or name in taken:
                self._sources[position] = NONE
            elif self._sources[position] == NONE:
                (self._names[position],) = self._clean_keys([name])
            taken.add(name or "")
        self._rename(frames)
        new = [position for position, name in enumerate(self._names) if self._sources[position] == NONE and not name]
        chosen = self._sequences([frames[position] for position in new])
        distinct = list(dict.fromkeys(chosen))
        cleaned = dict(zip(distinct, sequence_names(distinct, self.report), strict=True))
        self._set(new, self._number([cleaned[name] for name in chosen]))

    def _name_segments(self) -> None:
        """Names the frames of a list: as in the file where a sequence of it was chosen whole, else anew."""
        imported: dict[int, file_frames.FrameSequence] = {}
        for sequence in file_frames.find_sequences(self._source.frame_names) if self._source is not None else ():
            imported |= dict.fromkeys(range(sequence.first, sequence.last + 1), sequence)
        taken: set[int] = set()
        end = 0
        for segment in self.plan.segments:
            begin, end = end, end + len(segment.frames)
            frames = self._sources[begin:end].tolist()
            first = imported.get(frames[0])
            if (
                first is not None
                and frames == list(range(first.first, first.last + 1))
                and file_frames.clean_name(marker_name(first.name), file_frames.MAX_SEQUENCE_NAME) == segment.name
                and taken.isdisjoint(frames)
            ):
                taken.update(frames)
            else:
                self._sources[begin:end] = NONE
        new = np.flatnonzero(self._sources == NONE).tolist()
        owners = [segment.name for segment in self.plan.segments for _ in segment.frames]
        self._set(new, self._number([owners[position] for position in new]))

    def _rename(self, times: Sequence[float]) -> None:
        """Names the frames whose sequence has a renamed marker now; `times` are those of the scene, (F,)."""
        # A sequence is renamed if just one marker is where it begins, and that has another name.
        markers: dict[float, set[str]] = {}
        for marker in range_markers(self.scene):
            markers.setdefault(marker.frame, set()).add(marker.name)
        if self._source is None or not markers or len(self._source.frame_names) < 2:
            return
        # A marker with the name of another model's sequence is not a renamed one.
        imported = {marker_name(name) for model in self.models for name in model.sequence_names}
        found = self._sources.copy()
        for sequence in file_frames.find_sequences(self._source.frame_names):
            positions = np.flatnonzero((found >= sequence.first) & (found <= sequence.last)).tolist()
            is_marked = sequence.name in self._source.sequence_names
            if not is_marked or not positions or found[positions[0]] != sequence.first:
                continue
            shown = markers.get(times[positions[0]], set())
            if len(shown) != 1 or marker_name(sequence.name) in shown or not shown.isdisjoint(imported):
                continue
            (new_name,) = shown
            named = self._number([new_name] * len(positions))
            self._set(positions, named)
            self.report.warn(
                f"the marker of the sequence {sequence.name} was renamed to {new_name}: its frames were named "
                f"{named[0]} to {named[-1]}"
            )

    def _sequences(self, frames: list[float]) -> list[str]:
        """The sequence of each frame of the scene, named by the marker before it, or by the action."""
        markers = sorted(((marker.frame, marker.name) for marker in range_markers(self.scene)), reverse=True)
        action = playing_action(self.objects)
        fallback = action.name if action is not None else ""
        return [next((name for start, name in markers if start <= frame), fallback) for frame in frames]
