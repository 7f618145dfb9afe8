"""MD2 models made for tests, with what real files have and a mesh of Blender cannot hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_idtech.io_md2.format import GlCommands, Model, find_sequences, generate_commands, write_model

FRAME_NAMES = ["stand01", "stand02", "run1", "run2", "run2", "pain101", "pain102", 'odd "\\name']


def odd_model() -> Model:
    """A small model with two skins of one name, and:

    a grid of no rule in each frame, one of them mirrored; normal indices of no rule and beyond the table; frames of
    equal and odd names; a vertex that nothing uses and two in the same place; a triangle with both its sides, one that
    is there twice and one on two vertices; texture coordinates that are equal, unused, and outside the skin.
    """
    rng = np.random.default_rng(2)
    count = len(FRAME_NAMES)
    vertices = rng.integers(0, 256, (count, 7, 3)).astype(np.uint8)
    vertices[:, 6] = vertices[:, 2]
    scale = rng.uniform(0.05, 0.3, (count, 3)).astype(np.float32)
    scale[3, 1] *= -1
    triangles = np.array([[0, 1, 2], [0, 2, 3], [1, 0, 4], [0, 1, 4], [0, 2, 3], [2, 2, 4], [3, 6, 4]], np.int32)
    st = np.array([[0, 0], [63, 0], [63, 31], [0, 31], [0, 0], [-20, 90], [5, 5], [64, 32]], np.int16)
    triangle_st = np.array([[0, 1, 2], [4, 2, 3], [1, 0, 5], [0, 1, 7], [0, 2, 3], [2, 2, 3], [3, 2, 1]], np.int32)
    return Model(
        skin_width=64,
        skin_height=32,
        skins=["players/test/one.pcx", "caf\xe9 \xff.pcx", "players/test/one.pcx"],
        st=st,
        triangles=triangles,
        triangle_st=triangle_st,
        scale=scale,
        translate=rng.uniform(-20, 20, (count, 3)).astype(np.float32),
        frame_names=list(FRAME_NAMES),
        vertices=vertices,
        normals=rng.integers(0, 256, (count, 7)).astype(np.uint8),
        gl_commands=generate_commands(triangles, triangle_st, st, 64, 32),
    )


def write_sample(folder: Path, model: Model | None = None) -> Path:
    """Writes a model and returns its path."""
    path = folder / "sample.md2"
    write_model(model if model is not None else odd_model(), path)
    return path


def model_of(triangles: int = 1, vertices: int = 3, frames: int = 1, st: int = 3, skins: int = 1) -> Model:
    """A model without shape that has so many of everything."""
    return Model(
        skin_width=64,
        skin_height=64,
        skins=[f"{i}.pcx" for i in range(skins)],
        st=np.zeros((st, 2), np.int16),
        triangles=np.zeros((triangles, 3), np.int32),
        triangle_st=np.zeros((triangles, 3), np.int32),
        scale=np.ones((frames, 3), np.float32),
        translate=np.zeros((frames, 3), np.float32),
        frame_names=[f"frame{i}" for i in range(frames)],
        vertices=np.zeros((frames, vertices, 3), np.uint8),
        normals=np.zeros((frames, vertices), np.uint8),
    )


def fan(triangles: int) -> Model:
    """A model of so many proper triangles around vertex 0, each corner with a texture coordinate of its own vertex."""
    model = model_of(triangles, triangles + 2, 1, triangles + 2)
    model.triangles = np.array([(0, k + 1, k + 2) for k in range(triangles)], np.int32)
    model.triangle_st = model.triangles.copy()
    model.st = np.array([(k % 64, k // 64) for k in range(triangles + 2)], np.int16)
    return model


def make_model(frames: int = 2) -> Model:
    """Two triangles that share an edge, with a skin and a few frames."""
    steps = np.arange(frames * 12, dtype=np.uint8).reshape(frames, 4, 3)
    return Model(
        skin_width=64,
        skin_height=32,
        skins=["players/male/grunt.pcx", "caf\xe9 \xff.pcx"],
        st=np.array([[0, 0], [10, 0], [0, 10], [63, 31]], np.int16),
        triangles=np.array([[0, 1, 2], [2, 1, 3]], np.int32),
        triangle_st=np.array([[0, 1, 2], [2, 1, 3]], np.int32),
        scale=np.linspace(0.1, 1, 3 * frames, dtype=np.float32).reshape(frames, 3),
        translate=np.linspace(-5, 5, 3 * frames, dtype=np.float32).reshape(frames, 3),
        frame_names=[f"stand{i + 1:02d}" for i in range(frames)],
        vertices=steps,
        normals=steps[:, :, 0].copy(),
        gl_commands=GlCommands(
            np.array([3, -3], np.int32),
            np.arange(12, dtype=np.float32).reshape(6, 2) / 16,
            np.array([0, 1, 2, 2, 1, 3], np.int32),
        ),
    )


def write_two_sequences(folder: Path) -> Path:
    """Writes two triangles in four frames of two sequences, and returns the path."""
    frames, vertices = 4, 4
    places = np.array([[0, 0, 0], [9, 0, 0], [9, 9, 0], [0, 9, 5]], np.uint8)
    model = Model(
        skin_width=64,
        skin_height=32,
        skins=["models/box/skin.pcx"],
        st=np.array([[0, 0], [63, 0], [63, 31], [0, 31]], np.int16),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        triangle_st=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        scale=np.full((frames, 3), 0.5, np.float32),
        translate=np.zeros((frames, 3), np.float32),
        frame_names=["stand01", "stand02", "stand03", "run1"],
        vertices=np.tile(places, (frames, 1, 1)),
        normals=np.zeros((frames, vertices), np.uint8),
    )
    write_model(model, folder / "box.md2")
    return folder / "box.md2"


assert [s.name for s in find_sequences(FRAME_NAMES)] == ["stand", "run", "pain1", 'odd "\\name']
