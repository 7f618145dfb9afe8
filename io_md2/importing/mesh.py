"""The mesh object of a model.

Vertex i of the mesh is vertex i of the file, even if no triangle uses it, and each corner stores its entry in the table
of texture coordinates. Degenerate triangles are left out, as Blender meshes cannot hold them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.scene import mesh_data, names
from ...io_common.triangles import FLIPPED_WINDING, drop_degenerate, flip_v
from ..format import Model, normal_vectors, st_fractions
from ..records import store_attributes

if TYPE_CHECKING:
    from bpy.types import Material, Mesh, Object


def build_object(
    name: str, model: Model, positions: npt.NDArray[np.floating], materials: list[Material]
) -> tuple[Object, Mesh]:
    """A mesh object in the shape of the first frame, and its mesh; it is in no collection yet.

    `positions` are those of the first frame in the coordinates of the scene, (V, 3). All faces get the first material.
    """
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    corner_st = triangle_st[:, FLIPPED_WINDING].ravel()
    fractions = st_fractions(model.st, model.skin_width, model.skin_height).astype(np.float64)
    uvs = flip_v(fractions[corner_st])
    mesh = mesh_data.new_triangle_mesh(
        names.for_blender(name, versions.MAX_ID_NAME, "Model"),
        positions,
        triangles[:, FLIPPED_WINDING],
        uvs if len(uvs) else None,
    )
    store_attributes(mesh, corner_st)
    for material in materials:
        mesh.materials.append(material)
    return bpy.data.objects.new(mesh.name, mesh), mesh


def set_normals(mesh: Mesh, indices: npt.NDArray[np.uint8], rotation: npt.NDArray[np.float64]) -> None:
    """Sets custom normals from those of a frame; where an index is invalid, Blender's normal stays.

    `indices` has one for each vertex, (V,). `rotation` goes from the axes of the file to those of the scene, (3, 3).
    """
    if len(mesh.polygons):
        normals = normal_vectors(indices).astype(np.float64) @ rotation.T
        mesh.normals_split_custom_set_from_vertices(normals.tolist())
