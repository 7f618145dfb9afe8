"""File > Import > id Tech 4 MD5, the panel of an imported camera path, and the search for the images of shaders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Material

from ...io_blender.operators import find_images, panel_parts
from ...io_blender.options import mixin_of, option, properties
from ...io_blender.reports import printable
from ...io_blender.skeletal.operators.import_models import ImportModels
from ...io_blender.skeletal.operators.panels import SkeletalPanel, rate_property
from ...io_blender.skeletal.records import MESH_NAME, SHADERS, load_comment_name
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ..format.companions import TEXTURE_RULES
from ..format.files import FORMAT
from ..format.model import CAMERA_SUFFIX
from ..importing.importer import import_files
from ..options import ImportOptions, ImportProperties
from ..records import CAMERA_RATE, CUT_MARKER

if TYPE_CHECKING:
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


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    obj = next((one for one in bpy.data.objects if one.type == "MESH" and material.name in one.data.materials), None)
    mesh_name = MESH_NAME.read(obj.data) or load_comment_name(obj.data, obj.name) if obj is not None else None
    return search.model(model, [name]).material(name, mesh_name or None)


class DATA_PT_md5_camera(SkeletalPanel, bpy.types.Panel):
    """The path of an imported camera."""

    bl_label, kind = "MD5", "CAMERA"

    def draw(self, context: Context) -> None:
        obj: Any = context.object
        layout = panel_parts.split_layout(self)
        layout.prop(obj.data, "md5_frame_rate")
        marker = CUT_MARKER.read(obj.data)
        if marker:
            layout.label(text=f'Cuts are the timeline markers "{printable(marker)}"', icon="MARKER")


PROPERTIES = ((bpy.types.Camera, "md5_frame_rate", rate_property(CAMERA_RATE, ".md5camera")),)

CLASSES = (
    *find_images.classes_of(
        SHADERS, TEXTURE_RULES, _find, "Search for the images of the shader again, and rebuild the material's nodes"
    ),
    DATA_PT_md5_camera,
)
