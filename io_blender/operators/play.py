"""Playing an animation of the scene: its frame rate and range become those of the scene."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import reports, state
from ..reports import Report

if TYPE_CHECKING:
    from bpy.types import Context


def set_timing(
    operator: Any,
    context: Context,
    start: float,
    end: float,
    rate: float | None,
    *,
    is_closed_loop: bool = False,
) -> None:
    """Sets the frame rate and range of the scene.

    The rate is in frames per second; None leaves it as it is. A warning is reported if Blender cannot play it.
    `is_closed_loop` means that the last frame repeats the first.
    """
    report = Report()
    if rate is not None:
        state.set_frame_rate(context.scene, rate, report)
    first, last = math.floor(start), math.ceil(end)
    state.set_frame_range(context.scene, first, last, is_closed_loop=is_closed_loop)
    for text in report.warnings:
        reports.report_message(operator, "WARNING", text)


def draw_buttons(layout: Any, previous: str, following: str, label: str) -> None:
    """Draws the arrows, and between them the button that plays the scene.

    `previous` and `following` are the operators of the arrows; `label` is the text of the button.
    """
    row = layout.row(align=True)
    row.operator(previous, text="", icon="TRIA_LEFT").step = -1
    row.operator("screen.animation_play", text=label, icon="PLAY")
    row.operator(following, text="", icon="TRIA_RIGHT").step = 1
