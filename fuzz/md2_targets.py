"""What fuzzing does with the bytes of a model, and a model to begin with. Not part of the built extension."""

from __future__ import annotations

import numpy as np

from io_idtech.io_common.frames import find_sequences
from io_idtech.io_md2.format.file import format_model, parse_model
from io_idtech.io_md2.format.frames import decompress, merge_vertices
from io_idtech.io_md2.format.games import check_model
from io_idtech.io_md2.format.glcommands import generate_commands
from io_idtech.io_md2.format.model import Model

# More triangles than this make the search for GL commands, which only an export runs, too slow to fuzz.
_FEW_TRIANGLES = 40


def md2(data: bytes) -> None:
    """A model, its places and sequences, and back."""
    model = parse_model(data)
    assert np.isfinite(decompress(model.vertices, model.scale, model.translate)).all()
    assert parse_model(format_model(model)) == model
    find_sequences(model.frame_names)
    check_model(model)
    merge_vertices(model)
    if model.triangle_count <= _FEW_TRIANGLES:
        generate_commands(model.triangles, model.triangle_st, model.st, model.skin_width, model.skin_height)


def seed() -> bytes:
    """A square of two triangles with two frames."""
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    st = np.array([[0, 0], [63, 0], [63, 31], [0, 31]], np.int16)
    vertices = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    return format_model(
        Model(
            skin_width=64,
            skin_height=32,
            skins=["skin.pcx"],
            st=st,
            triangles=triangles,
            triangle_st=triangles.copy(),
            scale=np.ones((2, 3), np.float32),
            translate=np.zeros((2, 3), np.float32),
            frame_names=["stand01", "stand02"],
            vertices=vertices,
            normals=np.zeros((2, 4), np.uint8),
            gl_commands=generate_commands(triangles, triangles, st, 64, 32),
        )
    )
