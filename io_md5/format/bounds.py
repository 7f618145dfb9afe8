"""The axis-aligned box around the vertices of all meshes in every frame, including the motion of the root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Floats, Mesh, Model
from .skinning import row_ids, skin

Singles = npt.NDArray[np.float32]

# Numbers computed at once: few enough to need little memory.
_CHUNK = 4_000_000


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
    """
    low = np.full((len(positions), 3), np.inf)
    high = np.full((len(positions), 3), -np.inf)
    # Joints first, so that the matrices of one joint in all frames are one matrix of 3 F rows.
    transforms = quat.to_matrices(orientations)
    if scales is not None:
        transforms = transforms * scales[..., None, None]
    matrices = np.ascontiguousarray(transforms.swapaxes(0, 1), dtype=np.float32)
    positions32 = np.ascontiguousarray(positions.swapaxes(0, 1), dtype=np.float32)
    parts = [_bundle(mesh) for mesh in meshes]
    widest = max((part.width for part in parts), default=0)
    step = max(1, _CHUNK // max(3 * widest, 1))
    for begin in range(0, len(positions), step):
        frames = slice(begin, begin + step)
        for part in parts:
            part.include(matrices[:, frames], positions32[:, frames], low[frames], high[frames])
    if not np.isfinite(low).all():
        low, high = positions.min(axis=1), positions.max(axis=1)
    return np.stack([low, high], axis=1)


@dataclass(frozen=True, eq=False)
class _Bundle:
    """The weights of a mesh by joint: vertices that one joint carries alone, and those that several share.

    Attributes:
        alone: joints, and the points (3, n) that each carries alone.
        shared: joints, and the points times their biases (3, n), and the biases (n,).
        sums: for vertices of 2, 3 … weights, the columns of `shared` that make each, all joints in a row
            (n, weights).
        width: the greatest number of columns that are computed at once.
    """

    alone: list[tuple[int, Singles]]
    shared: list[tuple[int, Singles, Singles]]
    sums: list[npt.NDArray[np.int64]]
    width: int

    def include(self, matrices: Singles, positions32: Singles, low: Floats, high: Floats) -> None:
        """Widens boxes (F, 3) by the vertices in F frames; matrices are (J, F, 3, 3), places (J, F, 3)."""
        for joint, points in self.alone:
            rotated = (matrices[joint].reshape(-1, 3) @ points).reshape(len(low), 3, -1)
            np.minimum(low, rotated.min(axis=2) + positions32[joint], out=low)
            np.maximum(high, rotated.max(axis=2) + positions32[joint], out=high)
        if not self.shared:
            return
        rotated = np.concatenate(
            [
                (matrices[joint].reshape(-1, 3) @ points) + positions32[joint].reshape(-1, 1) * biases
                for joint, points, biases in self.shared
            ],
            axis=1,
        )
        for columns in self.sums:
            vertices = sum(rotated[:, columns[:, weight]] for weight in range(columns.shape[1]))
            boxes = np.asarray(vertices).reshape(len(low), 3, -1)
            np.minimum(low, boxes.min(axis=2), out=low)
            np.maximum(high, boxes.max(axis=2), out=high)


def _bundle(mesh: Mesh) -> _Bundle:
    """The weights of a mesh by joint; vertices with the same range of weights are included once."""
    ranges = np.column_stack([mesh.weight_starts, mesh.weight_counts]).astype(np.int64)
    ranges = ranges[np.unique(row_ids(ranges), return_index=True)[1]]
    starts, counts = ranges.T
    single = (
        (counts == 1) & (mesh.weight_biases[starts * (counts == 1)] == 1.0) if len(ranges) else counts == 1
    )
    alone = [
        (joint, _points(mesh, rows, np.ones(len(rows)))) for joint, rows in _by_joint(mesh, starts[single])
    ]
    rest, sizes = starts[~single], counts[~single]
    rows = np.repeat(rest - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    groups = _by_joint(mesh, np.unique(rows))
    shared = []
    column = np.zeros(len(mesh.weight_joints), dtype=np.int64)
    used = 0
    for joint, members in groups:
        biases = mesh.weight_biases[members]
        shared.append((joint, _points(mesh, members, biases), biases.astype(np.float32)))
        column[members] = used + np.arange(len(members))
        used += len(members)
    sums = [
        column[rest[sizes == size][:, None] + np.arange(size)]
        for size in np.unique(sizes).tolist()
        if size > 0
    ]
    width = max(used, max((points.shape[1] for _, points in alone), default=0))
    return _Bundle(alone, shared, sums, width)


def _by_joint(mesh: Mesh, rows: npt.NDArray[np.int64]) -> list[tuple[int, npt.NDArray[np.int64]]]:
    joints = mesh.weight_joints[rows]
    return [(int(joint), rows[joints == joint]) for joint in np.unique(joints)]


def _points(mesh: Mesh, rows: npt.NDArray[np.int64], biases: Floats) -> Singles:
    return np.ascontiguousarray((mesh.weight_positions[rows] * biases[:, None]).T, dtype=np.float32)
