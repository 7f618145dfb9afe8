"""The relation of objects to an armature: deformed by it, parented to one of its bones, or parented to the object;
also the bones that Deform Bones Only leaves out, and constraints whose target bone does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...io_blender import versions
from ...io_blender.reports import Report
from ...io_blender.scene.time_dependence import is_property_animated

if TYPE_CHECKING:
    from bpy.types import Action, ArmatureModifier, Bone, Constraint, FCurve, Object

# Constraints that make an object follow a bone.
FOLLOWING_CONSTRAINTS = {"CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"}
_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
_TOLERANCE = 1e-6


def is_deformed(obj: Object, armature: Object) -> bool:
    """Whether an armature deforms an object, as its parent or by a modifier, enabled or not."""
    if obj.parent == armature and obj.parent_type == "ARMATURE":
        return True
    return any(modifier.object == armature and modifier.use_vertex_groups for modifier in armature_modifiers(obj))


def armature_modifiers(obj: Object) -> list[ArmatureModifier]:
    """The Armature modifiers of an object, enabled or not."""
    return [cast("ArmatureModifier", modifier) for modifier in obj.modifiers if modifier.type == "ARMATURE"]


def parent_bone_of(obj: Object, armature: Object) -> str | None:
    """The bone that an object follows, by a parent or constraint of itself or of an ancestor."""
    return next(iter(bones_followed(obj, armature)), None)


def bones_followed(obj: Object, armature: Object) -> list[str]:
    """All such bones, the one that moves it most directly first."""
    bones, found = armature.data.bones, list[str]()
    for ancestor in (obj, *parents_of(obj)):
        found += [bone for target, bone in _constraint_targets(ancestor) if target == armature]
        if ancestor.parent == armature and ancestor.parent_type == "BONE":
            found.append(ancestor.parent_bone)
        if ancestor.parent is not None and ancestor.parent.type == "ARMATURE":
            # What moves that armature is part of its own motion.
            break
    return [bone for bone in dict.fromkeys(found) if bone in bones]


def parents_of(obj: Object) -> list[Object]:
    """The parents of an object, the nearest first; damaged files may have cycles."""
    parents: list[Object] = []
    while obj.parent is not None and obj.parent not in parents:
        obj = obj.parent
        parents.append(obj)
    return parents


def armatures_of(obj: Object) -> list[Object]:
    """The armatures that move an object: those of modifiers first, then of constraints and parents."""
    found = [modifier.object for modifier in armature_modifiers(obj)]
    for ancestor in (obj, *parents_of(obj)):
        found += [target for target, _ in _constraint_targets(ancestor)]
        found.append(ancestor.parent)
        if ancestor.parent is not None and ancestor.parent.type == "ARMATURE":
            # Whatever moves this armature, such as the horse of a rider, is part of its own motion.
            break
    return list(dict.fromkeys(target for target in found if target is not None and target.type == "ARMATURE"))


def _constraint_targets(obj: Object) -> list[tuple[Object | None, str]]:
    """The objects and bones that an object follows by constraints, now or on other frames."""
    result: list[tuple[Object | None, str]] = []
    for constraint in obj.constraints:
        if constraint.type in FOLLOWING_CONSTRAINTS and has_effect(obj, constraint):
            result += targets_of_constraint(constraint)
    return result


def has_effect(obj: Object, constraint: Constraint) -> bool:
    """Whether a constraint has any effect, now or on other frames."""
    if not constraint.mute and constraint.influence > 0.0:
        return True
    path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"]'
    return is_property_animated(obj, *(f"{path}.{name}" for name in ("influence", "mute", "enabled")))


def targets_of_constraint(constraint: Constraint) -> list[tuple[Object | None, str]]:
    """The objects and bones that a constraint names."""
    one: Any = constraint  # the stubs have targets only in the classes of the single types
    targets = one.targets if one.type == "ARMATURE" else [one]
    return [(target.target, target.subtarget) for target in targets]


def bones_to_leave_out(armature: Object, meshes: list[Object], actions: list[Action], report: Report) -> set[str]:
    """The bones that neither deform nor are the parent of a mesh; `actions` are all that move the bones."""
    # A mesh on a non-deforming bone is moved by the nearest deforming ancestor of the bone if the two can never move
    # relative to each other. Otherwise the bone is exported, with a warning. `armature` is the original object, not an
    # evaluated one.
    bones = armature.data.bones
    left_out = {bone.name for bone in bones if not bone.use_deform}
    for obj in meshes:
        name = None if is_deformed(obj, armature) else parent_bone_of(obj, armature)
        if name is None or name not in left_out:
            continue
        if not _is_fixed_to_deforming(armature, bones[name], left_out, actions):
            left_out.discard(name)
            report.warn(f"the bone {name} is exported although Deform is off, because {obj.name} is parented to it")
    return left_out


def _is_fixed_to_deforming(armature: Object, bone: Bone, left_out: set[str], actions: list[Action]) -> bool:
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


def _is_at_rest(curve: FCurve, rest: tuple[float, ...] | None) -> bool:
    if rest is None or curve.array_index >= len(rest) or curve.modifiers or curve.driver is not None:
        return False
    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return bool(np.abs(points[1::2] - rest[curve.array_index]).max(initial=0.0) <= _TOLERANCE)


def warn_of_missing_targets(armature: Object, report: Report) -> None:
    """Warns of constraints to missing bones: Blender shows their effect until it evaluates the rig anew."""
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            holders: list[Any] = [constraint, *getattr(constraint, "targets", ())]
            if constraint.enabled and any(
                target is not None and target.pose is not None and name and name not in target.pose.bones
                for holder in holders
                for target, name in [(getattr(holder, "target", None), getattr(holder, "subtarget", ""))]
            ):
                report.warn(
                    "the target bone of the constraint does not exist, so what Blender shows may change with its next "
                    "update: choose another bone or remove the constraint",
                    f"{bone.name} ({constraint.name})",
                )


_DEFORMING = {
    "CLOTH", "CORRECTIVE_SMOOTH", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM",
    "MESH_SEQUENCE_CACHE", "SHRINKWRAP", "SOFT_BODY", "SURFACE_DEFORM",
}  # fmt: skip


def is_moved_by_other_means(obj: Object) -> bool:
    """Whether modifiers other than Armature, or vertices of another object, may move a mesh with an armature."""
    return obj.parent_type in ("VERTEX", "VERTEX_3") or any(
        modifier.type in _DEFORMING and modifier.show_viewport for modifier in obj.modifiers
    )
