"""The options that all exports of models share: what is exported, verification and the game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..options import game_option, option, properties, property_of
from ..scene.objects import Scope
from ..verification import Verify
from . import preferences
from .layouts import draw_panel
from .panel_parts import Operator
from .transform import ExportTransform

if TYPE_CHECKING:
    from bpy.types import Context, UILayout


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

    def scope(self) -> Scope:
        """The scope of the export."""
        return Scope(self.use_selection, self.use_active_collection, self.collection)

    def draw_include(self, layout: UILayout, context: Context, prefix: str) -> None:
        """Draws the panel *Include*, but not for a collection exporter, which exports its collection."""
        if context.space_data is None or context.space_data.type != "FILE_BROWSER":
            return
        draw_panel(layout, f"{prefix}_include", "Include", self, "use_selection", "use_active_collection")


@properties
class ExportVerify(Operator):
    """The option to compare an export with what Blender shows."""

    verify: str = option(
        Verify.SOME.value,
        "Verify",
        "Compare the export with what Blender shows before writing it, and warn about differences",
        items=(
            (Verify.SOME.value, "Some Frames", "Compare the first frame, the last frame and a few in between"),
            (Verify.ALL.value, "All Frames", "Compare every frame"),
            (Verify.NONE.value, "Off", "Do not compare"),
        ),
    )

    def verification(self) -> Verify:
        """The frames to verify."""
        return Verify(self.verify)


ValuesOfGame = Callable[[Any, "Context"], dict[str, Any]]
"""A function that gives the values of options that the game of an operator, or of its properties, needs, by name."""


def game_mixin(profiles: Mapping[Any, Any], values_of_game: ValuesOfGame) -> type:
    """A mixin with the option *Game*, to be the first base: presets set the game before what it decides."""

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
        """The profile of the game."""
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
            "scope": self.scope(),
            "conversion": self.conversion(),
            "verify": self.verification(),
            "game_folders": tuple(preferences.game_folders()),
        }


def _word(declared: Any, value: Any) -> str:
    """The value of a property as the interface shows it."""
    if declared.type == "ENUM":
        return str(declared.enum_items[value].name)
    return ("on" if value else "off") if declared.type == "BOOLEAN" else str(value)
