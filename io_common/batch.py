"""Imports and exports of the command line: what is the same for all families."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .reports import Report
from .scene import axes
from .verification import Verify

if TYPE_CHECKING:
    from bpy.types import Action


@dataclass(frozen=True)
class LoadOptions:
    """How a file is imported.

    Attributes:
        conversion: scale and axes.
        use_textures: give materials their images.
        game_folders: where images are looked for.
        animation_folder: where animations with the model's joints are imported from; None for none.
        separate_actions: make an action of each animation, where one file holds several.
    """

    conversion: axes.Conversion
    use_textures: bool = True
    game_folders: tuple[str, ...] = ()
    animation_folder: Path | None = None
    separate_actions: bool = False


@dataclass(frozen=True)
class Loaded:
    """What an import made.

    Attributes:
        report: counts and warnings.
        owner: the data-block that the actions animate, an object or shape keys; None if there is none.
        actions: the animations.
    """

    report: Report
    owner: Any = None
    actions: list[Action] = field(default_factory=list)


@dataclass(frozen=True)
class SaveOptions:
    """How the scene is exported.

    Attributes:
        conversion: scale and axes.
        game: the identifier of the game; one that is not the family's means its default.
        verify: on which frames the export is compared with what Blender shows.
        with_animations: export all animations, not only the model.
        use_scene_range: export what plays over the scene's range.
    """

    conversion: axes.Conversion
    game: str
    verify: Verify = Verify.SOME
    with_animations: bool = False
    use_scene_range: bool = False
