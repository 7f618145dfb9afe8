"""Small MD5 files, written into a folder by the format half."""

from __future__ import annotations

import numpy as np

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skeleton import compose, decompose, encode_poses
from io_idtech.io_md5.format import Animation, Joints, Mesh, Model, write_animation, write_mesh

NAMES = ["origin", "hips", "spine", "head", "leg.L", "leg.R"]
PARENTS = np.array([-1, 0, 1, 2, 1, 1], dtype=np.int32)
OFFSETS = np.array([[0, 0, 0], [0, 0, 20], [2, 0, 10], [0, 1, 12], [0, 6, -3], [0, -6, -3]], dtype=float)


def turns(count, seed=3, size=0.4):
    """Quaternions that turn a little."""
    rng = np.random.default_rng(seed)
    return quat.normalise(np.column_stack([np.ones(count), size * rng.normal(size=(count, 3))]))


def skeleton(names=NAMES, parents=PARENTS, offsets=OFFSETS) -> Joints:
    """A bind pose of turned joints."""
    positions, orientations = compose(parents, offsets, turns(len(names)))
    return Joints(list(names), np.asarray(parents, dtype=np.int32), positions, orientations)


def patch(joints: Joints, shader="models/test/skin", width=4, joint=2, other=3) -> Mesh:
    """A closed tube of quads between two joints whose last column repeats the first along a UV seam."""
    points, uvs, ranges, weights = [], [], [], []
    for row in range(3):
        first = len(ranges)
        for column in range(width + 1):
            angle = 2.0 * np.pi * (column % width) / width
            point = np.array([3 * np.cos(angle), 3 * np.sin(angle), 30.0 + 6.0 * row])
            uvs.append((column / width, 0.25 * row))
            if column == width:
                ranges.append(ranges[first])
                continue
            start = len(weights)
            share = row / 2.0
            weights += [(j, b, point) for j, b in ((joint, 1.0 - share), (other, share)) if b > 0.0]
            ranges.append((start, len(weights) - start))
            points.append(point)
    triangles = []
    for row in range(2):
        for column in range(width):
            a = row * (width + 1) + column
            b, c, d = a + 1, a + width + 1, a + width + 2
            triangles += [(a, c, b), (b, c, d)]
    owners = np.array([w[0] for w in weights], dtype=np.int32)
    places = np.array([w[2] for w in weights])
    starts, counts = np.array(ranges, dtype=np.int32).T
    back = quat.conjugate(joints.orientations[owners])
    return Mesh(
        shader=shader,
        uvs=np.array(uvs),
        weight_starts=starts.copy(),
        weight_counts=counts.copy(),
        triangles=np.array(triangles, dtype=np.int32),
        weight_joints=owners,
        weight_biases=np.array([w[1] for w in weights]),
        weight_positions=quat.rotate(back, places - joints.positions[owners]),
    )


def model() -> Model:
    """Six joints and a tube."""
    joints = skeleton()
    return Model(joints, [patch(joints)])


def animation(joints: Joints, frames=5, rate=24.0, moving=("spine", "leg.L")) -> Animation:
    """Some joints turn, and one moves; the rest keeps the bind pose relative to its parent."""
    positions, orientations = decompose(joints.parents, joints.positions, joints.orientations)
    positions = np.repeat(positions[None], frames, axis=0)
    orientations = np.repeat(orientations[None], frames, axis=0)
    for name in moving:
        joint = joints.names.index(name)
        angle = np.linspace(0.0, 5.5, frames)
        extra = np.zeros((frames, 4))
        extra[:, 0], extra[:, 2] = np.cos(angle / 2), np.sin(angle / 2)
        orientations[:, joint] = quat.multiply(orientations[:, joint], extra)
        positions[:, joint, 0] += np.linspace(0.0, 3.0, frames)
    posed = compose(joints.parents, positions, orientations)
    bounds = np.zeros((frames, 2, 3))
    return encode_poses(joints.names, joints.parents, *posed, frame_rate=rate, bounds=bounds)


def write(folder, name="test", **animations):
    """Writes the model, and animations by name; returns the path of the model."""
    made = model()
    path = folder / f"{name}.md5mesh"
    write_mesh(made, path)
    for stem, anim in animations.items():
        write_animation(anim, folder / f"{stem}.md5anim")
    return path
