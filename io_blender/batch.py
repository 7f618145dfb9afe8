"""Options and results of the imports and exports that the command line runs, the same for all families."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from .reports import Report
from .scene import axes
from .scene.objects import ChosenConversion
from .verification import Verify

if TYPE_CHECKING:
    from bpy.types import Action

    from .reports import ImportResult


@dataclass(frozen=True)
class LoadOptions:
    """How a file is imported.

    Attributes:
        conversion: scale and axes.
        use_textures: load images for materials.
        game_folders: the game folders to search for images.
        animation_folder: the folder from which to import the animations that have the model's joints; None for none.
        separate_actions: make an action for each animation if one file holds several.
    """

    conversion: axes.Conversion
    use_textures: bool = True
    game_folders: tuple[str, ...] = ()
    animation_folder: Path | None = None
    separate_actions: bool = False


@dataclass(frozen=True)
class Loaded:
    """The result of an import.

    Attributes:
        report: counts and warnings.
        owner: the data-block that the actions animate: an object or shape keys; None if nothing is animated.
        actions: the animations.
        others: further data-blocks and the actions that animate them, for characters of several models.
    """

    report: Report
    owner: Any = None
    actions: list[Action] = field(default_factory=list)
    others: list[tuple[Any, list[Action]]] = field(default_factory=list)

    @property
    def animated(self) -> list[tuple[Any, list[Action]]]:
        """All animated data-blocks with their actions."""
        return [(self.owner, self.actions), *self.others] if self.owner is not None else []


@dataclass(frozen=True)
class SaveOptions:
    """How the scene is exported.

    Attributes:
        conversion: scale and axes from the scene to the file; if some are not set, those of the import.
        game: the identifier of the game; one that is not the family's means its default.
        verify: the frames on which the export is compared with what Blender shows.
        with_animations: export all animations with the model.
        use_scene_range: export the scene as it plays over its frame range.
        game_folders: the game folders to which the paths of images are relative.
        deform_only: leave out bones that do not deform, in formats with bones.
        add_origin: add a root joint where a game needs one, in formats with bones.
        max_influences: the number of weights to keep for each vertex, in formats with weights; 0 for all.
        compares_speed: warn of animations that the game plays slower or faster than Blender.
    """

    conversion: axes.Conversion | ChosenConversion
    game: str
    verify: Verify = Verify.SOME
    with_animations: bool = False
    use_scene_range: bool = False
    game_folders: tuple[str, ...] = ()
    deform_only: bool = False
    add_origin: bool = False
    max_influences: int = 0
    compares_speed: bool = True


def separated(result: ImportResult) -> list[Action]:
    """The actions of an import without those that are divided into others.

    These are removed: Blender's glTF exporter writes every action that fits an armature.
    """
    kept = [action for action in result.actions if action not in result.divided]
    for action in result.divided:
        bpy.data.actions.remove(action)
    return kept
