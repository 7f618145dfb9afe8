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
    normals = _own_normals(vertices, triangles)
    while True:
        firsts = _first_members(groups, facing_away, alone)
        bad = triangles[_conflicts(firsts, triangles)]
        if not len(bad):
            return firsts
        members = np.isin(firsts, firsts[bad.ravel()])
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
    keys = groups * 2 + facing_away
    keys[alone] = -1 - np.flatnonzero(alone)
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return firsts[inverse.ravel()].astype(np.int64)


def _conflicts(firsts: IntArray, triangles: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Which triangles (T,) would collapse, or lie on the vertices of another, by the merge."""
    merged = np.sort(firsts[triangles], axis=1)
    numbers = equal_rows(merged)
    before = equal_rows(np.sort(triangles, axis=1).astype(np.int64))
    # Triangles that share their vertices in the file already are not the merge's doing.
    differing = np.unique(np.column_stack([numbers, before]), axis=0)[:, 0]
    crowded = np.bincount(differing, minlength=len(merged) + 1) > 1
    return degenerate(merged) | crowded[numbers]


def _own_normals(vertices: Floats, triangles: npt.NDArray[np.integer]) -> Floats:
    """The sum of the normals of each vertex's own triangles, weighted by area, (V, 3)."""
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    faces = np.repeat(np.cross(c - a, b - a), 3, axis=0)
    sums = np.zeros_like(vertices)
    for axis in range(3):
        sums[:, axis] = np.bincount(triangles.ravel(), faces[:, axis], minlength=len(vertices))
    return sums
