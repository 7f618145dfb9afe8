"""Scale and axes of imports and exports, and their defaults."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import orientation_helper

from .. import reports
from ..options import hidden, properties, scale_option
from ..scene import axes
from ..scene.objects import ChosenConversion, NothingToExportError, axes_of, export_conversion
from . import preferences
from .layouts import draw_panel
from .panel_parts import Operator

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout


def _add_axes(cls: type[Any]) -> type[Any]:
    # The stubs do not know that it returns a decorator.
    helper: Any = orientation_helper
    helper(axis_forward="Y", axis_up="Z")(cls)
    # Blender leaves the descriptions empty.
    for name, direction in (("axis_forward", "forward"), ("axis_up", "up")):
        cls.__annotations__[name].keywords["description"] = (
            f"Axis of the file that points {direction} in Blender. Change it if models face the wrong way"
        )
    return cls


@_add_axes
@properties
class Transform(Operator):
    """Scale and axes between the file and the scene."""

    axis_forward: str
    axis_up: str
    global_scale: float = scale_option("Scale", "Scale the model by this factor")
    shown_scale: float = hidden(0.0, name="Shown Scale", description="The default that the dialog shows as Scale")
    shown_axes: str = hidden("", name="Shown Axes", description="The default that the dialog shows as Forward and Up")

    def default_scale(self) -> float:
        """The default scale in the preferences, or its inverse for an export."""
        raise NotImplementedError

    def set_default_scale(self) -> None:
        """Sets the scale to the default, unless a script or a preset has set it."""
        self.shown_scale = self.default_scale()
        if not self.properties.is_property_set("global_scale"):
            self.global_scale = self.shown_scale

    def has_chosen_scale(self) -> bool:
        """Whether the user or a script has set a scale other than the default."""
        is_set = self.properties.is_property_set("global_scale")
        return is_set and self.global_scale != self.shown_scale

    def has_chosen_axes(self) -> bool:
        """Whether the user or a script has set axes other than the default."""
        is_set = any(self.properties.is_property_set(name) for name in ("axis_forward", "axis_up"))
        return is_set and f"{self.axis_forward} {self.axis_up}" != self.shown_axes

    def scale(self) -> float:
        """The scale that the user or a script has set, else the default."""
        is_set = self.properties.is_property_set("global_scale")
        return self.global_scale if is_set else self.default_scale()

    def draw_transform(self, layout: UILayout, prefix: str) -> None:
        """Draws the panel with scale and axes, as in Blender's own importers."""
        body = draw_panel(layout, f"{prefix}_transform", "Transform", self, "global_scale", "axis_forward", "axis_up")
        for text in self.other_defaults() if body else ():
            body.label(text=f"Unless changed: {text}", icon="INFO")

    def other_defaults(self) -> list[str]:
        """Defaults that the properties do not show: collection exporters and scripts run without `invoke`."""
        scale = self.scale()
        return [] if scale == self.global_scale else [f"{scale:g} (preferences)"]


class ExportTransform(Transform):
    """Scale and axes of an export: those of the import, for what was imported, unless they are set."""

    def default_scale(self) -> float:
        """The inverse of the scale of the preferences."""
        return 1.0 / preferences.default_scale()

    def converted_objects(self, context: Context) -> list[Object]:
        """The objects whose import decides on scale and axes, as the options are now."""
        raise NotImplementedError

    def conversion(self) -> ChosenConversion:
        """The conversion from the coordinates of the scene to those of the file, as far as it is set."""
        has_scale, has_axes = self.has_chosen_scale(), self.has_chosen_axes()
        scale = self.global_scale if has_scale else self.default_scale()
        forward, up = (self.axis_forward, self.axis_up) if has_axes else ("Y", "Z")
        return ChosenConversion(axes.to_file(scale, forward, up), has_scale, has_axes)

    def chosen_transform(self) -> dict[str, Any]:
        """The scale and axes that are set, by property."""
        scale = {"global_scale": self.global_scale} if self.has_chosen_scale() else {}
        axis = {"axis_forward": self.axis_forward, "axis_up": self.axis_up} if self.has_chosen_axes() else {}
        return scale | axis

    def _default_transform(self, context: Context) -> tuple[float, str, str] | None:
        """Scale, forward and up of an export that sets none."""
        default = ChosenConversion(axes.to_file(self.default_scale(), "Y", "Z"))
        try:
            found = export_conversion(default, self.converted_objects(context), reports.Report())
        except NothingToExportError:
            return None
        return (found.scale, *axes_of(found))

    def set_default_transform(self, context: Context) -> None:
        """Sets scale and axes to the default, unless a script has set them."""
        default = self._default_transform(context)
        if default is None:
            return
        is_set = self.properties.is_property_set
        if not is_set("global_scale"):
            self.global_scale = default[0]
            self.shown_scale = self.global_scale
        if not is_set("axis_forward") and not is_set("axis_up"):
            self.axis_forward, self.axis_up = default[1:]
            self.shown_axes = f"{default[1]} {default[2]}"

    def other_defaults(self) -> list[str]:
        """The defaults that are not what the properties show: the dialog may choose other objects."""
        default = self._default_transform(bpy.context)
        if default is None:
            return []
        scale, forward, up = default
        texts = []
        if not self.has_chosen_scale() and not math.isclose(scale, self.global_scale, rel_tol=1e-6):
            source = "preferences" if scale == self.default_scale() else "import"
            texts.append(f"{scale:g} ({source})")
        if not self.has_chosen_axes() and (forward, up) != (self.axis_forward, self.axis_up):
            texts.append(f"Forward {forward}, Up {up} (import)")
        return texts
