"""The panel of an imported camera path, and the search for the images of shaders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Material

from ...io_blender.operators import find_images
from ...io_blender.operators.panel_parts import split_layout
from ...io_blender.reports import printable
from ...io_blender.skeletal.operators.panels import SkeletalPanel, rate_property
from ...io_blender.skeletal.records import MESH_NAME, SHADERS
from ...io_common.textures.conventions import MaterialImages
from ...io_common.textures.search import Search
from ..format.companions import TEXTURE_RULES
from ..records import CAMERA_RATE, CUT_MARKER


def _find(search: Search, model: Path, material: Material, name: str) -> MaterialImages:
    mesh = next((mesh for mesh in bpy.data.meshes if material.name in mesh.materials), None)
    mesh_name = MESH_NAME.read(mesh) if mesh is not None else None
    return search.model(model, [name]).material(name, mesh_name or None)


class DATA_PT_md5_camera(SkeletalPanel, bpy.types.Panel):
    """The path of an imported camera."""

    bl_label, kind = "MD5", "CAMERA"

    def draw(self, context: Context) -> None:
        obj: Any = context.object
        layout = split_layout(self)
        layout.prop(obj.data, "md5_frame_rate")
        marker = CUT_MARKER.read(obj.data)
        if marker:
            layout.label(text=f'Cuts are the timeline markers "{printable(marker)}"', icon="MARKER")


PROPERTIES = ((bpy.types.Camera, "md5_frame_rate", rate_property(CAMERA_RATE, ".md5camera")),)

CLASSES = (
    *find_images.classes_of(
        SHADERS, TEXTURE_RULES, _find, "Search the images of the shader again, and rebuild the material's nodes"
    ),
    DATA_PT_md5_camera,
)
