"""Mesh objects into mesh blocks.

A corner of a face becomes a vertex of the file; corners of one vertex with equal texture coordinates in one material
become one, and the copies that are left share a range of weights, so that their places are the same to the bit.

What came from a file knows its vertices (see `import_mesh`): they go out in their old order, and with their old
weights where neither their place nor their vertex groups were changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..io_common import evaluated, mesh_data, names
from ..io_common.reports import Report
from . import import_mesh, rig
from .export_skeleton import Skeleton
from .format import Mesh
from .format import quaternions as quat
from .format.model import Floats, Ints
from .format.skinning import VertexWeights, equal_rows

if TYPE_CHECKING:
    from bpy.types import Object

# Digits of texture coordinates: what a 32-bit float holds between -1 and 1.
_UV_DECIMALS = 7
# A vertex is where it was if it is off by less than this part of the largest coordinate: 32-bit floats.
_SAME_PLACE = 1e-6
_SAME_WEIGHT = 1e-5


@dataclass(frozen=True)
class WeightOptions:
    """How weights are exported.

    Attributes:
        max_influences: the largest so many weights of a vertex are kept; 0 for all.
        min_weight: smaller ones are left out.
    """

    max_influences: int = 0
    min_weight: float = 0.0

    @property
    def changes_nothing(self) -> bool:
        """Whether all weights are kept."""
        return self.max_influences == 0 and self.min_weight == 0.0


@dataclass(eq=False)
class _Weights:
    """Weights in ranges, one range for each vertex.

    Attributes:
        starts: the first row of each vertex, int64 (V,).
        counts: how many rows it has, int64 (V,).
        joints: of the file, int32 (R,).
        biases: float64 (R,).
        points: where each puts its vertex, in the coordinates of the file, float64 (R, 3).
    """

    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    joints: Ints
    biases: Floats
    points: Floats

    def rows(self, vertices: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The rows of some vertices, one vertex after the other."""
        counts = self.counts[vertices]
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        return np.arange(len(firsts)) - firsts + np.repeat(self.starts[vertices], counts)

    def places(self) -> Floats:
        """Where the weights together put each vertex, (V, 3)."""
        vertices = np.arange(len(self.counts))
        rows = VertexWeights(np.repeat(vertices, self.counts), self.rows(vertices), len(self.counts))
        return rows.sums(self.points[rows.weights] * self.biases[rows.weights, None])


@dataclass(eq=False)
class _Origin:
    """What an object remembers of the mesh block that it came from.

    Attributes:
        weights: of the V vertices of the file.
        vertices: the vertex of the file that each vertex of the object is, int32.
        corners: the vertex of the file that each corner of the object is, int32.
        kept: which vertices of the file still have their place and vertex groups, bool (V,).
        degenerate: number in the file and vertices of triangles that Blender cannot have, int32 (n, 4).
        unused: vertices of no triangle, int64 (m,), and their texture coordinates, float64 (m, 2).
    """

    weights: _Weights
    vertices: Ints
    corners: Ints
    kept: npt.NDArray[np.bool_]
    degenerate: Ints
    unused: npt.NDArray[np.int64]
    unused_uvs: Floats


def export_object(
    obj: Object, shown: evaluated.TriangleMesh, skeleton: Skeleton, options: WeightOptions, report: Report
) -> list[tuple[int, Mesh]]:
    """The mesh blocks of an object, one for each material that is used; their shaders are left empty.

    Args:
        obj: the object in the original data.
        shown: what it shows at rest.
        skeleton: the joints of the file.
        options: how weights are exported.
        report: takes warnings.

    Returns:
        Material slots in rising order, and the block of each.
    """
    places = skeleton.conversion.points(shown.vertices)
    current = _current_weights(obj, shown, skeleton, places, options, report)
    origin = _read_origin(obj, shown, skeleton, places, current) if options.changes_nothing else None
    slots = np.flatnonzero(np.bincount(shown.materials)).tolist()
    if not slots and origin is not None:
        slots = [0]
    if shown.uvs is None and slots and origin is None:
        report.warn("no UV map: all texture coordinates are 0", obj.name)
    name = names.kept_text(obj.data, import_mesh.NAME)
    return [
        (slot, _block(name, shown, shown.materials == slot, slot == slots[0], origin, current, skeleton))
        for slot in slots
    ]


