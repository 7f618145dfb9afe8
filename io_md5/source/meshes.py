"""Stored on meshes: the vertices of the file, their weights, and what no mesh of Blender can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_common.scene import evaluated, mesh_data, names
from ...io_common.scene import stored_values as values
from ...io_common.triangles import FLIPPED_WINDING
from ..format import Mesh as MeshBlock
from ..format.model import Floats
from ..format.seams import degenerate as _is_degenerate
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Mesh

Integers = npt.NDArray[np.int64]

VERTEX = "md5_vertex"
"""The attribute of vertices that names the vertex of the file."""

CORNER_VERTEX = "md5_corner_vertex"
"""The same of the corners of faces."""

_INDEX = "index"
_NAME = "name"
_COMMENT_NAME = "comment_name"
_WEIGHTS = "weights"
_RANGES = "weight_ranges"
_DEGENERATE = "degenerate_triangles"
_UNUSED = "unused_vertices"
# Bounds what a range that was tampered with can cost.
_MOST_WEIGHTS_OF_A_VERTEX = 256
_MOST_JOINTS = 1 << 16

UNKNOWN = -1
"""The number of a vertex that is none of the file's."""


@dataclass(eq=False)
class StoredMesh:
    """A mesh block as it was, but for what the mesh itself holds. V vertices, W weights.

    Attributes:
        starts: the first weight of each vertex, int64 (V,).
        counts: how many weights it has, int64 (V,).
        joints: the joint of each weight, an index into the file's, int64 (W,).
        biases: float64 (W,).
        positions: in the space of the joints, in the units of the armature, float64 (W, 3).
        degenerate: number in the file and vertices of triangles that Blender cannot have, int64 (n, 4).
        unused: vertices of no triangle, int64 (m,).
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
    """Stores a mesh block on the mesh that was made of it.

    Args:
        data: its vertices are the first copies in rising order, its faces the triangles that are not degenerate.
        index: the place of the mesh in the file.
        mesh: the block.
        first_copies: for each vertex of the file the one that stands for it, (V,).
        degenerate: which triangles the mesh lacks, (T,).
    """
    kept = np.flatnonzero(first_copies == np.arange(mesh.vertex_count))
    mesh_data.set_integers(data, VERTEX, "POINT", kept)
    if len(kept) < mesh.vertex_count:
        corners = mesh.triangles[~degenerate][:, FLIPPED_WINDING]
        mesh_data.set_integers(data, CORNER_VERTEX, "CORNER", corners)
    group: dict[str, object] = {_INDEX: index}
    if mesh.vertex_count:
        group[_RANGES] = _singles(np.column_stack([mesh.weight_starts, mesh.weight_counts]))
    if len(mesh.weight_joints):
        group[_WEIGHTS] = np.column_stack(
            [mesh.weight_joints, mesh.weight_biases, mesh.weight_positions]
        ).ravel()
    if degenerate.any():
        numbers = np.flatnonzero(degenerate)
        group[_DEGENERATE] = _singles(np.column_stack([numbers, mesh.triangles[numbers]]))
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


def _singles(table: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """A table as a property can hold it."""
    return np.ascontiguousarray(table, dtype=np.int32).ravel()


def read_index(data: Mesh) -> int | None:
    """The place of a mesh in its file."""
    return values.read_integer(values.read_group(data, GROUP), _INDEX)


def read_name(data: Mesh) -> str:
    """The name of a mesh in its file; empty if there is none."""
    return values.read_text(values.read_group(data, GROUP), _NAME) or ""


def read_comment_name(data: Mesh, shown: str) -> str | None:
    """The name in the comment of a mesh block; None if it had none.

    Args:
        data: the mesh.
        shown: the name of its object, which counts if it was renamed since.
    """
    group = values.read_group(data, GROUP)
    return names.load_name(group, _COMMENT_NAME, shown) if values.read_text(group, _COMMENT_NAME) else None


def read_mesh(data: Mesh) -> StoredMesh | None:
    """The stored mesh block; None if there is none, or if its tables do not fit each other."""
    group = values.read_group(data, GROUP)
    if read_index(data) is None:
        return None
    # A mesh without vertices has neither table.
    ranges = values.read_integers(group, _RANGES, 2) if _RANGES in group else np.empty((0, 2), np.int64)
    weights = values.read_floats(group, _WEIGHTS, 5) if _WEIGHTS in group else np.empty((0, 5))
    if ranges is None or weights is None:
        return None
    starts, counts = ranges.T
    joints = weights[:, 0]
    if (
        (starts + counts > len(weights)).any()
        or (counts > _MOST_WEIGHTS_OF_A_VERTEX).any()
        or (joints != np.floor(joints)).any()
        or (joints < 0.0).any()
        or (joints > _MOST_JOINTS).any()
    ):
        return None
    count = len(ranges)
    degenerate = values.read_integers(group, _DEGENERATE, 4)
    if degenerate is not None:
        corners = degenerate[:, 1:]
        good = _is_degenerate(corners) & (corners < count).all(axis=1)
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


def read_vertices(mesh: Mesh, stored: StoredMesh) -> tuple[Integers, Integers]:
    """The vertex of the file that each vertex (n,) and each face corner (c,) of an evaluated mesh is, or `UNKNOWN`.

    Modifiers and edits copy and mix these numbers, so they say what may be so, not what is.
    """
    count = len(stored.starts)
    vertices = _numbers(mesh, VERTEX, "POINT", len(mesh.vertices), count)
    corners = _numbers(mesh, CORNER_VERTEX, "CORNER", len(mesh.loops), count)
    of_vertices = vertices[mesh_data.corner_vertices(mesh)]
    return vertices, np.where(corners == UNKNOWN, of_vertices, corners)


def _numbers(mesh: Mesh, attribute: str, domain: str, length: int, count: int) -> Integers:
    numbers = evaluated.integers(mesh, attribute, domain)
    if numbers is None or len(numbers) != length:
        return np.full(length, UNKNOWN, dtype=np.int64)
    return np.where((numbers >= 0) & (numbers < count), numbers, UNKNOWN).astype(np.int64)
