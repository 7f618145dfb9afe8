"""How long Blender takes to open and save a player model of 198 frames.

    python benchmarks/md2_blender.py [MODEL.md2 ...]

Needs the bpy package. Without arguments the model is made here: 198 frames of a sphere of 600 triangles. Times are
those of the operators, the best of five; "edited" is a model of which every frame was changed, so that all of it is
made anew.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from io_md2.format import (  # noqa: E402
    PLAYER_SEQUENCES,
    Md2Model,
    generate_commands,
    normal_indices,
    quantise,
    read_model,
    write_model,
)

RINGS, SEGMENTS = 16, 20


def player() -> Md2Model:
    """A sphere that breathes through the frames of a player model."""
    a, b = np.meshgrid(
        np.arange(RINGS) / (RINGS - 1) * np.pi, np.arange(SEGMENTS) / SEGMENTS * 2 * np.pi, indexing="ij"
    )
    sphere = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3) * 24
    phase = np.arange(198)[:, None, None] / 7
    positions = sphere * (1 + 0.2 * np.sin(phase + sphere[:, 2:] / 9))
    ring, segment = np.meshgrid(np.arange(RINGS - 1), np.arange(SEGMENTS), indexing="ij")
    corner = (ring * SEGMENTS + segment).ravel()
    right = (ring * SEGMENTS + (segment + 1) % SEGMENTS).ravel()
    triangles = np.concatenate(
        [
            np.stack([corner, right, corner + SEGMENTS], axis=1),
            np.stack([right, right + SEGMENTS, corner + SEGMENTS], axis=1),
        ]
    ).astype(np.int32)
    st = np.stack([b.ravel() / 2 / np.pi * 255, a.ravel() / np.pi * 255], axis=1).astype(np.int16)
    vertices, scale, translate = quantise(positions)
    names = [
        f"{sequence.name}{frame + 1:02d}"
        for sequence in PLAYER_SEQUENCES
        for frame in range(sequence.num_frames)
    ]
    return Md2Model(
        skin_width=256,
        skin_height=256,
        st=st,
        triangles=triangles,
        triangle_st=triangles.copy(),
        scale=scale,
        translate=translate,
        frame_names=names,
        vertices=vertices,
        normals=normal_indices(positions, triangles),
        gl_commands=generate_commands(triangles, triangles, st, 256, 256),
    )


def enable_working_copy() -> None:
    """Registers the extension as it stands here."""
    spec = importlib.util.spec_from_file_location(
        "io_idtech", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["io_idtech"] = module
    spec.loader.exec_module(module)
    module.register()


def seconds(call: object) -> float:
    start = time.perf_counter()
    assert call() == {"FINISHED"}  # type: ignore[operator]
    return time.perf_counter() - start


def opened(path: Path) -> float:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return seconds(lambda: bpy.ops.import_scene.md2(filepath=str(path)))


def measure(path: Path, out: Path) -> str:
    model = read_model(path)
    reading = min(opened(path) for _ in range(5))
    untouched = min(
        seconds(lambda: bpy.ops.export_scene.md2(filepath=str(out), limits="NONE")) for _ in range(5)
    )
    for key in bpy.context.view_layer.objects.active.data.shape_keys.key_blocks:
        key.points[0].co.x += 0.123
    edited = min(
        seconds(lambda: bpy.ops.export_scene.md2(filepath=str(out), limits="NONE")) for _ in range(5)
    )
    counts = "".join(f"{count:10}" for count in (model.num_frames, model.num_vertices, model.num_triangles))
    times = "".join(f"{value:9.3f}s" for value in (reading, untouched, edited))
    return f"{'/'.join(path.parts[-2:]):28}{counts}{times}"


if __name__ == "__main__":
    enable_working_copy()
    folder = Path(tempfile.mkdtemp())
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    if not paths:
        paths = [folder / "player198.md2"]
        write_model(player(), paths[0])
    # What the operators say, to Python's stream and to that of the process, is not the table.
    table = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    sys.stdout = os.fdopen(silence, "w")
    print(f"Blender {bpy.app.version_string}", file=table)
    heads = "".join(
        f"{head:>10}" for head in ("frames", "vertices", "triangles", "import", "export", "edited")
    )
    print(f"{'model':28}{heads}", file=table)
    for path in paths:
        print(measure(path, folder / "out.md2"), file=table, flush=True)
    os._exit(0)
