"""File > Import > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...io_common.operators import file_operators, preferences
from ..format import FRAMES_PER_SECOND, Md2Error
from ..importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context


class IMPORT_SCENE_OT_md2(file_operators.ImportFiles, bpy.types.Operator):
    """Load MD2 models with their frames as shape keys (Quake II and its kin)"""

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
            name="Merge Vertices",
            description="Make one vertex of those that are in the same place in every frame. Export does not split "
            "them again",
            default=False,
        )
        custom_normals: BoolProperty(
            name="Custom Normals",
            description="Shade with the normals of the file, those of its first frame, instead of Blender's own",
            default=False,
        )
        animation: EnumProperty(
            name="Animation",
            description="What becomes of the frames",
            items=(
                ("RELATIVE", "Relative Keys", "Each frame is a shape key, and its value is animated"),
                (
                    "ABSOLUTE",
                    "Absolute Keys",
                    "Each frame is a shape key, and the evaluation time walks along them",
                ),
                ("NONE", "None", "The first frame alone, without shape keys"),
            ),
            default="RELATIVE",
        )
        use_textures: BoolProperty(
            name="Textures",
            description="Look for the images of the skins in the game folder and beside the model",
            default=True,
        )
        sequence_actions: BoolProperty(
            name="Action per Sequence",
            description="Make an action of each sequence, such as run or pain1, besides the one of all frames",
            default=False,
        )
        frame_start: IntProperty(
            name="Start Frame",
            description="The scene frame of the first frame of the file",
            default=0,
            min=-1_000_000,
            max=1_000_000,
        )
        use_scene_timing: BoolProperty(
            name="Set Scene Timing",
            description="Set the scene's frame rate and range by the first animated model",
            default=True,
        )
        fps: FloatProperty(
            name="Frame Rate",
            description="Frames a second; Quake II plays 10",
            default=FRAMES_PER_SECOND,
            min=0.01,
            max=1000.0,
            soft_min=1.0,
            soft_max=60.0,
        )

    def execute(self, context: Context) -> set[str]:
        """Imports the chosen files."""
        return file_operators.run(self, "Imported", Md2Error, lambda: self._import(context))

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser, or of the dialogue after a drop."""
        del context
        layout = file_operators.begin(self)
        self.draw_transform(layout, "IO_MD2_import")
        header, body = layout.panel("IO_MD2_import_model")
        header.label(text="Model")
        if body:
            body.prop(self, "merge_vertices")
            body.prop(self, "custom_normals")
        file_operators.draw_textures(layout, self, "IO_MD2_import")
        header, body = layout.panel("IO_MD2_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animation")
            column = body.column()
            column.active = self.animation != "NONE"
            column.prop(self, "sequence_actions")
            column.prop(self, "frame_start")
            column.prop(self, "use_scene_timing")
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
        return import_files(context, paths, options).report, paths
