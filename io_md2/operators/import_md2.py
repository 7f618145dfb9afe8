"""File > Import > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...io_blender.operators import blender_mixins, file_operators, preferences
from ..format import FRAMES_PER_SECOND, Md2Error
from ..importing.importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


class IMPORT_SCENE_OT_md2(file_operators.ImportFiles, bpy.types.Operator):
    """Import MD2 models of Quake II and related games, with frames as shape keys"""

    bl_idname = "import_scene.md2"
    bl_label = "Import MD2"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".md2"
    if TYPE_CHECKING:
        filter_glob: str
        merge_vertices: bool
        custom_normals: bool
        animation: str
        use_textures: bool
        sequence_actions: bool
        frame_start: int
        use_scene_timing: bool
        fps: float
    else:
        filter_glob: StringProperty(default="*.md2", options={"HIDDEN"})

        merge_vertices: BoolProperty(
            name="Merge by Distance",
            description="Merge vertices that are at the same position in every frame. This is permanent: export "
            "does not split them again",
            default=False,
        )
        custom_normals: BoolProperty(
            name="Custom Normals",
            description="Use the normals of the first frame in the file instead of those that Blender computes",
            default=False,
        )
        animation: EnumProperty(
            name="Shape Keys",
            description="How to import the frames",
            items=(
                ("RELATIVE", "Relative", "Import each frame as a shape key with an animated value"),
                (
                    "ABSOLUTE",
                    "Absolute",
                    "Import each frame as an absolute shape key, and animate the evaluation time",
                ),
                ("NONE", "None", "Import only the first frame, without shape keys"),
            ),
            default="RELATIVE",
        )
        use_textures: BoolProperty(
            name="Textures",
            description="Import the images of the skins from the game folder or from the model's folder",
            default=True,
        )
        sequence_actions: BoolProperty(
            name="Sequence Actions",
            description="Also create an action for each sequence, such as run or pain1",
            default=False,
        )
        frame_start: IntProperty(
            name="Start Frame",
            description="Scene frame for the first frame of the file",
            default=0,
            min=-1_000_000,
            max=1_000_000,
        )
        use_scene_timing: BoolProperty(
            name="Set Frame Range & Rate",
            description="Set the scene's frame rate and range to those of the first animated model",
            default=True,
        )
        fps: FloatProperty(
            name="Frame Rate",
            description="Frames per second. Quake II plays 10",
            default=FRAMES_PER_SECOND,
            min=0.01,
            max=1000.0,
            soft_min=1.0,
            soft_max=60.0,
        )

    def execute(self, context: Context) -> OperatorResult:
        """Imports the files."""
        return file_operators.run(self, "Imported", Md2Error, lambda: self._import(context))

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser, or in the dialog for dropped files."""
        del context
        layout = file_operators.panel_layout(self)
        self.draw_transform(layout, "IO_MD2_import")
        header, body = blender_mixins.panel(layout, "IO_MD2_import_model")
        header.label(text="Model")
        if body:
            body.prop(self, "merge_vertices")
            body.prop(self, "custom_normals")
        file_operators.draw_textures(layout, self, "IO_MD2_import")
        header, body = blender_mixins.panel(layout, "IO_MD2_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animation")
            column = body.column()
            column.active = self.animation != "NONE"
            column.prop(self, "sequence_actions")
            column.prop(self, "frame_start")
            file_operators.draw_wide(column, self, "use_scene_timing")
            row = column.row()
            row.active = self.use_scene_timing
            row.prop(self, "fps")

    def _import(self, context: Context) -> file_operators.Outcome:
        options = ImportOptions(
            merge_vertices=self.merge_vertices,
            custom_normals=self.custom_normals,
            animation=self.animation,
            frame_start=self.frame_start,
            fps=self.fps,
            sequence_actions=self.sequence_actions,
            use_scene_timing=self.use_scene_timing,
            use_textures=self.use_textures,
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        paths = self.paths()
        result = import_files(context, paths, options)
        file_operators.show_imported(context, result)
        return result.report, paths
