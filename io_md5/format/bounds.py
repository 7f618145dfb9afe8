"""The axis-aligned box around the vertices of all meshes in every frame, including the motion of the root."""

from __future__ import annotations

import numpy as np

from .model import LARGEST, Floats, Mesh, Model
from .skinning import skin
from .validation import check_mesh_arrays, check_weights
from .weights_by_joint import WeightsByJoint, pose_columns, weights_by_joint

# Numbers computed at once: few enough to need little memory.
_CHUNK = 2_000_000


def model_bounds(model: Model) -> Floats:
    """The lower and upper corner of a model in its bind pose, float64 (2, 3); around the joints if it has no vertices.

    Zeros for a model without vertices and joints.
    """
    joints = model.joints
    points = [skin(mesh, joints.positions, joints.orientations) for mesh in model.meshes if mesh.vertex_count]
    corners = np.concatenate(points) if points else joints.positions
    return np.stack([corners.min(axis=0), corners.max(axis=0)]) if len(corners) else np.zeros((2, 3))


def pose_bounds(
    meshes: list[Mesh], positions: Floats, orientations: Floats, scales: Floats | None = None
) -> Floats:
    """The lower and upper corner of the model in each frame, float64 (F, 2, 3), computed in 32 bits like the games.

    Args:
        meshes: of the model; without vertices the box is around the joints.
        positions: of the joints in the space of the model, (F, J, 3).
        orientations: unit quaternions w x y z (F, J, 4).
        scales: of the joints, (F, J); None for 1.

    Raises:
        Md5Error: a mesh has weights or joints that do not exist.
    """
    for mesh in meshes:
        check_mesh_arrays(mesh)
        check_weights(mesh, positions.shape[-2])
    return bounds_of_weights([weights_by_joint(mesh) for mesh in meshes], positions, orientations, scales)


def bounds_of_weights(
    parts: list[WeightsByJoint], positions: Floats, orientations: Floats, scales: Floats | None = None
) -> Floats:
    """The same for meshes whose weights were grouped by joint once for many animations."""
    low = np.full(3 * len(positions), np.inf)
    high = np.full(3 * len(positions), -np.inf)
    dtype = np.float32 if _fits_32_bits(parts, positions, scales) else np.float64
    rotations, places = pose_columns(positions, orientations, scales, dtype)
    widest = max((part.width for part in parts), default=0)
    step = 3 * max(1, _CHUNK // max(3 * widest, 1))
    for begin in range(0, len(low), step):
        columns = slice(begin, begin + step)
        for part in parts:
            part.include(rotations[:, :, columns], places[:, columns], low[columns], high[columns])
    if not np.isfinite(low).all():
        return np.stack([positions.min(axis=1), positions.max(axis=1)], axis=1)
    return np.stack([low.reshape(-1, 3), high.reshape(-1, 3)], axis=1)


def _fits_32_bits(parts: list[WeightsByJoint], positions: Floats, scales: Floats | None) -> bool:
    """Whether the sums of all weights of a vertex stay far within the range of the games' floats."""
    points, biases = (
        max(column) for column in zip((0.0, 1.0), *(part.limits for part in parts), strict=True)
    )
    scale = 1.0 if scales is None else float(np.abs(scales).max(initial=0.0))
    return bool(points * scale + biases * float(np.abs(positions).max(initial=0.0)) < 1e-6 * LARGEST)
