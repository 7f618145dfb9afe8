"""MD3 models made for tests, with what real files have and a mesh of Blender cannot hold."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from io_idtech.io_md3.format import Model, Surface, format_model, frame_bounds, nearest_normals, positions

FRAMES = 6
# Ring of a tube: UV seams double its first vertices.
_SIDES = 8


def tube(name: str, shift: float = 0.0, frames: int = FRAMES) -> Surface:
    """A tube that bends over the frames, with a UV seam, as a surface."""
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    rows = np.arange(4)
    around, along = (grid.ravel() for grid in np.meshgrid(angles, rows))
    points = np.stack([8.0 * np.cos(around) + shift, 8.0 * np.sin(around), 10.0 * along], axis=1)
    # The last of a ring lies exactly where the first is.
    points[_SIDES :: _SIDES + 1] = points[:: _SIDES + 1]
    st = np.stack([around / (2.0 * np.pi), along / 3.0], axis=1)
    triangles = []
    for row in range(3):
        for side in range(_SIDES):
            a = row * (_SIDES + 1) + side
            triangles += [(a, a + _SIDES + 1, a + 1), (a + 1, a + _SIDES + 1, a + _SIDES + 2)]
    bent = [points + np.stack([0.0 * along, frame * along, 0.0 * along], axis=1) for frame in range(frames)]
    normals = [
        np.stack([10.0 * np.cos(around), 10.0 * np.sin(around), -frame * np.sin(around)], axis=1)
        for frame in range(frames)
    ]
    return Surface(
        name=name,
        shaders=[f"models/tube/{name}.tga"],
        triangles=np.array(triangles, np.int32),
        st=st.astype(np.float32),
        vertices=np.rint(np.array(bent) * 64).astype(np.int16),
        normals=nearest_normals(np.array(normals)),
    )


def tube_model(frames: int = FRAMES, tags: tuple[str, ...] = ("tag_weapon", "tag_head")) -> Model:
    """Two tubes with tags that turn and move."""
    turns = np.arange(frames) * 0.2
    axes = np.zeros((frames, len(tags), 3, 3), np.float32)
    origins = np.zeros((frames, len(tags), 3), np.float32)
    for index in range(len(tags)):
        c, s = np.cos(turns + index), np.sin(turns + index)
        axes[:, index, 0] = np.stack([c, s, 0 * c], axis=1)
        axes[:, index, 1] = np.stack([-s, c, 0 * c], axis=1)
        axes[:, index, 2] = (0.0, 0.0, 1.0)
        origins[:, index] = np.stack([turns, 5.0 + 0 * turns, 30.0 + turns], axis=1)
    surfaces = [tube("body", frames=frames), tube("belt", 30.0, frames=frames)]
    bounds, centers, radii = frame_bounds(np.concatenate([positions(one.vertices) for one in surfaces], axis=1))
    return Model(
        name="models/tube/tube.md3",
        frame_names=[f"{'stand' if frame < 3 else 'run'}{frame % 3 + 1}" for frame in range(frames)],
        # Larger than needed, which no rule gives.
        bounds=bounds + np.array([[-1.0], [1.0]], np.float32),
        origins=centers,
        radii=radii + 5.0,
        tag_names=list(tags),
        tag_origins=origins,
        tag_axes=axes,
        surfaces=surfaces,
    )


def odd_bytes() -> bytes:
    """The file of a model with text after the end of names, sections in another order and gaps between them, and:

    a degenerate triangle, one that is there twice, a vertex that nothing uses, two with all in common, normals of no
    rule, tags whose axes are scaled and not finite, repeated names of frames, and bytes at the end.
    """
    model = tube_model()
    body = model.surfaces[0]
    body.triangles = np.vstack([body.triangles, [[3, 3, 4]], body.triangles[:1]])
    body.vertices = np.concatenate([body.vertices, body.vertices[:, 5:6], body.vertices[:, 1:2] + 99], axis=1)
    body.st = np.concatenate([body.st, body.st[5:6], body.st[1:2]])
    rng = np.random.default_rng(7)
    body.normals = rng.integers(0, 256, (*body.vertices.shape[:2], 2)).astype(np.uint8)
    model.frame_names = ["(from 3DSMax)"] * FRAMES
    model.tag_axes[:, 0] *= 2.0
    model.tag_axes[2, 1] = np.nan
    data = bytearray(format_model(model))
    data[8 + len(model.name) + 1 : 8 + 64] = b"x" * (63 - len(model.name))
    start = struct.unpack_from("<i", data, 100)[0]
    # A gap before the vertices of the last surface.
    last = start + struct.unpack_from("<i", data, start + 104)[0]
    at = struct.unpack_from("<i", data, last + 100)[0]
    data[last + at : last + at] = b"gap!"
    for field, shift in ((100, 4), (104, 4)):
        struct.pack_into("<i", data, last + field, struct.unpack_from("<i", data, last + field)[0] + shift)
    return bytes(data) + b"end"


def write_sample(folder: Path, model: Model | bytes | None = None, name: str = "tube.md3") -> Path:
    """Writes a model and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    data = model if isinstance(model, bytes) else format_model(model if model is not None else tube_model())
    path.write_bytes(data)
    return path
