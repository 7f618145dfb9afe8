"""Playing an animation of the scene: its frame rate and range become those of the scene."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import reports
from ..reports import Report
from ..scene import state

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

    Args:
        operator: reports a warning if Blender cannot play the rate.
        context: of the scene.
        start: the first frame.
        end: the last frame.
        rate: frames per second; None to leave it.
        is_closed_loop: whether the last frame repeats the first.
    """
    report = Report()
    if rate is not None:
        state.set_frame_rate(context.scene, rate, report)
    first, last = math.floor(start), math.ceil(end)
    state.set_frame_range(context.scene, first, last, is_closed_loop=is_closed_loop)
    for text in report.warnings:
        reports.report_message(operator, "WARNING", text)


def draw_buttons(layout: Any, previous: str, following: str, label: str) -> None:
    """Draws the arrows and the button that plays the scene.

    Args:
        layout: a panel's.
        previous: the operator of the left arrow.
        following: that of the right one.
        label: between the arrows.
    """
    row = layout.row(align=True)
    row.operator(previous, text="", icon="TRIA_LEFT").step = -1
    row.operator("screen.animation_play", text=label, icon="PLAY")
    row.operator(following, text="", icon="TRIA_RIGHT").step = 1
