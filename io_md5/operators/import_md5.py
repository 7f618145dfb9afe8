"""File > Import > id Tech 4 MD5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.operators import panel_parts
from ...io_blender.options import mixin_of, option, properties
from ...io_blender.skeletal.operators.import_models import ImportModels
from ..format.files import FORMAT
from ..format.model import CAMERA_SUFFIX
from ..importing.importer import import_files
from ..options import ImportOptions, ImportProperties

if TYPE_CHECKING:
    from bpy.types import Context

    _Options = ImportProperties
else:
    _Options = mixin_of(ImportProperties)


@properties
class IMPORT_SCENE_OT_md5(_Options, ImportModels, bpy.types.Operator):
    """Import MD5 models, animations and camera paths (Doom 3, Quake 4, Sauerbraten, Quake re-releases)"""

    bl_idname = "import_scene.md5"
    bl_label = "Import MD5"

    filename_ext = ".md5mesh"
    format, panels = FORMAT, "IO_MD5_import"
    filter_glob: str = option("*.md5mesh;*.md5anim;*.md5camera", options={"HIDDEN"})
    options_type, import_files = ImportOptions, staticmethod(import_files)

    def draw_model(self, body: Any) -> None:
        panel_parts.draw_wide(body, self, "use_companions")

    def draw_animation(self, body: Any, context: Context) -> None:
        row = body.row()
        row.active = self.use_companions
        row.prop(self, "sequence_actions")
        ImportModels.draw_animation(self, body, context)
        if any(name.lower().endswith(CAMERA_SUFFIX) for name in self.selected_names(context)):
            body.prop(self, "use_render_size")
