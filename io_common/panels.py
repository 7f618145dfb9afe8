"""Panels that all operators share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpy.types import UILayout


def transform(layout: UILayout, operator: Any, prefix: str) -> None:
    """Scale and axes, as in Blender's own importers.

    Args:
        layout: where to draw.
        operator: with `global_scale`, `axis_forward` and `axis_up`.
        prefix: makes the panel's name one of its own, so that it remembers whether it is open.
    """
    header, body = layout.panel(f"{prefix}_transform")
    header.label(text="Transform")
    if body:
        body.prop(operator, "global_scale")
        body.prop(operator, "axis_forward")
        body.prop(operator, "axis_up")


def materials(layout: UILayout, operator: Any, prefix: str) -> None:
    """Whether materials get their images.

    Args:
        layout: where to draw.
        operator: with `use_textures`.
        prefix: as for `transform`.
    """
    header, body = layout.panel(f"{prefix}_materials")
    header.label(text="Materials")
    if body:
        body.prop(operator, "use_textures")
