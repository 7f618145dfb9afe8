"""Frames for a file from positions, with as much of what they once were as still holds.

A frame whose vertices all lie on the grid that it came with keeps the grid, and with it its bytes. Where no byte
changed, nor any triangle, it keeps its normals as well: they are the exporter's of origin, and often no rule gives
them. Any other frame gets the grid of its own box and the normals of its faces, as Quake II's model compiler does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import match_grid, quantise
from .normals import normal_indices


@dataclass(frozen=True, eq=False)
class FrameData:
    """Frames as in a file.

    Attributes:
        scale: float32 (F, 3).
        translate: float32 (F, 3).
        vertices: uint8 (F, V, 3).
        normals: uint8 (F, V).
    """

    scale: NDArray[np.float32]
    translate: NDArray[np.float32]
    vertices: NDArray[np.uint8]
    normals: NDArray[np.uint8]

    def take(self, frames: NDArray[Any], vertices: NDArray[Any]) -> FrameData:
        """Return some vertices of some frames; all as they are without copying them."""
        if np.array_equal(frames, np.arange(len(self.scale))) and np.array_equal(
            vertices, np.arange(self.normals.shape[1])
        ):
            return self
        rows, columns = frames[:, None], vertices[None, :]
        return FrameData(
            self.scale[frames],
            self.translate[frames],
            self.vertices[rows, columns],
            self.normals[rows, columns],
        )


def requantise(
    positions: NDArray[Any],
    triangles: NDArray[Any],
    former: FrameData | None = None,
    *,
    is_former: NDArray[np.bool_] | None = None,
    keep_normals: bool = True,
    shared: bool = False,
) -> tuple[FrameData, NDArray[np.bool_]]:
    """Turn positions into frames.

    Args:
        positions: (F, V, 3) floats, in the model's units.
        triangles: (T, 3) integers, indices of vertices, clockwise.
        former: what the same vertices were in the same frames.
        is_former: (F,) which frames of ``former`` mean something; all unless given.
        keep_normals: False if the triangles are others than they were.
        shared: one box for all frames, so that what does not move keeps its bytes.

    Returns:
        The frames, and which of them (F,) kept their bytes, normals included.

    Raises:
        Md2Error: positions are not finite, or too far apart for single precision.
    """
    count = len(positions)
    if former is None:
        vertices, scale, translate = quantise(positions, shared=shared)
        return FrameData(scale, translate, vertices, normal_indices(positions, triangles)), np.zeros(
            count, bool
        )

    matched, on_grid = match_grid(positions, former.scale, former.translate, previous=former.vertices)
    stays = on_grid.all(axis=1)
    if is_former is not None:
        stays &= is_former
    same = stays & (matched == former.vertices).all(axis=(1, 2)) & keep_normals
    if shared and not (stays.all() and _is_one_grid(former)):
        # All frames or none: a box for the edited ones alone would let still parts wobble between the two.
        stays = np.zeros(count, bool)

    scale, translate = former.scale.copy(), former.translate.copy()
    vertices, normals = matched.copy(), former.normals.copy()
    if not stays.all():
        vertices[~stays], scale[~stays], translate[~stays] = quantise(positions[~stays], shared=shared)
    if not same.all():
        normals[~same] = normal_indices(positions[~same], triangles)
    return FrameData(scale, translate, vertices, normals), same & stays


def _is_one_grid(frames: FrameData) -> bool:
    """Whether all frames lie on the same grid."""
    return bool((frames.scale == frames.scale[:1]).all() and (frames.translate == frames.translate[:1]).all())
