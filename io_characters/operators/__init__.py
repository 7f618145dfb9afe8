"""What characters add to Blender: operators, a panel, and entries in File > Import and Export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import documentation
from .animation_rows import IO_IDTECH_PG_character_animation, IO_IDTECH_UL_character_animations
from .character_rows import IO_IDTECH_PG_character, IO_IDTECH_UL_characters
from .export_character import EXPORT_SCENE_OT_idtech_character
from .import_character import IMPORT_SCENE_OT_idtech_character
from .show import (
    IO_IDTECH_MT_character_animations,
    IO_IDTECH_PT_character,
    OBJECT_OT_idtech_character_animation,
    OBJECT_OT_idtech_character_skin,
)

if TYPE_CHECKING:
    from bpy.types import Context

PAGE = "characters.html"
"""The help page of the operators."""

CLASSES: tuple[Any, ...] = (
    IO_IDTECH_PG_character,
    IO_IDTECH_UL_characters,
    IO_IDTECH_PG_character_animation,
    IO_IDTECH_UL_character_animations,
    IMPORT_SCENE_OT_idtech_character,
    EXPORT_SCENE_OT_idtech_character,
    OBJECT_OT_idtech_character_skin,
    OBJECT_OT_idtech_character_animation,
    IO_IDTECH_MT_character_animations,
    IO_IDTECH_PT_character,
)


def _import_entry(menu: Any, context: Context) -> None:
    del context
    menu.layout.operator(IMPORT_SCENE_OT_idtech_character.bl_idname, text="id Tech Game Character")


def _export_entry(menu: Any, context: Context) -> None:
    del context
    menu.layout.operator(EXPORT_SCENE_OT_idtech_character.bl_idname, text="id Tech Game Character")


def register() -> None:
    """Registers the classes and the menu entry."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
        if issubclass(cls, bpy.types.Operator):
            documentation.add_page(cls.bl_idname, PAGE)
    bpy.types.TOPBAR_MT_file_import.append(_import_entry)
    bpy.types.TOPBAR_MT_file_export.append(_export_entry)


def unregister() -> None:
    """Removes what `register` added."""
    bpy.types.TOPBAR_MT_file_export.remove(_export_entry)
    bpy.types.TOPBAR_MT_file_import.remove(_import_entry)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
