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


def bend(
    corners: npt.NDArray[np.floating], loops: npt.NDArray[np.int32], other_loops: npt.NDArray[np.int32]
) -> float:
    """How far the surface moves if faces are split into other triangles.

    Args:
        corners: positions of the corners of the mesh, (L, 3).
        loops: the corners of triangles, (T, 3).
        other_loops: the same faces split differently, (T, 3); triangle i belongs to the same face.
    """
    differing = (np.sort(loops, axis=1) != np.sort(other_loops, axis=1)).any(axis=1)
    if not differing.any():
        return 0.0
    cut, other = corners[loops[differing]], corners[other_loops[differing]]
    normals, other_normals = (
        np.cross(part[:, 1] - part[:, 0], part[:, 2] - part[:, 0]) for part in (cut, other)
    )
    lengths = np.linalg.norm(normals, axis=1)
    units = normals / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    heights = np.abs(np.einsum("tci,ti->tc", other - cut[:, :1], units)).max(axis=1)
    edges = np.linalg.norm(other - np.roll(other, 1, axis=1), axis=2).max(axis=1)
    # A triangle that faces the other way lies outside of a concave face.
    is_outside = np.einsum("ti,ti->t", normals, other_normals) < 0.0
    return float(np.where(is_outside, edges, heights).max())
