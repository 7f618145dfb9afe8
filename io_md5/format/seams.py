"""Vertices that are copies of each other only because UV seams split them.

A vertex of the format has one pair of texture coordinates, so exporters repeat it along UV seams, with the very
same weights. For editing the copies are better one vertex whose corners have their own coordinates.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .model import Floats, Mesh
from .skinning import equal_rows, vertex_weights

IntArray = npt.NDArray[np.int64]

# Three numbers below this are one number of 63 bits.
_PACKABLE = 1 << 21


def same_weights(mesh: Mesh) -> IntArray:
    """For each vertex a number that is the same for vertices with exactly equal weights, (V,).

    Such vertices are at the same place in every pose. The order of the weights does not matter.
    """
    table = np.column_stack([mesh.weight_joints, mesh.weight_biases, mesh.weight_positions]) + 0.0
    rows = vertex_weights(mesh)
    kinds = equal_rows(table)[rows.weights]
    counts = mesh.weight_counts
    firsts = np.cumsum(counts, dtype=np.int64) - counts
    result = np.zeros(mesh.vertex_count, dtype=np.int64)
    used = 0
    for count in np.unique(counts):
        vertices = np.flatnonzero(counts == count)
        lists = np.sort(kinds[firsts[vertices, None] + np.arange(count)], axis=1)
        numbers = equal_rows(lists) if count else np.arange(len(vertices))
        result[vertices] = numbers + used
        used += len(vertices)
    return result


def merge_copies(mesh: Mesh, vertices: Floats) -> IntArray:
    """For each vertex the first of those it may be merged with, (V,); its own index where it stays alone.

    Vertices with equal weights are merged, but never so that a triangle collapses or two triangles come to lie on
    the same vertices: there, the copies that face the other way (the back of a leaf) stay apart, and where
    that is not enough, every vertex of the triangle. Vertices of no triangle stay alone.

    Args:
        mesh: with V vertices.
        vertices: their places in the bind pose, (V, 3).
    """
    triangles = mesh.triangles[~degenerate(mesh.triangles)]
    count = mesh.vertex_count
    alone = np.ones(count, dtype=bool)
    alone[triangles] = False
    groups = same_weights(mesh)
    facing_away = np.zeros(count, dtype=bool)
    before = _same_corners(triangles, count)
    normals: Floats | None = None
    while True:
        firsts = _first_members(groups, facing_away, alone)
        bad = triangles[_conflicts(firsts[triangles], before, count)]
        if not len(bad):
            return firsts
        if normals is None:
            normals = _own_normals(vertices, triangles)
        crowded = np.zeros(count, dtype=bool)
        crowded[firsts[bad]] = True
        members = crowded[firsts]
        turned = members & (np.einsum("vi,vi->v", normals, normals[firsts]) < 0.0)
        if (turned & ~facing_away).any():
            facing_away |= turned
        else:
            alone[bad] = True


def degenerate(triangles: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Which triangles (T, 3) have a vertex twice, (T,)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return (a == b) | (b == c) | (c == a)


def _first_members(
    groups: IntArray, facing_away: npt.NDArray[np.bool_], alone: npt.NDArray[np.bool_]
) -> IntArray:
    """For each vertex the first with the same group and side, (V,); its own index where it is alone."""
    members = np.flatnonzero(~alone)
    keys = groups[members] * 2 + facing_away[members]
    first_of_key = np.empty(2 * len(groups), dtype=np.int64)
    # Of several values for one key the last stays, so the first vertex comes last.
    first_of_key[keys[::-1]] = members[::-1]
    firsts = np.arange(len(groups))
    firsts[members] = first_of_key[keys]
    return firsts


def _conflicts(merged: IntArray, before: IntArray, count: int) -> npt.NDArray[np.bool_]:
    """Which triangles (T,) would collapse, or lie on the vertices of another, by the merge.

    Args:
        merged: the vertices of the triangles after the merge, (T, 3).
        before: a number for each triangle, the same for those that share their vertices in the file, (T,).
        count: V.
    """
    numbers = _same_corners(merged, count)
    order = np.argsort(numbers, kind="stable")
    same = numbers[order[1:]] == numbers[order[:-1]]
    # Triangles that share their vertices in the file already are not the merge's doing.
    differ = same & (before[order[1:]] != before[order[:-1]])
    crowded = np.isin(numbers, numbers[order[1:][differ]]) if differ.any() else False
    return degenerate(merged) | crowded


def _same_corners(triangles: npt.NDArray[np.integer], count: int) -> IntArray:
    """For each triangle (T, 3) a number that is the same for those on the same of V vertices, (T,)."""
    a, b, c = triangles.astype(np.int64).T
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    middle = a + b + c - low - high
    if count < _PACKABLE:
        return (low * count + middle) * count + high
    return equal_rows(np.stack([low, middle, high], axis=1))


def _own_normals(vertices: Floats, triangles: npt.NDArray[np.integer]) -> Floats:
    """The sum of the normals of each vertex's own triangles, weighted by area, (V, 3)."""
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    faces = np.repeat(np.cross(c - a, b - a), 3, axis=0)
    sums = np.zeros_like(vertices)
    for axis in range(3):
        sums[:, axis] = np.bincount(triangles.ravel(), faces[:, axis], minlength=len(vertices))
    return sums
