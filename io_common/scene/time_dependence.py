"""Whether what an object shows depends on the frame of the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpy.types import Object

# Modifiers whose result depends on the frame even if they are not animated.
_PHYSICS = {
    "BUILD", "CLOTH", "COLLISION", "DYNAMIC_PAINT", "EXPLODE", "FLUID", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "NODES",
    "OCEAN", "PARTICLE_INSTANCE", "PARTICLE_SYSTEM", "SOFT_BODY", "WAVE",
}  # fmt: skip


def depends_on_time(obj: Object) -> bool:
    """Whether anything but its own shape keys may move or change an object over time.

    That is its transform, parents, constraints, modifiers and physics, and all objects that these refer to. The answer
    may be True for an object that does not move, but never False for one that does.
    """
    return _depends(obj, set(), with_keys=False)


def _depends(obj: Object, seen: set[Object], *, with_keys: bool) -> bool:
    if obj in seen:
        return False
    seen.add(obj)
    data: Any = obj.data
    owners = [obj, data]
    if with_keys:
        owners.append(getattr(data, "shape_keys", None))
    if any(_is_animated(owner) for owner in owners if owner is not None):
        return True
    if obj.rigid_body is not None or any(modifier.type in _PHYSICS for modifier in obj.modifiers):
        return True
    holders: list[Any] = [obj]
    if obj.pose is not None:
        holders += obj.pose.bones
    constraints = [constraint for holder in holders for constraint in holder.constraints]
    related = [obj.parent] if obj.parent is not None else []
    for owner in (*obj.modifiers, *constraints):
        if getattr(owner, "type", "") in (
            "FOLLOW_TRACK",
            "CAMERA_SOLVER",
            "OBJECT_SOLVER",
            "TRANSFORM_CACHE",
        ):
            return True
        related += _objects_of(owner)
    return any(_depends(other, seen, with_keys=True) for other in related)


def _is_animated(owner: Any) -> bool:
    data = owner.animation_data
    return data is not None and bool(data.action or data.drivers or (data.use_nla and data.nla_tracks))


def _objects_of(owner: Any) -> list[Object]:
    """The objects that a modifier or constraint refers to."""
    found = []
    for prop in owner.bl_rna.properties:
        if prop.type == "POINTER" and prop.fixed_type.identifier == "Object":
            value = getattr(owner, prop.identifier)
            if value is not None:
                found.append(value)
    for target in getattr(owner, "targets", ()):
        if target.target is not None:
            found.append(target.target)
    return found
