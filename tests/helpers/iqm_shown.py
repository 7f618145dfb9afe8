"""What Blender shows of a mesh object: arrays of its vertices and corners, read without the extension's code."""

from __future__ import annotations

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
