"""The weights that Blender uses: vertex groups, the parent bone of an object, or the nearest bone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.reports import Report, listing
from ...io_blender.scene import mesh_data
from ...io_common.counting import counted
from ..format import ROOT
from ..format.model import Floats
from .binding import is_deformed, parent_bone_of
from .skeleton import Skeleton
from .weight_table import Integers, WeightTable

if TYPE_CHECKING:
    from bpy.types import Object

MIN_WEIGHT_SUM = 1e-4
"""Blender does not move a vertex whose weights sum to less."""


@dataclass(frozen=True)
class WeightOptions:
    """The options of weights.

    Attributes:
        max_influences: the number of weights to keep for each vertex, the largest first; 0 for all.
        min_weight: smaller weights are removed.
    """

    max_influences: int = 0
    min_weight: float = 0.0

    @property
    def keeps_all_weights(self) -> bool:
        """Whether all weights are kept."""
        return self.max_influences == 0 and self.min_weight == 0.0


def current_weights(
    obj: Object,
    source: mesh_data.TriangleMesh,
    skeleton: Skeleton,
    positions: Floats,
    options: WeightOptions,
    report: Report,
) -> WeightTable:
    """The normalised weights of every vertex of an evaluated mesh, as Blender uses them.

    `obj` is the original object, `source` its evaluated mesh at rest. `positions` are those of the vertices in the
    coordinates of the file, (V, 3).
    """
    count = len(positions)
    own_groups = [group.name for group in obj.vertex_groups]
    if source.groups != own_groups and skeleton.armature is not None and is_deformed(obj, skeleton.armature):
        added = listing([name for name in source.groups if name not in own_groups]) or "their order"
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
        bones = [] if skeleton.armature is None else skeleton.armature.data.bones
        target = "nearest of them" if any(bone.use_deform for bone in bones) else "root"
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
    return WeightTable(
        np.cumsum(counts) - counts, counts, joints.astype(np.int32), biases, positions[vertices]
    )


def _assigned_weights(
    obj: Object, source: mesh_data.TriangleMesh, skeleton: Skeleton
) -> tuple[Integers, Integers, Floats]:
    """The vertices, joints and weights of an object, each (n,)."""
    armature = skeleton.armature
    if armature is None:
        return _one_joint(len(source.vertices), 0)
    bones = {name: bone for bone, name in enumerate(skeleton.rig.bone_names)}
    if not is_deformed(obj, armature):
        bone = parent_bone_of(obj, armature)
        joint = int(skeleton.joint_of_bone[bones[bone]]) if bone is not None else -1
        # An object parented to the armature but to no bone is bound to a root, which moves least.
        roots = np.flatnonzero(skeleton.joints.parents == ROOT)
        return _one_joint(len(source.vertices), joint if joint >= 0 else int(roots[0]))
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
    """The joint of the deforming bone that is nearest to each point of the scene, (n,); 0 where there is none."""
    armature = skeleton.armature
    if armature is None:
        return np.zeros(len(points), dtype=np.int64)
    best = np.full(len(points), np.inf)
    joints = np.zeros(len(points), dtype=np.int64)
    world = skeleton.world
    for index in np.flatnonzero(skeleton.joint_of_bone >= 0).tolist():
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
