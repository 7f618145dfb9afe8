"""Triangles as arrays of vertex indices, and the conventions in which files differ from Blender. Needs no Blender.

The triangles of id's formats are clockwise seen from outside, and their texture coordinates count from the upper left
corner of the image. Blender's are counter-clockwise and count from the lower left corner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FLIPPED_WINDING = [0, 2, 1]
"""The order of corners that flips the winding of triangles: ``triangles[:, FLIPPED_WINDING]``."""

_V_FACTOR, _V_OFFSET = (1.0, -1.0), (0.0, 1.0)


def flip_v(uvs: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Texture coordinates (…, 2) counted from the opposite edge of the image: u and 1 - v. It is its own inverse."""
    result: npt.NDArray[np.float64] = np.multiply(uvs, _V_FACTOR, dtype=np.float64) + _V_OFFSET
    return result


def is_degenerate(triangles: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Which triangles (T, 3) name a vertex more than once, (T,). A Blender mesh cannot hold them."""
    a, b, c = triangles.T
    result: npt.NDArray[np.bool_] = (a == b) | (b == c) | (c == a)
    return result


def drop_degenerate(
    triangles: npt.NDArray[np.integer], *tables: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], ...]:
    """The triangles that name three different vertices, and the same rows of other tables.

    Args:
        triangles: indices of vertices, (T, 3).
        tables: one row for each triangle, (T, …).
    """
    dropped = is_degenerate(triangles)
    if not dropped.any():
        return triangles, *tables
    return tuple(table[~dropped] for table in (triangles, *tables))


def lowest_vertex_first(triangles: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
    """The same triangles (T, 3) with their corners rotated so that each begins with its lowest vertex.

    Triangles of the same vertices and the same winding become equal rows.
    """
    first = triangles.argmin(axis=1)
    rotated: npt.NDArray[Any] = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)
    return rotated