# Weights


def _current_weights(
    obj: Object,
    shown: evaluated.TriangleMesh,
    skeleton: Skeleton,
    places: Floats,
    options: WeightOptions,
    report: Report,
) -> _Weights:
    """The weights that an object's vertex groups say, normalised, for every vertex of what it shows."""
    count = len(places)
    vertices, joints, biases = _group_weights(obj, shown, skeleton)
    enough = (biases > 0.0) & (biases >= options.min_weight)
    vertices, joints, biases = vertices[enough], joints[enough], biases[enough]
    keys, inverse = np.unique(vertices * max(len(skeleton.joints), 1) + joints, return_inverse=True)
    biases = np.bincount(inverse.ravel(), biases, minlength=len(keys)).astype(np.float64)
    vertices, joints = np.divmod(keys, max(len(skeleton.joints), 1))
    if options.max_influences:
        order = np.lexsort((-biases, vertices))
        ranks = np.arange(len(order)) - np.searchsorted(vertices[order], vertices[order])
        chosen = np.sort(order[ranks < options.max_influences])
        vertices, joints, biases = vertices[chosen], joints[chosen], biases[chosen]
    is_bare = _in_triangles(shown, count)
    is_bare[vertices] = False
    bare = np.flatnonzero(is_bare)
    if len(bare):
        report.warn(f"{len(bare)} vertices without weights are bound to the nearest bone", obj.name)
        vertices = np.concatenate([vertices, bare])
        joints = np.concatenate([joints, _nearest_joints(shown.vertices[bare], skeleton)])
        biases = np.concatenate([biases, np.ones(len(bare))])
        order = np.argsort(vertices, kind="stable")
        vertices, joints, biases = vertices[order], joints[order], biases[order]
    biases = biases / np.bincount(vertices, biases, minlength=count)[vertices]
    counts = np.bincount(vertices, minlength=count).astype(np.int64)
    return _Weights(np.cumsum(counts) - counts, counts, joints.astype(np.int32), biases, places[vertices])


