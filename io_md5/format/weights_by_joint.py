"""The weights of a mesh by joint, to skin many poses at once, and boxes around its vertices in frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Floats, Mesh, Model
from .skinning import row_ids, skin
from .validation import check_arrays, check_weights

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WeightsByJoint:
    """A mesh's weights by joint, as points; vertices with the same range of weights have one point."""

    alone: list[tuple[int, Floats]]  # joints, and the points (n, 3) that each carries alone
    shared: list[tuple[int, Floats, Floats]]  # joints, points times their biases (n, 3), biases (n, 1)
    # For points of 2, 3 … weights, the rows of `shared` that make each, all joints below each other (n, weights).
    sums: list[Indices]
    width: int  # greatest number of rows computed at once
    points: Indices  # of each vertex (V,): those alone, then the sums, then one at 0

    def moved_sums(self, rotations: Floats, places: Floats) -> list[Floats]:
        """The points of `sums` in some poses, each (n, 3 F)."""
        if not self.shared:
            return []
        rows = np.concatenate([
            points @ rotations[joint] + biases * places[joint] for joint, points, biases in self.shared
        ])  # fmt: skip
        result = []
        for numbers in self.sums:
            moved = rows[numbers[:, 0]]
            for weight in range(1, numbers.shape[1]):
                moved += rows[numbers[:, weight]]
            result.append(moved)
        return result

    def include(self, rotations: Floats, places: Floats, low: Floats, high: Floats) -> None:
        """Widens boxes, lower and upper corners (3 F,), by the vertices in frames; see `pose_columns`."""
        for joint, points in self.alone:
            rotated = points @ rotations[joint]
            np.minimum(low, rotated.min(axis=0) + places[joint], out=low)
            np.maximum(high, rotated.max(axis=0) + places[joint], out=high)
        for moved in self.moved_sums(rotations, places):
            np.minimum(low, moved.min(axis=0), out=low)
            np.maximum(high, moved.max(axis=0), out=high)

    def skin(self, positions: Floats, orientations: Floats, scales: Floats | None = None) -> Floats:
        """The vertices in some poses, (F, V, 3), as `skinning.skin` computes them."""
        rotations, places = pose_columns(positions, orientations, scales)
        moved = [points @ rotations[joint] + places[joint] for joint, points in self.alone]
        rows = np.concatenate([*moved, *self.moved_sums(rotations, places), np.zeros((1, 3 * len(positions)))])
        return rows[self.points].reshape(len(self.points), len(positions), 3).swapaxes(0, 1)


def pose_columns(positions: Floats, orientations: Floats, scales: Floats | None) -> tuple[Floats, Floats]:
    """For each joint the columns (J, 3, 3 F) that turn points into x y z of all poses, and its places.

    Joints (F, J, …) are in the space of the model; scales are (F, J), None for 1; places are (J, 3 F).
    """
    transforms = quat.to_matrices(orientations)
    if scales is not None:
        transforms = transforms * scales[..., None, None]
    count = positions.shape[1]
    rotations = np.ascontiguousarray(transforms.transpose(1, 3, 0, 2)).reshape(count, 3, -1)
    return rotations, np.ascontiguousarray(positions.swapaxes(0, 1)).reshape(count, -1)


