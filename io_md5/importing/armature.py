"""Armatures made of joints in the bind pose.

A joint has axes but no length. Bones get lengths in proportion to the skeleton, and either the axes of the joint or,
to look like a skeleton, axes with +Y pointing to the child with the longest chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix

from ...io_blender import state, versions
from ...io_blender.scene import names
from ..format import ROOT, Joints
from ..format import quaternions as quat
from ..format.model import Floats
from ..format.skeleton import depths
from ..records import store_bones

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Object

# Lengths as fractions of the size of the model.
_SINGLE_JOINT = 0.25
_MIN_LENGTH = 0.005
# The length of a leaf as a fraction of the distance from its parent.
_LEAF = 0.5
# Axes with a larger cosine between them are nearly parallel.
_NEARLY_PARALLEL = 0.9


def build_armature(
    context: Context, name: str, joints: Joints, collection: Collection, *, size: float, direction: str
) -> tuple[Object, list[str]]:
    """An armature whose bones are the joints, and Blender's name of each joint; Blender must be in Object Mode.

    `context` must be of the view layer that shows the collection. `joints` are the bind pose in the coordinates of the
    scene. `size` is that of the model, for the lengths of bones; `direction` is 'CHILD' or 'JOINT'.
    """
    armature = bpy.data.armatures.new(names.for_blender(name, versions.MAX_ID_NAME, "Armature"))
    obj = bpy.data.objects.new(armature.name, armature)
    collection.objects.link(obj)
    orientations, lengths = bone_axes(joints, size, point_to_children=direction == "CHILD")
    bone_names = _add_bones(context, obj, joints, orientations, lengths)
    _store_joints(obj, joints, bone_names)
    return obj, bone_names


def bone_axes(joints: Joints, size: float, *, point_to_children: bool) -> tuple[Floats, Floats]:
    """Axes of the bones as quaternions w x y z (J, 4), and their lengths (J,)."""
    targets = _targets(joints)
    parents = joints.parents
    positions = joints.positions
    size = size if size > 0.0 else 1.0
    shortest = _MIN_LENGTH * size

    from_parent = np.zeros_like(positions)
    children = parents != ROOT
    from_parent[children] = positions[children] - positions[parents[children]]
    steps = np.linalg.norm(from_parent, axis=1)
    to_target = targets - positions
    reach = np.linalg.norm(to_target, axis=1)
    has_target = reach > shortest
    leaf_lengths = np.where(
        steps > shortest, _LEAF * steps, _SINGLE_JOINT * size if len(joints) == 1 else 2 * shortest
    )
    lengths = np.maximum(np.where(has_target, reach, leaf_lengths), shortest)
    if not point_to_children:
        return joints.orientations, lengths

    # A leaf continues the direction from its parent; a joint at the position of its parent keeps its own axis.
    axes = quat.to_matrices(joints.orientations)
    along = np.where(
        has_target[:, None], to_target, np.where((steps > shortest)[:, None], from_parent, axes[:, :, 1])
    )
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    parallel = np.abs(np.einsum("ji,ji->j", along, axes[:, :, 2])) > _NEARLY_PARALLEL
    side = np.where(parallel[:, None], axes[:, :, 0], axes[:, :, 2])
    side = side - along * np.einsum("ji,ji->j", along, side)[:, None]
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    matrices = np.stack([np.cross(along, side), along, side], axis=2)
    return quat.from_matrices(matrices), lengths


def _targets(joints: Joints) -> Floats:
    """The point that each bone points to, (J, 3): the child with the longest chain, or the mean of several such.

    For a joint without children, its own position.
    """
    count = len(joints)
    heights = np.zeros(count, dtype=np.int64)
    order = np.argsort(depths(joints.parents), kind="stable")
    for joint in order[::-1].tolist():
        parent = joints.parents[joint]
        if parent != ROOT:
            heights[parent] = max(heights[parent], heights[joint] + 1)
    children = np.flatnonzero(joints.parents != ROOT)
    parents_of_children = joints.parents[children]
    chosen = heights[children] + 1 == heights[parents_of_children]
    children, parents_of_children = children[chosen], parents_of_children[chosen]
    shares = np.bincount(parents_of_children, minlength=count)[:, None]
    sums = np.zeros((count, 3))
    np.add.at(sums, parents_of_children, joints.positions[children])
    return np.where(shares > 0, sums / np.maximum(shares, 1), joints.positions)


def _add_bones(
    context: Context, obj: Object, joints: Joints, orientations: Floats, lengths: Floats
) -> list[str]:
    """Adds the bones; returns their names in Blender."""
    matrices = quat.transforms(joints.positions, orientations)
    armature = obj.data
    assert isinstance(armature, bpy.types.Armature)
    with state.edit_mode(context, obj):
        bone_names = [names.for_blender(name, versions.MAX_NAME, "Bone") for name in joints.names]
        bones = [armature.edit_bones.new(name) for name in names.distinct(bone_names, versions.MAX_NAME)]
        for bone, parent, matrix, length in zip(
            bones, joints.parents.tolist(), matrices.tolist(), lengths.tolist(), strict=True
        ):
            bone.length = 1.0
            bone.matrix = Matrix(matrix)
            bone.length = length
            if parent != ROOT:
                bone.parent = bones[parent]
        # Edit bones are invalid after Edit Mode.
        return [bone.name for bone in bones]


def _store_joints(obj: Object, joints: Joints, bone_names: list[str]) -> None:
    armature = obj.data
    assert isinstance(armature, bpy.types.Armature)
    bones = [armature.bones[name] for name in bone_names]
    rest = np.array([bone.matrix_local.to_3x3() for bone in bones], dtype=np.float64).reshape(
        len(bones), 3, 3
    )
    axes = quat.multiply(quat.conjugate(quat.from_matrices(rest)), joints.orientations)
    store_bones(bones, joints, axes)
