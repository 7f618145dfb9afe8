"""Timings of the format packages as a library: poses at a time, and skinning, without Blender."""

from __future__ import annotations

from collections.abc import Callable

import inputs
import numpy as np
from results import Results, Row
from timing import Job, medians

from io_idtech.io_md5.format import WRAPS, loop_type, pose_at, poses, skin

_SHORT, _LONG = 10, 2_000  # frames
_SKINNED = 50  # frames
_SAME_COST, _NOT_SLOWER = 1.2, 1.0


def library(results: Results) -> None:
    """Measures what docs/library.md and the docstrings promise.

    Args:
        results: extended with the rows.
    """
    model = inputs.model(7_400, 46)
    short, long = (inputs.animation(model.joints, frames) for frames in (_SHORT, _LONG))
    mesh = model.meshes[0]
    positions, orientations = poses(long, np.arange(_SKINNED))

    def one_by_one() -> None:
        for frame in range(_SKINNED):
            skin(mesh, positions[frame], orientations[frame])

    wrap = WRAPS[loop_type(long)]
    rows: list[tuple[str, Callable[[], object], str, Callable[[], object], float | None]] = [
        (
            f"`pose_at` of {_LONG:,} frames of 46 joints",
            lambda: pose_at(long, 1.23, wrap=wrap),
            f"of {_SHORT} frames",
            lambda: pose_at(short, 0.23, wrap=wrap),
            _SAME_COST,
        ),
        (
            f"`pose_at` of {_LONG:,} frames without `wrap`",
            lambda: pose_at(long, 1.23),
            "with `wrap`",
            lambda: pose_at(long, 1.23, wrap=wrap),
            None,
        ),
        (
            f"`skin` of {_SKINNED} frames of {mesh.vertex_count:,} vertices at once",
            lambda: skin(mesh, positions, orientations),
            "one by one",
            one_by_one,
            _NOT_SLOWER,
        ),
    ]
    for job, run, against, other, target in rows:
        seconds, least = medians(Job(run), Job(other))
        results.rows.append(Row(job, seconds, against, least, target))
