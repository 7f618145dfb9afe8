"""All clips as the one animation of a model in the re-releases of Quake and Quake II.

It is in the order of the model that it replaces: the game's code counts frames, so each sequence needs as many as it
has in the MD2 or MDL.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender.reports import Report, listing
from ...io_blender.skeletal.exporting.clips import AnimationOptions, Clip
from ...io_blender.skeletal.records import StoredAction
from ...io_common import names
from ...io_common.names import fold
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.skeleton import components, with_components
from ...io_common.texts import counted
from ..format import Md5Error
from ..importing.companions import Companion

if TYPE_CHECKING:
    from ...io_blender.skeletal.exporting.build import Build
    from ...io_common.frames import FrameSequence


def arrange(
    clips: dict[Path, Clip], path: Path, companion: Companion | None, options: AnimationOptions, report: Report
) -> dict[Path, Clip]:
    """Clips in the order of a companion, else in the user's; raises Md5Error for all that do not fit."""
    # The result, which `join` puts into one animation, has paths that differ, as a clip may occur twice; a single clip
    # has `path`.
    order = list(clips)
    if companion is not None:
        order, problems, left_out = match_sequences(clips, companion, options)
        if problems:
            raise Md5Error(
                f"the animations do not fit {companion.name}, whose frames the game counts: {listing(problems, 40)}; "
                "change the actions and their ranges, choose others, or turn off Match MD2 or MDL",
                path=path.name,
            )
        if left_out:
            report.warn(f"no sequences of {companion.name}, so not exported: {listing(left_out)}")
    # The translations of a joint are multiplied by its scales in all of them or in none.
    stored = [clips[key].stored or StoredAction(clips[key].name, "", None, None) for key in order]
    scaled = frozenset(name for one in stored for name in one.scales_position)
    chosen = [
        replace(clips[key], stored=replace(one, scales_position=scaled)) for key, one in zip(order, stored, strict=True)
    ]
    if len(chosen) == 1:
        return {path: chosen[0]}
    return {path.with_name(f"{index:05d} {path.name}"): clip for index, clip in enumerate(chosen)}


def match_sequences(
    clips: dict[Path, Clip], companion: Companion, options: AnimationOptions
) -> tuple[list[Path], list[str], list[str]]:
    """The keys of a companion's sequences, in order, what does not fit, and the names of other clips."""
    sequences = companion.sequences
    counts = {key: len(clip.samples(options)[0]) for key, clip in clips.items()}
    single = next(iter(counts.values())) if len(clips) == 1 else None
    if single == len(companion.frame_names):
        return list(clips), [], []
    by_name: dict[str, Path] = {}
    for key, clip in clips.items():
        for name in (key.stem, clip.name):
            by_name.setdefault(fold(name), key)
    occurrences: Counter[str] = Counter()
    order: list[Path] = []
    problems: list[str] = []
    for sequence in sequences:
        found = _clip_of(sequence, occurrences[sequence.name], by_name)
        occurrences[sequence.name] += 1
        if found is None:
            needs = counted(sequence.frame_count, "frames")
            problems.append(f"{_label(sequence)}: no animation, needs {needs}")
            continue
        order.append(found)
        if counts[found] != sequence.frame_count:
            problems.append(_wrong_count(sequence, counts[found]))
    left_out = [clip.name or key.stem for key, clip in clips.items() if key not in order]
    if not order and single is not None:
        # One animation of all sequences.
        lengths = [min(max(single - one.first, 0), one.frame_count) for one in sequences]
        problems = [
            _wrong_count(one, has) for one, has in zip(sequences, lengths, strict=True) if has < one.frame_count
        ]
        after = single - (sequences[-1].last + 1 if sequences else 0)
        if after > 0:
            problems.append(f"{counted(after, 'frames')} after the last sequence")
    return order, problems, left_out


def _label(sequence: FrameSequence) -> str:
    return sequence.name or f"frame {sequence.first}"


def _wrong_count(sequence: FrameSequence, count: int) -> str:
    return f"{_label(sequence)}: {counted(count, 'frames')} instead of {sequence.frame_count}"


def _clip_of(sequence: FrameSequence, occurrence: int, by_name: dict[str, Path]) -> Path | None:
    """The clip of a sequence; the second of two with one name has its own if one is named as by Blender."""
    name = sequence.name or "frame"
    wanted = [f"{name}.{occurrence:03d}", f"{name}_{occurrence + 1}"] if occurrence else []
    for candidate in (*wanted, name):
        for form in (candidate, names.for_files(candidate, "animation")):
            if fold(form) in by_name:
                return by_name[fold(form)]
    return None


def join(built: Build, path: Path, report: Report) -> None:
    """Puts the animations of a build, at least one, one after the other into one at `path`."""
    parts = built.animations
    if len(parts) == 1:
        return
    table = np.concatenate([components(animation) for animation in parts.values()])
    bounds = np.concatenate([animation.bounds for animation in parts.values()])
    built.animations = {path: with_components(next(iter(parts.values())), table, bounds=bounds)}
    if built.scales:
        joint_count = len(built.skeleton.joints)
        values = [
            built.scales[key].values if key in built.scales else np.ones((part.frame_count, joint_count))
            for key, part in parts.items()
        ]
        scales_position = next(iter(built.scales.values())).scales_position
        built.scales = {path: ScaleTable(np.concatenate(values), scales_position)}
    report.counts["animations"] = 1
