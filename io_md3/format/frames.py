"""Frames: positions and normals to and from the grids of the file, boxes around them, and merging of vertices.

A normal is two angles in 1/255 of a full turn: the first from +z, the second around z from +x (q3map's
`NormalToLatLong`, which writes them; engines decode them with 255 or 256 steps).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ...io_common import playback
from ...io_common.arrays import distinct_rows
from ...io_common.playback import Wrap
from .model import FRAMES_PER_SECOND, UNITS, Md3Error, Model

_STEP = 2.0 * np.pi / 255.0
_LIMITS = np.iinfo(np.int16)


def positions(vertices: npt.ArrayLike) -> NDArray[np.float32]:
    """The positions of vertices in units.

    Args:
        vertices: (…, 3) int16, in 1/64 unit.

    Returns:
        float32, the shape of ``vertices``; exact.
    """
    return np.asarray(vertices, np.float32) / np.float32(UNITS)


def quantise(points: npt.ArrayLike) -> NDArray[np.int16]:
    """The nearest positions on the grid of the file.

    Args:
        points: (…, 3) floats, in units.

    Raises:
        Md3Error: a position is not finite, or farther from the origin than 512 units.
    """
    steps = np.asarray(points, np.float64) * UNITS
    np.rint(steps, out=steps)
    # NaN fails every comparison, so the test is for what is valid.
    if not (steps.min(initial=0.0) >= _LIMITS.min and steps.max(initial=0.0) <= _LIMITS.max):
        found = float(np.abs(np.asarray(points, np.float64)).max())
        raise Md3Error("the model is too large", found=f"{found:.4g} units", expected="at most 511.98 from the origin")
    return steps.astype(np.int16)


def normal_vectors(normals: npt.ArrayLike) -> NDArray[np.float32]:
    """The unit vectors (…, 3) of normals, (…, 2) uint8."""
    from_z, around_z = np.moveaxis(np.asarray(normals, np.float64) * _STEP, -1, 0)
    ring = np.sin(from_z)
    result = np.stack([np.cos(around_z) * ring, np.sin(around_z) * ring, np.cos(from_z)], axis=-1)
    return result.astype(np.float32)


def nearest_normals(vectors: npt.ArrayLike) -> NDArray[np.uint8]:
    """The normals (…, 2) nearest to vectors (…, 3), which need not have the length 1; that of no length points up."""
    vectors = np.asarray(vectors, np.float64)
    x, y, z = np.moveaxis(vectors, -1, 0)
    length = np.linalg.norm(vectors, axis=-1)
    from_z = np.arccos(np.clip(z / np.where(length > 0.0, length, 1.0), -1.0, 1.0))
    from_z = np.where(length > 0.0, from_z, 0.0)
    # Straight up and down have no angle around z.
    around_z = np.where(np.hypot(x, y) > 1e-6 * length, np.arctan2(y, x), 0.0)
    angles = np.stack([from_z, around_z], axis=-1)
    return np.mod(np.rint(angles / _STEP), 255.0).astype(np.uint8)


def frame_bounds(points: npt.ArrayLike) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The box around each frame, the center and the radius of the sphere around it, as Quake III culls models by.

    Args:
        points: (F, V, 3) floats, in units.

    Returns:
        ``bounds`` (F, 2, 3), ``origins`` (F, 3) and ``radii`` (F,), all float32; zeros without vertices.
    """
    points = np.asarray(points, np.float64)
    if not points.size:
        count = len(points)
        return (np.zeros((count, 2, 3), np.float32), np.zeros((count, 3), np.float32), np.zeros(count, np.float32))
    bounds = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
    origins = bounds.mean(axis=1)
    radii = np.linalg.norm(points - origins[:, None], axis=2).max(axis=1)
    return bounds.astype(np.float32), origins.astype(np.float32), radii.astype(np.float32)


def frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float = FRAMES_PER_SECOND, *, wrap: Wrap = "blend"
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The two frames that a time lies between, for ``interpolate``.

    Args:
        seconds: times since the first frame, of any shape.
        first: the first frame of a sequence.
        last: its last frame.
        frame_rate: frames per second.
        wrap: what follows the last frame.

    Returns:
        The frame before, the frame after, and the fraction of the way between them, each of the shape of ``seconds``.

    Raises:
        Md3Error: there are no frames, or the rate or a time is not valid.
    """
    return playback.frame_pair(seconds, first, last, frame_rate, wrap, Md3Error)


def interpolate(start: npt.ArrayLike, end: npt.ArrayLike, fraction: float) -> NDArray[np.float64]:
    """Positions, or origins and axes of tags, between two frames, as Quake III draws them: linearly.

    Args:
        start: values of one frame, of any shape.
        end: the same of another frame.
        fraction: 0 for ``start``, 1 for ``end``.
    """
    before, after = np.asarray(start, np.float64), np.asarray(end, np.float64)
    result: NDArray[np.float64] = before + (after - before) * fraction
    return result


def same_positions(vertices: NDArray[np.int16], *tables: NDArray[np.integer]) -> NDArray[np.int64]:
    """A number for each vertex of (F, V, 3), the same for vertices at one position in all frames, in the order of
    their first use, (V,); vertices are the same only if all `tables` (F, V, …) have the same rows for them."""
    columns = [np.moveaxis(table, 1, 0).reshape(table.shape[1], -1) for table in (vertices, *tables)]
    return distinct_rows(np.hstack(columns))[1]


def first_frame(model: Model) -> Model:
    """The model with its first frame alone.

    Args:
        model: with at least one frame; it is not changed.
    """
    from dataclasses import replace

    return replace(
        model,
        frame_names=model.frame_names[:1], bounds=model.bounds[:1], origins=model.origins[:1], radii=model.radii[:1],
        tag_origins=model.tag_origins[:1], tag_axes=model.tag_axes[:1], preserved=None,
        surfaces=[replace(one, vertices=one.vertices[:1], normals=one.normals[:1]) for one in model.surfaces],
    )  # fmt: skip
