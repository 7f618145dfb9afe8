"""Which objects an export is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from bpy.types import Context, Object


class NothingToExportError(ValueError):
    """What the user asked for holds nothing that can be exported."""


def collect(
    context: Context,
    *,
    use_selection: bool = False,
    use_active_collection: bool = False,
    collection: str = "",
) -> list[Object]:
    """The objects of a named collection, the active collection or the view layer, by name; without hidden ones.

    Args:
        context: of the view layer.
        use_selection: only selected ones.
        use_active_collection: only those of the active collection and the collections in it.
        collection: only those of the collection with this name, and the collections in it.

    Raises:
        NothingToExportError: there is no collection of that name.
    """
    view_layer = context.view_layer
    if collection:
        found = bpy.data.collections.get(collection)
        if found is None:
            raise NothingToExportError(f"there is no collection {collection!r}")
        candidates = list(found.all_objects)
    elif use_active_collection:
        candidates = list(view_layer.active_layer_collection.collection.all_objects)
    else:
        candidates = list(view_layer.objects)
    present = {obj.name for obj in view_layer.objects}
    objects = [obj for obj in candidates if obj.name in present and obj.visible_get(view_layer=view_layer)]
    if use_selection:
        objects = [obj for obj in objects if obj.select_get(view_layer=view_layer)]
    return sorted(objects, key=lambda obj: obj.name)
