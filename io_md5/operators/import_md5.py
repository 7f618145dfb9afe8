"""File > Import > id Tech 4 MD5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...io_common.operators import blender_mixins, file_operators, preferences
from ...io_common.scene import state
from ..format import Md5Error
from ..format.suffixes import CAMERA_SUFFIX
from ..importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_common.operators.blender_mixins import OperatorResult


class IMPORT_SCENE_OT_md5(file_operators.ImportFiles, bpy.types.Operator):
    """Import MD5 models, animations and camera paths (Doom 3, Quake 4, Sauerbraten, Quake re-releases)"""

    bl_idname = "import_scene.md5"
    bl_label = "Import MD5"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".md5mesh"
    if TYPE_CHECKING:
        filter_glob: str
        merge_vertices: bool
        bone_direction: str
        animations: str
        frame_start: int
        use_scene_timing: bool
        use_render_size: bool
        use_textures: bool
    else:
        filter_glob: StringProperty(default="*.md5mesh;*.md5anim;*.md5camera", options={"HIDDEN"})
        merge_vertices: BoolProperty(
            name="Merge Vertices",
            description="Merge the copies of vertices along UV seams, so that the mesh does not tear when edited. "
            "Export splits them again",
            default=True,
        )
        bone_direction: EnumProperty(
            name="Bone Direction",
            description="Direction of the bones. It does not affect poses, animations or export",
            items=(
                ("CHILD", "To Child", "Point bones to their children, so that they look like a skeleton"),
                ("JOINT", "Original Axes", "Give bones the axes of the joints in the file"),
            ),
            default="CHILD",
        )
        animations: EnumProperty(
            name="Animations",
            description="Animations to import with a model",
            items=(
                ("NONE", "None", "Import only the selected files"),
                (
                    "FOLDER",
                    "From Folder",
                    "Also import the animations in the model's folder that have its joints",
                ),
            ),
            default="NONE",
        )
        frame_start: IntProperty(
            name="Start Frame",
            description="Scene frame for the first frame of each file",
            default=0,
            min=-1_000_000,
            max=1_000_000,
        )
        use_scene_timing: BoolProperty(
            name="Set Frame Range & Rate",
            description="Set the scene's frame rate and range to those of the first camera path, else of the first "
            "animation",
            default=True,
        )
        use_render_size: BoolProperty(
            name="4:3 Render Size",
            description="Set a 4:3 resolution when importing a camera path. The field of view in the file is for 4:3",
            default=False,
        )

        use_textures: BoolProperty(
            name="Textures",
            description="Import the images of the materials from the model's folder, its game folder or the game "
            "folders in the preferences",
            default=True,
        )

    def invoke(self, context: Context, event: bpy.types.Event) -> OperatorResult:
        """Opens the file browser, or the dialog for dropped files.

        From the menu, the animations of the folder are imported unless turned off. Of dropped files, only these are.
        """
        if not self.files and not self.properties.is_property_set("animations"):
            self.animations = "FOLDER"
        return super().invoke(context, event)

    def execute(self, context: Context) -> OperatorResult:
        """Imports the files."""
        return file_operators.run(self, "Imported", Md5Error, lambda: self._import(context))

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser, or in the dialog for dropped files."""
        layout = file_operators.panel_layout(self)
        self.draw_transform(layout, "IO_MD5_import")
        header, body = blender_mixins.panel(layout, "IO_MD5_import_model")
        header.label(text="Model")
        if body:
            body.prop(self, "merge_vertices")
        header, body = blender_mixins.panel(layout, "IO_MD5_import_armature")
        header.label(text="Armature")
        if body:
            body.prop(self, "bone_direction")
        file_operators.draw_textures(layout, self, "IO_MD5_import")
        header, body = blender_mixins.panel(layout, "IO_MD5_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animations")
            body.prop(self, "frame_start")
            file_operators.draw_wide(body, self, "use_scene_timing")
            if self._may_import_camera(context):
                body.prop(self, "use_render_size")

    def _import(self, context: Context) -> file_operators.Outcome:
        options = ImportOptions(
            merge_vertices=self.merge_vertices,
            bone_direction=self.bone_direction,
            animations=self.animations,
            frame_start=self.frame_start,
            use_scene_timing=self.use_scene_timing,
            use_render_size=self.use_render_size,
            use_textures=self.use_textures,
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
            use_conversion_of_armature=not self._has_own_conversion(),
        )
        paths = self.paths()
        result = import_files(context, paths, options)
        if result.objects:
            state.show_selected(context)
        return result.report, paths

    def _may_import_camera(self, context: Context) -> bool:
        """Whether a selected file is a camera path."""
        return any(name.lower().endswith(CAMERA_SUFFIX) for name in self.selected_names(context))

    def _has_own_conversion(self) -> bool:
        """Whether the user or a script has set a scale or axes."""
        has_own_axes = any(self.properties.is_property_set(name) for name in ("axis_forward", "axis_up"))
        return has_own_axes or self.has_own_scale()
