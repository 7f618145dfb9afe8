"""Generated MD5 models and animations of any size."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skeleton import compose
from io_idtech.io_md5.format import Animation, Joints, Mesh, Model, write_animation, write_mesh


def model(vertices: int, joints: int, triangles: int | None = None, seed: int = 1) -> Model:
    """A grid of vertices on a random tree of joints; half of the vertices have two weights.

    Args:
        vertices: the approximate number.
        joints: the number.
        triangles: the number of random triangles; if None, the triangles of the grid.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(rng.integers(max(0, joint - 6), joint) for joint in range(1, joints))], dtype=np.int32)
    rotations = quat.normalise(np.column_stack([np.ones(joints), 0.2 * rng.normal(size=(joints, 3))]))
    positions, orientations = compose(parents, rng.normal(size=(joints, 3)) * 4.0, rotations)
    skeleton = Joints([f"joint{joint}" for joint in range(joints)], parents, positions, orientations)
    width = 40
    rows = max(2, vertices // width)
    count = rows * width
    u, v = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, rows))
    vertex_positions = np.column_stack([100 * u.ravel(), 100 * v.ravel(), rng.random(count) * 10])
    counts = np.where(np.arange(count) % 2, 1, 2).astype(np.int32)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    owners = rng.integers(0, joints, int(counts.sum())).astype(np.int32)
    second = starts[counts == 2] + 1
    owners[second] = (owners[second - 1] + 1) % joints
    shares = np.round(rng.random(len(second)) * 0.9 + 0.05, 6)
    biases = np.ones(len(owners))
    biases[second], biases[second - 1] = shares, 1.0 - shares
    points = np.repeat(vertex_positions, counts, axis=0)
    local = quat.rotate(quat.conjugate(orientations[owners]), points - positions[owners])
    a = (np.arange(rows - 1)[:, None] * width + np.arange(width - 1)).ravel()
    faces = np.concatenate([np.stack([a, a + width, a + 1], 1), np.stack([a + 1, a + width, a + width + 1], 1)])
    if triangles is not None:
        faces = (rng.integers(0, count, (triangles, 1)) + np.cumsum(rng.integers(1, 99, (triangles, 3)), 1)) % count
    mesh = Mesh(
        shader="generated",
        uvs=np.column_stack([u.ravel(), v.ravel()]),
        weight_starts=starts,
        weight_counts=counts,
        triangles=faces.astype(np.int32),
        weight_joints=owners,
        weight_biases=biases,
        weight_positions=local,
    )
    return Model(skeleton, [mesh])


def animation(joints: Joints, frames: int, rate: float = 24.0, seed: int = 2) -> Animation:
    """An animation in which all components of all joints change."""
    rng = np.random.default_rng(seed)
    count = len(joints)
    phase = np.linspace(0.0, 20.0, frames)[:, None, None] + rng.random((count, 6)) * 6.0
    table = 0.2 * np.sin(phase)
    return Animation(
        names=joints.names,
        parents=joints.parents,
        flags=np.full(count, 63, dtype=np.int32),
        starts=np.arange(count, dtype=np.int32) * 6,
        bounds=np.zeros((frames, 2, 3)),
        base_positions=np.zeros((count, 3)),
        base_orientations=np.zeros((count, 3)),
        frames=np.round(table.reshape(frames, count * 6), 6),
        frame_rate=rate,
    )


def folder(path: Path, animations: int) -> Path:
    """A folder with a model of 33 joints and so many animations of 30 frames; returns the model."""
    path.mkdir()
    made = model(400, 33)
    for number in range(animations):
        write_animation(animation(made.joints, 30, seed=number), path / f"{number:05}.md5anim")
    write_mesh(made, path / "model.md5mesh")
    return path / "model.md5mesh"
