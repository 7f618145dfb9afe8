"""The operators of the MD5 family and their places in Blender's menus."""

from __future__ import annotations

import bpy

from . import export_anim, export_camera, export_mesh, import_md5

_CLASSES = (
    import_md5.IMPORT_SCENE_OT_md5,
    export_mesh.EXPORT_SCENE_OT_md5mesh,
    export_anim.EXPORT_SCENE_OT_md5anim,
    export_camera.EXPORT_SCENE_OT_md5camera,
)
_IMPORT_MENUS = (import_md5.menu,)
_EXPORT_MENUS = (export_mesh.menu, export_anim.menu, export_camera.menu)


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
