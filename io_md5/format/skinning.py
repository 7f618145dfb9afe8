"""Skinning: where a pose of the joints puts the vertices of a mesh, and their normals (MD5 specification).

A vertex is ``Σ bias · (joint position + joint orientation · weight position)``. Biases are taken as they stand:
the games do not normalise them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Floats, Ints, Mesh

# An odd number whose bits are like random ones (the golden ratio), for mixing the bits of rows.
_MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class VertexWeights:
    """The weights of all vertices one after the other, so that sums over vertices are sums over rows.

    A weight that several vertices share stands here once for each of them.

    Attributes:
        vertices: the vertex of each row, rising, int64 (R,).
        weights: the weight of each row, int64 (R,).
        vertex_count: V.
    """

    vertices: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    vertex_count: int

    def sums(self, rows: Floats) -> Floats:
        """The sum of the rows (…, R, n) of each vertex, (…, V, n); 0 for a vertex without weights."""
        if not len(self.vertices):
            return np.zeros((*rows.shape[:-2], self.vertex_count, rows.shape[-1]))
        firsts = np.append(0, np.flatnonzero(self.vertices[1:] != self.vertices[:-1]) + 1)
        sums: Floats = np.add.reduceat(rows, firsts, axis=-2)
        if len(firsts) == self.vertex_count:
            return sums
        result = np.zeros((*rows.shape[:-2], self.vertex_count, rows.shape[-1]))
        result[..., self.vertices[firsts], :] = sums
        return result


def vertex_weights(mesh: Mesh) -> VertexWeights:
    """The rows of all vertices of a mesh."""
    counts = mesh.weight_counts.astype(np.int64)
    vertices = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    firsts = np.cumsum(counts) - counts
    weights = np.arange(len(vertices)) - firsts[vertices] + mesh.weight_starts.astype(np.int64)[vertices]
    return VertexWeights(vertices, weights, len(counts))


def weight_points(mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """Where each weight by itself puts its vertex in a pose, (…, W, 3).

    Args:
        mesh: with W weights.
        positions: of the joints in the space of the model, (…, J, 3).
        orientations: of the joints, unit quaternions (…, J, 4).
    """
    positions, orientations = np.asarray(positions), np.asarray(orientations)
    joints = mesh.weight_joints
    return positions[..., joints, :] + quat.rotate(orientations[..., joints, :], mesh.weight_positions)


def skin(mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """The vertices of a mesh in a pose, (…, V, 3).

    Args:
        mesh: with V vertices.
        positions: of the joints in the space of the model, (…, J, 3), for instance a row for each frame.
        orientations: of the joints, unit quaternions (…, J, 4).
    """
    rows = vertex_weights(mesh)
    points = weight_points(mesh, positions, orientations)[..., rows.weights, :]
    return rows.sums(points * mesh.weight_biases[rows.weights, None])


def bind_pose(mesh: Mesh, positions: npt.ArrayLike, orientations: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The vertices of a mesh in the bind pose, (V, 3), and how far the weights of each are from agreeing, (V,).

    Linear blend skinning carries a vertex from its place in the bind pose, so it draws a vertex whose weights
    all put it there exactly as the formula does. For others the two may differ by up to the returned distance:
    ``Σ |bias| · |weight's point - vertex|``, and where the biases do not sum to 1, by what the sum misses of
    the vertex's distance from the joints besides.

    Args:
        mesh: with V vertices.
        positions: of the joints in the bind pose, (J, 3).
        orientations: of the joints in the bind pose, (J, 4).
    """
    rows = vertex_weights(mesh)
    points = weight_points(mesh, positions, orientations)[rows.weights]
    biases = mesh.weight_biases[rows.weights, None]
    vertices = rows.sums(points * biases)
    points -= vertices[rows.vertices]
    distances = np.sqrt(np.einsum("ri,ri->r", points, points))[:, None]
    return vertices, rows.sums(np.abs(biases) * distances)[:, 0]


