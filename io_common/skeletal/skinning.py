"""Skinning: vertices, normals, tangents and bitangents of a mesh in a pose of its joints (MD5 specification).

A vertex is ``Σ bias · (joint position + joint orientation · weight position)``; as in games, biases are not normalized.
The end of the module finds copies of vertices along UV seams that can be merged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..triangles import is_degenerate
from . import quaternions as quat
from .model import Floats, Mesh, SkeletalError, as_singles
from .validation import check_arrays, check_triangles, check_unit, check_weights

Indices = npt.NDArray[np.int64]

# An odd number with evenly mixed bits (the golden ratio), for hashing rows.
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_PACKABLE = 1 << 21  # three indices below this fit into 64 bits


@dataclass(frozen=True, eq=False)
class VertexWeights:
    """The weights of all vertices as rows; a weight that several vertices share has a row for each."""

    vertices: npt.NDArray[np.int64]  # the vertex of each row, ascending, (R,)
    weights: npt.NDArray[np.int64]  # the weight of each row, (R,)
    vertex_count: int

    def sums(self, rows: Floats) -> Floats:
        """The sum of the rows (…, R, n) of each vertex, (…, V, n); 0 for a vertex without weights."""
        firsts = np.flatnonzero(np.diff(self.vertices, prepend=-1))
        sums: Floats = np.add.reduceat(rows, firsts, axis=-2)
        if len(firsts) == self.vertex_count:
            return sums
        result = np.zeros((*rows.shape[:-2], self.vertex_count, rows.shape[-1]))
        result[..., self.vertices[firsts], :] = sums
        return result


def vertex_weights(mesh: Mesh) -> VertexWeights:
    """The rows of all vertices of a mesh; raises SkeletalError if a vertex has weights that do not exist."""
    check_weights(mesh)
    counts = mesh.weight_counts.astype(np.int64)
    vertices = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    firsts = np.cumsum(counts) - counts
    weights = np.arange(len(vertices)) - firsts[vertices] + mesh.weight_starts.astype(np.int64)[vertices]
    return VertexWeights(vertices, weights, len(counts))


def skin(
    mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike, scales: npt.ArrayLike | None = None
) -> Floats:
    """The V vertices of a mesh in poses of J joints, (…, V, 3).

    Positions (…, J, 3) and orientations, unit quaternions w x y z (…, J, 4), are in the space of the model; there may
    be one row for each frame. Scales (…, J) have the same leading axes, None for 1. Raises SkeletalError if the mesh or
    the pose is not valid; see `validate_mesh`.
    """
    positions, orientations = _checked_pose(mesh, positions, orientations)
    factors = None if scales is None else np.asarray(scales, dtype=np.float64)
    rows = vertex_weights(mesh)
    shape = np.broadcast_shapes(positions.shape[:-2], orientations.shape[:-2])
    result = np.empty((*shape, rows.vertex_count, 3))
    positions = np.broadcast_to(positions, (*shape, *positions.shape[-2:]))
    orientations = np.broadcast_to(orientations, (*shape, *orientations.shape[-2:]))
    biases = mesh.weight_biases[rows.weights, None]
    joints = mesh.weight_joints
    # One frame after the other, because the arrays of one fit into the processor's cache.
    for frame in np.ndindex(shape):
        offsets = mesh.weight_positions
        if factors is not None:
            offsets = offsets * factors[frame][joints][:, None]
        turned = quat.rotate(orientations[frame][joints], offsets)
        turned += positions[frame][joints]
        result[frame] = rows.sums(turned[rows.weights] * biases)
    return result


def _checked_pose(mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """A pose as arrays that fit a mesh; raises SkeletalError if the mesh or the pose is not valid."""
    check_arrays(mesh)
    result = []
    for values, width, what in ((positions, 3, "positions"), (orientations, 4, "orientations")):
        array = np.asarray(values, dtype=np.float64)
        if array.ndim < 2 or array.shape[-1] != width:
            raise SkeletalError(f"{what} has the wrong shape", found=str(array.shape), expected=f"(…, joints, {width})")
        result.append(array)
    places, turns = result
    if places.shape[-2] != turns.shape[-2]:
        raise SkeletalError(
            "positions and orientations differ in their number of joints",
            found=f"{places.shape[-2]} and {turns.shape[-2]}", expected="the same number",
        )  # fmt: skip
    check_weights(mesh, places.shape[-2])
    check_unit(turns, "orientations")
    return places, turns


def bind_pose(mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The vertices of a mesh in the bind pose, (V, 3), and how much the weights of each disagree, (V,).

    Linear blend skinning moves a vertex from its position in the bind pose, so it equals the formula above only if all
    weights of the vertex agree on that position. Otherwise the two may differ by up to the returned distance, ``Σ
    |bias| · |weight point - vertex|``, and by more if the biases do not sum to 1. Positions of the joints are (J, 3),
    orientations unit quaternions w x y z (J, 4).
    """
    rows = vertex_weights(mesh)
    positions, orientations = _checked_pose(mesh, positions, orientations)
    joints = mesh.weight_joints
    # The position that each single weight gives its vertex.
    points = (positions[joints] + quat.rotate(orientations[joints], mesh.weight_positions))[rows.weights]
    biases = mesh.weight_biases[rows.weights, None]
    vertices = rows.sums(points * biases)
    points -= vertices[rows.vertices]
    distances = np.sqrt(np.einsum("ri,ri->r", points, points))[:, None]
    return vertices, rows.sums(np.abs(biases) * distances)[:, 0]


