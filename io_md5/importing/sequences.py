"""Sequences of an animation whose frames are named by the model that it replaces: markers, and actions on request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender.clips.markers import add_markers
from ...io_blender.reports import ImportResult
from .build import build_animation
from .options import ImportOptions
from .read import ImportSkeleton, SourceFiles

if TYPE_CHECKING:
    from bpy.types import Context

_NAMELESS = "frame"


def build_sequences(
    context: Context,
    path: Path,
    files: SourceFiles,
    target: ImportSkeleton,
    options: ImportOptions,
    result: ImportResult,
) -> None:
    """Builds a marker where each sequence of an animation begins, and on request an action of each.

    `path` is the animation; `files` must have a companion for it.
    """
    animation = files.animations[path]
    last_frame = animation.frame_count - 1
    sequences = [one for one in files.companions[path].sequences if one.first <= last_frame]
    result.report.count("sequences", len(sequences))
    add_markers(context.scene, [(one.name, options.frame_start + one.first) for one in sequences])
    if not options.sequence_actions:
        return
    scales = files.scales.get(path)
    # The frames are those of the animation, which is counted already.
    counts = dict(result.report.counts)
    for sequence in sequences:
        first, last = sequence.first, min(sequence.last, last_frame)
        part = replace(
            animation,
            frames=animation.frames[first : last + 1],
            bounds=animation.bounds[first : last + 1],
            warnings=[],
        )
        own_scales = scales.part(first, last) if scales is not None else None
        name = sequence.name or _NAMELESS
        build_animation(context, name, part, target, options, result, own_scales)
    result.report.counts.update(counts)
