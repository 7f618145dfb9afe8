"""The add-on's preferences: the game folders that textures are looked for in, the scale of models, and the games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..family import Family
from . import game_option

if TYPE_CHECKING:
    from bpy.types import Context

# The extension is the package that this one lies in; its name depends on the repository it was installed from.
_EXTENSION = (__package__ or "").removesuffix(".io_common.operators")


DEFAULT_GAME = "ANY"
"""The game of a family without a choice, and of all where the add-on is not enabled."""

_instead: list[tuple[str, ...]] = []
_families: list[Family] = []
_find_conflicts: list[Callable[[Iterable[Family]], list[str]]] = []


@contextmanager
def using_game_folders(folders: tuple[str, ...]) -> Iterator[None]:
    """Has these folders count, and not those of the preferences, for the time of the block."""
    _instead.append(folders)
    try:
        yield
    finally:
        _instead.pop()


def game_folders() -> list[str]:
    """The folders that the user gave, in order; none where the add-on is not enabled."""
    if _instead:
        return list(_instead[-1])
    given = _preferences()
    return [bpy.path.abspath(folder.path) for folder in given.game_folders if folder.path] if given else []


def default_scale() -> float:
    """The factor of lengths on their way into the scene, where nothing else is asked for."""
    given = _preferences()
    return given.default_scale if given else 1.0


def game(family: str) -> str:
    """The identifier of the game that files are exported for, where none is given.

    Args:
        family: the name of the family, such as "md5".
    """
    return getattr(_preferences(), _game_property(family), DEFAULT_GAME)


def _game_property(family: str) -> str:
    return f"{family}_game"


def _preferences() -> Any:
    addon = bpy.context.preferences.addons.get(_EXTENSION)
    return addon.preferences if addon is not None else None


def _families_with_games() -> list[Family]:
    return [family for family in _families if family.games]


class IO_IDTECH_PG_game_folder(bpy.types.PropertyGroup):
    """A game folder."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(
            name="Folder",
            description="A folder with models, textures and materials of a game, or with archives (.pk4, .pk3) of them",
            subtype="DIR_PATH",
        )


class IO_IDTECH_UL_game_folders(bpy.types.UIList):
    """The list of game folders."""

    def draw_item(
        self,
        context: Context,
        layout: Any,
        data: Any,
        item: Any,
        icon: Any,
        active_data: Any,
        active_property: Any,
    ) -> None:
        """Draws one folder."""
        del context, data, icon, active_data, active_property
        layout.prop(item, "path", text="", emboss=False, icon="FILE_FOLDER")


class _GameFolderOperator:
    bl_options = {"INTERNAL"}

    @staticmethod
    def preferences(context: Context) -> Any:
        """The add-on's."""
        return context.preferences.addons[_EXTENSION].preferences

    @staticmethod
    def changed(context: Context) -> set[str]:
        """Blender saves the preferences at its end, if it is told that they changed."""
        context.preferences.is_dirty = True
        return {"FINISHED"}


class PREFERENCES_OT_io_idtech_game_folder_add(_GameFolderOperator, bpy.types.Operator):
    """Add a game folder"""

    bl_idname = "preferences.io_idtech_game_folder_add"
    bl_label = "Add Game Folder"

    if TYPE_CHECKING:
        directory: str
    else:
        directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE"})

    def invoke(self, context: Context, event: Any) -> set[str]:
        """Asks for the folder."""
        del event
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        """Adds the folder at the end."""
        owner = self.preferences(context)
        owner.game_folders.add().path = self.directory
        owner.active_game_folder = len(owner.game_folders) - 1
        return self.changed(context)


class PREFERENCES_OT_io_idtech_game_folder_remove(_GameFolderOperator, bpy.types.Operator):
    """Remove the selected game folder from the list"""

    bl_idname = "preferences.io_idtech_game_folder_remove"
    bl_label = "Remove Game Folder"

    def execute(self, context: Context) -> set[str]:
        """Removes the active folder."""
        owner = self.preferences(context)
        if not 0 <= owner.active_game_folder < len(owner.game_folders):
            return {"CANCELLED"}
        owner.game_folders.remove(owner.active_game_folder)
        owner.active_game_folder = max(0, min(owner.active_game_folder, len(owner.game_folders) - 1))
        return self.changed(context)


