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
    """
    return bundled_bounds([bundle(mesh) for mesh in meshes], positions, orientations, scales)


def bundled_bounds(
    parts: list[Bundle], positions: Floats, orientations: Floats, scales: Floats | None = None
) -> Floats:
    """The same for meshes that were bundled once for many animations."""
    low = np.full(3 * len(positions), np.inf)
    high = np.full(3 * len(positions), -np.inf)
    # For each joint, the columns that turn rows of points into x, y and z of every frame.
    transforms = quat.to_matrices(orientations)
    if scales is not None:
        transforms = transforms * scales[..., None, None]
    count = positions.shape[1]
    rotations = np.ascontiguousarray(transforms.transpose(1, 3, 0, 2), dtype=np.float32).reshape(count, 3, -1)
    places = np.ascontiguousarray(positions.swapaxes(0, 1), dtype=np.float32).reshape(count, -1)
    widest = max((part.width for part in parts), default=0)
    step = 3 * max(1, _CHUNK // max(3 * widest, 1))
    for begin in range(0, len(low), step):
        columns = slice(begin, begin + step)
        for part in parts:
            part.include(rotations[:, :, columns], places[:, columns], low[columns], high[columns])
    if not np.isfinite(low).all():
        return np.stack([positions.min(axis=1), positions.max(axis=1)], axis=1)
    return np.stack([low.reshape(-1, 3), high.reshape(-1, 3)], axis=1)


@dataclass(frozen=True, eq=False)
class Bundle:
    """The weights of a mesh by joint: vertices that one joint carries alone, and those that several share.

    Attributes:
        alone: joints, and the points (n, 3) that each carries alone.
        shared: joints, and the points times their biases (n, 3), and the biases (n, 1).
        sums: for vertices of 2, 3 … weights, the rows of `shared` that make each, all joints below each other
            (n, weights).
        width: the greatest number of rows that are computed at once.
    """

    alone: list[tuple[int, Singles]]
    shared: list[tuple[int, Singles, Singles]]
    sums: list[npt.NDArray[np.int64]]
    width: int

    def include(self, rotations: Singles, places: Singles, low: Floats, high: Floats) -> None:
        """Widens boxes by the vertices in some frames.

        Args:
            rotations: of the joints, (J, 3, 3 F): x, y and z of each frame are columns.
            places: of the joints, (J, 3 F).
            low: the lower corners, (3 F,).
            high: the upper corners, (3 F,).
        """
        for joint, points in self.alone:
            rotated = points @ rotations[joint]
            np.minimum(low, rotated.min(axis=0) + places[joint], out=low)
            np.maximum(high, rotated.max(axis=0) + places[joint], out=high)
        if not self.shared:
            return
        rows = np.concatenate(
            [points @ rotations[joint] + biases * places[joint] for joint, points, biases in self.shared]
        )
        for numbers in self.sums:
            vertices = rows[numbers[:, 0]]
            for weight in range(1, numbers.shape[1]):
                vertices += rows[numbers[:, weight]]
            np.minimum(low, vertices.min(axis=0), out=low)
            np.maximum(high, vertices.max(axis=0), out=high)


def bundle(mesh: Mesh) -> Bundle:
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
    row_of = np.zeros(len(mesh.weight_joints), dtype=np.int64)
    used = 0
    for joint, members in groups:
        biases = mesh.weight_biases[members]
        shared.append((joint, _points(mesh, members, biases), biases.astype(np.float32)[:, None]))
        row_of[members] = used + np.arange(len(members))
        used += len(members)
    sums = [
        row_of[rest[sizes == size][:, None] + np.arange(size)]
        for size in np.unique(sizes).tolist()
        if size > 0
    ]
    width = max(used, max((len(points) for _, points in alone), default=0))
    return Bundle(alone, shared, sums, width)


def _by_joint(mesh: Mesh, rows: npt.NDArray[np.int64]) -> list[tuple[int, npt.NDArray[np.int64]]]:
    joints = mesh.weight_joints[rows]
    return [(int(joint), rows[joints == joint]) for joint in np.unique(joints)]


def _points(mesh: Mesh, rows: npt.NDArray[np.int64], biases: Floats) -> Singles:
    return (mesh.weight_positions[rows] * biases[:, None]).astype(np.float32)
