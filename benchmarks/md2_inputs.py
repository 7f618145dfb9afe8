"""Generated MD2 models of any size, and surfaces that are easy or hard to cover with strips and fans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from io_idtech.io_md2.format import PLAYER_SEQUENCES, GlCommands, Model, generate_commands, normal_indices, quantise

Triangles = npt.NDArray[np.int32]

LIMITS = (32, 64, 512)
"""Rings, segments and frames of a model at Quake II's limits: 2,048 vertices, 4,096 triangles, 512 frames."""


def player() -> Model:
    """A pulsating torus with the 198 frames of a player model; 360 vertices, 720 triangles."""
    model = torus(18, 20, 198)
    model.frame_names = [
        f"{sequence.name}{frame + 1:02d}" for sequence in PLAYER_SEQUENCES for frame in range(sequence.frame_count)
    ]
    return model


def torus(rings: int, segments: int, frames: int) -> Model:
    """A pulsating torus with rings · segments vertices and twice as many triangles."""
    a, b = np.meshgrid(np.arange(rings) / rings * 2 * np.pi, np.arange(segments) / segments * 2 * np.pi, indexing="ij")
    radius = 20 + 6 * np.cos(a)
    base = np.stack([radius * np.cos(b), radius * np.sin(b), 6 * np.sin(a)], axis=-1).reshape(-1, 3)
    phase = np.arange(frames)[:, None, None] / 7
    positions = base * (1 + 0.2 * np.sin(phase + base[:, 2:] / 9))
    ring, segment = (part.ravel() for part in np.indices((rings, segments)))
    right, below = (segment + 1) % segments, (ring + 1) % rings
    corner, beside = ring * segments + segment, ring * segments + right
    under, across = below * segments + segment, below * segments + right
    triangles = np.concatenate(
        [np.stack([corner, beside, under], axis=1), np.stack([beside, across, under], axis=1)]
    ).astype(np.int32)
    st = np.stack([b.ravel() / 2 / np.pi * 255, a.ravel() / 2 / np.pi * 255], axis=1).astype(np.int16)
    vertices, scale, translate = quantise(positions)
    return Model(
        skin_width=256,
        skin_height=256,
        st=st,
        triangles=triangles,
        triangle_st=triangles.copy(),
        scale=scale,
        translate=translate,
        frame_names=[f"run{frame + 1:03d}" for frame in range(frames)],
        vertices=vertices,
        normals=normal_indices(positions, triangles),
        gl_commands=generate_commands(triangles, triangles, st, 256, 256),
    )


def many_triangles(count: int) -> Model:
    """A still surface whose triangles are there so many times that they are as many as wanted."""
    model = torus(32, 64, 1)
    triangles = np.tile(model.triangles, (-(-count // model.triangle_count), 1))[:count]
    return replace(model, triangles=triangles, triangle_st=triangles.copy(), gl_commands=GlCommands())


def many_skins(count: int) -> Model:
    """A small model that names so many skins."""
    return replace(torus(4, 8, 1), skins=[f"players/test/{number}.pcx" for number in range(count)])


def _grid(width: int, height: int) -> Triangles:
    a = (np.arange(height)[:, None] * (width + 1) + np.arange(width)).reshape(-1)
    b, c, d = a + 1, a + width + 1, a + width + 2
    return np.stack([a, c, b, b, c, d], axis=1).reshape(-1, 3).astype(np.int32)


def _shuffled(triangles: Triangles) -> Triangles:
    return triangles[np.random.default_rng(5).permutation(len(triangles))]


SURFACES: dict[str, Callable[[int], Triangles]] = {
    "a surface in order": lambda count: _grid(32, count // 64),
    "a surface, shuffled": lambda count: _shuffled(_grid(32, count // 64)),
    "one long strip": lambda count: _grid(count // 2, 1),
    "one triangle, repeated": lambda count: np.tile(np.array([[0, 1, 2]], np.int32), (count, 1)),
    "all triangles on one edge": lambda count: np.array([[0, 1, i + 2] for i in range(count)], np.int32),
    "random on six vertices": lambda count: np.random.default_rng(6).integers(0, 6, (count, 3), np.int32),
}
"""Functions that generate surfaces with a number of triangles, (T, 3)."""


def commands(triangles: Triangles) -> Callable[[], object]:
    """The generation of GL commands for a surface with different texture coordinates for each vertex."""
    count = int(triangles.max()) + 1
    st = np.stack([np.arange(count) % 128, np.arange(count) // 128 % 64], axis=1).astype(np.int16)
    return lambda: generate_commands(triangles, triangles, st, 128, 64)
