"""Panels and rows that the dialogs of imports and exports share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from . import documentation
from .panel_parts import split_layout

if TYPE_CHECKING:
    from bpy.types import UILayout


def draw_panel(layout: Any, identifier: str, label: str, operator: bpy.types.Operator, *names: str) -> Any:
    """Draws a panel, closed at first, which Blender remembers by `identifier`; returns its body, None if closed."""
    header, body = layout.panel(identifier, default_closed=True)
    header.label(text=label)
    for name in names if body else ():
        body.prop(operator, name)
    return body


def draw_wide(layout: UILayout, operator: bpy.types.Operator, name: str) -> None:
    """Draws an option whose label is too long for a column of its own: over the whole width."""
    row = layout.row()
    row.use_property_split = False
    row.prop(operator, name)


def panel_layout(operator: bpy.types.Operator) -> UILayout:
    """An operator's layout, set up as in Blender's own importers and exporters."""
    layout = split_layout(operator)
    documentation.draw_button(layout, documentation.page_of(operator.bl_idname))
    return layout
