"""Joints and vertices in a frame, as the engines compute them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

MOST_INFLUENCES = 4


class Refused(Exception):  # noqa: N818
    """The game does not load the file, or crashes."""


@dataclass
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
    """A model with an animation. Poses are rotations (J, 3, 3) and places (J, 3) in the space of the model."""

    meshes: list[EngineMesh]
    bind: tuple[np.ndarray, np.ndarray]
    parents: np.ndarray
    components: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 6)))
    frame_rate: float = 24.0
    baked: bool = True
    keeps_bias_sums: bool = False
    scales: np.ndarray | None = None
    scales_position: np.ndarray | None = None

    @property
    def frame_count(self) -> int:
        return len(self.components)

    def vertices(self, frame: int) -> list[np.ndarray]:
        """Where the vertices of each mesh are in a frame."""
        if self.scales is not None:
            return self._scaled_vertices(frame)
        pose = compose(self.parents, self.components[frame])
        if not self.baked:
            return [direct(mesh, pose) for mesh in self.meshes]
        return [skinned(mesh, self.bind, pose, raw_sums=self.keeps_bias_sums) for mesh in self.meshes]

    def _scaled_vertices(self, frame):
        components = self.components[frame].copy()
        for joint, scale in enumerate(self.scales[frame]):
            if self.scales_position[joint]:
                components[joint, :3] *= scale
        pose = compose(self.parents, components)
        return [direct(mesh, pose, self.scales[frame]) for mesh in self.meshes]


def rotations(xyz):
    """Rotations (…, 3, 3) of quaternions whose w is negative and computed; what is left below 0 is 0."""
    xyz = np.asarray(xyz, dtype=np.float64)
    w = -np.sqrt(np.maximum(1.0 - (xyz**2).sum(axis=-1), 0.0))
    x, y, z = np.moveaxis(xyz, -1, 0)
    length = np.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def compose(parents, components):
    """Rotations and places in the space of the model from six components a joint (J, 6)."""
    turns = rotations(components[:, 3:])
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


def skinned(mesh, bind, pose, *, raw_sums=False, most=MOST_INFLUENCES):
    """The vertex of the bind pose, moved by up to four joints: engines that leave the rest to the graphics card."""
    rest = direct(mesh, bind)
    turns = np.einsum("jik,jlk->jil", pose[0], bind[0])
    moves = pose[1] - np.einsum("jik,jk->ji", turns, bind[1])
    rows = _rows(mesh)
    vertices = np.repeat(np.arange(len(mesh.counts)), mesh.counts)
    if most is not None and mesh.counts.max(initial=0) > most:
        # The largest are kept; of equals the earlier.
        order = np.lexsort((np.arange(len(rows)), -mesh.biases[rows], vertices))
        ranks = np.arange(len(order)) - np.searchsorted(vertices[order], vertices[order])
        chosen = np.sort(order[ranks < most])
        rows, vertices = rows[chosen], vertices[chosen]
    biases = mesh.biases[rows]
    sums = np.bincount(vertices, biases, minlength=len(rest))
    scale = np.where(sums > 0, 1 / np.where(sums > 0, sums, 1), 1)
    if raw_sums:
        scale = np.ones_like(scale)
    joints = mesh.joints[rows]
    points = np.einsum("wij,wj->wi", turns[joints], rest[vertices]) + moves[joints]
    points *= (biases * scale[vertices])[:, None]
    return np.stack(
        [np.bincount(vertices, points[:, axis], minlength=len(rest)) for axis in range(3)], axis=1
    )


def _rows(mesh):
    counts = mesh.counts.astype(np.int64)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(len(firsts)) - firsts + np.repeat(mesh.starts.astype(np.int64), counts)


def _sums(mesh, points):
    vertices = np.repeat(np.arange(len(mesh.counts)), mesh.counts)
    rows = points[_rows(mesh)]
    return np.stack(
        [np.bincount(vertices, rows[:, axis], minlength=len(mesh.counts)) for axis in range(3)], axis=1
    )


def unpack(flags, starts, base, values):
    """Six components of each joint (J, 6): those of the base, replaced one after the other where a flag is set."""
    result = base.copy()
    for joint, (flag, at) in enumerate(zip(flags, starts, strict=True)):
        for bit in range(6):
            if flag >> bit & 1:
                result[joint, bit] = values[at]
                at += 1
    return result
