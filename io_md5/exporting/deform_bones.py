"""The bones that Deform Bones Only leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender import versions
from ...io_blender.reports import Report
from .binding import is_deformed, parent_bone_of

if TYPE_CHECKING:
    from bpy.types import Action, Bone, Object

_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
_TOLERANCE = 1e-6


def bones_to_leave_out(
    armature: Object, meshes: list[Object], actions: list[Action], report: Report
) -> set[str]:
    """The names of bones that neither deform nor are the parent of a mesh.

    A mesh on a non-deforming bone is moved by the nearest deforming ancestor of the bone if the two can never move
    relative to each other. Otherwise the bone is exported, with a warning.

    `armature` is the original object, not an evaluated one; `actions` are all that move its bones.
    """
    bones = armature.data.bones
    left_out = {bone.name for bone in bones if not bone.use_deform}
    for obj in meshes:
        name = None if is_deformed(obj, armature) else parent_bone_of(obj, armature)
        if name is None or name not in left_out:
            continue
        if not _is_fixed_to_deforming(armature, bones[name], left_out, actions):
            left_out.discard(name)
            report.warn(
                f"the bone {name} is exported although Deform is off, because {obj.name} is parented to it"
            )
    return left_out


def _is_fixed_to_deforming(armature: Object, bone: Bone, left_out: set[str], actions: list[Action]) -> bool:
    """Whether a bone never moves relative to its nearest exported ancestor."""
    ancestor: Bone | None = bone
    while ancestor is not None and ancestor.name in left_out:
        if not _is_fixed_to_parent(armature, ancestor, actions):
            return False
        ancestor = ancestor.parent
    return ancestor is not None


def _is_fixed_to_parent(armature: Object, bone: Bone, actions: list[Action]) -> bool:
    pose = armature.pose.bones[bone.name]
    prefix = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
    data = armature.animation_data
    if (
        not bone.use_inherit_rotation
        or bone.inherit_scale != "FULL"
        or any(not constraint.mute for constraint in pose.constraints)
        or (data is not None and any(driver.data_path.startswith(prefix) for driver in data.drivers))
    ):
        return False
    if not np.allclose(np.array(pose.matrix_basis), np.eye(4), atol=_TOLERANCE):
        return False
    for action in actions:
        for curve in versions.all_fcurves(action):
            path, _, channel = curve.data_path.rpartition(".")
            if path.startswith(f"{prefix}.constraints["):
                return False
            if path == prefix and not _is_at_rest(curve, _REST.get(channel)):
                return False
    return True


def _is_at_rest(curve: bpy.types.FCurve, rest: tuple[float, ...] | None) -> bool:
    """Whether an F-curve never leaves the rest value of its channel."""
    if rest is None or curve.array_index >= len(rest) or curve.modifiers or curve.driver is not None:
        return False
    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return bool(np.abs(points[1::2] - rest[curve.array_index]).max(initial=0.0) <= _TOLERANCE)
