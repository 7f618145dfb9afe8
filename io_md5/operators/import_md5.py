"""File > Import > id Tech 4 MD5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ...io_common.operators import file_operators, preferences
from ..format import Md5Error
from ..importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context


class IMPORT_SCENE_OT_md5(file_operators.ImportFiles, bpy.types.Operator):
    """Load MD5 models, animations and camera paths (Doom 3, Quake 4, Sauerbraten, the Quake re-releases)"""

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
            description="Make one vertex of the copies that UV seams need in the file, so that the model can be "
            "edited without tearing; export splits them again",
            default=True,
        )
        bone_direction: EnumProperty(
            name="Bone Direction",
            description="Where bones point. Poses, animations and export are the same either way",
            items=(
                ("CHILD", "To Child", "Bones point to their children, so that they look like a skeleton"),
                ("JOINT", "As Joint", "Bones have exactly the axes of the joints in the file"),
            ),
            default="CHILD",
        )
        animations: EnumProperty(
            name="Animations",
            description="Which animations come along with a model",
            items=(
                ("NONE", "None", "Only the chosen files"),
                ("FOLDER", "From Folder", "All animations beside the model that have the same joints"),
            ),
            default="NONE",
        )
        frame_start: IntProperty(
            name="Start Frame",
            description="The scene frame of the first frame of a file",
            default=0,
            min=-1_000_000,
            max=1_000_000,
        )
        use_scene_timing: BoolProperty(
            name="Set Scene Timing",
            description="Set the scene's frame rate and range by the first camera path, else by the first animation",
            default=True,
        )
        use_render_size: BoolProperty(
            name="4:3 Render Size",
            description="Set the render size to 4:3 when a camera path is imported: the field of view in the file is "
            "that of a 4:3 picture",
            default=False,
        )

        use_textures: BoolProperty(
            name="Textures",
            description="Give the materials their images, found by their names beside the model, in its game folder "
            "and in the game folders of the add-on's preferences",
            default=True,
        )

    def execute(self, context: Context) -> set[str]:
        """Imports the chosen files."""
        return file_operators.run(self, "Imported", Md5Error, lambda: self._import(context))

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser, or of the dialogue after a drop."""
        del context
        layout = file_operators.begin(self)
        self.draw_transform(layout, "IO_MD5_import")
        header, body = layout.panel("IO_MD5_import_model")
        header.label(text="Model")
        if body:
            body.prop(self, "merge_vertices")
        header, body = layout.panel("IO_MD5_import_armature")
        header.label(text="Armature")
        if body:
            body.prop(self, "bone_direction")
        file_operators.draw_textures(layout, self, "IO_MD5_import")
        header, body = layout.panel("IO_MD5_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animations")
            body.prop(self, "frame_start")
            body.prop(self, "use_scene_timing")
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
        return import_files(context, paths, options).report, paths

    def _has_own_conversion(self) -> bool:
        turned = any(self.properties.is_property_set(name) for name in ("axis_forward", "axis_up"))
        return turned or self.has_own_scale()
