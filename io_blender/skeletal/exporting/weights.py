"""The weights of an export: those that Blender uses (vertex groups, the parent bone of an object, or the nearest
bone), or those of the imported file for vertices that were not changed."""
# A vertex of the file is used only if it reproduces that of the evaluated mesh: its position, its vertex groups, and
# the point of each of its weights, in the current bind pose. Stored indices alone are not enough: modifiers and edits
# copy them to other vertices, and joined meshes bring indices of other files.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from bpy.types import Object

from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import Floats, Ints, as_singles
from ....io_common.skeletal.skinning import VertexWeights
from ....io_common.texts import counted
from ...records import NONE
from ...reports import Report, listing
from ...scene import mesh_data
from ...scene.mesh_data import TriangleMesh
from ..options import WeightOptions
from ..records import StoredMesh, load_mesh, load_vertices
from .skeleton import Skeleton
from .source import is_deformed, joint_object_of, parent_bone_of

Integers = npt.NDArray[np.int64]

MIN_WEIGHT_SUM = 1e-4  # Blender does not move a vertex whose weights sum to less

# The tolerance of a position as a fraction of the largest coordinate: the precision of 32-bit floats.
_SAME_POSITION = 1e-6
# The tolerance of a weight's point as a fraction of the largest coordinate: files have ten digits.
_SAME_POINT = 1e-5
_SAME_BIAS = 1e-5
# Biases of a vertex must sum to 1 within this for Blender to move it as the game does.
_BIAS_SUM = 1e-4


@dataclass(eq=False)
class WeightTable:
    """Weights in ranges, one range for each vertex."""

    starts: Integers  # the first row of each vertex, int64 (V,)
    counts: Integers  # the number of rows of each vertex, int64 (V,)
    joints: Ints  # of the file, -1 for one that no longer exists, int32 (R,)
    biases: Floats  # float64 (R,)
    # The position that each gives its vertex in the bind pose, in file coordinates, float64 (R, 3)
    points: Floats

    def rows(self, vertices: npt.NDArray[np.integer]) -> VertexWeights:
        """The rows of some vertices, one vertex after the other."""
        counts = self.counts[vertices]
        owners = np.repeat(np.arange(len(counts)), counts)
        firsts = self.starts[vertices] - (np.cumsum(counts) - counts)
        return VertexWeights(owners, np.arange(len(owners)) + firsts[owners], len(counts))

    def joined(self, other: WeightTable) -> WeightTable:
        """The vertices of this table, followed by those of another."""
        return WeightTable(
            np.concatenate([self.starts, other.starts + len(self.joints)]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.joints, other.joints]),
            np.concatenate([self.biases, other.biases]),
            np.concatenate([self.points, other.points]),
        )

    @cached_property
    def positions(self) -> Floats:
        """The weighted position of each vertex, (V, 3)."""
        rows = self.rows(np.arange(len(self.counts)))
        return rows.sums(self.points[rows.weights] * self.biases[rows.weights, None])


def fitted_weights(points: Floats, joints: Integers, weights: Floats) -> WeightTable:
    """A table of the joints and weights of each vertex, (V, K), for points in the coordinates of the file, (V, 3)."""
    is_used = weights > MIN_WEIGHT_SUM
    vertices = np.nonzero(is_used)[0]
    counts = is_used.sum(axis=1)
    return WeightTable(
        np.cumsum(counts) - counts, counts, joints[is_used].astype(np.int32), weights[is_used], points[vertices]
    )


