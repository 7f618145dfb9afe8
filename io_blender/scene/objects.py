"""The objects of an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from ..reports import listing
from .instances import INSTANCES_LEFT_OUT, instances_any, is_hidden_instancer, warn_of_collections
from .time_dependence import is_property_animated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bpy.types import Context, Object

    from ..reports import Report


# The types of objects that Blender can convert to meshes.
_SHAPES = {"CURVE", "SURFACE", "META", "FONT"}


class NothingToExportError(ValueError):
    """What the user chose contains nothing that can be exported."""


@dataclass(frozen=True)
class Scope:
    """Which objects are exported.

    Attributes:
        use_selection: only selected ones.
        use_active_collection: only those of the active collection and the collections in it.
        collection: only those of the collection with this name, and the collections in it.
    """

    use_selection: bool = False
    use_active_collection: bool = False
    collection: str = ""


def collect(context: Context, scope: Scope) -> list[Object]:
    """The visible objects of a named collection, the active collection or the view layer, sorted by name.

    Raises NothingToExportError if there is no collection of that name.
    """
    view_layer = context.view_layer
    objects = [obj for obj in _candidates(context, scope) if _is_shown(obj, context)]
    if scope.use_selection:
        objects = [obj for obj in objects if obj.select_get(view_layer=view_layer)]
    return sorted(objects, key=lambda obj: obj.name)


def _candidates(context: Context, scope: Scope) -> list[Object]:
    """The objects of a named collection, the active collection or the scene, hidden ones too."""
    if scope.collection:
        found = bpy.data.collections.get(scope.collection)
        if found is None and scope.collection == context.scene.collection.name:
            found = context.scene.collection
        if found is None:
            raise NothingToExportError(
                f"there is no collection {scope.collection!r}: choose one that is in this file"
            )
        return list(found.all_objects)
    if scope.use_active_collection:
        return list(context.view_layer.active_layer_collection.collection.all_objects)
    return list(context.scene.objects)


def _is_present(obj: Object, context: Context) -> bool:
    """Whether an object is in the view layer, hidden or not."""
    # Not by name: a linked object may have the same.
    return obj in set(context.view_layer.objects)


def _is_shown(obj: Object, context: Context) -> bool:
    """Whether an object is in the view layer and visible."""
    return obj.visible_get(view_layer=context.view_layer) and not is_hidden_instancer(obj)


def warn_of_left_out(context: Context, scope: Scope, report: Report) -> None:
    """Warns of what is shown but not exported: texts, curves with a bevel and other shapes, and instances."""
    objects = collect(context, scope)
    warn_of_collections(objects, report)
    for obj in () if scope.use_selection else _candidates(context, scope):
        if is_hidden_instancer(obj) and obj.visible_get(view_layer=context.view_layer):
            report.warn(INSTANCES_LEFT_OUT, obj.name)
    graph = context.evaluated_depsgraph_get()
    shapes = [obj.name for obj in objects if obj.type in _SHAPES and _has_faces(obj.evaluated_get(graph))]
    if shapes:
        report.warn(f"not exported, because only meshes can be: convert {listing(shapes)} to meshes")


def _has_faces(evaluated: Object) -> bool:
    try:
        return len(evaluated.to_mesh().polygons) > 0
    finally:
        evaluated.to_mesh_clear()


def warn_of_animated_visibility(
    context: Context,
    scope: Scope,
    exported: list[Object],
    report: Report,
    *,
    concerns: Callable[[Object], bool],
) -> None:
    """Warns of meshes that are shown on some frames only.

    `concerns` tells whether a mesh that is hidden now would be exported on the frames that show it.
    """
    for obj in exported:
        if _has_animated_visibility(obj):
            report.warn("its visibility is animated, but a game shows it on all frames", obj.name)
    for obj in () if scope.use_selection else _candidates(context, scope):
        # Few objects have it, so it is asked first.
        is_left_out = _has_animated_visibility(obj) and obj not in exported and _is_present(obj, context)
        if obj.type == "MESH" and is_left_out and concerns(obj):
            report.warn(
                "not exported, because it is hidden on the current frame; its visibility is animated",
                obj.name,
            )


def _has_animated_visibility(obj: Object) -> bool:
    return is_property_animated(obj, "hide_viewport")


def nothing_to_export(context: Context, scope: Scope, kinds: dict[str, str]) -> NothingToExportError:
    """The error that there are no objects of some types, with those that are there but left out, and the remedy.

    `kinds` holds what each type is called.
    """
    what = " and ".join(f"no {name}" for name in kinds.values())
    candidates = _candidates(context, scope)
    instances = [obj for obj in candidates if _is_shown(obj, context) and instances_any(obj, kinds)]
    reasons = why_left_out(context, scope, [obj for obj in candidates if obj.type in kinds])
    for obj in instances[:3]:
        reasons.append(
            f"{obj.name}: an instance of the collection {obj.instance_collection.name}. Use Object > Apply > Make "
            "Instances Real, or export from the scene or file that the collection is in"
        )
    return NothingToExportError(f"there is {what} to export" + "".join(f"; {reason}" for reason in reasons))


def why_left_out(context: Context, scope: Scope, objects: Iterable[Object]) -> list[str]:
    """Why objects are not exported, and how to change that: one reason for all that share it."""
    candidates = set(_candidates(context, scope))
    names: dict[str, list[str]] = {}
    for obj in objects:
        if obj not in candidates:
            reason = "not in the collection that is exported. Move it there, or export another collection"
        elif not _is_present(obj, context):
            reason = "not in the view layer. Tick its collection in the Outliner"
        elif not _is_shown(obj, context):
            reason = "hidden. Show it in the Outliner (eye and screen icons)"
        else:
            reason = "not selected. Select what is to be exported"
        names.setdefault(reason, []).append(obj.name)
    return [f"{listing(found, 3)}: {reason}" for reason, found in names.items()]
