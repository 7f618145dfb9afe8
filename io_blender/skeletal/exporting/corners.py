"""Normals, colors and tangents of corners, for formats whose vertices have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Object

from ....io_common.skeletal.model import Floats, Mesh
from ....io_common.skeletal.skinning import row_ids
from ....io_common.triangles import FLIPPED_WINDING, flip_v, is_degenerate
from ...records import NONE
from ...scene import mesh_data
from ..records import SAME_NORMAL, SHOWN_NORMALS, load_mesh, load_vertices
from .mesh import Block
from .skeleton import Skeleton
from .weights import Integers

_STEPS = 512.0


@dataclass(eq=False)
class Corners:
    """What Blender shows of the corners (L,) of an object at rest, in the axes of the file."""

    normals: npt.NDArray[np.float32]
    is_kept: npt.NDArray[np.bool_]  # whether the normal is that of the imported file
    colors: npt.NDArray[np.uint8] | None  # in sRGB, (L, 4)
    sides: Integers  # what splits vertices, as `export_object` takes it


def read_corners(
    obj: Object, triangles: mesh_data.TriangleMesh, skeleton: Skeleton, imported: Floats | None
) -> Corners:
    """The corners of an evaluated object; `imported` are the normals of its mesh in the file, None without any."""
    mesh, count = triangles.mesh, len(triangles.corner_vertices)
    matrix = skeleton.conversion.rotation @ mesh_data.world_matrix(triangles.obj)[:3, :3]
    normals = mesh_data.corner_normals(mesh, matrix)
    stored = load_mesh(obj.data)
    sources = np.full(count, NONE, np.int64) if stored is None else load_vertices(mesh, stored)[1]
    is_kept = np.zeros(count, bool)
    if imported is not None:
        is_kept = (sources != NONE) & (sources < len(imported))
        shown = SHOWN_NORMALS.read(obj.data)
        has_shown = shown is not None and len(shown) == count
        wanted = shown @ matrix.T if shown is not None and has_shown else imported[np.where(is_kept, sources, 0)]
        lengths = np.linalg.norm(wanted, axis=1)
        is_kept &= ~(np.einsum("ci,ci->c", normals, wanted) < SAME_NORMAL * lengths)
        # All corners of a vertex are kept, or none.
        is_kept &= ~np.isin(sources, sources[~is_kept])
    colors = mesh_data.corner_colors(mesh)
    sides = np.zeros((count, 3), np.int64)
    sides[:, 0] = _sides_of_normals(normals, is_kept, triangles.corner_vertices)
    if colors is not None:
        sides[:, 1] = np.ascontiguousarray(colors).view(np.uint32)[:, 0]
    if triangles.uvs is not None:
        # Where an image is mirrored, the bitangent has the other sign.
        (u, v), (s, t) = np.diff(triangles.uvs[triangles.loops], axis=1).transpose(1, 2, 0)
        sides[triangles.loops[u * t < v * s], 2] = 1
        sides[sources != NONE, 2] = 0
    return Corners(normals, is_kept, colors, sides)


def _sides_of_normals(
    normals: npt.NDArray[np.float32], is_kept: npt.NDArray[np.bool_], vertices: npt.NDArray[np.int32]
) -> Integers:
    """A number for each normal of a vertex: 0 for that of the file, 1 if all others are equal."""
    result = np.where(is_kept, 0, 1).astype(np.int64)
    changed = np.flatnonzero(~is_kept)
    firsts = np.zeros(int(vertices.max(initial=-1)) + 1, np.int64)
    firsts[vertices[changed[::-1]]] = changed[::-1]
    differs = np.einsum("ci,ci->c", normals[changed], normals[firsts[vertices[changed]]]) < SAME_NORMAL
    split = changed[np.isin(vertices[changed], vertices[changed[differs]])]
    result[split] = 2 + row_ids(np.rint(normals[split] * _STEPS).astype(np.int64))
    return result


def corner_of_vertices(block: Block) -> Integers:
    """A corner of the evaluated mesh for each vertex of a block, -1 for unused ones, (V,)."""
    result = np.full(block.mesh.vertex_count, -1, np.int64)
    result[block.mesh.triangles] = block.corners
    return result


def tangents_of(points: Floats, mesh: Mesh, normals: Floats) -> Floats:
    """Blender's tangents of the vertices of a mesh block at rest, with the sign of the bitangent, (V, 4)."""
    triangles = mesh.triangles[~is_degenerate(mesh.triangles)][:, FLIPPED_WINDING]
    result = np.tile([1.0, 0.0, 0.0, 1.0], (len(points), 1))
    if len(triangles):
        data: Any = mesh_data.new_triangle_mesh("Tangents", points, triangles, flip_v(mesh.uvs)[triangles.ravel()])
        try:
            data.normals_split_custom_set_from_vertices(normals.tolist())
            data.calc_tangents()
            found = mesh_data.read_array(data.loops, "tangent", 3)
            signs = mesh_data.read_array(data.loops, "bitangent_sign", 1)
        finally:
            bpy.data.meshes.remove(data)
        result[triangles.ravel()] = np.hstack([found, signs])
    return result