def current_weights(
    obj: Object, source: TriangleMesh, skeleton: Skeleton, positions: Floats, options: WeightOptions, report: Report
) -> WeightTable:
    """The normalised weights of every vertex of an evaluated mesh at rest, as Blender uses them."""
    # `obj` is the original object; `positions` are those of the vertices in the coordinates of the file.
    count = len(positions)
    object_groups = [group.name for group in obj.vertex_groups]
    if source.groups != object_groups and skeleton.armature is not None and is_deformed(obj, skeleton.armature):
        added = listing([name for name in source.groups if name not in object_groups]) or "their order"
        report.warn(
            f"{obj.name}: modifiers change its vertex groups ({added}), but Blender's Armature modifier may use "
            "those of the object: give the object the same groups in the same order"
        )
    vertices, joints, biases = _assigned_weights(obj, source, skeleton)
    # Some of Blender's operators make negative weights, which have an effect.
    is_used = (biases != 0.0) & (np.abs(biases) >= options.min_weight)
    vertices, joints, biases = _sum_equal(vertices[is_used], joints[is_used], biases[is_used], skeleton)
    if options.max_influences:
        order = np.lexsort((-np.abs(biases), vertices))
        ranks = np.arange(len(order)) - np.searchsorted(vertices[order], vertices[order])
        chosen = np.sort(order[ranks < options.max_influences])
        vertices, joints, biases = vertices[chosen], joints[chosen], biases[chosen]
    sums = np.bincount(vertices, biases, minlength=count)
    is_unweighted = sums <= MIN_WEIGHT_SUM
    is_weighted = ~is_unweighted[vertices]
    vertices, joints, biases = vertices[is_weighted], joints[is_weighted], biases[is_weighted]
    unweighted = np.flatnonzero(is_unweighted & mesh_data.in_triangles(source.triangles, count))
    if len(unweighted):
        # Without an armature, all vertices have a joint.
        target = "nearest of them" if any(bone.use_deform for bone in skeleton.armature.data.bones) else "root"
        report.warn(
            f"{counted(len(unweighted), 'vertices')} without weights of deforming bones: bound to the {target}",
            obj.name,
        )
        vertices = np.concatenate([vertices, unweighted])
        joints = np.concatenate([joints, _nearest_joints(source.vertices[unweighted], skeleton)])
        biases = np.concatenate([biases, np.ones(len(unweighted))])
        order = np.argsort(vertices, kind="stable")
        vertices, joints, biases = vertices[order], joints[order], biases[order]
    biases = biases / np.bincount(vertices, biases, minlength=count)[vertices]
    counts = np.bincount(vertices, minlength=count).astype(np.int64)
    return WeightTable(np.cumsum(counts) - counts, counts, joints.astype(np.int32), biases, positions[vertices])


def _assigned_weights(obj: Object, source: TriangleMesh, skeleton: Skeleton) -> tuple[Integers, Integers, Floats]:
    """The vertices, joints and weights of an object, each (n,)."""
    armature = skeleton.armature
    if armature is None:
        # The first joint is the origin.
        return _one_joint(len(source.vertices), joint_object_of(obj, skeleton.objects) + 1)
    bones = {name: bone for bone, name in enumerate(skeleton.rig.bone_names)}
    if not is_deformed(obj, armature):
        bone = parent_bone_of(obj, armature)
        joint = int(skeleton.joint_of_bone[bones[bone]]) if bone is not None else -1
        # An object parented to the armature but to no bone is bound to a root, which moves least.
        return _one_joint(len(source.vertices), joint if joint >= 0 else skeleton.root)
    joint_of_group = np.full(len(source.groups) + 1, -1, dtype=np.int64)
    for group, name in enumerate(source.groups):
        bone_index = bones.get(name)
        if bone_index is not None and armature.data.bones[name].use_deform:
            joint_of_group[group] = skeleton.joint_of_bone[bone_index]
    vertices, groups, weights = mesh_data.vertex_group_weights(source.mesh)
    joints = joint_of_group[np.minimum(groups, len(source.groups))]
    has_joint = joints >= 0
    return vertices[has_joint].astype(np.int64), joints[has_joint], weights[has_joint]


def _one_joint(count: int, joint: int) -> tuple[Integers, Integers, Floats]:
    return np.arange(count), np.full(count, joint), np.ones(count)


