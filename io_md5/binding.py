"""How an object hangs on an armature: deformed by it, carried by one of its bones, or only parented to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpy.types import Constraint, Object

# Constraints that let an object follow a bone.
_CARRYING = {"CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"}
# Parents of parents that are looked at; Blender allows no loop, but files from elsewhere might.
_MOST_PARENTS = 64


def is_deformed(obj: Object, armature: Object) -> bool:
    """Whether an armature deforms an object by its vertex groups, by a modifier, enabled or not, or as its parent."""
    if obj.parent == armature and obj.parent_type == "ARMATURE":
        return True
    return any(
        modifier.type == "ARMATURE" and modifier.object == armature and modifier.use_vertex_groups
        for modifier in obj.modifiers
    )


def carrying_bone(obj: Object, armature: Object) -> str | None:
    """The bone that carries an object, by a parent or a constraint of its own or of its parents."""
    bones = armature.data.bones
    link: Object | None = obj
    for _ in range(_MOST_PARENTS):
        if link is None:
            return None
        for target, bone in _carriers(link):
            if target == armature and bone in bones:
                return bone
        if link.parent == armature:
            return link.parent_bone if link.parent_type == "BONE" and link.parent_bone in bones else None
        link = link.parent
    return None


def armatures_of(obj: Object) -> list[Object]:
    """The armatures that move an object: by modifiers, then by constraints and parents."""
    found = [modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    link: Object | None = obj
    for _ in range(_MOST_PARENTS):
        if link is None:
            break
        found += [target for target, _ in _carriers(link)]
        link = link.parent
        found.append(link)
        if link is not None and link.type == "ARMATURE":
            # What moves this armature, such as a horse its rider, is in its own motion.
            break
    return list(dict.fromkeys(target for target in found if target is not None and target.type == "ARMATURE"))


def _carriers(obj: Object) -> list[tuple[Object | None, str]]:
    """Object and bone of what an object follows by its constraints."""
    result: list[tuple[Object | None, str]] = []
    for constraint in obj.constraints:
        if constraint.type in _CARRYING and not constraint.mute and constraint.influence > 0.0:
            result += _targets(constraint)
    return result


def _targets(constraint: Constraint) -> list[tuple[Object | None, str]]:
    targets = constraint.targets if constraint.type == "ARMATURE" else [constraint]
    return [(target.target, target.subtarget) for target in targets]
