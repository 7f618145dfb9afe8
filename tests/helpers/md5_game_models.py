"""Models and animations of any size for the rules of games, and the rules that they break."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from md5_samples import ANIMATION

from io_idtech.io_md5.format import Camera, Joints, Mesh, Model, parse_animation
from io_idtech.io_md5.format.check import check_animation, check_model


def model(joints=3, vertices=3, triangles=1, weights=3, meshes=1) -> Model:
    """A chain of joints at the origin, and meshes that hang on the last with one weight for each vertex."""
    orientations = np.zeros((joints, 4))
    orientations[:, 0] = -1.0
    parents = np.arange(joints, dtype=np.int32) - 1
    names = [f"joint{index}" for index in range(joints)]
    positions = np.zeros((joints, 3))
    skeleton_ = Joints(names, parents, positions, orientations)
    return Model(skeleton_, [mesh(vertices, triangles, weights, f"skin{i}") for i in range(meshes)])


def mesh(vertices=3, triangles=1, weights=3, shader="skin") -> Mesh:
    starts = np.minimum(np.arange(vertices), weights - 1).astype(np.int32)
    return Mesh(
        shader=shader,
        uvs=np.zeros((vertices, 2)),
        weight_starts=starts,
        weight_counts=np.ones(vertices, dtype=np.int32),
        triangles=np.tile(np.array([[0, 1, 2]], dtype=np.int32), (triangles, 1)),
        weight_joints=np.zeros(weights, dtype=np.int32),
        weight_biases=np.ones(weights),
        weight_positions=np.tile(np.arange(weights, dtype=float)[:, None], (1, 3)),
    )


def camera(**changes) -> Camera:
    """A path of four entries with one cut."""
    path = Camera(np.array([2], dtype=np.int32), np.zeros((4, 3)), np.zeros((4, 3)), np.full(4, 90.0), 24.0)
    return replace(path, **changes)


def animation(**changes):
    return replace(parse_animation(ANIMATION.encode()), **changes)


def found(subject, game, **given):
    """The rules that something breaks and whether they are errors."""
    if isinstance(subject, Model):
        return {f.code: f.is_error for f in check_model(subject, game, **given)}
    return {f.code: f.is_error for f in check_animation(subject, game=game, **given)}
