"""Joints and vertices in a frame, as the engines compute them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

MOST_INFLUENCES = 4


class Refused(Exception):  # noqa: N818
    """The game does not load the file, or crashes."""


def read_once(parse: Callable) -> Callable:
    """A parser of models that reads a file once for several animations in turn."""
    known = lru_cache(maxsize=8)(parse)
    # The caller fills in the animation.
    return lambda *arguments: deepcopy(known(*arguments))


@dataclass(eq=False)
class EngineMesh:
    """A mesh as an engine has read it. V vertices, T triangles, W weights."""

    uvs: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    triangles: np.ndarray
    joints: np.ndarray
    biases: np.ndarray
    offsets: np.ndarray
    shader: str = ""
    name: str = ""


@dataclass
class Loaded:
    """A model with an animation. Poses are rotations (J, 3, 3) and places (J, 3) in the space of the model.

    `skin` gives the vertices of a mesh for the pose of the model's file and another pose; `folds` is for engines that
    take the absolute value of what is left for w.
    """

    meshes: list[EngineMesh]
    bind: tuple[np.ndarray, np.ndarray]
    parents: np.ndarray
    components: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 6)))
    frame_rate: float = 24.0
    skin: Callable = None
    folds: bool = False
    scales: np.ndarray | None = None
    scales_position: np.ndarray | None = None

    @property
    def frame_count(self) -> int:
        return len(self.components)

    def vertices(self, frame: int) -> list[np.ndarray]:
        """Where the vertices of each mesh are in a frame."""
        if self.scales is not None:
            return self._scaled_vertices(frame)
        pose = compose(self.parents, self.components[frame], folds=self.folds)
        return [(self.skin or skinned)(mesh, self.bind, pose) for mesh in self.meshes]

    @property
    def baked(self) -> bool:
        """Whether a vertex of the bind pose is carried along, and not each weight's own point."""
        return self.skin not in (each_point, own_points)

    def _scaled_vertices(self, frame):
        components = self.components[frame].copy()
        for joint, scale in enumerate(self.scales[frame]):
            if self.scales_position[joint]:
                components[joint, :3] *= scale
        pose = compose(self.parents, components)
        return [direct(mesh, pose, self.scales[frame]) for mesh in self.meshes]


def rotations(xyz, *, folds=False):
    """Rotations (…, 3, 3) of quaternions whose w is negative and computed with 32-bit floats.

    What is left below 0 counts as 0; if it `folds`, without its sign.
    """
    x, y, z = np.moveaxis(np.asarray(xyz, dtype=np.float32), -1, 0)
    left = np.float32(1.0) - (x * x + y * y + z * z)
    w = -np.sqrt(np.abs(left) if folds else np.maximum(left, np.float32(0.0)))
    x, y, z, w = (part.astype(np.float64) for part in (x, y, z, w))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def compose(parents, components, *, folds=False):
    """Rotations and places in the space of the model from six components a joint (J, 6)."""
    turns = rotations(components[:, 3:], folds=folds)
    places = components[:, :3].copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            places[joint] = turns[parent] @ places[joint] + places[parent]
            turns[joint] = turns[parent] @ turns[joint]
    return turns, places


def direct(mesh, pose, scales=None):
    """Each weight's own point, scaled and moved by its joint and added up: Doom 3, q2pro."""
    turns, places = pose
    offsets = mesh.offsets if scales is None else mesh.offsets * scales[mesh.joints][:, None]
    points = np.einsum("wij,wj->wi", turns[mesh.joints], offsets) + places[mesh.joints]
    return _sums(mesh, points * mesh.biases[:, None])


def each_point(mesh, bind, pose):
    """Each weight's own point, added up, whatever the pose of the file: Doom 3, q2pro."""
    return direct(mesh, pose)


def largest(mesh, vertex, most):
    """The weights of a vertex that `MD5_BakeInfluences` keeps: a later one takes the place of the least."""
    start, kept = mesh.starts[vertex], []
    for weight in range(start, start + mesh.counts[vertex]):
        if len(kept) < most:
            kept.append(weight)
            continue
        least = min(range(most), key=lambda place: mesh.biases[kept[place]])
        if mesh.biases[kept[least]] < mesh.biases[weight]:
            kept[least] = weight
    return kept


@lru_cache(maxsize=32)
def table(mesh, shares, count):
    """The vertex, the weight and the numbers, so many, of each row that `shares` gives for a vertex, as columns."""
    rows = [(vertex, *row) for vertex in range(len(mesh.counts)) for row in shares(mesh, vertex)]
    vertices, weights, *numbers = np.array(rows, dtype=np.float64).reshape(-1, 2 + count).T
    return vertices.astype(np.int64), weights.astype(np.int64), *numbers