def face_normals(vertices: npt.ArrayLike, triangles: Ints) -> Floats:
    """Unit normals of triangles that are clockwise seen from outside, (…, T, 3); 0 for one without area.

    Args:
        vertices: (…, V, 3).
        triangles: (T, 3).
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    a, b, c = (vertices[..., triangles[:, corner], :] for corner in range(3))
    return _unit(np.cross(c - a, b - a))


def vertex_normals(vertices: npt.ArrayLike, triangles: Ints) -> Floats:
    """Unit normals of vertices as Doom 3 makes them, (V, 3); 0 where there are none.

    The unit normals of the faces are added up, unweighted, over all vertices of the mesh that lie at exactly
    the same place: UV seams stay smooth.

    Args:
        vertices: in the bind pose, (V, 3).
        triangles: (T, 3).
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    places = places_of(vertices)
    corners = places[triangles].ravel()
    normals = np.repeat(face_normals(vertices, triangles), 3, axis=0)
    sums = np.zeros_like(vertices)
    for axis in range(3):
        sums[:, axis] = np.bincount(corners, normals[:, axis], minlength=len(vertices))
    return _unit(sums)[places]


def places_of(vertices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """For each vertex (V, 3) a number that is the same for vertices at exactly the same place, (V,).

    Places are compared as the 32-bit floats that the games compute with.
    """
    return equal_rows(np.asarray(vertices, dtype=np.float32) + np.float32(0.0))


def equal_rows(rows: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """For each row of a table (N, n) a number that is the same for equal rows, (N,), each < N."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.int64)
    table = rows + np.zeros(1, dtype=rows.dtype)  # no -0
    numbers = _equal_numbers(_mixed(table))
    members = np.empty(len(table), dtype=np.int64)
    members[numbers] = np.arange(len(table))
    if np.array_equal(table[members[numbers]], table):
        return numbers
    return _equal_rows_by_columns(table)


def _equal_numbers(values: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """For each value (N,) the rank of it among the distinct ones, (N,)."""
    order = np.argsort(values)
    ordered = values[order]
    ranks = np.zeros(len(values), dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=ranks[1:])
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = ranks
    return numbers


def _mixed(table: npt.NDArray[np.number]) -> npt.NDArray[np.uint64]:
    """A number for each row, (N,): equal for equal rows, and nearly never for others."""
    mixed = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        wide = np.float64 if column.dtype.kind == "f" else np.int64
        mixed ^= np.ascontiguousarray(column, dtype=wide).view(np.uint64)
        mixed *= _MIXER
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _equal_rows_by_columns(table: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """The same for any rows, a column at a time."""
    numbers = np.zeros(len(table), dtype=np.int64)
    for column in table.T:
        numbers = _equal_numbers(numbers * len(table) + _equal_numbers(column))
    return numbers


def normal_weights(mesh: Mesh, normals: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """The normals of the bind pose in the space of each row's joint, (R, 3), one for a row of `vertex_weights`.

    Args:
        mesh: with V vertices.
        normals: of the vertices in the bind pose, (V, 3).
        orientations: of the joints in the bind pose, (J, 4).
    """
    rows = vertex_weights(mesh)
    joints = mesh.weight_joints[rows.weights]
    turn_back = quat.conjugate(np.asarray(orientations)[joints])
    return quat.rotate(turn_back, np.asarray(normals)[rows.vertices])


def skin_normals(mesh: Mesh, weights: npt.ArrayLike, orientations: npt.ArrayLike) -> Floats:
    """The normals of the vertices in a pose, of unit length, (…, V, 3).

    Args:
        mesh: with V vertices.
        weights: the result of `normal_weights`, (R, 3).
        orientations: of the joints in the pose, (…, J, 4).
    """
    rows = vertex_weights(mesh)
    joints = mesh.weight_joints[rows.weights]
    turned = quat.rotate(np.asarray(orientations)[..., joints, :], weights)
    return _unit(rows.sums(turned * mesh.weight_biases[rows.weights, None]))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit = np.zeros_like(vectors)
    return np.divide(vectors, lengths, out=unit, where=lengths > 0.0)
