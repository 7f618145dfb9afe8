"""The vertex of the file that each vertex of a mesh is, and the texture coordinate that each corner has.

They are the integer attributes ``md2_vertex`` (vertices) and ``md2_corner_st`` (corners).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender.scene import evaluated, mesh_data
from ...io_common.source_elements import match_corners, match_vertices

if TYPE_CHECKING:
    from bpy.types import Mesh

_VERTEX = "md2_vertex"
_CORNER_ST = "md2_corner_st"

Ints = npt.NDArray[np.int32]


def store_attributes(mesh: Mesh, corner_st: npt.NDArray[np.integer[Any]]) -> None:
    """Numbers the vertices of a new mesh, and stores the texture coordinate of each corner.

    Vertex i of the mesh must be vertex i of the file. `corner_st` has the index of the file's texture coordinate of
    each corner, (L,).
    """
    mesh_data.set_integers(mesh, _VERTEX, "POINT", np.arange(len(mesh.vertices)))
    if len(corner_st):
        mesh_data.set_integers(mesh, _CORNER_ST, "CORNER", corner_st)


def load_vertices(mesh: Mesh, count: int) -> Ints:
    """The vertex of the file that each vertex of a mesh is, or NONE, int32 (V,).

    The mesh may be evaluated; `count` is how many vertices the file has.
    """
    return match_vertices(evaluated.integers(mesh, _VERTEX, "POINT"), len(mesh.vertices), count)


def load_corner_st(mesh: Mesh, count: int) -> Ints | None:
    """The texture coordinate of the file that each corner of a mesh has, or NONE, int32 (L,).

    None if the mesh does not have the attribute. The mesh may be evaluated; `count` is how many texture coordinates the
    file has.
    """
    return match_corners(evaluated.integers(mesh, _CORNER_ST, "CORNER"), len(mesh.loops), count)
