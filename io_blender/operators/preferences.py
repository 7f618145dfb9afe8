"""The add-on's preferences: the game folders to search for textures, the default scale, and the games to export for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, EnumProperty
from bpy.types import Context

from ...io_common.family import Family
from ...io_common.game_tree.folders import looks_like_game_folder
from ..options import game_items, option, properties, scale_option
from . import documentation
from .panel_parts import Operator, OperatorResult, RowList

# The package of the extension, whose name depends on the repository that it was installed from.
_EXTENSION = (__package__ or "").removesuffix(".io_blender.operators")

registered: list[Family] = []  # the families whose operators are registered


def game_folders() -> list[str]:
    """The user's game folders, in order; none if the add-on is not enabled."""
    stored = _preferences()
    return [bpy.path.abspath(folder.path) for folder in stored.game_folders if folder.path] if stored else []


def default_scale() -> float:
    """The default factor for lengths from the file to the scene."""
    stored = _preferences()
    return stored.default_scale if stored else 1.0


def game(family: str) -> str:
    """The identifier of the default game for exports of a family; ANY without a choice, or if the add-on is off."""
    return getattr(_preferences(), _game_property(family), "ANY")


def _game_property(family: str) -> str:
    return f"{family}_game"


def _preferences() -> Any:
    addon = bpy.context.preferences.addons.get(_EXTENSION)
    return addon.preferences if addon is not None else None


def conflicts() -> list[str]:
    """Warnings about other add-ons that registered operators with the same names as this one's."""
    found: dict[str, list[str]] = {}
    for family in registered:
        for cls in family.blender().operators:
            if other := other_addon(cls):
                found.setdefault(other, []).append(cls.bl_idname)
    return [
        f"The add-on {module} also registers {', '.join(names)}. Disable one of the add-ons, then enable this one again"
        for module, names in found.items()
    ]


def other_addon(operator: type[bpy.types.Operator]) -> str:
    """The add-on that registered an operator of the same name; empty if there is none."""
    found = bpy.types.Operator.bl_rna_get_subclass_py(operator.__name__)
    if found is None or found.__module__ == operator.__module__:
        return ""
    return str(found.__module__.partition(".operators")[0])


@properties
class IO_IDTECH_PG_game_folder(bpy.types.PropertyGroup):
    """A game folder."""

    path: str = option(
        "",
        "Folder",
        "Folder with the models, textures and materials of a game, loose or in archives "
        "(.pk4, .pk3, .pkz, .pak, .dpk, .zip), or an archive itself",
        subtype="DIR_PATH",
    )


class IO_IDTECH_UL_game_folders(RowList, bpy.types.UIList):
    """The list of game folders."""

    def draw_row(self, layout: Any, item: Any, index: int) -> None:
        folder_icon = "ERROR" if _problem(item.path) else "FILE_FOLDER"
        layout.prop(item, "path", text="", emboss=False, icon=folder_icon)


def _problem(path: str) -> str:
    """Why a game folder cannot be used; empty if it can be, or is not chosen yet."""
    if not path or looks_like_game_folder(folder := Path(bpy.path.abspath(path))):
        return ""
    if not folder.exists():
        return "This folder does not exist"
    return "No models, materials or archives in it. Choose the folder that holds them, such as base"


class _GameFolderOperator(Operator):
    bl_options = {"INTERNAL"}

    @staticmethod
    def finish(context: Context) -> OperatorResult:
        """Marks the preferences as changed, so that Blender saves them when it closes."""
        context.preferences.is_dirty = True
        return {"FINISHED"}


@properties
class PREFERENCES_OT_io_idtech_game_folder_add(_GameFolderOperator, bpy.types.Operator):
    """Add the folder of a game, such as base, baseq2 or id1, to search for images"""

    bl_idname = "preferences.io_idtech_game_folder_add"
    bl_label = "Add Game Folder"

    directory: str = option("", subtype="DIR_PATH", options={"SKIP_SAVE"})

    def invoke(self, context: Context, event: Any) -> OperatorResult:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> OperatorResult:
        owner = _preferences()
        owner.game_folders.add().path = self.directory
        owner.active_game_folder = len(owner.game_folders) - 1
        return self.finish(context)


class PREFERENCES_OT_io_idtech_game_folder_remove(_GameFolderOperator, bpy.types.Operator):
    """Remove the selected game folder from the list"""

    bl_idname = "preferences.io_idtech_game_folder_remove"
    bl_label = "Remove Game Folder"

    def execute(self, context: Context) -> OperatorResult:
        owner = _preferences()
        if not 0 <= owner.active_game_folder < len(owner.game_folders):
            return {"CANCELLED"}
        owner.game_folders.remove(owner.active_game_folder)
        owner.active_game_folder = max(0, min(owner.active_game_folder, len(owner.game_folders) - 1))
        return self.finish(context)


@properties
class PREFERENCES_OT_io_idtech_game_folder_move(_GameFolderOperator, bpy.types.Operator):
    """Move the selected game folder. If several folders have a file of the same name, the topmost one is used"""

    bl_idname = "preferences.io_idtech_game_folder_move"
    bl_label = "Move Game Folder"

    direction: str = option("UP", items=(("UP", "Up", ""), ("DOWN", "Down", "")))

    def execute(self, context: Context) -> OperatorResult:
        owner = _preferences()
        target = owner.active_game_folder + (-1 if self.direction == "UP" else 1)
        if not 0 <= target < len(owner.game_folders):
            return {"CANCELLED"}
        owner.game_folders.move(owner.active_game_folder, target)
        owner.active_game_folder = target
        return self.finish(context)


@properties
class IO_IDTECH_preferences(bpy.types.AddonPreferences):
    """The preferences of the extension."""

    bl_idname = _EXTENSION

    game_folders: Any = CollectionProperty(type=IO_IDTECH_PG_game_folder)
    active_game_folder: int = option(0, options={"HIDDEN"})
    default_scale: float = scale_option(
        "Default Scale", "Scale of imports. Exports of models that were made in Blender are divided by it"
    )

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.label(text="Game folders, searched for textures and materials:")
        row = layout.row()
        row.template_list("IO_IDTECH_UL_game_folders", "", self, "game_folders", self, "active_game_folder", rows=4)
        buttons = row.column(align=True)
        buttons.operator(PREFERENCES_OT_io_idtech_game_folder_add.bl_idname, text="", icon="ADD")
        buttons.operator(PREFERENCES_OT_io_idtech_game_folder_remove.bl_idname, text="", icon="REMOVE")
        buttons.separator()
        for direction, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
            move = buttons.operator(PREFERENCES_OT_io_idtech_game_folder_move.bl_idname, text="", icon=icon)
            move.direction = direction
        for folder in self.game_folders[self.active_game_folder :][:1]:
            if problem := _problem(folder.path):
                layout.label(text=problem, icon="ERROR")
            elif folder.path:
                make = layout.operator("preferences.io_idtech_make_asset_library", icon="ASSET_MANAGER")
                make.game = folder.path
        layout.prop(self, "default_scale")
        for family in registered:
            if family.games:
                layout.prop(self, _game_property(family.name))
        documentation.draw_button(layout)
        for line in conflicts():
            layout.label(text=line, icon="ERROR")


def set_families(families: Sequence[Family]) -> None:
    """Sets the families, and adds a default game for each, before the preferences are registered."""
    registered[:] = families
    for family in families:
        if family.games:
            IO_IDTECH_preferences.__annotations__[_game_property(family.name)] = EnumProperty(
                name=f"Game for {family.name.upper()}",
                description=f"Default game to export {family.name.upper()} files for",
                items=game_items(family.games),
            )
