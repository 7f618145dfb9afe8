"""Several clips as the one animation of a model in the re-releases, in the order of the model that it replaces.

The game's code counts frames, so each sequence needs as many as it has in the MD2 or MDL.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender.reports import Report, listing
from ...io_blender.scene import names
from ...io_common.counting import counted
from ...io_common.textures.names import fold
from ..format import Md5Error
from ..format.scale_file import ScaleTable
from ..format.skeleton import components, split_components
from ..importing.companions import Companion
from ..records import StoredAction
from .clips import AnimationOptions, Clip

if TYPE_CHECKING:
    from ...io_md2.format import FrameSequence
    from .build import Build


def arrange(
    clips: dict[Path, Clip],
    path: Path,
    companion: Companion | None,
    options: AnimationOptions,
    report: Report,
) -> dict[Path, Clip]:
    """Clips in the order in which `join` puts them into one animation.

    `clips` are by the file that each would have alone, in the order chosen by the user, which is kept if `companion` is
    None. The result has paths that differ, as a clip may occur twice; a single clip has `path`.

    Warns about clips that are left out. Raises Md5Error if the clips do not fit the sequences of the companion; it
    names all that do not.
    """
    order = list(clips)
    if companion is not None:
        order, problems, left_out = placed(clips, companion, options)
        if problems:
            raise Md5Error(
                f"the animations do not fit {companion.name}, whose frames the game counts: {listing(problems, 40)}; "
                "change the actions and their ranges, choose others, or turn off Match MD2 or MDL",
                path=path.name,
            )
        if left_out:
            report.warn(f"no sequences of {companion.name}, so not exported: {listing(left_out)}")
    scaled = frozenset(name for key in order for name in _stored(clips[key]).scales_position)
    chosen = [_with_scaled_positions(clips[key], scaled) for key in order]
    if len(chosen) == 1:
        return {path: chosen[0]}
    return {path.with_name(f"{index:05d} {path.name}"): clip for index, clip in enumerate(chosen)}


def placed(
    clips: dict[Path, Clip], companion: Companion, options: AnimationOptions
) -> tuple[list[Path], list[str], list[str]]:
    """The clips of a companion's sequences, in order; `clips` are by the file that each would have alone.

    Returns the keys of the clips, what does not fit by sequence, and the names of clips that are no sequence.
    """
    sequences = companion.sequences
    counts = {key: len(clip.samples(options)[0]) for key, clip in clips.items()}
    total = len(companion.frame_names)
    if len(clips) == 1 and counts[next(iter(clips))] == total:
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
        label = sequence.name or f"frame {sequence.first}"
        if found is None:
            problems.append(f"{label}: no animation, needs {counted(sequence.frame_count, 'frames')}")
        elif counts[found] != sequence.frame_count:
            problems.append(f"{label}: {counted(counts[found], 'frames')} instead of {sequence.frame_count}")
        if found is not None:
            order.append(found)
    left_out = [clip.name or key.stem for key, clip in clips.items() if key not in order]
    if not order and len(clips) == 1:
        problems = _whole_problems(counts[next(iter(clips))], sequences)
    return order, problems, left_out


def _clip_of(sequence: FrameSequence, occurrence: int, by_name: dict[str, Path]) -> Path | None:
    """The clip of a sequence; the second of two with the same name has its own if one is named like Blender would."""
    name = sequence.name or "frame"
    wanted = [f"{name}.{occurrence:03d}", f"{name}_{occurrence + 1}"] if occurrence else []
    for candidate in (*wanted, name):
        for form in (candidate, names.for_files(candidate, "animation")):
            if fold(form) in by_name:
                return by_name[fold(form)]
    return None


def _whole_problems(count: int, sequences: list[FrameSequence]) -> list[str]:
    """What a single animation of all sequences lacks, or has too much of."""
    problems = []
    for sequence in sequences:
        own = min(max(count - sequence.first, 0), sequence.frame_count)
        if own < sequence.frame_count:
            label = sequence.name or f"frame {sequence.first}"
            problems.append(f"{label}: {counted(own, 'frames')} instead of {sequence.frame_count}")
    last = sequences[-1].last if sequences else -1
    if count > last + 1:
        problems.append(f"{counted(count - last - 1, 'frames')} after the last sequence")
    return problems


def _stored(clip: Clip) -> StoredAction:
    return clip.stored or StoredAction(clip.name, "", None, None)


def _with_scaled_positions(clip: Clip, joints: frozenset[str]) -> Clip:
    """A clip whose file multiplies the translations of these joints by their scales."""
    stored = _stored(clip)
    if stored.scales_position == joints:
        return clip
    return replace(clip, stored=replace(stored, scales_position=joints))


def join(built: Build, path: Path, report: Report) -> None:
    """Puts the animations of a build, at least one, one after the other into one at `path`.

    Changes `built`, and corrects the counts of the report.
    """
    parts = list(built.animations.items())
    if len(parts) == 1:
        return
    table = np.concatenate([components(animation) for _, animation in parts])
    flags, starts, base, frames = split_components(table, np.zeros(table.shape[1:]))
    first = parts[0][1]
    built.animations = {
        path: replace(
            first,
            flags=flags,
            starts=starts,
            base_positions=base[:, :3].copy(),
            base_orientations=base[:, 3:].copy(),
            frames=frames,
            bounds=np.concatenate([animation.bounds for _, animation in parts]),
        )
    }
    scales = _joined_scales(built, [(key, animation.frame_count) for key, animation in parts])
    built.scales = {path: scales} if scales is not None else {}
    report.counts["animations"] = 1


def _joined_scales(built: Build, parts: list[tuple[Path, int]]) -> ScaleTable | None:
    if not built.scales:
        return None
    joint_count = len(built.skeleton.joints)
    values = [
        built.scales[key].values if key in built.scales else np.ones((count, joint_count))
        for key, count in parts
    ]
    return ScaleTable(np.concatenate(values), next(iter(built.scales.values())).scales_position)
