"""Meshes made of arrays, and their elements as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import bpy
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bpy.types import Attribute, Mesh

UV_MAP = "UVMap"
"""The name of the one UV map, as Blender names the first."""


Number = TypeVar("Number", np.float32, np.float64)


def new_triangle_mesh(
    name: str,
    vertices: npt.NDArray[np.floating],
    triangles: npt.NDArray[np.integer],
    corner_uvs: npt.NDArray[np.floating] | None,
) -> Mesh:
    """A mesh of triangles, smooth shaded.

    The mesh is not validated: that would drop faces that lie on the same vertices, as both sides of a leaf do.

    `vertices` are (V, 3). `triangles` have three different vertices each, counter-clockwise seen from outside, (T, 3).
    `corner_uvs` has u and v of each corner in the order of the triangles, (3 T, 2).
    """
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


def set_integers(
    mesh: Mesh, name: str, domain: Literal["POINT", "CORNER"], values: npt.NDArray[np.integer]
) -> None:
    """Adds an integer attribute; `domain` is 'POINT' or 'CORNER'."""
    attribute = mesh.attributes.new(name, "INT", domain)
    _values_of(attribute).foreach_set("value", np.ascontiguousarray(values, dtype=np.int32).ravel())


def positions(mesh: Mesh) -> npt.NDArray[np.float32]:
    """The positions of the vertices of a mesh in its own space, float32 (V, 3); NaN where they are infinite."""
    result = np.empty((len(mesh.vertices), 3), dtype=np.float32)
    if len(result):
        _values_of(mesh.attributes["position"]).foreach_get("vector", result.ravel())
    return without_infinity(result)


def without_infinity(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """An array that was read from Blender, with NaN for infinite numbers: numpy warns of arithmetic with those."""
    values[np.isinf(values)] = np.nan
    return values


def corner_vertices(mesh: Mesh) -> npt.NDArray[np.int32]:
    """The vertex of each corner of a mesh, int32 (L,)."""
    result = np.empty(len(mesh.loops), dtype=np.int32)
    if len(result):
        _values_of(mesh.attributes[".corner_vert"]).foreach_get("value", result)
    return result


def faces_of_corners(mesh: Any, corners: np.ndarray) -> np.ndarray:
    """The faces that corners of a mesh belong to, each once, in ascending order. Negative indices are ignored."""
    starts = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    return np.unique(np.searchsorted(starts, corners[corners >= 0], side="right") - 1)


def _values_of(attribute: Attribute) -> Any:
    """The values of an attribute; the stubs have them only in the classes of the single types."""
    return cast("Any", attribute).data
