"""Mesh blocks made of evaluated meshes. Data of imported files keeps its order, and its stored weights where they
reproduce what Blender shows (`stored_weights`)."""
# Corners of a vertex with equal texture coordinates and material become one vertex of the file. The vertices that
# remain of one Blender vertex share a range of weights, so that their positions are exactly the same.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from bpy.types import Object

from ....io_common.arrays import distinct_rows
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import Floats, Ints, Mesh
from ....io_common.skeletal.skinning import row_ids
from ....io_common.skeletal.weights import WeightsByJoint, weights_by_joint
from ....io_common.triangles import FLIPPED_WINDING, Cost, flip_v, runs_within
from ...records import NONE
from ...reports import Report
from ...scene import mesh_data
from ...scene.mesh_data import TriangleMesh
from ..options import WeightOptions
from ..records import MESH_NAME
from .skeleton import Skeleton
from .weights import Integers, SourceMesh, WeightTable, current_weights, load_source

# Digits of texture coordinates: the precision of 32-bit floats between -1 and 1.
_UV_DECIMALS = 7


@dataclass(eq=False)
class Block:
    """A mesh block with its source. V vertices, T triangles."""

    mesh: Mesh  # the block
    slot: int  # the material slot
    vertices: Integers  # the vertex of the evaluated mesh for each vertex, int64 (V,)
    sources: Integers  # the vertex of the imported file that each vertex still is, or `NONE`, int64 (V,)
    # The corner of the evaluated mesh for each corner of a triangle; -1 in triangles that Blender cannot hold,
    # int64 (T, 3)
    corners: Integers
    # How much the stored weights of each vertex disagree about its position, float64 (V,); 0 for weights of vertex
    # groups.
    disagreements: Floats
    vertex_count: int  # of the evaluated mesh

    @cached_property
    def weights_by_joint(self) -> WeightsByJoint:
        """The weights of the mesh by joint."""
        return weights_by_joint(self.mesh)


def export_object(
    obj: Object,
    source_mesh: TriangleMesh,
    skeleton: Skeleton,
    options: WeightOptions,
    report: Report,
    *,
    use_stored: bool = True,
    fitted: WeightTable | None = None,
    sides: Integers | None = None,
) -> list[Block]:
    """The mesh blocks of an object, one for each used material slot, ascending; their shaders are empty."""
    # `obj` is the original object, `source_mesh` its evaluated mesh at rest. With `use_stored`, data of the imported
    # file is used where it matches what Blender shows. `sides` are what differs between the vertices of the file that
    # corners (L,) of one vertex become, besides texture coordinates, (L, n).
    positions = skeleton.conversion.points(source_mesh.vertices)
    current = fitted or current_weights(obj, source_mesh, skeleton, positions, options, report)
    is_source_used = use_stored and options.keeps_all_weights
    source = load_source(obj, source_mesh, skeleton, current, positions) if is_source_used else None
    slots = np.flatnonzero(np.bincount(source_mesh.materials)).tolist()
    if not slots and source is not None:
        slots = [0]
    if not slots:
        report.warn("no faces: left out", obj.name)
    if source_mesh.uvs is None and slots:
        report.warn("no UV map: all texture coordinates are 0", obj.name)
    sides = np.zeros((len(source_mesh.corner_vertices), 0), np.int64) if sides is None else sides
    blocks = [_block(source_mesh, slot, skeleton, current, source, sides, is_first=slot == slots[0]) for slot in slots]
    for block in blocks:
        block.mesh.name = MESH_NAME.read(obj.data) or ""
    return blocks


