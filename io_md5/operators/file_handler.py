"""Files dropped onto Blender's window, and the exporter of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy_extras.io_utils import poll_file_object_drop

from .export_mesh import EXPORT_SCENE_OT_md5mesh
from .import_md5 import IMPORT_SCENE_OT_md5

if TYPE_CHECKING:
    from bpy.types import Context


class IO_FH_md5(bpy.types.FileHandler):
    """MD5 models, animations and cameras."""

    bl_idname = "IO_FH_md5"
    bl_label = "id Tech 4 MD5"
    bl_import_operator = IMPORT_SCENE_OT_md5.bl_idname
    bl_export_operator = EXPORT_SCENE_OT_md5mesh.bl_idname
    # The first is what a collection's exporter writes. All in one handler: a model and its animations that are dropped
    # together go to the operator together.
    bl_file_extensions = ".md5mesh;.md5anim;.md5camera"

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Onto the 3D viewport and the outliner."""
        return bool(poll_file_object_drop(context))
