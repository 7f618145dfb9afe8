"""Meshes as arrays: made of them, and read as they are or as Blender evaluates them, as triangles of the scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Attribute, Depsgraph, Material, Mesh, Object
from mathutils.bvhtree import BVHTree

from ...io_common.triangles import FLIPPED_WINDING, with_area
from .objects import NothingToExportError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
UV_MAP = "UVMap"  # the name of the one UV map, as Blender names the first


Number = TypeVar("Number", np.float32, np.float64)


def read_array(items: Any, name: str, *shape: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """The values that a property has in all items of a collection of Blender, (n, *shape)."""
    values = np.empty((len(items), *shape), dtype)
    items.foreach_get(name, values.ravel())
    return values


def new_triangle_mesh(
    name: str,
    vertices: npt.NDArray[np.floating],
    triangles: npt.NDArray[np.integer],
    corner_uvs: npt.NDArray[np.floating] | None,
) -> Mesh:
    """A smooth mesh of vertices (V, 3), triangles (T, 3), counter-clockwise from outside, UVs (3 T, 2)."""
    # It is not validated: that would drop faces on the same vertices, as both sides of a leaf are.
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(vertices))
    # Through the attributes whole arrays are copied; through vertices and loops each element is set by itself.
    if len(vertices):
        with np.errstate(over="ignore"):  # infinite, as in the games
            coordinates = np.ascontiguousarray(vertices, dtype=np.float32).ravel()
        _values_of(mesh.attributes["position"]).foreach_set("vector", coordinates)
    count = len(triangles)
    if count:
        mesh.loops.add(3 * count)
        corners = np.ascontiguousarray(triangles, dtype=np.int32).ravel()
        _values_of(mesh.attributes[".corner_vert"]).foreach_set("value", corners)
        mesh.polygons.add(count)
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * count, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    # Without these attributes nothing is selected; otherwise the selection of edges would be arbitrary.
    for name in (".select_vert", ".select_edge", ".select_poly"):
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
    if corner_uvs is not None:
        layer = mesh.uv_layers.new(name=UV_MAP)
        layer.uv.foreach_set("vector", np.ascontiguousarray(corner_uvs, dtype=np.float32).ravel())
    return mesh


def set_integers(mesh: Mesh, name: str, domain: Literal["POINT", "CORNER"], values: npt.NDArray[np.integer]) -> None:
    """Adds an integer attribute; `domain` is 'POINT' or 'CORNER'."""
    attribute = mesh.attributes.new(name, "INT", domain)
    _values_of(attribute).foreach_set("value", np.ascontiguousarray(values, dtype=np.int32).ravel())


def positions(mesh: Mesh) -> npt.NDArray[np.float32]:
    """The vertices of a mesh in its own space, float32 (V, 3); NaN where they are infinite."""
    result = np.empty((len(mesh.vertices), 3), dtype=np.float32)
    if len(result):
        _values_of(mesh.attributes["position"]).foreach_get("vector", result.ravel())
    return without_infinity(result)


def without_infinity(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """An array read from Blender, with NaN for infinity: numpy warns of arithmetic with that."""
    values[np.isinf(values)] = np.nan
    return values


def corner_vertices(mesh: Mesh) -> npt.NDArray[np.int32]:
    """The vertex of each corner of a mesh, int32 (L,)."""
    result = np.empty(len(mesh.loops), dtype=np.int32)
    if len(result):
        _values_of(mesh.attributes[".corner_vert"]).foreach_get("value", result)
    return result


def faces_of_corners(mesh: Any, corners: np.ndarray) -> np.ndarray:
    """The faces that corners belong to, each once, ascending; negative indices are ignored."""
    starts = read_array(mesh.polygons, "loop_start", dtype=np.int32)
    return np.unique(np.searchsorted(starts, corners[corners >= 0], side="right") - 1)


def _values_of(attribute: Attribute) -> Any:
    """The values of an attribute; the stubs have them only in the classes of the single types."""
    return cast("Any", attribute).data


@dataclass(eq=False)
class TriangleMesh:
    """An evaluated object as triangles."""

    obj: Object  # the evaluated object
    mesh: Mesh  # its mesh; it lives as long as the evaluation does
    vertices: Floats  # in the space of the scene, float64 (V, 3)
    triangles: Ints  # three vertices each, counter-clockwise seen from outside, int32 (T, 3)
    loops: Ints  # the corner of the mesh that each corner of a triangle is, int32 (T, 3)
    corner_vertices: Ints  # the vertex of each corner of the mesh, int32 (L,)
    materials: Ints  # the material slot of each triangle, int32 (T,); below the number of slots if there are any
    # The material of each slot in the original data, which modifiers may have added; None for an empty one.
    slots: list[Material | None]
    groups: list[str]  # the names of the vertex groups, which modifiers may have added
    uvs: Floats | None  # u and v of each corner of the mesh, float64 (L, 2); None without a UV map


def triangle_mesh(obj: Object, depsgraph: Depsgraph) -> TriangleMesh:
    """An object as evaluated, n-gons triangulated. Raises NothingToExportError for a damaged mesh."""
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.data
    corners = corner_vertices(mesh)
    if len(corners) and not 0 <= corners.min() <= corners.max() < len(mesh.vertices):
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
        triangles=corners[loops],
        loops=loops,
        corner_vertices=corners,
        # Blender shows a face without a slot of its own in the nearest one.
        materials=np.clip(polygon_materials[polygons], 0, max(len(slots) - 1, 0)),
        slots=slots,
        groups=[group.name for group in evaluated.vertex_groups],
        uvs=texture_coordinates(mesh),
    )


def triangulation(evaluated: Object) -> tuple[Ints, Ints]:
    """The corners of each triangle that Blender splits faces into, int32 (T, 3), and its face, int32 (T,)."""
    # Where three of four corners are on a line, Blender may leave a triangle without area; such a face is
    # split along its other diagonal. A transform that mirrors turns triangles inside out; their winding is
    # flipped back.
    mesh = evaluated.data
    if len(mesh.loops) == 3 * len(mesh.polygons):
        # All faces are triangles, which Blender takes as they are.
        faces = np.arange(len(mesh.polygons), dtype=np.int32)
        loops = np.arange(3 * len(faces), dtype=np.int32).reshape(-1, 3)
    else:
        mesh.calc_loop_triangles()
        loops = read_array(mesh.loop_triangles, "loops", 3, dtype=np.int32)
        faces = read_array(mesh.loop_triangles, "polygon_index", dtype=np.int32)
        places = positions(mesh)[corner_vertices(mesh)].astype(np.float64)
        loops = with_area(loops, faces, places)
    if np.linalg.det(world_matrix(evaluated)[:3, :3]) < 0.0:
        loops = np.ascontiguousarray(loops[:, FLIPPED_WINDING])
    return loops, faces


def bend(corners: npt.NDArray[np.floating], loops: Ints, other_loops: Ints) -> float:
    """How far the surface moves if faces are split into other triangles (T, 3) of corners (L, 3)."""
    # The largest distance from the middle of an edge to the other surface. Triangle i is of the same face in both.
    rows, other_rows = np.sort(loops, axis=1), np.sort(other_loops, axis=1)
    differing = (rows != other_rows).any(axis=1)
    one, other = ({tuple(row) for row in way[differing].tolist()} for way in (rows, other_rows))
    # A triangle that both have, at another place in the list, is no difference. Blender's trees have 32 bits.
    near = corners - corners[:1]
    ways = [near[np.array(sorted(way), np.int32).reshape(-1, 3)] for way in (one - other, other - one)]
    ways = [way[np.isfinite(way).all(axis=(1, 2))] for way in ways]
    distances = [0.0]
    for triangles, others in (ways, ways[::-1]):
        faces = np.arange(3 * len(others)).reshape(-1, 3)
        surface: Any = BVHTree.FromPolygons(others.reshape(-1, 3).tolist(), faces.tolist())
        middles = (triangles + np.roll(triangles, -1, axis=1)) / 2.0
        distances += [surface.find_nearest(middle)[3] or 0.0 for middle in middles.reshape(-1, 3).tolist()]
    return max(distances)


def world_matrix(obj: Object) -> Floats:
    """An object's transform, float64 (4, 4); NaN where it is infinite."""
    return without_infinity(np.array(obj.matrix_world, dtype=np.float64))


