"""Evaluated meshes as arrays of triangles in the space of the scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.triangles import FLIPPED_WINDING, with_area
from . import mesh_data
from .objects import NothingToExportError

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Material, Mesh, MeshUVLoopLayer, Object

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(eq=False)
class TriangleMesh:
    """An evaluated object as triangles.

    Attributes:
        obj: the evaluated object.
        mesh: its mesh; it lives as long as the evaluation does.
        vertices: in the space of the scene, float64 (V, 3).
        triangles: three vertices each, counter-clockwise seen from outside, int32 (T, 3).
        loops: the corner of the mesh that each corner of a triangle is, int32 (T, 3).
        corner_vertices: the vertex of each corner of the mesh, int32 (L,).
        materials: the material slot of each triangle, int32 (T,); below the number of slots if there are any.
        slots: the material of each slot in the original data, which modifiers may have added; None for an empty one.
        groups: the names of the vertex groups, which modifiers may have added.
        uvs: u and v of each corner of the mesh, float64 (L, 2); None without a UV map.
    """

    obj: Object
    mesh: Mesh
    vertices: Floats
    triangles: Ints
    loops: Ints
    corner_vertices: Ints
    materials: Ints
    slots: list[Material | None]
    groups: list[str]
    uvs: Floats | None


def triangle_mesh(obj: Object, depsgraph: Depsgraph) -> TriangleMesh:
    """An object as it is evaluated: modifiers, shape keys and transform applied, n-gons triangulated by Blender.

    Raises NothingToExportError if faces use vertices that the mesh does not have.
    """
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.data
    corner_vertices = mesh_data.corner_vertices(mesh)
    if len(corner_vertices) and not 0 <= corner_vertices.min() <= corner_vertices.max() < len(mesh.vertices):
        # Scripts can make such meshes, and Blender shows them.
        raise NothingToExportError(
            f"{obj.name}: its mesh is damaged, as faces use vertices that it does not have. In Blender's Python "
            f"console, run bpy.data.meshes[{obj.data.name!r}].validate()"
        )
    loops, polygons = triangulation(evaluated)
    polygon_materials = integers(mesh, "material_index", "FACE")
    if polygon_materials is None:
        polygon_materials = np.zeros(len(mesh.polygons), dtype=np.int32)
    slots = [slot.material and slot.material.original for slot in evaluated.material_slots]
    return TriangleMesh(
        obj=evaluated,
        mesh=mesh,
        vertices=world_vertices(evaluated),
        triangles=corner_vertices[loops],
        loops=loops,
        corner_vertices=corner_vertices,
        # Blender shows a face without a slot of its own in the nearest one.
        materials=np.clip(polygon_materials[polygons], 0, max(len(slots) - 1, 0)),
        slots=slots,
        groups=[group.name for group in evaluated.vertex_groups],
        uvs=texture_coordinates(mesh),
    )


def triangulation(evaluated: Object) -> tuple[Ints, Ints]:
    """The corners of each triangle that Blender splits faces into, int32 (T, 3), and its face, int32 (T,).

    Where three of four corners are on a line, Blender may leave a triangle without area; such a face is split along its
    other diagonal, which looks the same in Blender.
    A transform that mirrors turns the triangles inside out; their winding is flipped back.
    """
    mesh = evaluated.data
    if len(mesh.loops) == 3 * len(mesh.polygons):
        # All faces are triangles, which Blender takes as they are.
        faces = np.arange(len(mesh.polygons), dtype=np.int32)
        loops = np.arange(3 * len(faces), dtype=np.int32).reshape(-1, 3)
    else:
        mesh.calc_loop_triangles()
        loops = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
        mesh.loop_triangles.foreach_get("loops", loops.reshape(-1))
        faces = np.empty(len(loops), dtype=np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", faces)
        places = mesh_data.positions(mesh)[mesh_data.corner_vertices(mesh)].astype(np.float64)
        loops = with_area(loops, faces, places)
    if np.linalg.det(world_matrix(evaluated)[:3, :3]) < 0.0:
        loops = np.ascontiguousarray(loops[:, FLIPPED_WINDING])
    return loops, faces


def world_matrix(obj: Object) -> Floats:
    """An object's transform, float64 (4, 4); NaN where it is infinite."""
    return mesh_data.without_infinity(np.array(obj.matrix_world, dtype=np.float64))


def world_vertices(evaluated: Object) -> Floats:
    """The vertices of an evaluated object in the space of the scene, float64 (V, 3)."""
    mesh = evaluated.data
    matrix = world_matrix(evaluated)
    vertices = mesh_data.positions(mesh).astype(np.float64)
    if np.array_equal(matrix, np.eye(4)):
        return vertices
    return vertices @ matrix[:3, :3].T + matrix[:3, 3]


def corner_normals(evaluated: Object) -> Floats:
    """The unit normals by which Blender shades the corners of an object, in the space of the scene, float64 (L, 3)."""
    mesh = evaluated.data
    normals = np.empty((len(mesh.loops), 3), dtype=np.float32)
    mesh.corner_normals.foreach_get("vector", normals.ravel())
    x, y, z = world_matrix(evaluated)[:3, :3]
    # The transposed inverse but for its length, which is there where the scale is 0 too.
    turned = normals.astype(np.float64) @ np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)]).T
    turned *= np.sign(np.dot(x, np.cross(y, z)))
    result: Floats = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), np.finfo(float).tiny)
    return result


def texture_coordinates(mesh: Mesh) -> Floats | None:
    """u and v of each corner of the UV map that `uv_layer` names, float64 (L, 2); None without one."""
    layer = uv_layer(mesh)
    if layer is None:
        return None
    uvs = np.empty(len(mesh.loops) * 2, dtype=np.float32)
    layer.uv.foreach_get("vector", uvs)
    return mesh_data.without_infinity(uvs).reshape(-1, 2).astype(np.float64)


def uv_layer(mesh: Mesh) -> MeshUVLoopLayer | None:
    """The active UV map; where modifiers left none active, the one that is rendered, else the first."""
    layers = mesh.uv_layers
    active = layers.active
    # The active layer may be a nameless attribute that modifiers made.
    if active is not None and active.name in layers:
        return active
    return next((layer for layer in layers if layer.active_render), layers[0] if layers else None)


def integers(mesh: Mesh, name: str, domain: str) -> Ints | None:
    """An integer attribute, int32 (n,); None if the mesh has no attribute of that name, type and domain."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != "INT" or attribute.domain != domain:
        return None
    values = np.empty(len(attribute.data), dtype=np.int32)
    attribute.data.foreach_get("value", values)
    return values


def vertex_group_weights(mesh: Mesh) -> tuple[Ints, Ints, Floats]:
    """Every weight of every vertex: vertices, groups and weights, each (n,).

    Blender has no call that reads them all at once.
    """
    # One flat list: a tuple for each weight would take longer, and set off Python's garbage collection.
    numbers = [
        number
        for index, vertex in enumerate(mesh.vertices)
        for element in vertex.groups
        for number in (index, element.group, element.weight)
    ]
    table = np.fromiter(numbers, dtype=np.float64, count=len(numbers)).reshape(-1, 3)
    return table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), table[:, 2].copy()


def in_triangles(triangles: npt.NDArray[np.integer], count: int) -> npt.NDArray[np.bool_]:
    """Which of `count` vertices belong to a triangle, bool (V,)."""
    used = np.zeros(count, dtype=bool)
    used[triangles] = True
    return used
