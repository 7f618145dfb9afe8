"""Registering a family's classes and menu entries, and taking them back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy

Menu = Callable[[Any, Any], None]


@dataclass(frozen=True)
class Family:
    """What a family of formats adds to Blender.

    Attributes:
        classes: operators, panels and file handlers, in the order of registration.
        import_menus: entries of File > Import.
        export_menus: entries of File > Export.
    """

    classes: tuple[type, ...]
    import_menus: tuple[Menu, ...]
    export_menus: tuple[Menu, ...]

    def register(self) -> None:
        """Registers the classes and adds the menu entries."""
        for cls in self.classes:
            bpy.utils.register_class(cls)
        for menu in self.import_menus:
            bpy.types.TOPBAR_MT_file_import.append(menu)
        for menu in self.export_menus:
            bpy.types.TOPBAR_MT_file_export.append(menu)

    def unregister(self) -> None:
        """Takes everything back."""
        for menu in reversed(self.export_menus):
            bpy.types.TOPBAR_MT_file_export.remove(menu)
        for menu in reversed(self.import_menus):
            bpy.types.TOPBAR_MT_file_import.remove(menu)
        for cls in reversed(self.classes):
            bpy.utils.unregister_class(cls)
