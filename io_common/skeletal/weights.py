"""The weights of a mesh by joint, to skin many poses at once; boxes around poses; weights that reproduce a motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import quaternions as quat
from .model import Floats, Ints, Joints, Mesh, Model
from .skinning import Indices, row_ids, skin, vertex_weights
from .validation import check_arrays, check_weights


@dataclass(frozen=True, eq=False)
class WeightsByJoint:
    """A mesh's weights by joint, as points; vertices with the same range of weights have one point."""

    alone: list[tuple[int, Floats]]  # joints, and the points (n, 3) that each carries alone
    shared: list[tuple[int, Floats, Floats]]  # joints, points times their biases (n, 3), biases (n, 1)
    # For points of 2, 3 … weights, the rows of `shared` that make each, all joints below each other (n, weights).
    sums: list[Indices]
    width: int  # greatest number of rows computed at once
    points: Indices  # of each vertex (V,): those alone, then the sums, then one at 0

    def moved(self, rotations: Floats, places: Floats) -> Iterator[Floats]:
        """The points in some poses, each (n, 3 F): those alone, then the sums; see `pose_columns`."""
        for joint, points in self.alone:
            yield points @ rotations[joint] + places[joint]
        if self.shared:
            rows = np.concatenate([
                points @ rotations[joint] + biases * places[joint] for joint, points, biases in self.shared
            ])  # fmt: skip
            for numbers in self.sums:
                result = rows[numbers[:, 0]]
                for weight in range(1, numbers.shape[1]):
                    result += rows[numbers[:, weight]]
                yield result

    def skin(self, positions: Floats, orientations: Floats, scales: Floats | None = None) -> Floats:
        """The vertices in some poses, (F, V, 3), as `skinning.skin` computes them."""
        moved = self.moved(*pose_columns(positions, orientations, scales))
        rows = np.concatenate([*moved, np.zeros((1, 3 * len(positions)))])
        return rows[self.points].reshape(len(self.points), len(positions), 3).swapaxes(0, 1)


def pose_columns(positions: Floats, orientations: Floats, scales: Floats | None) -> tuple[Floats, Floats]:
    """For each joint the columns (J, 3, 3 F) that turn points into x y z of all poses, and its places."""
    # Joints (F, J, …) are in the space of the model; scales are (F, J), None for 1; places are (J, 3 F).
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


