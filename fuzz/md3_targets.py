"""What fuzzing does with the bytes of an MD3 model, and a model to begin with. Not part of the built extension."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md3.format import (
    Model,
    Surface,
    check_model,
    format_model,
    frame_bounds,
    nearest_normals,
    normal_vectors,
    parse_model,
    positions,
)
from io_idtech.io_md3.format.sequences import parse_animation_config, sequences_of


def md3(data: bytes) -> None:
    """A model, its places and sequences, and back."""
    model = parse_model(data)
    assert parse_model(format_model(model)) == model
    for surface in model.surfaces:
        assert np.isfinite(positions(surface.vertices)).all()
        nearest_normals(normal_vectors(surface.normals))
        frame_bounds(positions(surface.vertices))
    sequences_of("lower", model.frame_names)
    check_model(model)


def animation_config(data: bytes) -> None:
    """Reads an animation.cfg."""
    found = parse_animation_config(data.decode("latin-1"))
    for part in ("lower", "upper", "tris"):
        for sequence in sequences_of(part, ["frame"] * 200, config=found):
            assert 0 <= sequence.first <= sequence.last < 200


def seed() -> bytes:
    """Two squares of two triangles with two frames and a tag."""
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    st = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    rng = np.random.default_rng(3)
    return format_model(
        Model(
            name="models/box.md3",
            frame_names=["stand01", "stand02"],
            bounds=np.zeros((2, 2, 3), np.float32),
            origins=np.zeros((2, 3), np.float32),
            radii=np.ones(2, np.float32),
            tag_names=["tag_weapon"],
            tag_origins=np.arange(6, dtype=np.float32).reshape(2, 1, 3),
            tag_axes=np.tile(np.eye(3, dtype=np.float32), (2, 1, 1, 1)),
            surfaces=[
                Surface(
                    name=name,
                    shaders=[f"models/{name}.tga"],
                    triangles=triangles,
                    st=st,
                    vertices=rng.integers(-999, 999, (2, 4, 3)).astype(np.int16),
                    normals=rng.integers(0, 127, (2, 4, 2)).astype(np.uint8),
                )
                for name in ("body", "belt")
            ],
        )
    )
