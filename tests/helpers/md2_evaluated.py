"""What Blender shows of an MD2 model, and which real files there are."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from paths import CORPUS

from io_idtech.io_md2.format import Md2Error, Model, decompress, read_model


def readable_files() -> list[str]:
    """The real MD2 files that the format half reads, relative to the corpus."""
    names = []
    for path in sorted(CORPUS.glob("md2/**/*.md2")):
        try:
            read_model(path)
        except Md2Error:
            continue
        names.append(path.relative_to(CORPUS).as_posix())
    return names


def each_readable_file() -> list[object]:
    """Parameters for a test of every readable real file; one skipped test if there are none."""
    names = readable_files()
    if not names:
        return [pytest.param("", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    return [pytest.param(name, id=name.removeprefix("md2/")) for name in names]


def import_model(path: Path, **options: object) -> bpy.types.Object:
    """Imports a file by the operator and returns its object."""
    assert bpy.ops.import_scene.md2(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def shown_vertices(obj: bpy.types.Object) -> np.ndarray:
    """The evaluated vertices in the space of the scene, float64 (V, 3)."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", places)
    matrix = np.array(evaluated.matrix_world)
    return places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def expected_vertices(model: Model) -> np.ndarray:
    """The vertices of every frame by the formula, (F, V, 3)."""
    return decompress(model.vertices, model.scale, model.translate).astype(np.float64)


def size_of(positions: np.ndarray) -> float:
    """The diagonal of the box around all frames."""
    flat = positions.reshape(-1, 3)
    return float(np.linalg.norm(np.ptp(flat, axis=0))) if len(flat) else 0.0


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The greatest distance between corresponding points (V, 3)."""
    assert a.shape == b.shape
    return float(np.linalg.norm(a - b, axis=-1).max(initial=0.0))


def is_degenerate(triangles: np.ndarray) -> np.ndarray:
    """Which triangles name a vertex twice."""
    return np.array([len(set(triangle)) < 3 for triangle in triangles.tolist()], bool)


def triangle_values(model: Model) -> np.ndarray:
    """Vertex, s and t of each corner of each triangle but degenerate ones, turned so that equal ones are equal."""
    proper = ~is_degenerate(model.triangles)
    vertices, st = model.triangles[proper], model.st[model.triangle_st[proper]].astype(np.int64)
    return np.concatenate([vertices[..., None], st], axis=2)
