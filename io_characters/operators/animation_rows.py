"""The animations of the chosen character in the dialog of the import, with a check box for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ...io_blender.operators import check_boxes
from ...io_blender.operators.row_list import RowList
from ...io_blender.reports import printable
from ...io_common.counting import counted
from ...io_common.game_data.catalogue import count_animations
from ...io_common.name_patterns import matches

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    from ...io_common.game_data.character import Character

_ROWS = 6


class IO_IDTECH_PG_character_animation(bpy.types.PropertyGroup):
    """An animation that can be chosen for the import of a character."""

    if TYPE_CHECKING:
        name: str
        is_checked: bool
        file_count: int
    else:
        name: StringProperty(name="Name", description="Name that the game has for the animation")
        is_checked: BoolProperty(name="Import", description="Import this animation", default=True)
        file_count: IntProperty(name="Files", description="Number of files, which are blended in step")


class IO_IDTECH_UL_character_animations(RowList, bpy.types.UIList):
    """The list of animations to choose from."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        """Draws one animation."""
        del index
        row = layout.row(align=True)
        row.prop(item, "is_checked", text="")
        row.label(text=item.name)
        if item.file_count > 1:
            numbers = row.row()
            numbers.alignment = "RIGHT"
            numbers.label(text=counted(item.file_count, "files"))

    def filter_items(self, context: Context, data: Any, attribute: str) -> Any:
        """The flags of the items: shown are those that the option *Animation Filter* lets through."""
        del context
        shown = [
            self.bitflag_filter_item if matches(item.name, data.animation_filter) else 0
            for item in getattr(data, attribute)
        ]
        return shown, []

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draws nothing: the filter is an option of the operator."""


def shown_rows(operator: Any) -> list[Any]:
    """The rows that pass the filter."""
    return [row for row in operator.animations if matches(row.name, operator.animation_filter)]


def fill(operator: Any, character: Character) -> None:
    """Lists the animations that a character declares, all checked."""
    operator.animations.clear()
    counts: dict[str, int] = {}
    for part in character.parts:
        for animation in part.animations:
            counts[animation.name] = max(counts.get(animation.name, 0), len(animation.files))
    for name, count in counts.items():
        row = operator.animations.add()
        row.name, row.file_count = printable(name), count
    # What the list of characters counts, if that is another number.
    total = count_animations(character)
    operator.animations_total = f"; counted as {total}" if str(total) != str(len(counts)) else ""
    operator.active_animation = 0


def unchecked_names(operator: Any) -> frozenset[str]:
    """The names of the animations that are not to be imported, as the list shows them."""
    return frozenset(row.name for row in operator.animations if not row.is_checked)


def draw(layout: UILayout, operator: Any) -> None:
    """Draws the buttons and the list."""
    column: Any = layout.column()
    column.use_property_split = False
    if not len(operator.animations):
        column.label(text="No animations are declared", icon="INFO")
        return
    check_boxes.draw_check_boxes(column, operator, "check_animations")
    column.template_list(
        "IO_IDTECH_UL_character_animations",
        "",
        operator,
        "animations",
        operator,
        "active_animation",
        rows=_ROWS,
        maxrows=_ROWS,
    )
    checked = sum(row.is_checked for row in shown_rows(operator))
    names = counted(len(operator.animations), "names")
    column.label(text=f"{checked} of {names} to import{operator.animations_total}")
