"""The operators of the MD2 family and their places in Blender's menus."""

from __future__ import annotations

import bpy

from . import export_md2, import_md2

_CLASSES = (import_md2.IMPORT_SCENE_OT_md2, export_md2.EXPORT_SCENE_OT_md2)
_IMPORT_MENUS = (import_md2.menu,)
_EXPORT_MENUS = (export_md2.menu,)


def register() -> None:
    """Registers the operators and adds them to the menus."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    for menu in _IMPORT_MENUS:
        bpy.types.TOPBAR_MT_file_import.append(menu)
    for menu in _EXPORT_MENUS:
        bpy.types.TOPBAR_MT_file_export.append(menu)


def unregister() -> None:
    """Takes everything back."""
    for menu in reversed(_EXPORT_MENUS):
        bpy.types.TOPBAR_MT_file_export.remove(menu)
    for menu in reversed(_IMPORT_MENUS):
        bpy.types.TOPBAR_MT_file_import.remove(menu)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
