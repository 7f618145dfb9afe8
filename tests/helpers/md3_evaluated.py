"""What Blender shows of a scene, and whether an MD3 file shows the same, by the specification's reader."""

from __future__ import annotations

from pathlib import Path

import bpy
import md3_specification as specification
import numpy as np

STEP = 2 * np.pi / 255
# Half a step of the grid on each axis, and what single precision adds.
POSITION = 0.5 / 64 + 1e-3


def corners(obj):
    """Position, UV and normal of each corner of an evaluated mesh's triangles, clockwise, (C, 8)."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.data
    mesh.calc_loop_triangles()
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    turn = np.linalg.inv(matrix[:3, :3]).T
    flipped = np.linalg.det(matrix[:3, :3]) < 0
    rows = []
    for triangle in mesh.loop_triangles:
        loops = list(triangle.loops)
        for loop in loops if flipped else [loops[0], loops[2], loops[1]]:
            point = matrix[:3, :3] @ np.array(mesh.vertices[mesh.loops[loop].vertex_index].co) + matrix[:3, 3]
            normal = turn @ np.array(mesh.corner_normals[loop].vector)
            uv = mesh.uv_layers.active.uv[loop].vector if mesh.uv_layers else (0.0, 1.0)
            rows.append([*point, uv[0], 1.0 - uv[1], *(normal / max(np.linalg.norm(normal), 1e-12))])
    return np.array(rows).reshape(-1, 8)


def file_corners(surface, frame):
    """The same of a surface of a file."""
    rows = [
        [*surface.points[frame][vertex], *surface.st[vertex], *surface.normals[frame][vertex]]
        for triangle in surface.triangles
        for vertex in triangle
    ]
    return np.array(rows).reshape(-1, 8)


def assert_same_corners(found, expected, *, normals=True, degrees=2.0):
    """Each corner of one is one of the other: in position, texture coordinate and normal."""
    assert len(found) == len(expected)
    if not len(found):
        return
    # The nearest by position and texture coordinate, then by the normal.
    weights = np.array([1.0] * 3 + [50.0] * 2 + [2.0 if normals else 0.0] * 3)
    distances = (((found[:, None] - expected[None]) * weights) ** 2).sum(axis=2)
    partner = expected[distances.argmin(axis=1)]
    assert np.abs(found[:, :3] - partner[:, :3]).max() <= POSITION
    assert np.abs(found[:, 3:5] - partner[:, 3:5]).max() <= 1e-5
    if normals:
        cosines = (found[:, 5:] * partner[:, 5:]).sum(axis=1)
        assert np.degrees(np.arccos(np.clip(cosines, -1, 1))).max() <= degrees


def assert_shows(path, objects, frames, *, normals=True, degrees=2.0):
    """A file shows all corners of some objects on frames of the scene, with its own frame for each."""
    model = specification.read(Path(path).read_bytes())
    assert len(model.frames) == len(frames)
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(frame)
        expected = np.concatenate([corners(obj) for obj in objects])
        found = np.concatenate([file_corners(surface, row) for surface in model.surfaces])
        assert_same_corners(found, expected, normals=normals, degrees=degrees)
        low, high, origin, radius, _ = model.frames[row]
        assert (found[:, :3] >= np.array(low) - 1e-3).all()
        assert (found[:, :3] <= np.array(high) + 1e-3).all()
        assert (np.linalg.norm(found[:, :3] - np.array(origin), axis=1) <= radius + 1e-2).all()
    return model
