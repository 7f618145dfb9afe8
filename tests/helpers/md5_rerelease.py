"""Models as the re-releases of Quake and Quake II hold them, made by code."""

from __future__ import annotations

import struct
from pathlib import Path

import md2_samples
import numpy as np
from md5_samples import random_parents
from md5_scenes import animation, patch, skeleton

from io_idtech.io_common.skeletal.scales import ScaleTable
from io_idtech.io_md2.format import write_model
from io_idtech.io_md5.format import Animation, Model, write_animation, write_mesh
from io_idtech.io_md5.format.scale_file import scales_of_table, write_scales

SCALES = (0.0, 0.25, 0.5, 1.0, 1.0, 1.5, 3.0)


def generated(seed: int, frames: int = 6) -> tuple[Model, Animation]:
    """A model of four to nine joints and two meshes, and an animation in which every joint turns and moves."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 10))
    names = [f"joint{index}" for index in range(count)]
    joints = skeleton(names, random_parents(rng, count), rng.normal(scale=12.0, size=(count, 3)))
    pairs = rng.integers(0, count, size=(2, 2))
    meshes = [
        patch(joints, f"models/test/skin{index}", 4 + index, int(a), int(b)) for index, (a, b) in enumerate(pairs)
    ]
    return Model(joints, meshes), animation(joints, frames, moving=names)


def random_scales(seed: int, joint_count: int, frames: int, *, with_positions: bool) -> ScaleTable:
    """Scales of about half of the joints, some of them 0."""
    rng = np.random.default_rng(seed)
    values = rng.choice(SCALES, size=(frames, joint_count))
    values[:, rng.uniform(size=joint_count) < 0.4] = 1.0
    values[0, int(rng.integers(0, joint_count))] = 0.5
    return ScaleTable(values, rng.uniform(size=joint_count) < (0.6 if with_positions else 0.0))


def write_rerelease(
    folder: Path, model: Model, animation: Animation, scales: ScaleTable | None = None, stem: str = "tris"
) -> Path:
    """Writes a model, its animation and scales into the folder `md5` of another; returns the path of the mesh."""
    path = folder / "md5" / f"{stem}.md5mesh"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mesh(model, path)
    write_animation(animation, path.with_suffix(".md5anim"))
    if scales is not None:
        write_scales(scales_of_table(animation.names, scales), path.with_suffix(".md5scale"))
    return path


def write_md2(path: Path, frame_names: list[str], skins: list[str]) -> Path:
    """Writes an MD2 without shape, with names of frames and skins."""
    model = md2_samples.model_of(frames=len(frame_names), skins=len(skins))
    model.frame_names, model.skins = list(frame_names), list(skins)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_model(model, path)
    return path


def mdl(frame_names: list[str], skins: int = 1) -> bytes:
    """An MDL of one vertex."""
    header = struct.pack("<4si10f8if", b"IDPO", 6, *10 * [1.0], skins, 4, 2, 1, 1, len(frame_names), 0, 0, 1.0)
    frames = b"".join(struct.pack("<i8x16s4x", 0, name.encode()) for name in frame_names)
    return header + skins * struct.pack("<i8x", 0) + bytes(12 + 16) + frames


def lmp(indices: np.ndarray) -> bytes:
    """An image of Quake; indices (height, width)."""
    height, width = indices.shape
    return struct.pack("<ii", width, height) + indices.astype(np.uint8).tobytes()


def palette(seed: int = 0) -> bytes:
    """256 colors, not those of the game."""
    return np.random.default_rng(seed).integers(0, 256, (256, 3)).astype(np.uint8).tobytes()
