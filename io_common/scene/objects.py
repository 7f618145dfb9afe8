"""The objects of an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

from ..reports import listing
from .instances import instances_any

if TYPE_CHECKING:
    from bpy.types import Context, Object


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

    Args:
        context: of the view layer.
        scope: which ones.

    Raises:
        NothingToExportError: there is no collection of that name.
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
    return context.view_layer.objects.get(obj.name) == obj


def _is_shown(obj: Object, context: Context) -> bool:
    return _is_present(obj, context) and obj.visible_get(view_layer=context.view_layer)


def nothing_to_export(context: Context, scope: Scope, kinds: dict[str, str]) -> NothingToExportError:
    """The error that there are no objects of some types, with those that are there but left out, and the remedy.

    Args:
        context: of the view layer.
        scope: which objects were looked at.
        kinds: what each type is called.
    """
    what = " and ".join(f"no {name}" for name in kinds.values())
    candidates = _candidates(context, scope)
    there = [obj for obj in candidates if obj.type in kinds]
    excluded = [obj.name for obj in there if not _is_present(obj, context)]
    hidden = [obj.name for obj in there if _is_present(obj, context) and not _is_shown(obj, context)]
    unselected = [obj.name for obj in there if _is_shown(obj, context)]
    instances = [obj for obj in candidates if _is_shown(obj, context) and instances_any(obj, kinds)]
    reasons = []
    if unselected:
        reasons.append(f"{listing(unselected, 3)}: not selected. Select what is to be exported")
    if hidden:
        reasons.append(f"{listing(hidden, 3)}: hidden. Show it in the Outliner (eye and screen icons)")
    if excluded:
        reasons.append(f"{listing(excluded, 3)}: not in the view layer. Tick its collection in the Outliner")
    for obj in instances[:3]:
        reasons.append(
            f"{obj.name}: an instance of the collection {obj.instance_collection.name}. Use Object > Apply > Make "
            "Instances Real, or export from the scene or file that the collection is in"
        )
    return NothingToExportError(f"there is {what} to export" + "".join(f"; {reason}" for reason in reasons))
