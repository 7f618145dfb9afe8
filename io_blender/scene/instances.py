"""Instances: objects and collections that Blender shows and that are no part of any mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from bpy.types import Depsgraph, Object

    from ..reports import Report

_MAKERS = {"NODES", "PARTICLE_SYSTEM"}
INSTANCES_LEFT_OUT = "its instances are left out: make them real, or add a Realize Instances node"


def warn_of_instances(obj: Object, graph: Depsgraph, report: Report) -> None:
    """Warns of instances that an object shows on the frame that is evaluated.

    The object is the original one, not the evaluated one.
    """
    makes_instances = obj.instance_type != "NONE" or any(
        modifier.type in _MAKERS and modifier.show_viewport for modifier in obj.modifiers
    )
    if makes_instances and any(
        instance.is_instance and instance.parent is not None and instance.parent.original == obj
        for instance in graph.object_instances
    ):
        report.warn(INSTANCES_LEFT_OUT, obj.name)


def is_hidden_instancer(obj: Object) -> bool:
    """Whether only the instances or particles of an object are shown, and not the object itself."""
    makes_instances = obj.instance_type != "NONE" or len(obj.particle_systems) > 0
    return obj.type == "MESH" and makes_instances and not obj.show_instancer_for_viewport


def instances_any(obj: Object, kinds: Collection[str]) -> bool:
    """Whether an object shows a collection with objects of some types."""
    collection = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    if collection is None:
        return False
    return any(other.type in kinds or instances_any(other, kinds) for other in collection.all_objects)


def warn_of_collections(objects: list[Object], report: Report) -> None:
    """Warns of objects that show meshes of a collection."""
    for obj in objects:
        if instances_any(obj, ("MESH",)):
            report.warn(INSTANCES_LEFT_OUT, obj.name)
