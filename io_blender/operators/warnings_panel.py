"""The warnings of the last import, in a panel."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...io_common.counting import counted
from .blender_mixins import panel

if TYPE_CHECKING:
    from bpy.types import Context

_CHARACTER_WIDTH = 7  # pixels
_MOST = 20


def draw_warnings(layout: Any, context: Context, identifier: str, warnings: Sequence[str]) -> None:
    """Draws the warnings, if there are any, in a panel that users can close.

    Each warning is one line. Blender remembers by `identifier` whether the panel is open.
    """
    if not warnings:
        return
    header, body = panel(layout, identifier)
    header.label(text=f"Last Import: {counted(len(warnings), 'warnings')}", icon="ERROR")
    if not body:
        return
    width = context.region.width if context.region is not None else 400
    column: Any = body.column(align=True)
    for text in warnings[:_MOST]:
        for line in textwrap.wrap(text, max(20, width // _CHARACTER_WIDTH)):
            column.label(text=line)
        column.separator()
    if len(warnings) > _MOST:
        column.label(text=f"{len(warnings) - _MOST} more")
