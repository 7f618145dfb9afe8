"""Evaluated meshes into mesh blocks.

A corner of a face becomes a vertex of the file; corners of one vertex with equal texture coordinates in one material
become one, and the copies that are left share a range of weights, so that their positions are the same to the bit.

What came from a file goes out in its old order, and with its old weights where they prove to be what Blender shows
(`stored_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.reports import Report
from ..io_common.scene import evaluated
from ..io_common.triangles import FLIPPED_WINDING, flip_v
from .export_skeleton import Skeleton
from .format import Mesh
from .format import quaternions as quat
from .format.model import Floats, Ints
from .format.skinning import equal_rows
from .source.meshes import UNKNOWN, read_name
from .stored_weights import SourceMesh, proven_sources, read_source
from .vertex_groups import WeightOptions, current_weights
from .weight_table import Integers, WeightTable

if TYPE_CHECKING:
    from bpy.types import Object

# Digits of texture coordinates: what a 32-bit float holds between -1 and 1.
_UV_DECIMALS = 7


@dataclass(eq=False)
class Block:
    """A mesh block and what it was made of. V vertices, T triangles.

    Attributes:
        mesh: the block.
        slot: the material slot.
        vertices: the vertex of the evaluated mesh that each vertex is, int64 (V,).
        corners: the corner of the evaluated mesh that each corner of a triangle is; -1 in triangles that Blender cannot
            have, int64 (T, 3).
        slack: how far stored weights are from agreeing about each vertex, float64 (V,); 0 for those of vertex groups.
        vertex_count: of the evaluated mesh.
    """

    mesh: Mesh
    slot: int
    vertices: Integers
    corners: Integers
    slack: Floats
    vertex_count: int


@dataclass(eq=False)
class _Parts:
    """What all blocks of an object are made of."""

    source_mesh: evaluated.TriangleMesh
    positions: Floats
    skeleton: Skeleton
    current: WeightTable
    source: SourceMesh | None
    name: str


def export_object(
    obj: Object,
    source_mesh: evaluated.TriangleMesh,
    skeleton: Skeleton,
    options: WeightOptions,
    report: Report,
    *,
    use_stored: bool = True,
) -> list[Block]:
    """The mesh blocks of an object, one for each material slot that is used, in rising order; their shaders are empty.

    Args:
        obj: the object in the original data.
        source_mesh: its evaluated mesh at rest.
        skeleton: the joints of the file.
        options: how weights are exported.
        report: takes warnings.
        use_stored: give back what is stored of an imported file, where that is what Blender shows.
    """
    positions = skeleton.conversion.points(source_mesh.vertices)
    current = current_weights(obj, source_mesh, skeleton, positions, options, report)
    is_source_used = use_stored and options.changes_nothing
    source = read_source(obj, source_mesh, skeleton) if is_source_used else None
    slots = np.flatnonzero(np.bincount(source_mesh.materials)).tolist()
    if not slots and source is not None:
        slots = [0]
    if source_mesh.uvs is None and slots and source is None:
        report.warn("no UV map: all texture coordinates are 0", obj.name)
    parts = _Parts(source_mesh, positions, skeleton, current, source, read_name(obj.data))
    return [_block(parts, slot, is_first=slot == slots[0]) for slot in slots]


def _block(parts: _Parts, slot: int, *, is_first: bool) -> Block:
    """The block of a material slot; the first one takes what belongs to no triangle of Blender's."""
    source_mesh, source = parts.source_mesh, parts.source
    chosen = source_mesh.materials == slot
    corners = source_mesh.loops[chosen][:, FLIPPED_WINDING].ravel()
    vertices = source_mesh.triangles[chosen][:, FLIPPED_WINDING].ravel().astype(np.int64)
    uvs = _texture_coordinates(source_mesh, corners)
    numbers = vertices if source is None else source.corners[corners]
    keys = equal_rows(np.column_stack([vertices, numbers, np.round(uvs * 10**_UV_DECIMALS)]))
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    vertices, numbers, uvs = vertices[firsts], numbers[firsts], uvs[firsts]
    corner_count = len(firsts)
    if source is not None and is_first:
        loose, loose_uvs = _unused(source, source_mesh, numbers)
        vertices = np.concatenate([vertices, loose])
        numbers = np.concatenate([numbers, source.vertices[loose]])
        uvs = np.concatenate([uvs, loose_uvs])
        firsts = np.concatenate([firsts, np.full(len(loose), len(corners))])
    # New vertices, which have no number, come last.
    order = np.lexsort((firsts, vertices, numbers, numbers == UNKNOWN))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    vertices, numbers, uvs = vertices[order], numbers[order], uvs[order]
    triangles = ranks[:corner_count][inverse.ravel()].reshape(-1, 3)
    corners = corners.reshape(-1, 3).astype(np.int64)
    if source is None:
        proven = np.full(len(vertices), UNKNOWN, dtype=np.int64)
    else:
        proven = proven_sources(source, parts.skeleton, vertices, numbers, parts.positions, parts.current)
        if is_first and len(source.stored.degenerate):
            triangles, corners = _with_degenerate(triangles, corners, source.stored.degenerate, proven)
    starts, counts, joints, biases, points = _block_weights(vertices, proven, source, parts.current)
    bind = parts.skeleton.joints
    mesh = Mesh(
        shader="",
        uvs=uvs,
        weight_starts=starts.astype(np.int32),
        weight_counts=counts.astype(np.int32),
        triangles=triangles.astype(np.int32),
        weight_joints=joints,
        weight_biases=biases,
        weight_positions=quat.rotate(
            quat.conjugate(bind.orientations[joints]), points - bind.positions[joints]
        ),
        name=parts.name,
    )
    slack = np.zeros(len(vertices))
    if source is not None:
        slack[proven != UNKNOWN] = source.slack[proven[proven != UNKNOWN]]
    return Block(mesh, slot, vertices, corners, slack, len(source_mesh.vertices))


