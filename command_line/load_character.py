"""Characters of games as the scene that is converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..io_blender.batch import Loaded
from ..io_blender.reports import Report
from ..io_blender.scene import axes
from ..io_characters import CharacterError
from ..io_characters.importer import import_character
from ..io_characters.reading import CharacterOptions
from ..io_characters.scene import actions_of
from ..io_common.game_tree.files import (
    FileReadError,
)
from .characters import catalogue, entry_of
from .empty_scene import EmptyScene
from .settings import Settings, Task
from .writers import Scene

if TYPE_CHECKING:
    from bpy.types import Action, Object

CHARACTER_ERRORS: tuple[type[ValueError], ...] = (CharacterError, FileReadError)
"""What is wrong with the data of a character, rather than with this extension."""


def load_character(task: Task, settings: Settings, empty_scene: EmptyScene, report: Report) -> Scene:
    """Loads a character as the scene.

    Raises CharacterError if its first model is missing or damaged, and FileReadError if it is no longer in the game.
    """
    found = catalogue(settings.game_data)
    character = found.character(entry_of(task, settings))
    empty_scene.prepare()
    options = CharacterOptions(
        use_textures=settings.use_textures,
        game_folders=settings.game_folders,
        conversion=axes.from_file(settings.scale or 1.0, "Y", "Z"),
    )
    result = import_character(bpy.context, character, found.files, options)
    report.merge(result.report)
    owners = [
        (owner, actions) for obj in result.objects if (actions := _actions(obj)) and (owner := _owner(obj))
    ]
    if not owners:
        return Scene(Loaded(result.report))
    (owner, actions), *others = owners
    return Scene(Loaded(result.report, owner, actions, others))


def _actions(root: Object) -> list[Action]:
    return [action for _, action in actions_of(root)]


def _owner(root: Any) -> Any:
    """What the actions of a part animate: an armature, or the shape keys of a mesh."""
    return root.data.shape_keys if root.type == "MESH" else root