class PREFERENCES_OT_io_idtech_game_folder_move(_GameFolderOperator, bpy.types.Operator):
    """Move the selected game folder. Of files with the same name, the one in the upper folder is taken"""

    bl_idname = "preferences.io_idtech_game_folder_move"
    bl_label = "Move Game Folder"

    if TYPE_CHECKING:
        direction: str
    else:
        direction: EnumProperty(items=(("UP", "Up", ""), ("DOWN", "Down", "")))

    def execute(self, context: Context) -> set[str]:
        """Moves the active folder by one place."""
        owner = self.preferences(context)
        target = owner.active_game_folder + (-1 if self.direction == "UP" else 1)
        if not 0 <= target < len(owner.game_folders):
            return {"CANCELLED"}
        owner.game_folders.move(owner.active_game_folder, target)
        owner.active_game_folder = target
        return self.changed(context)


class IO_IDTECH_preferences(bpy.types.AddonPreferences):
    """The preferences of the extension."""

    bl_idname = _EXTENSION

    if TYPE_CHECKING:
        game_folders: Any
        active_game_folder: int
        default_scale: float
    else:
        game_folders: CollectionProperty(type=IO_IDTECH_PG_game_folder)
        active_game_folder: IntProperty(options={"HIDDEN"})
        default_scale: FloatProperty(
            name="Default Scale",
            description="Scale of imports, unless another one is chosen there. Exports divide by it",
            default=1.0,
            min=1e-6,
            max=1e6,
            soft_min=0.001,
            soft_max=1000.0,
        )

    def draw(self, context: Context) -> None:
        """Draws the list and its buttons."""
        del context
        layout = self.layout
        layout.label(text="Game folders, where textures and materials are looked for")
        row = layout.row()
        row.template_list(
            "IO_IDTECH_UL_game_folders", "", self, "game_folders", self, "active_game_folder", rows=4
        )
        buttons = row.column(align=True)
        buttons.operator(PREFERENCES_OT_io_idtech_game_folder_add.bl_idname, text="", icon="ADD")
        buttons.operator(PREFERENCES_OT_io_idtech_game_folder_remove.bl_idname, text="", icon="REMOVE")
        buttons.separator()
        for direction, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
            move = buttons.operator(PREFERENCES_OT_io_idtech_game_folder_move.bl_idname, text="", icon=icon)
            move.direction = direction
        layout.prop(self, "default_scale")
        for family in _families_with_games():
            layout.prop(self, _game_property(family.name))
        for line in [line for find in _find_conflicts for line in find(_families)]:
            layout.label(text=line, icon="ERROR")


_CLASSES = (
    IO_IDTECH_PG_game_folder,
    IO_IDTECH_UL_game_folders,
    PREFERENCES_OT_io_idtech_game_folder_add,
    PREFERENCES_OT_io_idtech_game_folder_remove,
    PREFERENCES_OT_io_idtech_game_folder_move,
    IO_IDTECH_preferences,
)


def register(families: Sequence[Family], conflicts: Callable[[Iterable[Family]], list[str]]) -> None:
    """Registers the preferences, with the choice of a game for each family.

    Args:
        families: of the extension.
        conflicts: gives sentences about other add-ons that get in the way, which the preferences show.
    """
    _families[:] = families
    _find_conflicts[:] = [conflicts]
    for family in _families_with_games():
        IO_IDTECH_preferences.__annotations__[_game_property(family.name)] = EnumProperty(
            name=f"Game for {family.name.upper()}",
            description=f"The game that {family.name.upper()} files are exported for, unless the export says otherwise",
            items=game_option.game_items(family.games),
        )
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
