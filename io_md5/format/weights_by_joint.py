"""The weights of a mesh by joint, to skin many poses at once: a joint turns all its points by one product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Floats, Mesh
from .skinning import row_ids

Points = npt.NDArray[np.floating]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WeightsByJoint:
    """The weights of a mesh by joint: points that one joint carries alone, and those that several share.

    Vertices with the same range of weights have one point.

    Attributes:
        alone: joints, and the points (n, 3) that each carries alone.
        shared: joints, and the points times their biases (n, 3), and the biases (n, 1).
        sums: for points of 2, 3 … weights, the rows of `shared` that make each, all joints below each other
            (n, weights).
        width: the greatest number of rows that are computed at once.
        points: the point of each vertex: those alone come first, then the sums, then one at 0, (V,).
    """

    alone: list[tuple[int, Points]]
    shared: list[tuple[int, Points, Points]]
    sums: list[Indices]
    width: int
    points: Indices

    @property
    def limits(self) -> tuple[float, float]:
        """The largest coordinate of a point, times its bias, and the largest bias."""
        tables = [points for _, points in self.alone] + [points for _, points, _ in self.shared]
        return (
            max((float(np.abs(table).max(initial=0.0)) for table in tables), default=0.0),
            max((float(np.abs(biases).max(initial=0.0)) for *_, biases in self.shared), default=0.0),
        )

    def moved_sums(self, rotations: Points, places: Points) -> list[Points]:
        """The points of `sums` in some poses, each (n, 3 F), in the precision of the poses."""
        if not self.shared:
            return []
        rows = np.concatenate([
            points.astype(rotations.dtype) @ rotations[joint] + biases.astype(places.dtype) * places[joint]
            for joint, points, biases in self.shared
        ])  # fmt: skip
        result = []
        for numbers in self.sums:
            moved = rows[numbers[:, 0]]
            for weight in range(1, numbers.shape[1]):
                moved += rows[numbers[:, weight]]
            result.append(moved)
        return result

    def include(self, rotations: Points, places: Points, low: Floats, high: Floats) -> None:
        """Widens boxes, with lower and upper corners (3 F,), by the vertices in some frames.

        For rotations (J, 3, 3 F) and places (J, 3 F) see `pose_columns`.
        """
        for joint, points in self.alone:
            rotated = points.astype(rotations.dtype) @ rotations[joint]
            np.minimum(low, rotated.min(axis=0) + places[joint], out=low)
            np.maximum(high, rotated.max(axis=0) + places[joint], out=high)
        for moved in self.moved_sums(rotations, places):
            np.minimum(low, moved.min(axis=0), out=low)
            np.maximum(high, moved.max(axis=0), out=high)

    def skin(self, positions: Floats, orientations: Floats, scales: Floats | None = None) -> Floats:
        """The vertices in some poses, (F, V, 3), as `skinning.skin` computes them."""
        rotations, places = pose_columns(positions, orientations, scales, np.float64)
        moved = [points @ rotations[joint] + places[joint] for joint, points in self.alone]
        rows = np.concatenate(
            [*moved, *self.moved_sums(rotations, places), np.zeros((1, 3 * len(positions)))]
        )
        return rows[self.points].reshape(len(self.points), len(positions), 3).swapaxes(0, 1)


def pose_columns(
    positions: Floats, orientations: Floats, scales: Floats | None, dtype: npt.DTypeLike
) -> tuple[Points, Points]:
    """For each joint the columns that turn rows of points into x, y and z of every pose, and its places.

    Positions (F, J, 3) and orientations w x y z (F, J, 4) of the joints are in the space of the model; scales (F, J)
    are None for 1. Returns arrays (J, 3, 3 F) and (J, 3 F).
    """
    transforms = quat.to_matrices(orientations)
    if scales is not None:
        transforms = transforms * scales[..., None, None]
    count = positions.shape[1]
    rotations = np.ascontiguousarray(transforms.transpose(1, 3, 0, 2), dtype=dtype).reshape(count, 3, -1)
    return rotations, np.ascontiguousarray(positions.swapaxes(0, 1), dtype=dtype).reshape(count, -1)


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
    alone: list[tuple[int, Points]] = []
    for joint, members in _by_joint(mesh.weight_joints[starts[single]]):
        order.append(single[members])
        alone.append((joint, mesh.weight_positions[starts[single[members]]]))
    sizes = counts[rest]
    rows = np.repeat(starts[rest] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    used = np.unique(rows)
    row_of = np.zeros(len(mesh.weight_joints), dtype=np.int64)
    shared: list[tuple[int, Points, Points]] = []
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
    """Each joint, and where it is."""
    order = np.argsort(joints, kind="stable")
    found, firsts = np.unique(joints[order], return_index=True)
    return list(zip(found.tolist(), np.split(order, firsts[1:]), strict=False))
