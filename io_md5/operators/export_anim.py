"""File > Export > id Tech 4 MD5 Animation (.md5anim)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..exporter import export_animations
from ..source.actions import load_action
from .export_options import ACTIONS, ExportOptions, armature_of

if TYPE_CHECKING:
    from bpy.types import Context


class EXPORT_SCENE_OT_md5anim(bpy.types.Operator, ExportOptions):
    """Save animations of an armature as MD5"""

    bl_idname = "export_scene.md5anim"
    bl_label = "Export MD5 Animation"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5anim"
    filter_glob: StringProperty(default="*.md5anim", options={"HIDDEN"})

    actions: EnumProperty(
        name="Actions", description="Which animations are written", items=ACTIONS, default="ACTIVE"
    )

    def default_name(self, context: Context) -> str:
        """The active action's, by the name that it had in its file."""
        armature = armature_of(context)
        data = armature.animation_data if armature is not None else None
        action = data.action if data is not None else None
        return load_action(action).name if action is not None else ""

    def execute(self, context: Context) -> set[str]:
        """Writes the chosen file."""
        return self.run(context, export_animations)

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser, or of a collection's exporter."""
        self.draw_panels(context, "IO_MD5_export_anim")


def menu(self: Any, context: Context) -> None:
    """The entry in File > Export."""
    del context
    self.layout.operator(EXPORT_SCENE_OT_md5anim.bl_idname, text="id Tech 4 MD5 Animation (.md5anim)")