def carried(mesh, bind, pose, vertices, weights, parts):
    """The vertices of the bind pose, each moved by the joints of its weights, in parts."""
    rest = direct(mesh, bind)
    turns = np.einsum("jik,jlk->jil", pose[0], bind[0])
    moves = pose[1] - np.einsum("jik,jk->ji", turns, bind[1])
    joints = mesh.joints[weights]
    points = np.einsum("wij,wj->wi", turns[joints], rest[vertices]) + moves[joints]
    return added(vertices, points * parts[:, None], len(rest))


def added(vertices, points, count):
    return np.stack([np.bincount(vertices, points[:, axis], minlength=count) for axis in range(3)], axis=1)


def _cut_shares(mesh, vertex):
    kept = largest(mesh, vertex, 4)
    scale = 255 / sum(mesh.biases[kept])
    return [(weight, int(mesh.biases[weight] * scale) / 255) for weight in kept]


def cut_bytes(mesh, bind, pose):
    """ironwail: four weights as bytes, cut and not made 255 again."""
    return carried(mesh, bind, pose, *table(mesh, _cut_shares, 1))


def _filled_shares(mesh, vertex):
    start = mesh.starts[vertex]
    kept = sorted(range(start, start + mesh.counts[vertex]), key=lambda weight: -mesh.biases[weight])[:4]
    numbers = [int(mesh.biases[weight] / sum(mesh.biases[kept]) * 255) for weight in kept]
    numbers[0] += max(255 - sum(numbers), 0)
    return [(weight, number / 255) for weight, number in zip(kept, numbers, strict=True)]


def filled_bytes(mesh, bind, pose):
    """RBDOOM-3-BFG: the four largest weights as bytes; the largest gets what is missing to 255."""
    return carried(mesh, bind, pose, *table(mesh, _filled_shares, 1))


def _own_shares(mesh, vertex):
    kept = largest(mesh, vertex, 8)
    scale = 1 / sum(mesh.biases[kept])
    numbers = [int(mesh.biases[weight] * scale * 255) for weight in kept]
    return [
        (weight, mesh.biases[weight] * scale, number / sum(numbers))
        for weight, number in zip(kept, numbers, strict=True)
    ]


def own_points(mesh, bind, pose):
    """vkQuake: up to eight weights, each with its own point; bytes only share out the places of joints."""
    vertices, weights, factors, parts = table(mesh, _own_shares, 2)
    joints = mesh.joints[weights]
    points = np.einsum("wij,wj->wi", pose[0][joints], mesh.offsets[weights] * factors[:, None])
    return added(vertices, points + pose[1][joints] * parts[:, None], len(mesh.counts))


def skinned(mesh, bind, pose, *, raw_sums=False, most=MOST_INFLUENCES):
    """The vertex of the bind pose, moved by up to four joints: engines that leave the rest to the graphics card."""
    rows = _rows(mesh)
    vertices = np.repeat(np.arange(len(mesh.counts)), mesh.counts)
    if most is not None and mesh.counts.max(initial=0) > most:
        # The largest are kept; of equals the earlier.
        order = np.lexsort((np.arange(len(rows)), -mesh.biases[rows], vertices))
        ranks = np.arange(len(order)) - np.searchsorted(vertices[order], vertices[order])
        chosen = np.sort(order[ranks < most])
        rows, vertices = rows[chosen], vertices[chosen]
    biases = mesh.biases[rows]
    sums = np.bincount(vertices, biases, minlength=len(mesh.counts))
    scale = np.where(sums > 0, 1 / np.where(sums > 0, sums, 1), 1)
    if raw_sums:
        scale = np.ones_like(scale)
    return carried(mesh, bind, pose, vertices, rows, biases * scale[vertices])


def _rows(mesh):
    counts = mesh.counts.astype(np.int64)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(len(firsts)) - firsts + np.repeat(mesh.starts.astype(np.int64), counts)


def _sums(mesh, points):
    vertices = np.repeat(np.arange(len(mesh.counts)), mesh.counts)
    return added(vertices, points[_rows(mesh)], len(mesh.counts))


def unpack(flags, starts, base, values):
    """Six components of each joint (J, 6): those of the base, replaced one after the other where a flag is set."""
    result = base.copy()
    for joint, (flag, at) in enumerate(zip(flags, starts, strict=True)):
        for bit in range(6):
            if flag >> bit & 1:
                result[joint, bit] = values[at]
                at += 1
    return result
