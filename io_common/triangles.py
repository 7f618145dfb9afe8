"""Triangles as arrays of vertex indices, and the conventions in which files differ from Blender. Needs no Blender.

The triangles of id's formats are clockwise seen from outside, and their texture coordinates count from the upper left
corner of the image. Blender's are counter-clockwise and count from the lower left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FLIPPED_WINDING = [0, 2, 1]  # of corners: triangles[:, FLIPPED_WINDING] are wound the other way
# What to do about faces that are split differently in another pose: other methods go by the pose as well.
TRIANGULATE = (
    "Triangulate them in Edit Mode (Ctrl+T), or with a Triangulate modifier before the others, with the Quad Method "
    "Fixed"
)

# The corners of the two triangles that a face of four can be split into, along either diagonal.
_SPLITS = np.array([[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]], dtype=np.int32)
_NO_AREA = 1e-4  # a triangle with less than this part of the area of others is a line but for rounding

_Integers = npt.NDArray[np.integer]


def flip_v(uvs: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Texture coordinates (…, 2) counted from the opposite edge of the image: u and 1 - v. It is its own inverse.

    Files count from the upper edge; OpenGL, OBJ and Blender count from the lower one.
    """
    return np.add(np.multiply(uvs, (1.0, -1.0), dtype=np.float64), (0.0, 1.0))


def is_degenerate(triangles: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which triangles (T, 3) name a vertex more than once, (T,). A Blender mesh cannot hold them."""
    a, b, c = np.asarray(triangles).T
    return np.asarray((a == b) | (b == c) | (c == a))


def drop_degenerate(triangles: npt.NDArray[np.integer], *tables: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """The triangles (T, 3) that name three different vertices, and the same rows of tables (T, …)."""
    dropped = is_degenerate(triangles)
    if not dropped.any():
        return triangles, *tables
    return tuple(table[~dropped] for table in (triangles, *tables))


class Cost(NamedTuple):
    """What the vertices of a mesh cost together, at most `most`: the size of each different element that they use."""

    most: float
    elements: _Integers  # of each vertex, (V,)
    sizes: _Integers  # of the element of each vertex, (V,)


def runs_within(triangles: _Integers, most: float, costs: Sequence[Cost]) -> list[slice]:
    """The runs of triangles (T, 3) with at most so many triangles, and within all costs."""
    runs: list[slice] = []
    start = 0
    while start < len(triangles):
        corners = triangles[start : start + int(min(most, len(triangles)))].ravel()
        count = len(corners) // 3
        for cost in costs:
            _, firsts = np.unique(cost.elements[corners], return_index=True)
            added = np.zeros(len(corners))
            added[firsts] = cost.sizes[corners[firsts]]
            sums = added.reshape(-1, 3).sum(axis=1).cumsum()
            count = min(count, int(np.searchsorted(sums, cost.most, side="right")))
        runs.append(slice(start, start + max(count, 1)))
        start = runs[-1].stop
    return runs


def lowest_vertex_first(triangles: npt.NDArray[np.integer]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Triangles (T, 3) rotated to start at the lowest vertex, so that those of one winding are equal rows; and which of
    all corners, one triangle after the other, each of their corners was, (T, 3)."""
    first = triangles.argmin(axis=1)[:, None]
    corners = 3 * np.arange(len(triangles))[:, None] + (first + np.arange(3)) % 3
    return np.take(triangles, corners), corners


def with_area(
    loops: npt.NDArray[np.int32], faces: npt.NDArray[np.int32], places: npt.NDArray[np.float64]
) -> npt.NDArray[np.int32]:
    """Triangles with faces of four corners split along the other diagonal where one of two has no area."""
    # `loops` (T, 3), those of a face following each other, `faces` (T,) ascending, `places` of the corners (L, 3).
    rows = np.flatnonzero(np.bincount(faces)[faces] == 2).reshape(-1, 2)
    pairs = loops[rows]
    firsts = pairs.min(axis=(1, 2))
    splits = firsts[:, None, None, None] + _SPLITS
    # The two corners of a diagonal count twice.
    is_second = pairs.sum(axis=(1, 2)) - 6 * firsts > _SPLITS[0].sum()
    a, b, c = np.moveaxis(places[splits], 3, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=-1).min(axis=2)
    area, other = np.where(is_second[:, None], areas[:, ::-1], areas).T
    chosen = np.flatnonzero(area < _NO_AREA * other)
    result = loops.copy()
    result[rows[chosen]] = splits[chosen, 1 - is_second[chosen].astype(int)]
    return result


def have_same_triangles(
    triangles: _Integers, sources: _Integers, source_triangles: _Integers, source_count: int
) -> npt.NDArray[np.bool_]:
    """Which vertices (V,) have the triangles of the imported file with the same winding, and no others."""
    # `sources` has the vertex of the file that each of the mesh is, or -1, (V,).
    rows = np.concatenate([source_triangles, sources[triangles]])
    _values, ids = np.unique(lowest_vertex_first(rows)[0], axis=0, return_inverse=True)
    ids = ids.reshape(-1)
    count = len(source_triangles)
    size = int(ids.max(initial=-1)) + 1
    differs = np.bincount(ids[:count], minlength=size) != np.bincount(ids[count:], minlength=size)
    # The last entry is that of -1.
    is_same = np.ones(source_count + 1, dtype=bool)
    is_same[rows[differs[ids]]] = False
    is_same[-1] = False
    return is_same[sources]


NO_TRIANGLE = -1  # the neighbor at an edge without one


def neighbors(triangles: _Integers, positions: npt.NDArray[np.floating]) -> npt.NDArray[np.int32]:
    """The triangle at each edge, from a corner to the next, of triangles (T, 3) by the places of vertices, (T, 3)."""
    # -1 at an edge without another triangle, and at one that more than two share.
    if not len(triangles):
        return np.zeros((0, 3), np.int32)
    places = np.unique(positions + np.float32(0.0), axis=0, return_inverse=True)[1].reshape(-1)
    corners = places[triangles]
    edges = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    keys = edges[:, 0] * len(positions) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)[1:]
    pairs = firsts[counts == 2]
    result = np.full(len(keys), NO_TRIANGLE, np.int32)
    left, right = order[pairs], order[pairs + 1]
    result[left], result[right] = right // 3, left // 3
    return result.reshape(-1, 3)
