"""Vertices that exporters repeated along UV seams, with equal weights, merged into one for editing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...io_common.triangles import is_degenerate
from .model import Floats, Mesh
from .skinning import row_ids, sums_of_faces, vertex_weights

IntArray = npt.NDArray[np.int64]

# Three numbers below this fit into 63 bits.
_PACKABLE = 1 << 21


def weight_list_ids(mesh: Mesh) -> IntArray:
    """An id for each vertex, (V,), the same for vertices with exactly equal weights in any order."""
    table = np.column_stack([mesh.weight_joints, mesh.weight_biases, mesh.weight_positions]) + 0.0
    rows = vertex_weights(mesh)
    weight_ids = row_ids(table)[rows.weights]
    counts = mesh.weight_counts
    firsts = np.cumsum(counts, dtype=np.int64) - counts
    result = np.zeros(mesh.vertex_count, dtype=np.int64)
    used = 0
    for count in np.unique(counts):
        vertices = np.flatnonzero(counts == count)
        lists = np.sort(weight_ids[firsts[vertices, None] + np.arange(count)], axis=1)
        numbers = row_ids(lists) if count else np.arange(len(vertices))
        result[vertices] = numbers + used
        used += len(vertices)
    return result


def find_merged_vertices(mesh: Mesh, vertices: Floats) -> IntArray:
    """For each vertex the first of those with equal weights that it is merged with, (V,); else its own index.

    Where merging makes a triangle degenerate or two triangles share all vertices, copies that face the other way (the
    back of a leaf) are kept separate, and if that is not enough, all vertices of the triangle. Unused vertices are not
    merged. `vertices` (V, 3) are in the bind pose.
    """
    triangles = mesh.triangles[~is_degenerate(mesh.triangles)]
    count = mesh.vertex_count
    separate = np.ones(count, dtype=bool)
    separate[triangles] = False
    groups = weight_list_ids(mesh)
    facing_away = np.zeros(count, dtype=bool)
    file_ids = _triangle_ids(triangles, count)
    normals: Floats | None = None
    while True:
        firsts = _first_members(groups, facing_away, separate)
        conflicting = triangles[_conflicts(firsts[triangles], file_ids, count)]
        if not len(conflicting):
            return firsts
        if normals is None:
            a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
            normals = sums_of_faces(np.cross(c - a, b - a), triangles, count)
        has_conflict = np.zeros(count, dtype=bool)
        has_conflict[firsts[conflicting]] = True
        members = has_conflict[firsts]
        faces_away = members & (np.einsum("vi,vi->v", normals, normals[firsts]) < 0.0)
        if (faces_away & ~facing_away).any():
            facing_away |= faces_away
        else:
            separate[conflicting] = True


def _first_members(groups: IntArray, facing_away: npt.NDArray[np.bool_], separate: npt.NDArray[np.bool_]) -> IntArray:
    """For each vertex the first with the same group and side, (V,); its own index if it is separate."""
    members = np.flatnonzero(~separate)
    keys = groups[members] * 2 + facing_away[members]
    first_of_key = np.empty(2 * len(groups), dtype=np.int64)
    # Of several values for one key the last is stored, so the order is reversed.
    first_of_key[keys[::-1]] = members[::-1]
    firsts = np.arange(len(groups))
    firsts[members] = first_of_key[keys]
    return firsts


def _conflicts(merged: IntArray, file_ids: IntArray, count: int) -> npt.NDArray[np.bool_]:
    """Whether merged triangles (T, 3) are degenerate or have the vertices of one with another id, (T,)."""
    numbers = _triangle_ids(merged, count)
    order = np.argsort(numbers, kind="stable")
    same = numbers[order[1:]] == numbers[order[:-1]]
    # Triangles that share all vertices in the file are no conflict.
    differ = same & (file_ids[order[1:]] != file_ids[order[:-1]])
    has_conflict = np.isin(numbers, numbers[order[1:][differ]]) if differ.any() else False
    return is_degenerate(merged) | has_conflict


def _triangle_ids(triangles: npt.NDArray[np.integer], count: int) -> IntArray:
    """An id for each triangle, the same for those with the same vertices, (T,); `count` is V."""
    a, b, c = triangles.astype(np.int64).T
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    middle = a + b + c - low - high
    if count < _PACKABLE:
        return (low * count + middle) * count + high
    return row_ids(np.stack([low, middle, high], axis=1))