def world_vertices(evaluated: Object) -> Floats:
    """The vertices of an evaluated object in the space of the scene, float64 (V, 3)."""
    mesh = evaluated.data
    matrix = world_matrix(evaluated)
    vertices = positions(mesh).astype(np.float64)
    if np.array_equal(matrix, np.eye(4)):
        return vertices
    return vertices @ matrix[:3, :3].T + matrix[:3, 3]


def corner_normals(mesh: Mesh, matrix: Floats) -> npt.NDArray[np.float32]:
    """The unit normals by which Blender shades corners, in the space that a transform leads to, float32 (L, 3)."""
    normals: npt.NDArray[np.float32] = read_array(mesh.corner_normals, "vector", 3)
    axes = matrix[:3, :3]
    # The transposed inverse but for its length, which is there where the scale is 0 too.
    inverse = np.cross(axes[[1, 2, 0]], axes[[2, 0, 1]])
    inverse *= np.sign(axes[0] @ inverse[0]) / max(np.linalg.norm(inverse, axis=1).max(), np.finfo(float).tiny)
    if np.array_equal(inverse, np.eye(3)):
        return normals
    normals = normals @ inverse.T.astype(np.float32)
    if not np.allclose(inverse @ inverse.T, np.eye(3), atol=1e-6):
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return normals