def _block(
    source_mesh: TriangleMesh,
    slot: int,
    skeleton: Skeleton,
    current: WeightTable,
    source: SourceMesh | None,
    sides: Integers,
    *,
    is_first: bool,
) -> Block:
    """The block of a material slot; the first one also gets unused vertices and degenerate triangles."""
    selected = source_mesh.materials == slot
    corners = source_mesh.loops[selected][:, FLIPPED_WINDING].ravel()
    vertices = source_mesh.triangles[selected][:, FLIPPED_WINDING].ravel().astype(np.int64)
    file_vertices = vertices if source is None else source.corners[corners]
    numbers = _file_numbers(source_mesh, corners, vertices, file_vertices, sides)
    if numbers is None:
        uvs = np.round(_texture_coordinates(source_mesh, corners) * 10**_UV_DECIMALS)
        numbers = row_ids(np.column_stack([vertices, file_vertices, uvs, sides[corners]]))
    firsts = _first_of_each(numbers)
    uvs = _texture_coordinates(source_mesh, corners[firsts])
    vertices, file_vertices = vertices[firsts], file_vertices[firsts]
    corner_count = len(firsts)
    if source is not None and is_first:
        loose, loose_uvs = _unused(source, source_mesh, file_vertices)
        vertices = np.concatenate([vertices, loose])
        file_vertices = np.concatenate([file_vertices, source.vertices[loose]])
        uvs = np.concatenate([uvs, loose_uvs])
        firsts = np.concatenate([firsts, np.full(len(loose), len(corners))])
    # New vertices, which have no index in the file, come last.
    order = np.lexsort((firsts, vertices, file_vertices, file_vertices == NONE))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    vertices, file_vertices, uvs = vertices[order], file_vertices[order], uvs[order]
    triangles = ranks[:corner_count][numbers].reshape(-1, 3)
    corners = corners.reshape(-1, 3).astype(np.int64)
    if source is None:
        verified = np.full(len(vertices), NONE, dtype=np.int64)
    else:
        verified = source.verified(vertices, file_vertices)
        if is_first and len(source.stored.degenerate):
            triangles, corners = _with_degenerate(triangles, corners, source.stored.degenerate, verified)
    starts, counts, joints, biases, points = _block_weights(vertices, verified, source, current)
    bind = skeleton.joints
    in_joints = quat.rotate(quat.conjugate(bind.orientations[joints]), points - bind.positions[joints])
    mesh = Mesh(
        shader="",
        uvs=uvs,
        weight_starts=starts.astype(np.int32),
        weight_counts=counts.astype(np.int32),
        triangles=triangles.astype(np.int32),
        weight_joints=joints,
        weight_biases=biases,
        weight_positions=in_joints,
    )
    disagreements = np.zeros(len(vertices))
    if source is not None:
        disagreements[verified != NONE] = source.disagreements[verified[verified != NONE]]
    return Block(mesh, slot, vertices, verified, corners, disagreements, len(source_mesh.vertices))


def split_block(block: Block, limits: Mapping[str, int]) -> list[Block]:
    """The parts of a block within limits, which may be of `vertex_count`, `triangle_count` and `weight_count`."""
    mesh = block.mesh
    counts = {
        "vertex_count": mesh.vertex_count, "triangle_count": len(mesh.triangles),
        "weight_count": len(mesh.weight_joints),
    }  # fmt: skip
    if all(count <= limits.get(code, count) for code, count in counts.items()):
        return [block]
    # Vertices along seams share a range of weights.
    firsts, ranges = distinct_rows(np.column_stack([mesh.weight_starts, mesh.weight_counts]))
    costs = [
        Cost(limits.get("vertex_count", np.inf), np.arange(mesh.vertex_count), np.ones(mesh.vertex_count, np.int64)),
        Cost(limits.get("weight_count", np.inf), ranges, mesh.weight_counts),
    ]
    return [
        _part_of_block(block, run, firsts, ranges)
        for run in runs_within(mesh.triangles, limits.get("triangle_count", np.inf), costs)
    ]


def _part_of_block(block: Block, run: slice, firsts: Integers, ranges: Integers) -> Block:
    """The block of a run of triangles; `ranges` of weights are those of the vertices, each as of its first one."""
    mesh = block.mesh
    used, inverse = np.unique(mesh.triangles[run], return_inverse=True)
    kept, of_vertices = distinct_rows(ranges[used])
    owners = firsts[ranges[used[kept]]]
    counts = mesh.weight_counts[owners].astype(np.int64)
    starts = np.cumsum(counts) - counts
    rows = np.repeat(mesh.weight_starts[owners] - starts, counts) + np.arange(counts.sum())
    part = replace(
        mesh,
        uvs=mesh.uvs[used],
        triangles=inverse.reshape(-1, 3).astype(np.int32),
        weight_starts=starts[of_vertices].astype(np.int32),
        weight_counts=counts[of_vertices].astype(np.int32),
        weight_joints=mesh.weight_joints[rows],
        weight_biases=mesh.weight_biases[rows],
        weight_positions=mesh.weight_positions[rows],
    )
    return replace(
        block, mesh=part, vertices=block.vertices[used], sources=block.sources[used], corners=block.corners[run],
        disagreements=block.disagreements[used],
    )  # fmt: skip