_CHUNK = 1_000_000  # numbers computed at once: few enough to need little memory


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
    """The lower and upper corner of the model in each frame, float64 (F, 2, 3); around the joints without vertices.

    Positions (F, J, 3) and orientations, unit quaternions w x y z (F, J, 4), are in the space of the model; scales are
    (F, J), None for 1. Raises SkeletalError if a mesh has weights or joints that do not exist.
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
    return _boxes(_moved(parts, positions, orientations, scales), positions)


_WITHOUT_AND_WITH_Z = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])


def bounds_and_radii(
    parts: list[WeightsByJoint], positions: Floats, orientations: Floats, scales: Floats | None = None
) -> tuple[Floats, Floats]:
    """The same, and the greatest distances of the model from the z axis and the origin, (F, 2)."""
    squares = np.zeros((len(positions), 2))

    def measured() -> Iterator[tuple[slice, Floats]]:
        joints = (slice(None), positions.swapaxes(0, 1).copy().reshape(-1, 3 * len(positions)))
        for frames, moved in _moved(parts, positions, orientations, scales) if parts else [joints]:
            yield frames, moved
            np.square(moved, out=moved)
            sums = (moved.reshape(-1, 3) @ _WITHOUT_AND_WITH_Z).reshape(len(moved), -1)
            squares[frames] = np.maximum(squares[frames], sums.max(axis=0).reshape(-1, 2))

    return _boxes(measured(), positions), np.sqrt(squares)


def _boxes(points: Iterator[tuple[slice, Floats]], positions: Floats) -> Floats:
    low, high = np.full((len(positions), 3), np.inf), np.full((len(positions), 3), -np.inf)
    # Processors round sums differently: computed as doubles, and rounded to the numbers of games, all boxes are alike.
    for frames, moved in points:
        low[frames] = np.minimum(low[frames], moved.min(axis=0).reshape(-1, 3))
        high[frames] = np.maximum(high[frames], moved.max(axis=0).reshape(-1, 3))
    if not np.isfinite(low).all():
        return np.stack([positions.min(axis=1), positions.max(axis=1)], axis=1)
    with np.errstate(over="ignore"):
        return np.stack([low, high], axis=1).astype(np.float32).astype(np.float64)


def _moved(
    parts: list[WeightsByJoint], positions: Floats, orientations: Floats, scales: Floats | None
) -> Iterator[tuple[slice, Floats]]:
    """Some frames at a time, the points of each part in these, (n, 3 F)."""
    rotations, places = pose_columns(positions, orientations, scales)
    step = max(1, _CHUNK // max(3 * max((part.width for part in parts), default=0), 1))
    for begin in range(0, len(positions), step):
        columns = slice(3 * begin, 3 * (begin + step))
        for part in parts:
            for moved in part.moved(rotations[:, :, columns], places[:, columns]):
                yield slice(begin, begin + step), moved


def largest_weights(mesh: Mesh, most: int = 4) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The largest weights of each vertex: joints and bytes that sum to 255, each (V, most), the largest first."""
    # Weights of one joint are added. A vertex without any is the first joint's. Joints have to fit into a byte.
    rows = vertex_weights(mesh)
    keys, inverse = np.unique(rows.vertices * 256 + mesh.weight_joints[rows.weights], return_inverse=True)
    biases = np.maximum(np.bincount(inverse.reshape(-1), mesh.weight_biases[rows.weights], minlength=len(keys)), 0.0)
    order = np.lexsort((keys, -biases, keys // 256))
    vertices, ranks = keys[order] // 256, np.arange(len(keys))
    ranks -= np.searchsorted(vertices, vertices)
    kept = ranks < most
    places = vertices[kept], ranks[kept]
    joints, shares = np.zeros((mesh.vertex_count, most)), np.zeros((mesh.vertex_count, most))
    joints[places], shares[places] = keys[order][kept] % 256, biases[order][kept]
    shares[:, 0] += shares.sum(axis=1) == 0.0
    exact = shares / shares.sum(axis=1, keepdims=True) * 255.0
    result = np.floor(exact)
    # What is left goes to the weights that lost most.
    left = 255 - result.sum(axis=1, keepdims=True)
    result += np.argsort(np.argsort(result - exact, axis=1, kind="stable"), axis=1) < left
    joints[result == 0.0] = 0.0
    return joints.astype(np.uint8), result.astype(np.uint8)


def set_weights(mesh: Mesh, joints: Joints, vertices: Indices, bones: Indices, biases: Floats, points: Floats) -> None:
    """Gives a mesh weights: ascending vertices, joints and biases of all, (W,), and the vertices at rest, (V, 3)."""
    counts = np.bincount(vertices, minlength=mesh.vertex_count).astype(np.int32)
    mesh.weight_starts, mesh.weight_counts = np.cumsum(counts, dtype=np.int32) - counts, counts
    mesh.weight_joints, mesh.weight_biases = bones.astype(np.int32), biases
    offsets = points[vertices] - joints.positions[bones]
    mesh.weight_positions = quat.rotate(quat.conjugate(joints.orientations[bones]), offsets)


_LARGEST_ARRAY = 4_000_000  # numbers of the largest array of a fit
# So many joints are tried together, in so many rounds.
_CANDIDATES = 16
_ROUNDS = 3
# Relative to the squared distances of a point: joints that move alike make the equations singular.
_RIDGE = 1e-9


def fit_weights(
    points: Floats, rotations: Floats, translations: Floats, targets: Floats, *, most: int = 4
) -> tuple[Ints, Floats, Floats]:
    """Finds the weights with which joints move points (V, 3) along given paths, by least squares.

    In each frame, a joint moves a point p of the bind pose to ``rotation @ p + translation``, of rotations (with
    scales) (F, J, 3, 3) and translations (F, J, 3). Targets (F, V, 3) are where the points are to be. Weights are not
    negative and sum to 1; the result of a point is never worse than its best joint alone.

    Returns the joints of each point, (V, K), with K at most `most`; their weights, float64 (V, K), 0 where fewer joints
    are used; and the largest distance to the target over all frames, (V,). Raises ValueError if there is no frame or no
    joint, or the shapes do not fit each other.
    """
    frames, joints = rotations.shape[:2]
    if not frames or not joints or translations.shape != (frames, joints, 3):
        raise ValueError(f"rotations {rotations.shape} and translations {translations.shape} do not fit")
    if targets.shape != (frames, len(points), 3):
        raise ValueError(f"points {points.shape} and targets {targets.shape} do not fit")
    count = min(most, joints)
    found = (np.zeros((len(points), count), np.int64), np.zeros((len(points), count)), np.zeros(len(points)))
    step = max(1, _LARGEST_ARRAY // (joints * frames * 3))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        moved = np.einsum("fjab,vb->vjfa", rotations, points[part]) + translations.transpose(1, 0, 2)
        offsets = moved - targets[:, part].transpose(1, 0, 2)[:, None]
        for array, values in zip(found, _fit(offsets, count), strict=True):
            array[part] = values
    return found


def _fit(offsets: Floats, count: int) -> tuple[Ints, Floats, Floats]:
    """Fits points whose distances to their targets with each joint alone are given, (V, J, F, 3)."""
    rows = np.arange(len(offsets))[:, None]
    rank = np.einsum("vjfa,vjfa->vj", offsets, offsets)
    used = rank.argsort(axis=1, kind="stable")[:, :count]
    weights = np.zeros(used.shape)
    weights[:, 0] = 1.0
    errors = _largest(offsets[rows, used], weights)
    for _ in range(_ROUNDS):
        # What is used, and the joints whose addition reduces the error most.
        rank[rows, used] = -np.inf
        tried = rank.argsort(axis=1, kind="stable")[:, :_CANDIDATES]
        solved = _solve(offsets[rows, tried].reshape(*tried.shape, -1), count)
        order = (-solved).argsort(axis=1, kind="stable")[:, :count]
        found, solved = np.take_along_axis(tried, order, axis=1), np.take_along_axis(solved, order, axis=1)
        found_errors = _largest(offsets[rows, found], solved)
        better = found_errors < errors
        used[better], weights[better], errors[better] = found[better], solved[better], found_errors[better]
        residuals = np.einsum("vk,vkfa->vfa", weights, offsets[rows, used])
        rank = np.einsum("vjfa,vfa->vj", offsets, residuals)
    return used, weights, errors


def _solve(offsets: Floats, count: int) -> Floats:
    """Weights (V, K) of the candidates, at most `count` of a point above 0; offsets (V, K, F * 3)."""
    # As the weights sum to 1, the error is the weighted sum of the offsets, with the square w' H w: H w is constant.
    products = offsets @ offsets.transpose(0, 2, 1)
    size, tried = products.shape[:2]
    diagonal = np.arange(tried)
    largest = products[:, diagonal, diagonal].max(axis=1, keepdims=True)
    products[:, diagonal, diagonal] += _RIDGE * largest + 1e-30
    is_active = np.ones((size, tried), bool)
    weights = np.zeros((size, tried))
    open_rows = np.arange(size)
    while len(open_rows):
        active = is_active[open_rows]
        system = products[open_rows] * (active[:, :, None] & active[:, None, :])
        system[:, diagonal, diagonal] += ~active
        solved = np.linalg.solve(system, active[..., None].astype(np.float64))[..., 0]
        solved /= solved.sum(axis=1, keepdims=True)
        weights[open_rows] = solved
        least = np.where(active, solved, np.inf)
        has_too_many = active.sum(axis=1) > count
        is_open = (least.min(axis=1) < 0.0) | has_too_many
        open_rows = open_rows[is_open]
        is_active[open_rows, least[is_open].argmin(axis=1)] = False
    return weights


def _largest(offsets: Floats, weights: Floats) -> Floats:
    """The largest distance of each point to its target over all frames."""
    sums = np.einsum("vk,vkfa->vfa", weights, offsets)
    return np.asarray(np.linalg.norm(sums, axis=2).max(axis=1))
