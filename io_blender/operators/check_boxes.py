"""Buttons that check all rows of a list, none, or those that were not checked.

They are an enum property with an update function instead of operators: an operator cannot change the options of another
one in both the file browser and a dialog.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bpy.props import EnumProperty

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_ITEMS = (
    ("ALL", "All", "Check everything that is shown in the list"),
    ("NONE", "None", "Uncheck everything that is shown in the list"),
    ("INVERT", "Invert", "Check what is not checked, and the reverse"),
)


def check_boxes_property(name: str, attribute: str, shown: Callable[[Any], list[Any]]) -> Any:
    """The property of the buttons; `name` is its own name.

    `attribute` is the check box of a row. `shown` takes the owner of the property, and returns the rows that the
    buttons change.
    """

    def update(owner: Any, context: Context) -> None:
        del context
        pressed = getattr(owner, name)
        if not pressed:
            return
        for row in shown(owner):
            setattr(row, attribute, "ALL" in pressed or ("INVERT" in pressed and not getattr(row, attribute)))
        # A button, not a choice that stays.
        setattr(owner, name, set())

    return EnumProperty(
        name="Check Boxes",
        description="Check or uncheck what the list shows",
        items=_ITEMS,
        default=set(),
        options={"ENUM_FLAG", "HIDDEN", "SKIP_SAVE"},
        update=update,
    )


def draw_check_boxes(layout: UILayout, owner: Any, name: str) -> None:
    """Draws the buttons in a row; `name` is that of the property."""
    row: Any = layout.row(align=True)
    for identifier, _label, _description in _ITEMS:
        row.prop_enum(owner, name, identifier)
