"""IQM models made for tests."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from io_idtech.io_common.skeletal.model import Joints, Mesh, Model
from io_idtech.io_common.skeletal.quaternions import conjugate, normalise, rotate
from io_idtech.io_common.skeletal.scales import ScaleTable
from io_idtech.io_common.skeletal.skeleton import encode_local_poses
from io_idtech.io_iqm.format import Attributes, Extension, Iqm, NamedAnimation, VertexArray, format_iqm, from_model

FRAMES = 7
NAMES = ["root", "arm", "hand", "leg"]
PARENTS = [-1, 0, 1, 0]


def skeleton() -> Joints:
    rng = np.random.default_rng(1)
    turns = normalise(rng.normal(size=(4, 4)))
    turns[turns[:, 0] > 0] *= -1
    return Joints(list(NAMES), np.array(PARENTS, np.int32), rng.uniform(-20, 20, (4, 3)), turns)


def mesh(joints: Joints, name: str, seed: int, weights: int = 3, vertices: int = 30) -> Mesh:
    """A random mesh; all weights of a vertex agree on its place."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-30, 30, (vertices, 3))
    used = np.stack([rng.permutation(4)[:weights] for _ in range(vertices)])
    biases = rng.uniform(0.05, 1, (vertices, weights))
    biases /= biases.sum(axis=1, keepdims=True)
    flat = used.ravel()
    offsets = rotate(conjugate(joints.orientations[flat]), np.repeat(points, weights, axis=0) - joints.positions[flat])
    return Mesh(
        shader=f"models/{name}",
        uvs=rng.uniform(0, 1, (vertices, 2)).astype(np.float32).astype(np.float64),
        weight_starts=np.arange(vertices, dtype=np.int32) * weights,
        weight_counts=np.full(vertices, weights, np.int32),
        triangles=np.stack([rng.permutation(vertices)[:3] for _ in range(40)]).astype(np.int32),
        weight_joints=flat.astype(np.int32),
        weight_biases=biases.ravel(),
        weight_positions=offsets,
        name=name,
    )


def model() -> Model:
    joints = skeleton()
    return Model(joints, [mesh(joints, "body", 2), mesh(joints, "belt", 3, weights=1)])


def animation(name: str = "walk", seed: int = 4, *, scaled: bool = False) -> NamedAnimation:
    rng = np.random.default_rng(seed)
    turns = normalise(np.cumsum(rng.normal(size=(FRAMES, 4, 4)) * 0.3, axis=0) - np.eye(4)[0])
    places = rng.uniform(-15, 15, (FRAMES, 4, 3))
    places[:, 3] = places[0, 3]
    found = encode_local_poses(list(NAMES), PARENTS, places, turns, frame_rate=24.0)
    values = rng.uniform(0.5, 2.0, (FRAMES, 4)) if scaled else np.ones((FRAMES, 4))
    table = ScaleTable(values, np.zeros(4, bool)) if scaled else None
    return NamedAnimation(name, found, table, is_loop=scaled)


def iqm() -> Iqm:
    """Two meshes, two animations, colors, a custom array of 64 bits, extensions and a comment."""
    made = model()
    attributes = [
        Attributes(colors=np.arange(120, dtype=np.uint8).reshape(30, 4)),
        Attributes(custom=[VertexArray(16, np.arange(60.0).reshape(30, 2), name="curvature")]),
    ]
    result = from_model(made, [animation(), animation("grow", 5, scaled=True)], attributes)
    extensions = [Extension("FTE_MESH", b"abcde"), Extension("empty", b"")]
    return replace(result, comment=b"made for tests", extensions=extensions, flags=3)


def unusual(names: Sequence[str] = ("Grow", "grow")) -> Iqm:
    """Animations with names, rates and flags, and arrays of types, components and names that Blender does not have."""
    made = iqm()
    one, other = made.animations
    found = [replace(one, frame_rate=0.0, flags=2), replace(other, flags=3), other]
    made.animations = [replace(animation, name=name) for animation, name in zip(found, names, strict=False)]
    made.arrays = [array for array in made.arrays if array.type not in (2, 3)]
    made.arrays[-2].values = made.arrays[-2].values.astype(np.uint16) * 257
    values = np.arange(8.0 * made.vertex_count, dtype=np.float32).reshape(-1, 8)
    made.arrays += [VertexArray(kind, values[:, :size]) for kind, size in ((1, 2), (8, 8), (16, 3), (16, 3))]
    return made


def odd_bytes() -> bytes:
    """A file with its comment behind a gap at the end, and another order than we write."""
    data = bytearray(format_iqm(iqm()))
    comment = b"moved"
    struct.pack_into("<2I", data, 16 + 4 * 23, len(comment), len(data) + 8)
    data += b"\x07" * 8 + comment
    struct.pack_into("<I", data, 20, len(data))
    return bytes(data)
