"""Lists of rows in panels: what Blender tells a list for each row, cut down to what ours draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .blender_mixins import UIList

if TYPE_CHECKING:
    from bpy.types import Context


class RowList(UIList):
    """A list, without its identifier; the class that is registered draws its rows."""

    def draw_item(
        self,
        context: Context,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        """Draws one row, as Blender asks for it."""
        del context, data, icon, active_data, active_property, flt_flag
        self.draw_row(layout, item, index or 0)

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one row."""
        raise NotImplementedError
