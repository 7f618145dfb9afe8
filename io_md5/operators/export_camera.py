"""File > Export > id Tech 4 MD5 Camera."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, orientation_helper

from ...io_common import axes, panels, reports
from ...io_common.scene_objects import NothingToExportError
from ..export_camera import CameraExportOptions, export_camera
from ..format import Md5Error

if TYPE_CHECKING:
    from bpy.types import Context


@orientation_helper(axis_forward="Y", axis_up="Z")
class EXPORT_SCENE_OT_md5camera(bpy.types.Operator, ExportHelper):
    """Save the active camera, or the cameras that markers bind, as an MD5 camera path for a Doom 3 cut scene"""

    bl_idname = "export_scene.md5camera"
    bl_label = "Export MD5 Camera"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5camera"
    filter_glob: StringProperty(default="*.md5camera", options={"HIDDEN"})

    global_scale: FloatProperty(
        name="Scale",
        description="Factor of all lengths",
        default=1.0,
        min=1e-6,
        max=1e6,
        soft_min=0.001,
        soft_max=1000.0,
    )
    use_markers: BoolProperty(
        name="Camera Markers",
        description="Follow the cameras that timeline markers bind, each of them a cut. Markers whose names begin "
        'with the word "cut" are cuts in any case',
        default=True,
    )

    def execute(self, context: Context) -> set[str]:
        """Exports the scene's range."""
        started = time.perf_counter()
        path = Path(bpy.path.abspath(self.filepath))
        options = CameraExportOptions(
            conversion=axes.exporting(self.global_scale, self.axis_forward, self.axis_up),
            use_markers=self.use_markers,
        )
        try:
            report = export_camera(context, path, options)
        except (Md5Error, NothingToExportError, OSError) as error:
            reports.tell(self, "ERROR", str(error))
            return {"CANCELLED"}
        reports.deliver(self, report, "Exported", path.name, started)
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser."""
        del context
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        panels.transform(layout, self, "IO_MD5_export_camera")
        header, body = layout.panel("IO_MD5_export_camera_path")
        header.label(text="Camera")
        if body:
            body.prop(self, "use_markers")


def menu(self: Any, context: Context) -> None:
    """The entry in File > Export."""
    del context
    self.layout.operator(EXPORT_SCENE_OT_md5camera.bl_idname, text="id Tech 4 MD5 Camera (.md5camera)")