def weights_by_joint(mesh: Mesh) -> WeightsByJoint:
    """The weights of a mesh by joint."""
    ranges = np.column_stack([mesh.weight_starts, mesh.weight_counts]).astype(np.int64)
    numbers = row_ids(ranges)
    firsts = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    firsts[numbers] = np.arange(len(numbers))
    starts, counts = ranges[firsts].T
    is_single = counts == 1
    is_single[is_single] = mesh.weight_biases[starts[is_single]] == 1.0
    single, rest = np.flatnonzero(is_single), np.flatnonzero(~is_single)
    order: list[Indices] = []
    alone: list[tuple[int, Floats]] = []
    for joint, members in _by_joint(mesh.weight_joints[starts[single]]):
        order.append(single[members])
        alone.append((joint, mesh.weight_positions[starts[single[members]]]))
    sizes = counts[rest]
    rows = np.repeat(starts[rest] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    used = np.unique(rows)
    row_of = np.zeros(len(mesh.weight_joints), dtype=np.int64)
    shared: list[tuple[int, Floats, Floats]] = []
    total = 0
    for joint, members in _by_joint(mesh.weight_joints[used]):
        weights = used[members]
        biases = mesh.weight_biases[weights, None]
        shared.append((joint, mesh.weight_positions[weights] * biases, biases))
        row_of[weights] = total + np.arange(len(weights))
        total += len(weights)
    sums = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        members = rest[sizes == size]
        order.append(members)
        sums.append(row_of[starts[members, None] + np.arange(size)])
    joined = np.concatenate([np.empty(0, dtype=np.int64), *order])
    place = np.full(len(firsts), len(joined))
    place[joined] = np.arange(len(joined))
    width = max(total, max((len(points) for _, points in alone), default=0))
    return WeightsByJoint(alone, shared, sums, width, place[numbers])


def _by_joint(joints: npt.NDArray[np.integer]) -> list[tuple[int, Indices]]:
    order = np.argsort(joints, kind="stable")
    found, firsts = np.unique(joints[order], return_index=True)
    return list(zip(found.tolist(), np.split(order, firsts[1:]), strict=False))


# Numbers computed at once: few enough to need little memory.
_CHUNK = 1_000_000


def model_bounds(model: Model) -> Floats:
    """The lower and upper corner of a model in its bind pose, float64 (2, 3); around the joints if it has no vertices.

    Zeros for a model without vertices and joints.
    """
    joints = model.joints
    points = [skin(mesh, joints.positions, joints.orientations) for mesh in model.meshes if mesh.vertex_count]
    corners = np.concatenate(points) if points else joints.positions
    return np.stack([corners.min(axis=0), corners.max(axis=0)]) if len(corners) else np.zeros((2, 3))


def pose_bounds(
    meshes: list[Mesh], positions: npt.ArrayLike, orientations: npt.ArrayLike, scales: npt.ArrayLike | None = None
) -> Floats:
    """The lower and upper corner of the model in each frame, float64 (F, 2, 3).

    Args:
        meshes: of the model; without vertices the box is around the joints.
        positions: of the joints in the space of the model, (F, J, 3).
        orientations: unit quaternions w x y z (F, J, 4).
        scales: of the joints, (F, J); None for 1.

    Raises:
        Md5Error: a mesh has weights or joints that do not exist.
    """
    places, turns = np.asarray(positions, np.float64), np.asarray(orientations, np.float64)
    for mesh in meshes:
        check_arrays(mesh)
        check_weights(mesh, places.shape[-2])
    sizes = None if scales is None else np.asarray(scales, np.float64)
    return bounds_of_weights([weights_by_joint(mesh) for mesh in meshes], places, turns, sizes)


def bounds_of_weights(
    parts: list[WeightsByJoint], positions: Floats, orientations: Floats, scales: Floats | None = None
) -> Floats:
    """The same for meshes whose weights were grouped by joint once for many animations."""
    low = np.full(3 * len(positions), np.inf)
    high = np.full(3 * len(positions), -np.inf)
    # Processors round sums differently. Computed in double precision and rounded to the numbers of games, all give the
    # same box.
    rotations, places = pose_columns(positions, orientations, scales)
    widest = max((part.width for part in parts), default=0)
    step = 3 * max(1, _CHUNK // max(3 * widest, 1))
    for begin in range(0, len(low), step):
        columns = slice(begin, begin + step)
        for part in parts:
            part.include(rotations[:, :, columns], places[:, columns], low[columns], high[columns])
    if not np.isfinite(low).all():
        return np.stack([positions.min(axis=1), positions.max(axis=1)], axis=1)
    with np.errstate(over="ignore"):
        return np.stack([low.reshape(-1, 3), high.reshape(-1, 3)], axis=1).astype(np.float32).astype(np.float64)
