"""File > Export > id Tech 4 MD5 Mesh (.md5mesh)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..exporter import export_mesh
from .export_options import ACTIONS, ExportOptions, armature_of

if TYPE_CHECKING:
    from bpy.types import Context


class EXPORT_SCENE_OT_md5mesh(bpy.types.Operator, ExportOptions):
    """Save an armature and its meshes as an MD5 model, on request with animations"""

    bl_idname = "export_scene.md5mesh"
    bl_label = "Export MD5 Mesh"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5mesh"
    filter_glob: StringProperty(default="*.md5mesh", options={"HIDDEN"})

    actions: EnumProperty(
        name="Actions",
        description="Which animations are written beside the mesh",
        items=(("NONE", "None", "Only the mesh"), *ACTIONS),
        default="NONE",
    )

    def default_name(self, context: Context) -> str:
        """The armature's."""
        armature = armature_of(context)
        return armature.name if armature is not None else ""

    def execute(self, context: Context) -> set[str]:
        """Writes the chosen file."""
        return self.run(context, export_mesh)

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser, or of a collection's exporter."""
        self.draw_panels(context, "IO_MD5_export_mesh")


def menu(self: Any, context: Context) -> None:
    """The entry in File > Export."""
    del context
    self.layout.operator(EXPORT_SCENE_OT_md5mesh.bl_idname, text="id Tech 4 MD5 Mesh (.md5mesh)")
