"""All clips as the one animation of a model in the re-releases of Quake and Quake II.

It is in the order of the model that it replaces: the game's code counts frames, so each sequence needs as many as it
has in the MD2 or MDL.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...io_blender.reports import Report, listing
from ...io_blender.skeletal.exporting.build import Build
from ...io_blender.skeletal.exporting.clips import AnimationOptions, Clip
from ...io_blender.skeletal.records import StoredAction
from ...io_common.companions import Companion, match_sequences
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.skeleton import components, with_components
from ..format import Md5Error


def arrange(
    clips: dict[Path, Clip], path: Path, companion: Companion | None, options: AnimationOptions, report: Report
) -> dict[Path, Clip]:
    """Clips in the order of a companion, else in the user's; raises Md5Error for all that do not fit."""
    # The result, which `join` puts into one animation, has paths that differ, as a clip may occur twice; a single clip
    # has `path`.
    order = list(clips)
    if companion is not None:
        order, problems, left_out = match_clips(clips, companion, options)
        if problems:
            raise Md5Error(companion.misfit(listing(problems, 40), "Match MD2 or MDL"), path=path.name)
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


def match_clips(
    clips: dict[Path, Clip], companion: Companion, options: AnimationOptions
) -> tuple[list[Path], list[str], list[str]]:
    """The keys of a companion's sequences, in order, what does not fit, and the names of other clips."""
    keys = list(clips)
    found = [((key.stem, clip.name), len(clip.samples(options)[0])) for key, clip in clips.items()]
    order, problems, left_out = match_sequences(companion, found)
    return [keys[index] for index in order], problems, left_out


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