def corner_colors(mesh: Any) -> npt.NDArray[np.uint8] | None:
    """The active colors of corners in sRGB, (L, 4); None without any."""
    layer = mesh.color_attributes.active_color
    if layer is None or not len(mesh.loops):
        return None
    values = read_array(layer.data, "color_srgb", 4)
    colors = np.rint(np.clip(values, 0.0, 1.0) * 255.0).astype(np.uint8)
    return colors if layer.domain == "CORNER" else colors[corner_vertices(mesh)]


def set_corner_colors(mesh: Any, colors: npt.NDArray[np.uint8]) -> None:
    """Gives corners colors in sRGB, (L, 4), at least one."""
    layer = mesh.color_attributes.new("Color", "BYTE_COLOR", "CORNER")
    layer.data.foreach_set("color_srgb", (colors / np.float32(255.0)).ravel())


def normals_of_shapes(obj: Object, shapes: npt.NDArray[np.float32]) -> Iterator[npt.NDArray[np.float32]]:
    """The `corner_normals` of an object without modifiers with its vertices at each of some places, (n, V, 3)."""
    # A copy of the mesh is shaded without an evaluation of the scene.
    mesh, matrix = obj.to_mesh(), world_matrix(obj)
    try:
        for shape in shapes:
            _values_of(mesh.attributes["position"]).foreach_set("vector", shape.ravel())
            mesh.update()
            yield corner_normals(mesh, matrix)
    finally:
        obj.to_mesh_clear()


def texture_coordinates(mesh: Mesh) -> Floats | None:
    """u and v of each corner of the active UV map, else the one that is rendered, else the first, float64 (L, 2)."""
    layers, layer = mesh.uv_layers, mesh.uv_layers.active
    # Modifiers may leave none active, or make a nameless attribute the active one.
    if layer is None or layer.name not in layers:
        layer = next((one for one in layers if one.active_render), layers[0] if layers else None)
    return None if layer is None else without_infinity(read_array(layer.uv, "vector", 2)).astype(np.float64)


def integers(mesh: Mesh, name: str, domain: str) -> Ints | None:
    """An integer attribute, int32 (n,); None if the mesh has no attribute of that name, type and domain."""
    attribute: Any = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != "INT" or attribute.domain != domain:
        return None
    return read_array(attribute.data, "value", dtype=np.int32)


def vertex_group_weights(mesh: Mesh) -> tuple[Ints, Ints, Floats]:
    """Every weight of every vertex: vertices, groups and weights, each (n,)."""
    # Blender has no call that reads them all at once.
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
