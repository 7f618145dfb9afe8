"""File > Export > id Tech 4 MD5 Camera."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...io_common.operators import file_operators
from ..export_camera import CameraExportOptions, export_camera
from ..format import Md5Error

if TYPE_CHECKING:
    from bpy.types import Context


class EXPORT_SCENE_OT_md5camera(bpy.types.Operator, file_operators.ExportFile, file_operators.ExportVerify):
    """Save the active camera, or the cameras that markers bind, as an MD5 camera path for a Doom 3 cut scene"""

    bl_idname = "export_scene.md5camera"
    bl_label = "Export MD5 Camera"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5camera"
    filter_glob: StringProperty(default="*.md5camera", options={"HIDDEN"})

    use_markers: BoolProperty(
        name="Camera Markers",
        description="Follow the cameras that timeline markers bind, each of them a cut. Markers whose names begin "
        'with the word "cut" are cuts in any case',
        default=True,
    )

    frame_rate_from: EnumProperty(
        name="Frame Rate",
        description="Where the frame rate of the path comes from",
        items=(
            ("AUTO", "Automatic", "The file that the camera was imported from, or the scene"),
            ("SCENE", "Scene", "The scene, also for an imported camera"),
        ),
        default="AUTO",
    )

    def default_name(self, context: Context) -> str:
        """The camera's."""
        camera = context.scene.camera
        return camera.name if camera is not None else ""

    def execute(self, context: Context) -> set[str]:
        """Exports the scene's range."""
        return file_operators.run(self, "Exported", Md5Error, lambda: self._export(context))

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser."""
        del context
        layout = file_operators.begin(self)
        self.draw_transform(layout, "IO_MD5_export_camera")
        header, body = layout.panel("IO_MD5_export_camera_path")
        header.label(text="Camera")
        if body:
            body.prop(self, "use_markers")
            body.prop(self, "frame_rate_from")
            body.prop(self, "verify")

    def _export(self, context: Context) -> file_operators.Outcome:
        path = self.path()
        options = CameraExportOptions(
            conversion=self.conversion(),
            use_markers=self.use_markers,
            use_scene_rate=self.frame_rate_from == "SCENE",
            verify=self.verification(),
        )
        result = export_camera(context, path, options)
        return result.report, result.paths


def menu(self: Any, context: Context) -> None:
    """The entry in File > Export."""
    del context
    self.layout.operator(EXPORT_SCENE_OT_md5camera.bl_idname, text="id Tech 4 MD5 Camera (.md5camera)")
