"""Which vertex and which texture coordinate of the file the vertices and corners of a mesh are.

``md2_vertex`` (vertices) and ``md2_corner_st`` (corners) are attributes of whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.scene import evaluated, mesh_data

if TYPE_CHECKING:
    from bpy.types import Mesh

NONE = -1
"""Stands for an element that is not in the file."""

_VERTEX = "md2_vertex"
_CORNER_ST = "md2_corner_st"

Ints = npt.NDArray[np.int32]


def store_attributes(mesh: Mesh, corner_st: npt.NDArray[np.integer[Any]]) -> None:
    """Numbers the vertices of a new mesh, and stores the texture coordinate of each corner.

    Args:
        mesh: a mesh whose vertex i is vertex i of the file.
        corner_st: index of the file's texture coordinate of each corner, (L,).
    """
    mesh_data.set_integers(mesh, _VERTEX, "POINT", np.arange(len(mesh.vertices)))
    if len(corner_st):
        mesh_data.set_integers(mesh, _CORNER_ST, "CORNER", corner_st)


def load_vertices(mesh: Mesh, count: int) -> Ints:
    """The vertex of the file that each vertex of a mesh is, or NONE, int32 (V,).

    Blender gives copies of a vertex the number of the original, which comes first, and new vertices 0: only the first
    vertex with a number is taken for the one in the file.

    Args:
        mesh: the mesh, evaluated or not.
        count: how many vertices the file has.
    """
    result = np.full(len(mesh.vertices), NONE, dtype=np.int32)
    numbers = evaluated.integers(mesh, _VERTEX, "POINT")
    if numbers is None or len(numbers) != len(result):
        return result
    if len(numbers) == count and np.array_equal(numbers, np.arange(count)):
        return numbers
    values, firsts = np.unique(numbers, return_index=True)
    known = (values >= 0) & (values < count)
    result[firsts[known]] = values[known]
    return result


def load_corner_st(mesh: Mesh, count: int) -> Ints | None:
    """The texture coordinate of the file that each corner of a mesh has, or NONE, int32 (L,).

    Args:
        mesh: the mesh, evaluated or not.
        count: how many texture coordinates the file has.

    Returns:
        None if the mesh does not have the attribute.
    """
    numbers = evaluated.integers(mesh, _CORNER_ST, "CORNER")
    if numbers is None or len(numbers) != len(mesh.loops):
        return None
    return np.where((numbers >= 0) & (numbers < count), numbers, NONE).astype(np.int32)