def _file_numbers(
    mesh: TriangleMesh, corners: Ints, vertices: Integers, file_vertices: Integers, sides: Integers
) -> Integers | None:
    """The number of each corner's vertex of the file, from 0; None if the mesh was edited."""
    # Where it was not, all corners of a vertex of the file still have the same vertex, texture coordinates and sides.
    if not len(corners) or file_vertices.min() == NONE:
        return None
    firsts = _first_of_each(file_vertices)
    first = firsts[file_vertices]
    if not np.array_equal(vertices[first], vertices) or not np.array_equal(sides[corners[first]], sides[corners]):
        return None
    if mesh.uvs is not None:
        uvs = mesh.uvs[corners]
        if not np.array_equal(uvs[first], uvs):
            return None
    return (np.cumsum(firsts >= 0) - 1)[file_vertices]


def _first_of_each(numbers: Integers) -> Integers:
    """Where each of the numbers from 0 on is for the first time, -1 if it is not there."""
    firsts = np.full(int(numbers.max(initial=-1)) + 1, -1)
    # Of several values for one element numpy keeps the last.
    firsts[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return firsts


def _texture_coordinates(mesh: TriangleMesh, corners: npt.NDArray[np.integer]) -> Floats:
    if mesh.uvs is None:
        return np.zeros((len(corners), 2))
    return np.round(flip_v(mesh.uvs[corners]), _UV_DECIMALS)


def _unused(source: SourceMesh, mesh: TriangleMesh, file_vertices: Integers) -> tuple[Integers, Floats]:
    """Vertices of the evaluated mesh that were unused in the file, and their texture coordinates."""
    loose = np.flatnonzero(~mesh_data.in_triangles(mesh.triangles, len(source.vertices)))
    stored = source.stored
    _, of_loose, of_unused = np.intersect1d(source.vertices[loose], stored.unused, return_indices=True)
    free = ~np.isin(stored.unused[of_unused], file_vertices)
    return loose[of_loose[free]], stored.unused_uvs[of_unused[free]]


def _with_degenerate(
    triangles: Integers, corners: Integers, degenerate: Integers, verified: Integers
) -> tuple[Integers, Integers]:
    """Triangles and corners, with degenerate ones of the file at their old indices if vertices exist."""
    vertices = np.full(max(int(verified.max(initial=0)), int(degenerate[:, 1:].max(initial=0))) + 2, -1)
    vertices[verified[::-1]] = np.arange(len(verified))[::-1]
    vertices[-1] = -1  # that of `NONE`
    degenerate = degenerate[np.argsort(degenerate[:, 0])]
    restored = vertices[degenerate[:, 1:]]
    exists = (restored >= 0).all(axis=1)
    restored = restored[exists]
    total = len(triangles) + len(restored)
    indices = np.minimum(degenerate[exists, 0], total - 1)
    if len(np.unique(indices)) < len(indices):
        indices = np.arange(len(triangles), total)
    before = indices - np.arange(len(indices))
    return np.insert(triangles, before, restored, axis=0), np.insert(corners, before, -1, axis=0)


def _block_weights(
    vertices: Integers, verified: Integers, source: SourceMesh | None, current: WeightTable
) -> tuple[Integers, Integers, Ints, Floats, Floats]:
    """Starts and counts of the vertices of a block, and the joints, biases and points of its weights."""
    is_stored = verified != NONE
    if source is not None and np.array_equal(verified, np.arange(len(source.weights.counts))):
        weights = source.weights
        return weights.starts, weights.counts, weights.joints, weights.biases, weights.points
    table, index = current, vertices
    if source is not None:
        table = current.joined(source.weights)
        index = np.where(is_stored, verified + len(current.counts), vertices)
    # Distinct ranges are written once, in the order of their first use.
    ranges = row_ids(np.column_stack([is_stored, table.starts[index], table.counts[index]]))
    firsts, of_vertices = distinct_rows(ranges)
    selected = index[firsts]
    rows, counts = table.rows(selected).weights, table.counts[selected]
    starts = np.cumsum(counts) - counts
    return (starts[of_vertices], counts[of_vertices], table.joints[rows], table.biases[rows], table.points[rows])
