"""The objects of an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy

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
    if scope.collection:
        found = bpy.data.collections.get(scope.collection)
        if found is None:
            raise NothingToExportError(
                f"there is no collection {scope.collection!r}: choose one that is in this file"
            )
        candidates = list(found.all_objects)
    elif scope.use_active_collection:
        candidates = list(view_layer.active_layer_collection.collection.all_objects)
    else:
        candidates = list(view_layer.objects)
    present = {obj.name for obj in view_layer.objects}
    objects = [obj for obj in candidates if obj.name in present and obj.visible_get(view_layer=view_layer)]
    if scope.use_selection:
        objects = [obj for obj in objects if obj.select_get(view_layer=view_layer)]
    return sorted(objects, key=lambda obj: obj.name)
