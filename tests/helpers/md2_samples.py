"""MD2 models made for tests, with what real files have and a mesh of Blender cannot hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_md2.format import Model, find_sequences, generate_commands, write_model

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
    triangles = np.array(
        [[0, 1, 2], [0, 2, 3], [1, 0, 4], [0, 1, 4], [0, 2, 3], [2, 2, 4], [3, 6, 4]], np.int32
    )
    st = np.array([[0, 0], [63, 0], [63, 31], [0, 31], [0, 0], [-20, 90], [5, 5], [64, 32]], np.int16)
    triangle_st = np.array(
        [[0, 1, 2], [4, 2, 3], [1, 0, 5], [0, 1, 7], [0, 2, 3], [2, 2, 3], [3, 2, 1]], np.int32
    )
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


assert [s.name for s in find_sequences(FRAME_NAMES)] == ["stand", "run", "pain1", 'odd "\\name']