def _sum_equal(
    vertices: Integers, joints: Integers, biases: Floats, skeleton: Skeleton
) -> tuple[Integers, Integers, Floats]:
    """Weights sorted by vertex and joint; weights of one joint on one vertex are added."""
    count = max(len(skeleton.joints), 1)
    keys, inverse = np.unique(vertices * count + joints, return_inverse=True)
    sums = np.bincount(inverse.ravel(), biases, minlength=len(keys)).astype(np.float64)
    return *np.divmod(keys, count), sums  # type: ignore[return-value]


def _nearest_joints(points: Floats, skeleton: Skeleton) -> npt.NDArray[np.int64]:
    """The joint of the deforming bone nearest to each point of the scene; 0 where there is none."""
    armature = skeleton.armature
    best = np.full(len(points), np.inf)
    joints = np.zeros(len(points), dtype=np.int64)
    world = skeleton.world
    for index in np.flatnonzero(skeleton.joint_of_bone >= 0).tolist():
        bone = armature.data.bones[skeleton.rig.bone_names[index]]
        if not bone.use_deform:
            continue
        head, tail = (world[:3, :3] @ np.array(end) + world[:3, 3] for end in (bone.head_local, bone.tail_local))
        along = tail - head
        fraction = np.clip((points - head) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        distances = np.linalg.norm(points - head - fraction[:, None] * along, axis=1)
        nearer = distances < best
        best[nearer], joints[nearer] = distances[nearer], skeleton.joint_of_bone[index]
    return joints


@dataclass(eq=False)
class SourceMesh:
    """The imported mesh block of an object."""

    stored: StoredMesh  # the stored data
    weights: WeightTable  # of the V vertices of the file, in the current bind pose of the armature
    # The candidate vertex of the file for each vertex of the evaluated mesh, or `NONE`, int64.
    vertices: Integers
    corners: Integers  # the same for each corner, int64
    # How much the weights of each vertex of the file disagree about its position, which limits the difference
    # between the game and Blender, float64 (V,); infinite if the biases do not sum to 1.
    disagreements: Floats
    skeleton: Skeleton
    current: WeightTable  # of the vertices of the evaluated mesh
    positions: Floats  # of the same, in the coordinates of the file

    def verified(self, vertices: Integers, candidates: Integers) -> Integers:
        """The vertex of the file whose weights can be used for each copy of a vertex, or `NONE`."""
        # `vertices` are of the evaluated mesh; those split along UV seams occur several times. `candidates` has the
        # vertex of the file to try for each.
        is_valid = candidates != NONE
        is_valid[is_valid] = self._reproduces(vertices[is_valid], candidates[is_valid])
        verified = np.where(is_valid, candidates, NONE)
        # All copies of a vertex whose positions would differ get the first verified one, in the order of the file:
        # exactly equal positions prevent cracks along seams, and the games shade such vertices as one.
        _, groups = np.unique(vertices, return_inverse=True)
        groups = groups.ravel()
        count = len(self.weights.counts)
        chosen = np.full(int(groups.max(initial=-1)) + 1, count, dtype=np.int64)
        np.minimum.at(chosen, groups[is_valid], verified[is_valid])
        chosen[chosen == count] = NONE
        exact = as_singles(self.weights.positions)
        is_equal = is_valid.copy()
        is_equal[is_valid] = (exact[verified[is_valid]] == exact[chosen[groups[is_valid]]]).all(axis=1)
        is_split = np.zeros(len(chosen), dtype=bool)
        is_split[groups[~is_equal]] = True
        return np.where(is_split[groups], chosen[groups], verified)

    def _reproduces(self, vertices: Integers, file_vertices: Integers) -> npt.NDArray[np.bool_]:
        """Whether each vertex of the file reproduces an evaluated vertex in every pose."""
        weights, skeleton = self.weights, self.skeleton
        extent = max(float(np.abs(self.positions).max(initial=0.0)), 1e-9)
        expected = self.positions[vertices]
        is_valid = np.linalg.norm(weights.positions[file_vertices] - expected, axis=1) <= _SAME_POSITION * extent
        is_valid &= weights.counts[file_vertices] > 0
        found = weights.rows(file_vertices)
        owners, rows = found.vertices, found.weights
        joints = weights.joints[rows]
        bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
        # Weights that disagree about a vertex are valid as long as their joints were not moved.
        agrees = np.linalg.norm(weights.points[rows] - expected[owners], axis=1) <= _SAME_POINT * extent
        usable = (joints >= 0) & (agrees | skeleton.rig.is_unmoved[bones] | (weights.biases[rows] == 0.0))
        is_valid[owners[~usable]] = False
        is_valid[_groups_differ(weights, vertices, file_vertices, self.current)] = False
        return np.asarray(is_valid)


def load_source(
    obj: Object, mesh: TriangleMesh, skeleton: Skeleton, current: WeightTable, positions: Floats
) -> SourceMesh | None:
    """The mesh block that an object was imported from, if any; `mesh` is its evaluated mesh at rest."""
    stored = load_mesh(obj.data)
    if stored is None or skeleton.armature is None:
        return None
    vertices, corners = load_vertices(mesh.mesh, stored)
    block = stored.block
    joints = _current_joints(block.weight_joints, skeleton)
    weights = WeightTable(
        block.weight_starts.astype(np.int64),
        block.weight_counts.astype(np.int64),
        joints,
        block.weight_biases,
        _points(block.weight_positions, joints, skeleton),
    )
    rows = weights.rows(np.arange(len(weights.counts)))
    biases = weights.biases[rows.weights]
    offsets = np.linalg.norm(weights.points[rows.weights] - weights.positions[rows.vertices], axis=1)
    disagreements, sums = rows.sums(np.column_stack([np.abs(biases) * offsets, biases])).T
    disagreements = np.where(np.abs(sums - 1.0) > _BIAS_SUM, np.inf, disagreements)
    return SourceMesh(stored, weights, vertices, corners, disagreements, skeleton, current, positions)


def _current_joints(joints: Ints, skeleton: Skeleton) -> Ints:
    """The current index of the joint of each weight, -1 if the joint no longer exists."""
    result = np.full(int(joints.max(initial=-1)) + 1, -1, dtype=np.int32)
    indices = skeleton.rig.indices
    known = (indices >= 0) & (indices < len(result)) & (skeleton.joint_of_bone >= 0)
    result[indices[known]] = skeleton.joint_of_bone[known]
    return result[joints]


def _points(positions: Floats, joints: Ints, skeleton: Skeleton) -> Floats:
    """The position that each weight gives its vertex in the bind pose, in the coordinates of the file."""
    bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
    bind = skeleton.rig.joints
    local = bind.positions[bones] + quat.rotate(bind.orientations[bones], positions)
    if not np.array_equal(skeleton.world, np.eye(4)):
        local = local @ skeleton.world[:3, :3].T + skeleton.world[:3, 3]
    return skeleton.conversion.points(local)


def _groups_differ(weights: WeightTable, vertices: Integers, file_vertices: Integers, current: WeightTable) -> Integers:
    """The rows of `vertices` whose vertex groups differ from those that the import made."""
    stored, shown = weights.rows(file_vertices), current.rows(vertices)
    biases = weights.biases[stored.weights]
    sums = np.bincount(stored.vertices, biases, minlength=len(vertices))
    normal = np.where(np.abs(sums) > 0.0, sums, 1.0)
    # A joint that no longer exists gets a column of its own.
    width = int(max(weights.joints.max(initial=0), current.joints.max(initial=0))) + 2
    keys = np.concatenate([
        stored.vertices * width + weights.joints[stored.weights] + 1,
        shown.vertices * width + current.joints[shown.weights] + 1,
    ])  # fmt: skip
    signed = np.concatenate([biases / normal[stored.vertices], -current.biases[shown.weights]])
    distinct, inverse = np.unique(keys, return_inverse=True)
    differences = np.abs(np.bincount(inverse.ravel(), signed, minlength=len(distinct)))
    return np.unique(distinct[differences > _SAME_BIAS] // width)
