"""Options: each is declared once, as a field. Importers and exporters read it, operators have it as a property."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .scene.axes import Conversion
    from .scene.objects import ChosenConversion

AUTO, SCENE, GAME = "AUTO", "SCENE", "GAME"

_Class = TypeVar("_Class", bound=type)


def option(default: Any, name: str = "", description: str = "", **keywords: Any) -> Any:
    """A field of a dataclass or a class with the decorator `properties`; `keywords` are those of Blender."""
    return field(default=default, metadata={"name": name, "description": description, **keywords})


def choice_option(name: str, description: str, **items: tuple[str, str]) -> Any:
    """One of some identifiers, each with label and description; the first is the default."""
    return option(next(iter(items)), name, description, items=[(one, *texts) for one, texts in items.items()])


def hidden(default: Any, **keywords: Any) -> Any:
    """A property that no panel shows and that Blender does not remember."""
    return option(default, options={"HIDDEN", "SKIP_SAVE"}, **keywords)


def options_of(declared: type) -> dict[str, Field[Any]]:
    """The options of a dataclass, by name; `metadata` has the label, description and limits."""
    return {found.name: found for found in fields(declared) if found.metadata}


def values_of(operator: Any, declared: type) -> dict[str, Any]:
    """The values that an operator has for the options of a dataclass, by name."""
    return {
        name: tuple(getattr(operator, name)) if isinstance(found.default, tuple) else getattr(operator, name)
        for name, found in options_of(declared).items()
    }


def properties(cls: _Class) -> _Class:
    """Turns the fields of a class that Blender registers, or of a mixin, into annotations with properties."""
    cls.__annotations__ = {
        name: property_of(value) if isinstance(value, Field) else value
        for name, value in vars(cls).items()
        if isinstance(value, Field) or type(value).__name__ == "_PropertyDeferred"
    }
    for name in cls.__annotations__:
        delattr(cls, name)
    return cls


def mixin_of(*declared: type, **changes: Mapping[str, Any]) -> type:
    """A mixin with the options of dataclasses as properties; `changes` replaces keywords, by name."""
    found = {name: value for one in declared for name, value in options_of(one).items()}
    annotations = {name: property_of(value, changes.get(name, {})) for name, value in found.items()}
    return type("Options", (), {"__annotations__": annotations})


_PROPERTIES = {bool: "BoolProperty", int: "IntProperty", float: "FloatProperty", str: "StringProperty"}


def property_of(declared: Field[Any], changes: Mapping[str, Any] | None = None) -> Any:
    """The property of Blender for an option; `changes` replaces some of its keywords."""
    # The command line reads options without Blender.
    from bpy import props

    keywords = {"default": declared.default, **declared.metadata, **(changes or {})}
    default = keywords["default"]
    if default is MISSING:
        raise TypeError(f"{declared.name}: an option needs a default")
    if "items" in keywords:
        return props.EnumProperty(**keywords)
    if isinstance(default, tuple):
        return props.IntVectorProperty(size=len(default), **keywords)
    return getattr(props, _PROPERTIES[type(default)])(**keywords)


def scale_option(name: str, description: str) -> Any:
    """A factor for lengths."""
    return option(1.0, name, description, min=1e-6, max=1e6, soft_min=0.001, soft_max=1000.0)


def split_surfaces_option(what: str) -> Any:
    """The export option *Split Surfaces*; `what` has too many vertices or triangles."""
    return option(
        True, "Split Surfaces", f"Split {what} that exceed the game's limits into several, which keep the material"
    )


def frame_start_option(of: str) -> Any:
    """The import option *Start Frame*; `of` is what has the frames."""
    return option(0, "Start Frame", f"Scene frame for the first frame of {of}", min=-1_000_000, max=1_000_000)


def scene_timing_option(source: str) -> Any:
    """The import option *Set Frame Range & Rate*; `source` is what they are taken from."""
    return option(True, "Set Frame Range & Rate", f"Set the scene's frame rate and range to those of {source}")


_RATES = {
    SCENE: ("Scene's", "The frame rate of the scene: what Blender plays"),
    GAME: (
        "Game's",
        "In games that play 10 frames a second, sample the range at that rate, so that it lasts as long as in Blender. "
        "Frame Step has no effect",
    ),
}


def frame_rate_option(automatic: str, *others: str) -> Any:
    """The export option *Frame Rate*; `automatic` describes *Automatic*, `others` are `SCENE` or `GAME`."""
    items = [(AUTO, "Automatic", automatic), *((name, *_RATES[name]) for name in others)]
    return option(AUTO, "Frame Rate", "Source of the frame rate", items=items)


def game_items(profiles: Mapping[Any, Any]) -> list[tuple[str, str, str]]:
    """The items of a family's games, whose values are the identifiers."""
    return [(game.value, profile.label, profile.description) for game, profile in profiles.items()]


def game_option(profiles: Mapping[Any, Any], **keywords: Any) -> Any:
    """The export option *Game*; the first game is the default, unless the preferences have another."""
    items = game_items(profiles)
    description = (
        "The game to export for. It decides how files are written and what is an error, and sets options to what it "
        "needs"
    )
    return option(items[0][0], "Game", description, items=items, **keywords)


NO_ANIMATIONS, SAME_FOLDER = "none", "same"


@dataclass(frozen=True)
class Settings:
    """How files are converted: what the user chose, in words that JSON can hold."""

    format: str = "blend"  # or a family, "glb", "fbx"
    animations: str = NO_ANIMATIONS  # or "same" for those next to each model, or the path of another folder
    scale: float | None = None  # None for that of the file, in a .blend that of the import
    use_textures: bool = True
    game: str = ""  # for which files are written; empty for formats without games
    game_folders: tuple[str, ...] = ()
    verify: str = "SOME"
    game_data: tuple[str, ...] = ()  # of the game whose characters are converted; empty for files
    deform_only: bool = False
    add_origin: bool = False
    max_influences: int = 0
    joint_map: str = ""  # a file, for animations of other skeletons

    def animation_folder(self, source: Path) -> Path | None:
        """The folder with the animations of a model; None if animations are not converted."""
        if self.animations == NO_ANIMATIONS:
            return None
        return source.parent if self.animations == SAME_FOLDER else Path(self.animations)


@dataclass
class Scene:
    """The scene that is converted."""

    conversion: Conversion | ChosenConversion  # to the file; if it is not set, that of the import
    animated: list[tuple[Any, list[Any]]] | None = None  # imported data-blocks and their actions; None for a .blend
    holds_animations: bool = False  # whether the file of the model has animations of its own
    compares_speed: bool = True  # warn of animations that the game plays slower or faster than Blender
    use_scene_range: bool = False  # export the scene as it plays, if a model and its animations are one file
