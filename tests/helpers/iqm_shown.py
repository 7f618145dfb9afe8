"""What Blender shows of a mesh object: arrays of its vertices and corners, read without the extension's code."""

from __future__ import annotations

import bpy
import iqm_specification as specification
import numpy as np


def places(obj) -> np.ndarray:
    values = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", values.ravel())
    matrix = np.array(obj.matrix_world)
    return values @ matrix[:3, :3].T + matrix[:3, 3]


def corner_vertices(obj) -> np.ndarray:
    values = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", values)
    return values


def uvs(obj) -> np.ndarray:
    values = np.empty((len(obj.data.loops), 2), np.float32)
    obj.data.uv_layers.active.data.foreach_get("uv", values.ravel())
    return values


def normals(obj) -> np.ndarray:
    values = np.empty((len(obj.data.loops), 3), np.float32)
    obj.data.corner_normals.foreach_get("vector", values.ravel())
    return values


def colors(obj) -> np.ndarray:
    layer = obj.data.color_attributes.active_color
    values = np.empty((len(layer.data), 4), np.float32)
    layer.data.foreach_get("color_srgb", values.ravel())
    return np.rint(values * 255.0).astype(np.uint8)


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between vectors, in degrees."""
    dots = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return np.degrees(np.arccos(np.clip(dots, -1.0, 1.0)))


def corners(objects) -> np.ndarray:
    """Position, texture coordinates as in a file, normal and color of all corners of triangles, as sorted rows."""
    graph = bpy.context.evaluated_depsgraph_get()
    rows = []
    for obj in objects:
        posed = obj.evaluated_get(graph)
        posed.data.calc_loop_triangles()
        loops = np.array([one.loops for one in posed.data.loop_triangles]).ravel()
        uv = uvs(posed)[loops] * [1, -1] + [0, 1] if posed.data.uv_layers else np.zeros((len(loops), 2))
        turned = normals(posed)[loops] @ np.linalg.inv(np.array(posed.matrix_world)[:3, :3])
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        has_colors = posed.data.color_attributes.active_color is not None
        tint = colors(posed)[loops] if has_colors else np.full((len(loops), 4), 255)
        rows.append(np.hstack([places(posed)[corner_vertices(posed)[loops]], uv, turned, tint]))
    return np.concatenate(rows)


def file_corners(spec, points, kinds=(1, 2)) -> np.ndarray:
    """The same of the triangles of a file whose vertices are at some points."""
    used = np.array(spec.triangles).ravel()
    tint = np.array(spec.arrays[6])[used] if 6 in spec.arrays else np.full((len(used), 4), 255)
    return np.hstack([np.asarray(points)[used], *(np.array(spec.arrays[kind])[used] for kind in kinds), tint])


def assert_same_corners(found: np.ndarray, expected: np.ndarray, size: float, *, shading: bool = True) -> None:
    """Every corner has one with its place, texture coordinates, color and, at rest, normal."""
    assert len(found) == len(expected)
    columns = 8 if shading else 5
    scales = np.array([size] * 3 + [1.0] * 2 + [1.0] * 3 + [255.0] * 4)
    kept = [*range(columns), *range(8, 12)]
    tree = np.round(expected[:, kept] / scales[kept], 4)
    others = np.round(found[:, kept] / scales[kept], 4)
    for row in np.unique(others, axis=0):
        assert np.abs(tree - row).max(axis=1).min() < 3e-3, row


def assert_shows(path, objects, clips=(), read=specification.read) -> None:
    """A file shows what Blender does: objects at rest, and on the frames of actions that are set one after another."""
    spec = read(path.read_bytes())
    size = max(1.0, float(np.abs(spec.arrays[0]).max()))
    armature = objects[0].find_armature()
    if armature is not None:
        armature.data.pose_position = "REST"
    bpy.context.view_layer.update()
    assert_same_corners(file_corners(spec, spec.arrays[0]), corners(objects), size)
    if armature is not None:
        armature.data.pose_position = "POSE"
    bind = spec.bind()
    for action, anim in clips:
        (_, first, count, *_) = next(one for one in spec.anims if one[0] == anim)
        armature.animation_data.action = action
        start = int(action.frame_start if action.use_frame_range else action.frame_range[0])
        for frame in range(0, count, max(1, count // 4)):
            bpy.context.scene.frame_set(start + frame)
            found = file_corners(spec, spec.skinned(first + frame, bind))
            assert_same_corners(found, corners(objects), size, shading=False)
