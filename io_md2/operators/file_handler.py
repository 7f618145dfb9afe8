"""Files dropped onto Blender's window, and the exporter of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy_extras.io_utils import poll_file_object_drop

from .export_md2 import EXPORT_SCENE_OT_md2
from .import_md2 import IMPORT_SCENE_OT_md2

if TYPE_CHECKING:
    from bpy.types import Context


class IO_FH_md2(bpy.types.FileHandler):
    """MD2 models."""

    bl_idname = "IO_FH_md2"
    bl_label = "id Tech 2 MD2"
    bl_import_operator = IMPORT_SCENE_OT_md2.bl_idname
    bl_export_operator = EXPORT_SCENE_OT_md2.bl_idname
    bl_file_extensions = ".md2"

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Onto the 3D viewport and the outliner."""
        return bool(poll_file_object_drop(context))