def _texture_coordinates(mesh: evaluated.TriangleMesh, corners: npt.NDArray[np.integer]) -> Floats:
    """s and t of corners as the file holds them, (n, 2)."""
    if mesh.uvs is None:
        return np.zeros((len(corners), 2))
    return np.round(flip_v(mesh.uvs[corners]), _UV_DECIMALS)


def _unused(source: SourceMesh, mesh: evaluated.TriangleMesh, numbers: Integers) -> tuple[Integers, Floats]:
    """Vertices of the evaluated mesh that no triangle of the file used, and their texture coordinates."""
    loose = np.flatnonzero(~evaluated.in_triangles(mesh.triangles, len(source.vertices)))
    stored = source.stored
    _, of_loose, of_unused = np.intersect1d(source.vertices[loose], stored.unused, return_indices=True)
    free = ~np.isin(stored.unused[of_unused], numbers)
    return loose[of_loose[free]], stored.unused_uvs[of_unused[free]]


def _with_degenerate(
    triangles: Integers, corners: Integers, degenerate: Integers, proven: Integers
) -> tuple[Integers, Integers]:
    """Puts back the triangles that Blender cannot have, at their old numbers, if their vertices are still there.

    Args:
        triangles: of the block, (T, 3).
        corners: of the evaluated mesh, (T, 3).
        degenerate: number in the file and vertices of each, (n, 4).
        proven: the vertex of the file that each vertex of the block is, or `UNKNOWN`, (V,).
    """
    vertices = np.full(max(int(proven.max(initial=0)), int(degenerate[:, 1:].max(initial=0))) + 2, -1)
    vertices[proven[::-1]] = np.arange(len(proven))[::-1]
    vertices[-1] = -1  # that of `UNKNOWN`
    restored = vertices[degenerate[:, 1:]]
    there = (restored >= 0).all(axis=1)
    restored = restored[there]
    total = len(triangles) + len(restored)
    numbers = np.minimum(degenerate[there, 0], total - 1)
    if len(np.unique(numbers)) < len(numbers):
        numbers = np.arange(len(triangles), total)
    is_restored = np.zeros(total, dtype=bool)
    is_restored[numbers] = True
    all_triangles = np.empty((total, 3), dtype=np.int64)
    all_corners = np.full((total, 3), -1, dtype=np.int64)
    all_triangles[numbers] = restored
    all_triangles[~is_restored], all_corners[~is_restored] = triangles, corners
    return all_triangles, all_corners


def _block_weights(
    vertices: Integers, proven: Integers, source: SourceMesh | None, current: WeightTable
) -> tuple[Integers, Integers, Ints, Floats, Floats]:
    """Starts and counts of the vertices of a block, and the joints, biases and points of its weights.

    Args:
        vertices: the vertex of the evaluated mesh that each vertex of the block is.
        proven: the vertex of the file whose weights it has, or `UNKNOWN` for those of its vertex groups.
        source: the mesh block that the object came from.
        current: the weights of the vertex groups.
    """
    is_stored = proven != UNKNOWN
    if source is not None and np.array_equal(proven, np.arange(len(source.weights.counts))):
        weights = source.weights
        return weights.starts, weights.counts, weights.joints, weights.biases, weights.points
    # One range for each distinct one: stored ranges by their place in the file, new ones by the vertex.
    keys = np.column_stack([is_stored, vertices, np.zeros(len(vertices), dtype=np.int64)])
    if source is not None:
        stored = source.weights
        keys[is_stored, 1], keys[is_stored, 2] = (
            stored.starts[proven[is_stored]],
            stored.counts[proven[is_stored]],
        )
    numbers = equal_rows(keys)
    _, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    chosen = firsts[order]

    tables = [(current, ~is_stored[chosen], vertices[chosen])]
    if source is not None:
        tables.append((source.weights, is_stored[chosen], proven[chosen]))
    counts = np.zeros(len(chosen), dtype=np.int64)
    for table, mine, index in tables:
        counts[mine] = table.counts[index[mine]]
    starts = np.cumsum(counts) - counts
    joints = np.empty(int(counts.sum()), dtype=np.int32)
    biases = np.empty(len(joints))
    points = np.empty((len(joints), 3))
    for table, mine, index in tables:
        rows, targets = table.rows(index[mine]), np.repeat(mine, counts)
        joints[targets], biases[targets] = table.joints[rows], table.biases[rows]
        points[targets] = table.points[rows]
    return starts[ranks[inverse.ravel()]], counts[ranks[inverse.ravel()]], joints, biases, points
