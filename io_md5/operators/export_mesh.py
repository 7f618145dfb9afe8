"""File > Export > id Tech 4 MD5 Mesh (.md5mesh)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import EnumProperty, StringProperty

from ..exporting.exporter import export_mesh
from .export_options import ACTIONS, ExportOptions, armature_of, list_when_chosen

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


class EXPORT_SCENE_OT_md5mesh(ExportOptions, bpy.types.Operator):
    """Export an armature and its meshes as an MD5 model, optionally with animations"""

    bl_idname = "export_scene.md5mesh"
    bl_label = "Export MD5 Mesh"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5mesh"
    if TYPE_CHECKING:
        filter_glob: str
        actions: str
    else:
        filter_glob: StringProperty(default="*.md5mesh", options={"HIDDEN"})

        actions: EnumProperty(
            name="Actions",
            description="Animations to export with the mesh",
            items=(("NONE", "None", "Export only the mesh"), *ACTIONS),
            default="NONE",
            update=list_when_chosen,
        )

    def default_name(self, context: Context) -> str:
        """The name of the armature."""
        armature = armature_of(context)
        return armature.name if armature is not None else ""

    def execute(self, context: Context) -> OperatorResult:
        """Exports the file."""
        return self.run(context, export_mesh)

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser or in a collection exporter."""
        self.draw_panels(context, "IO_MD5_export_mesh", has_mesh=True)