def face_normals(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> Floats:
    """Unit normals, (…, T, 3), of triangles (T, 3) that are clockwise seen from outside; 0 for triangles without area.

    Positions are (…, V, 3). Raises SkeletalError if a triangle has a vertex that does not exist.
    """
    positions = np.asarray(positions, dtype=np.float64)
    triangles = check_triangles(triangles, positions.shape[-2])
    a, b, c = (positions[..., triangles[:, corner], :] for corner in range(3))
    return unit(np.cross(c - a, b - a))


def vertex_normals(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> Floats:
    """Unit normals of vertices in the bind pose, (V, 3), as in Doom 3; 0 for unused vertices.

    The unit normals of faces are added, unweighted, over all vertices of the mesh with exactly the same position, so
    that UV seams are smooth. Raises SkeletalError if a triangle has a vertex that does not exist.
    """
    positions = np.asarray(positions, dtype=np.float64)
    triangles = check_triangles(triangles, len(positions))
    ids = position_ids(positions)
    return unit(sums_of_faces(face_normals(positions, triangles), ids[triangles], len(positions)))[ids]


def sums_of_faces(vectors: Floats, triangles: npt.NDArray[np.integer], vertex_count: int) -> Floats:
    """The sum of the vectors (T, 3) of each vertex's triangles (T, 3), (V, 3)."""
    sums = np.empty((vertex_count, 3))
    for axis, values in enumerate(np.repeat(vectors, 3, axis=0).T):
        sums[:, axis] = np.bincount(triangles.ravel(), values, minlength=vertex_count)
    return sums


def vertex_tangents(
    vertices: npt.ArrayLike, uvs: npt.ArrayLike, triangles: npt.ArrayLike, normals: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Unit tangents and bitangents of vertices, each (V, 3); 0 where the texture coordinates give no direction.

    The tangent points in the direction of increasing s, the bitangent of increasing t (downwards in the image, as in
    the file). The unit vectors of a vertex's triangles are added and made perpendicular to its normal. They are per
    vertex, not per position, because the two sides of a UV seam have different ones. `normal_weights` and
    `skin_normals` pose them like normals.

    Vertices (V, 3) are in the bind pose, uvs are s and t, (V, 2), normals of unit length, (V, 3). Raises SkeletalError
    if a triangle has a vertex that does not exist.
    """
    points, st = np.asarray(vertices, dtype=np.float64), np.asarray(uvs, dtype=np.float64)
    normals = np.asarray(normals, dtype=np.float64)
    triangles = check_triangles(triangles, len(points))
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    st_a, st_b, st_c = (st[triangles[:, corner]] for corner in range(3))
    edge_b, edge_c, st_edge_b, st_edge_c = b - a, c - a, st_b - st_a, st_c - st_a
    # The gradients of s and t times the area of the triangle in the texture, whose sign tells mirrored triangles.
    area = st_edge_b[:, :1] * st_edge_c[:, 1:] - st_edge_b[:, 1:] * st_edge_c[:, :1]
    sign = np.sign(area)
    faces = (
        unit((edge_b * st_edge_c[:, 1:] - edge_c * st_edge_b[:, 1:]) * sign),
        unit((edge_c * st_edge_b[:, :1] - edge_b * st_edge_c[:, :1]) * sign),
    )
    results = []
    for vectors in faces:
        sums = sums_of_faces(vectors, triangles, len(points))
        sums -= normals * np.einsum("vi,vi->v", sums, normals)[:, None]
        results.append(unit(sums))
    return results[0], results[1]


def position_ids(vertices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """An id for each vertex, (V,), the same for equal positions as 32-bit floats, as in the games."""
    return row_ids(as_singles(np.asarray(vertices)) + np.float32(0.0))


def row_ids(rows: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """An id below N for each row of a table (N, n), the same for equal rows, (N,)."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.int64)
    table = rows + np.zeros(1, dtype=rows.dtype)  # turns -0 into 0
    numbers = np.unique(_row_hashes(table), return_inverse=True)[1]
    members = np.empty(len(table), dtype=np.int64)
    members[numbers] = np.arange(len(table))
    if not np.array_equal(table[members[numbers]], table):
        # Two hashes collide. NumPy 2.0 returns the inverse as a column.
        numbers = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    return numbers


def _row_hashes(table: npt.NDArray[np.number]) -> npt.NDArray[np.uint64]:
    hashes = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        dtype = np.float64 if column.dtype.kind == "f" else np.int64
        hashes ^= np.ascontiguousarray(column, dtype=dtype).view(np.uint64)
        hashes *= _HASH_FACTOR
        hashes ^= hashes >> np.uint64(32)
    return hashes


def normal_weights(mesh: Mesh, normals: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """The normals of the bind pose in the space of each row's joint, (R, 3), one for each row of `vertex_weights`.

    Tangents and bitangents are handled like normals (MD5 specification). Normals are (V, 3), orientations those of the
    joints in the bind pose, unit quaternions w x y z (J, 4).
    """
    rows = vertex_weights(mesh)
    joints = mesh.weight_joints[rows.weights]
    inverse = quat.conjugate(np.asarray(orientations)[joints])
    return quat.rotate(inverse, np.asarray(normals)[rows.vertices])


def skin_normals(mesh: Mesh, weights: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """The normals, tangents or bitangents of the vertices in a pose, of unit length, (…, V, 3).

    Weights (R, 3) are the result of `normal_weights`, orientations unit quaternions w x y z (…, J, 4) of the pose.
    """
    rows = vertex_weights(mesh)
    joints = mesh.weight_joints[rows.weights]
    rotated = quat.rotate(np.asarray(orientations)[..., joints, :], weights)
    return unit(rows.sums(rotated * mesh.weight_biases[rows.weights, None]))


def unit(vectors: Floats) -> Floats:
    """Vectors (…, n) of length 1; those without a length stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result = np.zeros_like(vectors)
    np.divide(vectors, lengths, out=result, where=lengths > 0.0)
    return result


def weight_list_ids(mesh: Mesh) -> Indices:
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


def find_merged_vertices(mesh: Mesh, vertices: Floats) -> Indices:
    """For each vertex the first of those with equal weights that it is merged with, (V,); else its own index."""
    # Where merging makes a triangle degenerate or two triangles share all vertices, copies that face the other way (the
    # back of a leaf) are kept separate, and if that is not enough, all vertices of the triangle. Unused vertices are
    # not merged. `vertices` (V, 3) are in the bind pose.
    triangles = mesh.triangles[~is_degenerate(mesh.triangles)]
    count = mesh.vertex_count
    separate = np.ones(count, dtype=bool)
    separate[triangles] = False
    groups = weight_list_ids(mesh)
    facing_away = np.zeros(count, dtype=bool)
    file_ids = _triangle_ids(triangles)
    normals: Floats | None = None
    while True:
        firsts = _first_members(groups, facing_away, separate)
        conflicting = triangles[_conflicts(firsts[triangles], file_ids)]
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


def _first_members(groups: Indices, facing_away: npt.NDArray[np.bool_], separate: npt.NDArray[np.bool_]) -> Indices:
    """For each vertex the first with the same group and side, (V,); its own index if it is separate."""
    members = np.flatnonzero(~separate)
    keys = groups[members] * 2 + facing_away[members]
    first_of_key = np.empty(2 * len(groups), dtype=np.int64)
    # NumPy keeps the last of several values for one key: in reverse order, that is the first vertex.
    first_of_key[keys[::-1]] = members[::-1]
    firsts = np.arange(len(groups))
    firsts[members] = first_of_key[keys]
    return firsts


def _conflicts(merged: Indices, file_ids: Indices) -> npt.NDArray[np.bool_]:
    """Whether merged triangles (T, 3) are degenerate, or have the vertices of a triangle with another id, (T,)."""
    numbers = _triangle_ids(merged)
    order = np.argsort(numbers, kind="stable")
    same = numbers[order[1:]] == numbers[order[:-1]]
    # Triangles that share all vertices in the file are no conflict.
    differ = same & (file_ids[order[1:]] != file_ids[order[:-1]])
    has_conflict = np.isin(numbers, numbers[order[1:][differ]]) if differ.any() else False
    return is_degenerate(merged) | has_conflict


def _triangle_ids(triangles: npt.NDArray[np.integer]) -> Indices:
    """An id for each triangle, the same for those with the same vertices, (T,)."""
    a, b, c = triangles.astype(np.int64).T
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    middle = a + b + c - low - high
    size = int(high.max(initial=0)) + 1
    # Three vertices fit into a number of 64 bits, unless there are millions.
    return (low * size + middle) * size + high if size < _PACKABLE else row_ids(np.column_stack([low, middle, high]))
