"""File > Export > id Tech 4 MD5 Animation (.md5anim)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, orientation_helper

from ..exporter import export_animations
from .export_options import ACTIONS, ExportOptions, draw_panels, run

if TYPE_CHECKING:
    from bpy.types import Context


@orientation_helper(axis_forward="Y", axis_up="Z")
class EXPORT_SCENE_OT_md5anim(bpy.types.Operator, ExportHelper, ExportOptions):
    """Save animations of an armature as MD5"""

    bl_idname = "export_scene.md5anim"
    bl_label = "Export MD5 Animation"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5anim"
    filter_glob: StringProperty(default="*.md5anim", options={"HIDDEN"})

    actions: EnumProperty(
        name="Actions", description="Which animations are written", items=ACTIONS, default="ACTIVE"
    )

    def execute(self, context: Context) -> set[str]:
        """Writes the chosen file."""
        return run(self, context, export_animations)

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser, or of a collection's exporter."""
        draw_panels(self, context, "IO_MD5_export_anim")


def menu(self: Any, context: Context) -> None:
    """The entry in File > Export."""
    del context
    self.layout.operator(EXPORT_SCENE_OT_md5anim.bl_idname, text="id Tech 4 MD5 Animation (.md5anim)")
