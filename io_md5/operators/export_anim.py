"""File > Export > id Tech 4 MD5 Animation (.md5anim)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import EnumProperty, StringProperty

from ..exporting.exporter import export_animations
from ..records import load_action
from .export_options import ACTIONS, ExportOptions, armature_of, list_when_chosen

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


class EXPORT_SCENE_OT_md5anim(ExportOptions, bpy.types.Operator):
    """Export animations of an armature as MD5"""

    bl_idname = "export_scene.md5anim"
    bl_label = "Export MD5 Animation"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5anim"
    if TYPE_CHECKING:
        filter_glob: str
        actions: str
    else:
        filter_glob: StringProperty(default="*.md5anim", options={"HIDDEN"})

        actions: EnumProperty(
            name="Actions",
            description="Animations to export",
            items=ACTIONS,
            default="ACTIVE",
            update=list_when_chosen,
        )

    def default_name(self, context: Context) -> str:
        """The name of the active action, that of its file if it was imported."""
        armature = armature_of(context)
        data = armature.animation_data if armature is not None else None
        action = data.action if data is not None else None
        return load_action(action).name if action is not None else ""

    def execute(self, context: Context) -> OperatorResult:
        """Exports the file."""
        return self.run(context, export_animations)

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser or in a collection exporter."""
        self.draw_panels(context, "IO_MD5_export_anim", has_mesh=False)
