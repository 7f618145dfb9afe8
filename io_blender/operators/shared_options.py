"""The options that imports and exports share: scale and axes, what is exported, verification and the game."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import bpy
from bpy.types import Context, Object, UILayout
from bpy_extras.io_utils import orientation_helper

from .. import reports
from ..options import choice_option, game_option, hidden, option, properties, property_of, scale_option
from ..scene import axes
from ..scene.objects import ChosenConversion, NothingToExportError, Scope, axes_of, export_conversion
from ..verification import Verify
from . import preferences
from .panel_parts import Operator, draw_panel


# The stubs do not know that it returns a decorator.
@cast("Any", orientation_helper)(axis_forward="Y", axis_up="Z")
@properties
class Transform(Operator):
    """Scale and axes between the file and the scene."""

    axis_forward: str
    axis_up: str
    global_scale: float = scale_option("Scale", "Scale the model by this factor")
    shown_scale: float = hidden(0.0, name="Shown Scale", description="The default that the dialog shows as Scale")
    shown_axes: str = hidden("", name="Shown Axes", description="The default that the dialog shows as Forward and Up")

    def has_chosen_scale(self) -> bool:
        """Whether the user or a script has set a scale other than the default."""
        is_set = self.properties.is_property_set("global_scale")
        return is_set and self.global_scale != self.shown_scale

    def has_chosen_axes(self) -> bool:
        """Whether the user or a script has set axes other than the default."""
        is_set = any(self.properties.is_property_set(name) for name in ("axis_forward", "axis_up"))
        return is_set and f"{self.axis_forward} {self.axis_up}" != self.shown_axes

    def draw_transform(self, layout: UILayout, prefix: str) -> None:
        body = draw_panel(layout, f"{prefix}_transform", "Transform", self, "global_scale", "axis_forward", "axis_up")
        for text in self.other_defaults() if body else ():
            body.label(text=f"Unless changed: {text}", icon="INFO")

    def other_defaults(self) -> list[str]:
        """Defaults that the properties do not show: collection exporters and scripts run without `invoke`."""
        raise NotImplementedError


# Blender leaves the descriptions of axes empty.
for _name, _direction in (("axis_forward", "forward"), ("axis_up", "up")):
    Transform.__annotations__[_name].keywords["description"] = (
        f"Axis of the file that points {_direction} in Blender. Change it if models face the wrong way"
    )


class ImportTransform(Transform):
    """Scale and axes of an import."""

    def set_default_scale(self) -> None:
        """Sets the scale to the default, unless a script or a preset has set it."""
        self.shown_scale, self.global_scale = preferences.default_scale(), self.scale()

    def scale(self) -> float:
        """The scale that the user or a script has set, else that of the preferences."""
        is_set = self.properties.is_property_set("global_scale")
        return self.global_scale if is_set else preferences.default_scale()

    def conversion(self) -> axes.Conversion:
        return axes.from_file(self.scale(), self.axis_forward, self.axis_up)

    def other_defaults(self) -> list[str]:
        scale = self.scale()
        return [] if scale == self.global_scale else [f"{scale:g} (preferences)"]


class ExportTransform(Transform):
    """Scale and axes of an export: those of the import, for what was imported, unless they are set."""

    def converted_objects(self, context: Context) -> list[Object]:
        """The objects whose import decides on scale and axes, as the options are now."""
        raise NotImplementedError

    def conversion(self) -> ChosenConversion:
        """The conversion from the coordinates of the scene to those of the file, as far as it is set."""
        has_scale, has_axes = self.has_chosen_scale(), self.has_chosen_axes()
        scale = self.global_scale if has_scale else 1.0 / preferences.default_scale()
        forward, up = (self.axis_forward, self.axis_up) if has_axes else ("Y", "Z")
        return ChosenConversion(axes.to_file(scale, forward, up), has_scale, has_axes)

    def chosen_transform(self) -> dict[str, Any]:
        scale = {"global_scale": self.global_scale} if self.has_chosen_scale() else {}
        axis = {"axis_forward": self.axis_forward, "axis_up": self.axis_up} if self.has_chosen_axes() else {}
        return scale | axis

    def _default_transform(self, context: Context) -> tuple[float, str, str] | None:
        default = ChosenConversion(axes.to_file(1.0 / preferences.default_scale(), "Y", "Z"))
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
        # The dialog may choose other objects.
        default = self._default_transform(bpy.context)
        if default is None:
            return []
        scale, forward, up = default
        texts = []
        if not self.has_chosen_scale() and not math.isclose(scale, self.global_scale, rel_tol=1e-6):
            source = "preferences" if scale == 1.0 / preferences.default_scale() else "import"
            texts.append(f"{scale:g} ({source})")
        if not self.has_chosen_axes() and (forward, up) != (self.axis_forward, self.axis_up):
            texts.append(f"Forward {forward}, Up {up} (import)")
        return texts


@properties
class ExportScope(Operator):
    """The options that limit an export to some of the objects."""

    use_selection: bool = option(
        False, "Selected Only", "Export only selected objects. If only an armature is selected, export all its meshes"
    )
    use_active_collection: bool = option(False, "Active Collection", "Export only objects in the active collection")
    collection: str = option(
        "", "Source Collection", "Export only objects in the collection with this name", options={"HIDDEN"}
    )

    def draw_include(self, layout: UILayout, context: Context, prefix: str) -> None:
        """Draws the panel *Include*, but not for a collection exporter, which exports its collection."""
        if context.space_data is None or context.space_data.type != "FILE_BROWSER":
            return
        draw_panel(layout, f"{prefix}_include", "Include", self, "use_selection", "use_active_collection")


@properties
class ExportVerify(Operator):
    """The option to compare an export with what Blender shows."""

    verify: str = choice_option(
        "Verify",
        "Compare the export with what Blender shows before writing it, and warn about differences",
        SOME=("Some Frames", "Compare the first frame, the last frame and a few in between"),
        ALL=("All Frames", "Compare every frame"),
        NONE=("Off", "Do not compare"),
    )

    def verification(self) -> Verify:
        return Verify(self.verify)


def game_mixin(profiles: Mapping[Any, Any], values_of_game: Callable[[Any, Context], dict[str, Any]]) -> type:
    """A mixin with the option *Game*, to be the first base: presets set the game before what it decides."""
    # `values_of_game` gives the values of options that the game of an operator, or of its properties, needs, by name.

    def fill_in(operator: Any, context: Context) -> None:
        # A script has no dialog that shows them.
        if context.space_data is not None:
            for name, value in values_of_game(operator, context).items():
                setattr(operator, name, value)

    declared: Any = game_option(profiles, update=fill_in)
    return type("Game", (), {"__annotations__": {"game": property_of(declared)}, "values_of_game": values_of_game})


class GameChoice(Operator):
    """The option to choose a game; each family declares `game` with its profiles."""

    family: str
    profiles: Mapping[Any, Any]
    game: str

    def values_of_game(self, context: Context) -> dict[str, Any]:
        """The values of options that the game needs, by name."""
        return {}

    def draw_game(self, layout: UILayout, context: Context) -> None:
        """Draws the game, and which options are not as it needs them."""
        layout.prop(self, "game")
        for name, value in self.values_of_game(context).items():
            if getattr(self, name) != value:
                declared = self.properties.bl_rna.properties[name]
                needed = f"set {declared.name} to {_word(declared, value)}"
                layout.label(text=f"{self.profile().label}: {needed}", icon="INFO")

    def game_or_default(self) -> str:
        """The game that the user or a script has set, else that of the preferences."""
        is_set = self.properties.is_property_set("game")
        return str(self.game) if is_set else preferences.game(self.family)

    def profile(self) -> Any:
        chosen = self.game_or_default()
        return next(profile for game, profile in self.profiles.items() if game.value == chosen)

    def set_default_game(self, context: Context) -> None:
        """Sets the game to that of the preferences, unless a script has set it, and the options that it decides."""
        is_set = self.properties.is_property_set
        set_before = {name: getattr(self, name) for name in self.values_of_game(context) if is_set(name)}
        self.game = self.game_or_default()
        for name, value in (self.values_of_game(context) | set_before).items():
            setattr(self, name, value)


class ModelExport(ExportTransform, ExportScope, ExportVerify, GameChoice):
    """The options of exports of models, and of checks of what these would write."""

    def shared_options(self) -> dict[str, Any]:
        """The values that exporters of all families take."""
        return {
            "scope": Scope(self.use_selection, self.use_active_collection, self.collection),
            "conversion": self.conversion(),
            "verify": self.verification(),
            "game_folders": tuple(preferences.game_folders()),
        }


def _word(declared: Any, value: Any) -> str:
    if declared.type == "ENUM":
        return str(declared.enum_items[value].name)
    return ("on" if value else "off") if declared.type == "BOOLEAN" else str(value)
