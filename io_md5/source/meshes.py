"""Data stored on meshes: the vertices of the file, their weights, and what a Blender mesh cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender import stored_values as values
from ...io_blender.scene import evaluated, mesh_data, names
from ...io_common.triangles import FLIPPED_WINDING
from ..format import Mesh as MeshBlock
from ..format.model import Floats
from ..format.seams import is_degenerate
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Mesh

Integers = npt.NDArray[np.int64]

VERTEX = "md5_vertex"
"""The vertex attribute with the index of the vertex in the file."""

CORNER_VERTEX = "md5_corner_vertex"
"""The face corner attribute with the same index."""

_INDEX = "index"
_NAME = "name"
_COMMENT_NAME = "comment_name"
_WEIGHTS = "weights"
_RANGES = "weight_ranges"
_DEGENERATE = "degenerate_triangles"
_UNUSED = "unused_vertices"
# Limits the cost of a range that was tampered with.
_MAX_WEIGHTS_OF_A_VERTEX = 256
_MAX_JOINTS = 1 << 16

UNKNOWN = -1
"""The index of a vertex that is not in the file."""


@dataclass(eq=False)
class StoredMesh:
    """A stored mesh block, without the data that the mesh itself holds. V vertices, W weights.

    Attributes:
        starts: the first weight of each vertex, int64 (V,).
        counts: the number of weights of each vertex, int64 (V,).
        joints: the joint of each weight, an index into the file's, int64 (W,).
        biases: float64 (W,).
        positions: in the space of the joints, in the units of the armature, float64 (W, 3).
        degenerate: index in the file and vertices of triangles that Blender cannot hold, int64 (n, 4).
        unused: vertices without a triangle, int64 (m,).
        unused_uvs: their s and t, float64 (m, 2).
    """

    starts: Integers
    counts: Integers
    joints: Integers
    biases: Floats
    positions: Floats
    degenerate: Integers
    unused: Integers
    unused_uvs: Floats


def store_mesh(
    data: Mesh, index: int, mesh: MeshBlock, *, first_copies: Integers, degenerate: npt.NDArray[np.bool_]
) -> None:
    """Stores a mesh block on the mesh made of it.

    The vertices of `data` are the first copies in rising order, its faces the triangles that are not degenerate.
    `index` is that of the mesh in the file. `first_copies` has for each vertex of the file the one that it is welded
    to, (V,); `degenerate` says which triangles are not in the mesh, (T,).
    """
    stored_vertices = np.flatnonzero(first_copies == np.arange(mesh.vertex_count))
    mesh_data.set_integers(data, VERTEX, "POINT", stored_vertices)
    if len(stored_vertices) < mesh.vertex_count:
        corners = mesh.triangles[~degenerate][:, FLIPPED_WINDING]
        mesh_data.set_integers(data, CORNER_VERTEX, "CORNER", corners)
    group: dict[str, object] = {_INDEX: index}
    if mesh.vertex_count:
        group[_RANGES] = _property_value(np.column_stack([mesh.weight_starts, mesh.weight_counts]))
    if len(mesh.weight_joints):
        group[_WEIGHTS] = np.column_stack(
            [mesh.weight_joints, mesh.weight_biases, mesh.weight_positions]
        ).ravel()
    if degenerate.any():
        indices = np.flatnonzero(degenerate)
        group[_DEGENERATE] = _property_value(np.column_stack([indices, mesh.triangles[indices]]))
    is_unused = np.ones(mesh.vertex_count, dtype=bool)
    is_unused[mesh.triangles[~degenerate]] = False
    unused = np.flatnonzero(is_unused)
    if len(unused):
        group[_UNUSED] = np.column_stack([unused, mesh.uvs[unused]]).ravel()
    data[GROUP] = group
    if mesh.name:
        names.store_text(data[GROUP], _NAME, mesh.name)
    if mesh.comment_name:
        names.store_text(data[GROUP], _COMMENT_NAME, mesh.comment_name)
        data[GROUP][_COMMENT_NAME + "_shown"] = data.name


def _property_value(table: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """A table of integers as a property value."""
    return np.ascontiguousarray(table, dtype=np.int32).ravel()


def load_index(data: Mesh) -> int | None:
    """The index of a mesh in its file; None if unknown."""
    return values.read_integer(values.read_group(data, GROUP), _INDEX)


def load_name(data: Mesh) -> str:
    """The name of a mesh in its file; empty if there is none."""
    return values.read_text(values.read_group(data, GROUP), _NAME) or ""


def load_comment_name(data: Mesh, object_name: str) -> str | None:
    """The name in the comment of a mesh block; None if it had none. If the object was renamed, its name is used."""
    group = values.read_group(data, GROUP)
    return (
        names.load_name(group, _COMMENT_NAME, object_name) if values.read_text(group, _COMMENT_NAME) else None
    )


def load_mesh(data: Mesh) -> StoredMesh | None:
    """The stored mesh block; None if there is none, or if its tables are inconsistent."""
    group = values.read_group(data, GROUP)
    if load_index(data) is None:
        return None
    # A mesh without vertices has neither of the tables.
    ranges = values.read_integers(group, _RANGES, 2) if _RANGES in group else np.empty((0, 2), np.int64)
    weights = values.read_floats(group, _WEIGHTS, 5) if _WEIGHTS in group else np.empty((0, 5))
    if ranges is None or weights is None:
        return None
    starts, counts = ranges.T
    joints = weights[:, 0]
    if (
        (starts + counts > len(weights)).any()
        or (counts > _MAX_WEIGHTS_OF_A_VERTEX).any()
        or (joints != np.floor(joints)).any()
        or (joints < 0.0).any()
        or (joints > _MAX_JOINTS).any()
    ):
        return None
    count = len(ranges)
    degenerate = values.read_integers(group, _DEGENERATE, 4)
    if degenerate is not None:
        corners = degenerate[:, 1:]
        good = is_degenerate(corners) & (corners < count).all(axis=1)
        degenerate = degenerate if good.all() else None
    if degenerate is None:
        degenerate = np.empty((0, 4), dtype=np.int64)
    unused = values.read_floats(group, _UNUSED, 3)
    if unused is None or not np.isin(unused[:, 0], np.arange(count)).all():
        unused = np.empty((0, 3))
    return StoredMesh(
        starts=starts,
        counts=counts,
        joints=joints.astype(np.int64),
        biases=weights[:, 1],
        positions=weights[:, 2:],
        degenerate=degenerate,
        unused=unused[:, 0].astype(np.int64),
        unused_uvs=unused[:, 1:],
    )


def load_vertices(mesh: Mesh, stored: StoredMesh) -> tuple[Integers, Integers]:
    """The stored file vertex of each vertex (n,) and each face corner (c,) of an evaluated mesh, or `UNKNOWN`.

    Modifiers and edits copy and mix these indices, so they may be wrong.
    """
    count = len(stored.starts)
    vertices = _attribute_indices(mesh, VERTEX, "POINT", len(mesh.vertices), count)
    corners = _attribute_indices(mesh, CORNER_VERTEX, "CORNER", len(mesh.loops), count)
    of_vertices = vertices[mesh_data.corner_vertices(mesh)]
    return vertices, np.where(corners == UNKNOWN, of_vertices, corners)


def _attribute_indices(mesh: Mesh, attribute: str, domain: str, length: int, count: int) -> Integers:
    indices = evaluated.integers(mesh, attribute, domain)
    if indices is None or len(indices) != length:
        return np.full(length, UNKNOWN, dtype=np.int64)
    return np.where((indices >= 0) & (indices < count), indices, UNKNOWN).astype(np.int64)
