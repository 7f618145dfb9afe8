"""The relation of an object to an armature: deformed by it, parented to one of its bones, or parented to the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import bpy

from ...io_blender.scene.time_dependence import is_property_animated

if TYPE_CHECKING:
    from bpy.types import ArmatureModifier, Constraint, Object

# Constraints that make an object follow a bone.
_FOLLOWING_CONSTRAINTS = {"CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"}
# The limit on ancestors; Blender prevents cycles, but damaged files may have them.
_MAX_ANCESTORS = 64


def is_deformed(obj: Object, armature: Object) -> bool:
    """Whether an armature deforms an object by vertex groups, as its parent or by a modifier, enabled or not."""
    if obj.parent == armature and obj.parent_type == "ARMATURE":
        return True
    return any(
        modifier.object == armature and modifier.use_vertex_groups for modifier in armature_modifiers(obj)
    )


def armature_modifiers(obj: Object) -> list[ArmatureModifier]:
    """The Armature modifiers of an object, enabled or not."""
    return [cast("ArmatureModifier", modifier) for modifier in obj.modifiers if modifier.type == "ARMATURE"]


def parent_bone_of(obj: Object, armature: Object) -> str | None:
    """The bone that an object follows, by a parent or constraint of itself or of its ancestors; None if none."""
    bones = armature.data.bones
    ancestor: Object | None = obj
    for _ in range(_MAX_ANCESTORS):
        if ancestor is None:
            return None
        for target, bone in _constraint_targets(ancestor):
            if target == armature and bone in bones:
                return bone
        if ancestor.parent == armature:
            return (
                ancestor.parent_bone
                if ancestor.parent_type == "BONE" and ancestor.parent_bone in bones
                else None
            )
        ancestor = ancestor.parent
    return None


def parents_of(obj: Object) -> list[Object]:
    """The parents of an object, the nearest first."""
    parents: list[Object] = []
    while obj.parent is not None and obj.parent not in parents:
        obj = obj.parent
        parents.append(obj)
    return parents


def armatures_of(obj: Object) -> list[Object]:
    """The armatures that move an object: those of modifiers first, then of constraints and parents."""
    found = [modifier.object for modifier in armature_modifiers(obj)]
    ancestor: Object | None = obj
    for _ in range(_MAX_ANCESTORS):
        if ancestor is None:
            break
        found += [target for target, _ in _constraint_targets(ancestor)]
        ancestor = ancestor.parent
        found.append(ancestor)
        if ancestor is not None and ancestor.type == "ARMATURE":
            # Whatever moves this armature, such as the horse of a rider, is part of its own motion.
            break
    return list(dict.fromkeys(target for target in found if target is not None and target.type == "ARMATURE"))


def _constraint_targets(obj: Object) -> list[tuple[Object | None, str]]:
    """The objects and bones that an object follows by constraints, now or on other frames."""
    result: list[tuple[Object | None, str]] = []
    for constraint in obj.constraints:
        if constraint.type in _FOLLOWING_CONSTRAINTS and has_effect(obj, constraint):
            result += _targets_of_constraint(constraint)
    return result


def has_effect(obj: Object, constraint: Constraint) -> bool:
    """Whether a constraint has any effect, now or on other frames."""
    if not constraint.mute and constraint.influence > 0.0:
        return True
    path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"]'
    return is_property_animated(obj, *(f"{path}.{name}" for name in ("influence", "mute", "enabled")))


def _targets_of_constraint(constraint: Constraint) -> list[tuple[Object | None, str]]:
    one: Any = constraint  # the stubs have targets only in the classes of the single types
    targets = one.targets if one.type == "ARMATURE" else [one]
    return [(target.target, target.subtarget) for target in targets]
