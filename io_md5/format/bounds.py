"""The box around a model in every frame: axis-aligned, over the vertices of all meshes, motion of the root included."""

from __future__ import annotations

import numpy as np

from . import quaternions as quat
from .model import Floats, Mesh
from .skinning import equal_rows, vertex_weights

# So many numbers are computed at once: few enough to stay in the processor's cache.
_CHUNK = 200_000


def pose_bounds(meshes: list[Mesh], positions: Floats, orientations: Floats) -> Floats:
    """The lower and upper corner of the model in each frame, float64 (F, 2, 3).

    Args:
        meshes: of the model; without vertices, the joints are what is bounded.
        positions: of the joints in the space of the model, (F, J, 3).
        orientations: unit quaternions (F, J, 4).
    """
    frame_count = len(positions)
    low = np.full((frame_count, 3), np.inf)
    high = np.full((frame_count, 3), -np.inf)
    matrices = quat.to_matrices(orientations)
    for mesh in meshes:
        _include(mesh, positions, matrices, low, high)
    if not np.isfinite(low).all():
        low, high = positions.min(axis=1), positions.max(axis=1)
    return np.stack([low, high], axis=1)


def _include(mesh: Mesh, positions: Floats, matrices: Floats, low: Floats, high: Floats) -> None:
    """Widens the boxes by the vertices of a mesh."""
    rows = vertex_weights(_without_copies(mesh))
    count = len(rows.weights)
    if count == 0:
        return
    # Rows of one joint lie together while they are turned, then go to their place in the order of vertices.
    joints = mesh.weight_joints[rows.weights]
    biases = mesh.weight_biases[rows.weights]
    order = np.argsort(joints, kind="stable")
    points = np.ascontiguousarray((mesh.weight_positions[rows.weights] * biases[:, None])[order].T)
    firsts = np.flatnonzero(np.diff(joints[order], prepend=-1))
    stops = [*firsts[1:].tolist(), count]
    vertex_starts = np.flatnonzero(np.diff(rows.vertices, prepend=-1))
    simple = len(vertex_starts) == count
    step = max(1, _CHUNK // (3 * count))
    for begin in range(0, len(positions), step):
        part = slice(begin, begin + step)
        turned = np.empty((len(positions[part]), 3, count))
        for first, stop in zip(firsts.tolist(), stops, strict=True):
            joint = joints[order[first]]
            chosen = order[first:stop]
            turned[:, :, chosen] = matrices[part, joint] @ points[:, first:stop]
            turned[:, :, chosen] += positions[part, joint, :, None] * biases[chosen]
        vertices = turned if simple else np.add.reduceat(turned, vertex_starts, axis=2)
        np.minimum(low[part], vertices.min(axis=2), out=low[part])
        np.maximum(high[part], vertices.max(axis=2), out=high[part])


def _without_copies(mesh: Mesh) -> Mesh:
    """The mesh with one vertex for each distinct range of weights; only the ranges are of use."""
    ranges = np.column_stack([mesh.weight_starts, mesh.weight_counts])
    chosen = np.unique(equal_rows(ranges), return_index=True)[1]
    none = np.empty((0, 3), dtype=np.int32)
    return Mesh(
        shader=mesh.shader,
        uvs=mesh.uvs[chosen],
        weight_starts=mesh.weight_starts[chosen],
        weight_counts=mesh.weight_counts[chosen],
        triangles=none,
        weight_joints=mesh.weight_joints,
        weight_biases=mesh.weight_biases,
        weight_positions=mesh.weight_positions,
    )