def _group_weights(
    obj: Object, shown: evaluated.TriangleMesh, skeleton: Skeleton
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Vertices, joints and weights of what moves an object's vertices."""
    bones = {name: bone for bone, name in enumerate(skeleton.rig.bone_names)}
    armature = skeleton.armature
    if armature is None or _rides_on_bone(obj, armature):
        joint = 0 if armature is None else int(skeleton.joint_of_bone[bones[obj.parent_bone]])
        count = len(shown.vertices)
        return np.arange(count), np.full(count, max(joint, 0)), np.ones(count)
    joint_of_group = np.full(len(obj.vertex_groups), -1, dtype=np.int64)
    for group in obj.vertex_groups:
        bone = bones.get(group.name)
        if bone is not None and armature.data.bones[group.name].use_deform:
            joint_of_group[group.index] = skeleton.joint_of_bone[bone]
    vertices, groups, weights = evaluated.vertex_group_weights(shown.mesh)
    known = groups < len(joint_of_group)
    joints = np.where(known, joint_of_group[np.where(known, groups, 0)] if len(joint_of_group) else -1, -1)
    moving = joints >= 0
    return vertices[moving].astype(np.int64), joints[moving], weights[moving]


def _rides_on_bone(obj: Object, armature: Object) -> bool:
    """Whether an object hangs on a bone as a whole."""
    return obj.parent == armature and obj.parent_type == "BONE" and obj.parent_bone in armature.data.bones


def _nearest_joints(points: Floats, skeleton: Skeleton) -> npt.NDArray[np.int64]:
    """The joint of the deforming bone that is nearest to each point of the scene, (n,); 0 where there is none."""
    armature = skeleton.armature
    if armature is None:
        return np.zeros(len(points), dtype=np.int64)
    candidates = [bone for bone in range(len(skeleton.rig)) if skeleton.joint_of_bone[bone] >= 0]
    best = np.full(len(points), np.inf)
    joints = np.zeros(len(points), dtype=np.int64)
    world = evaluated.world_matrix(armature)
    for index in candidates:
        bone = armature.data.bones[skeleton.rig.bone_names[index]]
        if not bone.use_deform:
            continue
        head, tail = (
            world[:3, :3] @ np.array(end) + world[:3, 3] for end in (bone.head_local, bone.tail_local)
        )
        along = tail - head
        fraction = np.clip((points - head) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        distances = np.linalg.norm(points - head - fraction[:, None] * along, axis=1)
        nearer = distances < best
        best[nearer], joints[nearer] = distances[nearer], skeleton.joint_of_bone[index]
    return joints


# What came from a file


def _read_origin(
    obj: Object, shown: evaluated.TriangleMesh, skeleton: Skeleton, places: Floats, current: _Weights
) -> _Origin | None:
    """What an object remembers of its mesh block; None if nothing, or if modifiers changed its topology."""
    data: Any = obj.data
    ranges = _integer_rows(data, import_mesh.WEIGHT_RANGES, 2).astype(np.int64)
    vertices = evaluated.integers(shown.mesh, import_mesh.VERTEX, "POINT")
    if import_mesh.INDEX not in data or vertices is None or skeleton.armature is None:
        return None
    if len(shown.vertices) != len(data.vertices) or len(shown.mesh.loops) != len(data.loops):
        return None
    corners = evaluated.integers(shown.mesh, import_mesh.CORNER_VERTEX, "CORNER")
    if corners is None:
        corners = vertices[mesh_data.corner_vertices(shown.mesh)]
    count = len(ranges)
    if (vertices.size and vertices.max() >= count) or (corners.size and corners.max() >= count):
        return None
    table = np.array(data.get(import_mesh.WEIGHTS, ()), dtype=np.float64).reshape(-1, 5)
    joints = _joints_by_index(skeleton, count=int(table[:, 0].max(initial=-1)) + 1)[
        table[:, 0].astype(np.int64)
    ]
    weights = _Weights(ranges[:, 0], ranges[:, 1], joints, table[:, 1], _points(table, joints, skeleton))
    unused = np.array(data.get(import_mesh.UNUSED, ()), dtype=np.float64).reshape(-1, 3)
    return _Origin(
        weights=weights,
        vertices=vertices,
        corners=corners,
        kept=_kept(weights, vertices, places, current),
        degenerate=_integer_rows(data, import_mesh.DEGENERATE_TRIANGLES, 4),
        unused=unused[:, 0].astype(np.int64),
        unused_uvs=unused[:, 1:],
    )


def _integer_rows(data: Any, key: str, width: int) -> Ints:
    return np.array(data.get(key, ()), dtype=np.int32).reshape(-1, width)


def _joints_by_index(skeleton: Skeleton, count: int) -> Ints:
    """The joint that each joint of the file has become, -1 where it is gone, (count,).

    Of a bone and its copies the first counts.
    """
    assert skeleton.armature is not None
    bones = skeleton.armature.data.bones
    result = np.full(count, -1, dtype=np.int32)
    for name, joint in zip(skeleton.rig.bone_names, skeleton.joint_of_bone.tolist(), strict=True):
        index = bones[name].get(rig.INDEX, -1)
        if joint >= 0 and 0 <= index < count and result[index] < 0:
            result[index] = joint
    return result


def _points(table: Floats, joints: Ints, skeleton: Skeleton) -> Floats:
    """Where each remembered weight puts its vertex, in the coordinates of the file (W, 3).

    The remembered positions are in the units of the armature.
    """
    known = joints >= 0
    bones = skeleton.bones[np.where(known, joints, 0)]
    bind = skeleton.rig.joints
    local = bind.positions[bones] + quat.rotate(bind.orientations[bones], table[:, 2:])
    assert skeleton.armature is not None
    world = evaluated.world_matrix(skeleton.armature)
    if not np.array_equal(world, np.eye(4)):
        local = local @ world[:3, :3].T + world[:3, 3]
    return skeleton.conversion.points(local)


def _kept(weights: _Weights, vertices: Ints, places: Floats, current: _Weights) -> npt.NDArray[np.bool_]:
    """Which vertices of the file still have their place and vertex groups, bool (V,).

    Args:
        weights: of the V vertices of the file.
        vertices: the vertex of the file that each vertex of the object is.
        places: of the vertices of the object, in the coordinates of the file.
        current: weights of the vertices of the object.
    """
    count = len(weights.counts)
    kept = np.ones(count, dtype=bool)
    vertex_of_row = np.repeat(np.arange(count), weights.counts)
    rows = weights.rows(np.arange(count))
    kept[vertex_of_row[weights.joints[rows] < 0]] = False
    if not len(vertices):
        return kept
    # A copy along a seam has equal weights, so what is true of the vertex that stands for it is true of it.
    tolerance = _SAME_PLACE * max(float(np.abs(places).max()), 1e-9)
    old_places = weights.places()
    moved = np.linalg.norm(old_places[vertices] - places, axis=1) > tolerance
    changed = _groups_differ(weights, vertices, current)
    kept[vertices[moved | changed]] = False
    return kept


def _groups_differ(weights: _Weights, vertices: Ints, current: _Weights) -> npt.NDArray[np.bool_]:
    """For each vertex of the object, whether its vertex groups are not what the file made of them, bool."""
    old_rows = weights.rows(vertices)
    old_vertices = np.repeat(np.arange(len(vertices)), weights.counts[vertices])
    old_biases = weights.biases[old_rows]
    sums = np.bincount(old_vertices, old_biases, minlength=len(vertices))
    normal = np.where(np.abs(sums) > 0.0, sums, 1.0)
    new_vertices = np.repeat(np.arange(len(vertices)), current.counts)
    width = int(max(weights.joints.max(initial=0), current.joints.max(initial=0))) + 1
    keys = np.concatenate([
        old_vertices * width + weights.joints[old_rows], new_vertices * width + current.joints
    ])  # fmt: skip
    signed = np.concatenate([old_biases / normal[old_vertices], -current.biases])
    distinct, inverse = np.unique(keys, return_inverse=True)
    differences = np.abs(np.bincount(inverse.ravel(), signed, minlength=len(distinct)))
    differ = np.zeros(len(vertices), dtype=bool)
    differ[distinct[differences > _SAME_WEIGHT] // width] = True
    return differ


# Blocks


def _block(
    name: str,
    shown: evaluated.TriangleMesh,
    chosen: npt.NDArray[np.bool_],
    is_first: bool,
    origin: _Origin | None,
    current: _Weights,
    skeleton: Skeleton,
) -> Mesh:
    """The block of the chosen triangles."""
    # Counter-clockwise in Blender, clockwise in the file.
    corners = shown.loops[chosen][:, [0, 2, 1]].ravel()
    vertices = shown.triangles[chosen][:, [0, 2, 1]].ravel().astype(np.int64)
    uvs = np.zeros((len(corners), 2)) if shown.uvs is None else shown.uvs[corners] * (1.0, -1.0) + (0.0, 1.0)
    uvs = np.round(uvs, _UV_DECIMALS)
    marks = vertices if origin is None else origin.corners[corners].astype(np.int64)
    numbers = equal_rows(np.column_stack([vertices, marks, np.round(uvs * 10**_UV_DECIMALS)]))
    _, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    vertices, marks, uvs = vertices[firsts], marks[firsts], uvs[firsts]
    corner_count = len(firsts)
    if origin is not None and is_first:
        loose, loose_uvs = _unused(origin, shown, marks)
        vertices = np.concatenate([vertices, loose])
        marks = np.concatenate([marks, origin.vertices[loose]])
        uvs = np.concatenate([uvs, loose_uvs])
        firsts = np.concatenate([firsts, np.full(len(loose), len(corners))])
    order = np.lexsort((firsts, vertices, marks))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    vertices, marks, uvs = vertices[order], marks[order], uvs[order]
    triangles = ranks[:corner_count][inverse.ravel()].reshape(-1, 3)
    if origin is not None and is_first and len(origin.degenerate):
        triangles = _with_degenerate(triangles, origin.degenerate, marks)
    starts, counts, joints, biases, points = _block_weights(vertices, marks, origin, current)
    bind = skeleton.joints
    return Mesh(
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
        name=name,
    )


def _in_triangles(shown: evaluated.TriangleMesh, count: int) -> npt.NDArray[np.bool_]:
    """Which of so many vertices have a triangle, (V,)."""
    used = np.zeros(count, dtype=bool)
    used[shown.triangles] = True
    return used


def _unused(
    origin: _Origin, shown: evaluated.TriangleMesh, marks: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Vertices of the object that no triangle of the file used, and their texture coordinates."""
    loose = np.flatnonzero(~_in_triangles(shown, len(origin.vertices)))
    _, of_loose, of_unused = np.intersect1d(origin.vertices[loose], origin.unused, return_indices=True)
    free = ~np.isin(origin.unused[of_unused], marks)
    return loose[of_loose[free]], origin.unused_uvs[of_unused[free]]


def _with_degenerate(
    triangles: npt.NDArray[np.int64], degenerate: Ints, marks: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Puts back the triangles that Blender cannot have, at their old numbers, if their vertices are still there."""
    places = {int(mark): vertex for vertex, mark in reversed(list(enumerate(marks.tolist())))}
    back = [row for row in degenerate.tolist() if all(vertex in places for vertex in row[1:])]
    total = len(triangles) + len(back)
    numbers = [min(row[0], total - 1) for row in back]
    if len(set(numbers)) != len(numbers):
        numbers = list(range(len(triangles), total))
    result = np.empty((total, 3), dtype=np.int64)
    is_back = np.zeros(total, dtype=bool)
    is_back[numbers] = True
    result[numbers] = np.array(
        [[places[vertex] for vertex in row[1:]] for row in back], dtype=np.int64
    ).reshape(-1, 3)
    result[~is_back] = triangles
    return result


def _block_weights(
    vertices: npt.NDArray[np.int64], marks: npt.NDArray[np.int64], origin: _Origin | None, current: _Weights
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Ints, Floats, Floats]:
    """Starts and counts of the vertices of a block, and the joints, biases and points of its weights.

    Args:
        vertices: the vertex of the object that each vertex of the block is.
        marks: the vertex of the file that it was.
        origin: what the object remembers.
        current: the weights of the object.
    """
    old = np.zeros(len(vertices), dtype=bool) if origin is None else origin.kept[marks]
    if origin is not None and old.all() and np.array_equal(marks, np.arange(len(origin.kept))):
        weights = origin.weights
        return weights.starts, weights.counts, weights.joints, weights.biases, weights.points
    # One range for each distinct one: old ranges by their place in the file, new ones by the object's vertex.
    keys = np.column_stack([old, vertices, np.zeros(len(vertices), dtype=np.int64)])
    if origin is not None:
        keys[old, 1], keys[old, 2] = origin.weights.starts[marks[old]], origin.weights.counts[marks[old]]
    numbers = equal_rows(keys)
    _, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    chosen = firsts[order]

    sources = [(current, ~old[chosen], vertices[chosen])]
    if origin is not None:
        sources.append((origin.weights, old[chosen], marks[chosen]))
    counts = np.zeros(len(chosen), dtype=np.int64)
    for source, mine, index in sources:
        counts[mine] = source.counts[index[mine]]
    starts = np.cumsum(counts) - counts
    joints = np.empty(int(counts.sum()), dtype=np.int32)
    biases = np.empty(len(joints))
    points = np.empty((len(joints), 3))
    for source, mine, index in sources:
        rows, targets = source.rows(index[mine]), np.repeat(mine, counts)
        joints[targets], biases[targets] = source.joints[rows], source.biases[rows]
        points[targets] = source.points[rows]
    return starts[ranks[inverse.ravel()]], counts[ranks[inverse.ravel()]], joints, biases, points
