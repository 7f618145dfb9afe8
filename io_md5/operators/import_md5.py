"""File > Import > id Tech 4 MD5."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...io_blender.operators import blender_mixins, check_boxes, file_operators, preferences
from ..format import Md5Error
from ..format.model import CAMERA_SUFFIX, MESH_SUFFIX
from ..importing.importer import ImportOptions, import_files
from ..importing.plan import active_skeleton
from . import animation_choice

if TYPE_CHECKING:
    from bpy.types import Context

    from ...io_blender.operators.blender_mixins import OperatorResult


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
        animation_filter: str
        animation_list: Any
        active_animation: int
        check_animations: set[str]
        listed_for: str
        nla_tracks: bool
        existing_actions: str
        frame_start: int
        use_scene_timing: bool
        use_render_size: bool
        use_companions: bool
        sequence_actions: bool
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
                (
                    "CHOOSE",
                    "Choose",
                    "List the animations in the folder and import those that are checked, also onto the active "
                    "armature",
                ),
            ),
            default="NONE",
        )
        animation_filter: StringProperty(
            name="Filter",
            description="Import only animations of the folder with this in their names. With * and ? it is a pattern "
            "for the whole name, such as walk*. Setting it in a script enables From Folder",
            options={"SKIP_SAVE"},
        )
        animation_list: CollectionProperty(
            type=animation_choice.IO_MD5_PG_animation_file, options={"HIDDEN", "SKIP_SAVE"}
        )
        active_animation: IntProperty(options={"HIDDEN", "SKIP_SAVE"})
        check_animations: check_boxes.check_boxes_property(
            "check_animations", "is_checked", animation_choice.shown_items
        )
        listed_for: StringProperty(options={"HIDDEN", "SKIP_SAVE"})
        nla_tracks: BoolProperty(
            name="NLA Tracks",
            description="Put each animation onto an NLA track of its own, as a muted strip",
            default=False,
        )
        existing_actions: EnumProperty(
            name="Same Name",
            description="What to do with an animation if the armature has an action of the same name",
            items=(
                ("CREATE", "Create New", "Create another action, whose name gets a number"),
                ("REPLACE", "Replace", "Replace the action everywhere it is used"),
                ("SKIP", "Skip", "Keep the action and do not import the animation"),
            ),
            default="CREATE",
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

        use_companions: BoolProperty(
            name="Re-release Files",
            description="With models and animations of the re-releases of Quake and Quake II, also import the files "
            "that belong to them: the animation, joint scales (.md5scale), and the skins and frame names of the MD2 or "
            "MDL",
            default=True,
        )
        sequence_actions: BoolProperty(
            name="Sequence Actions",
            description="Also create an action for each sequence of the MD2 or MDL, such as run or pain1",
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
            body.prop(self, "use_companions")
        header, body = blender_mixins.panel(layout, "IO_MD5_import_armature")
        header.label(text="Armature")
        if body:
            body.prop(self, "bone_direction")
        file_operators.draw_textures(layout, self, "IO_MD5_import")
        header, body = blender_mixins.panel(layout, "IO_MD5_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animations")
            if self.animations == "CHOOSE":
                animation_choice.draw(body, context, self, *self._selection(context))
            row = body.row()
            row.active = self.use_companions
            row.prop(self, "sequence_actions")
            body.prop(self, "nla_tracks")
            body.prop(self, "existing_actions")
            body.prop(self, "frame_start")
            file_operators.draw_wide(body, self, "use_scene_timing")
            if self._may_import_camera(context):
                body.prop(self, "use_render_size")

    def _import(self, context: Context) -> file_operators.Outcome:
        options = ImportOptions(
            merge_vertices=self.merge_vertices,
            bone_direction=self.bone_direction,
            animations=self._animation_source(),
            animation_folder=self._folder_for_armature(),
            animation_filter=self.animation_filter,
            chosen=animation_choice.chosen_names(self) if self.animations == "CHOOSE" else None,
            nla_tracks=self.nla_tracks,
            existing_actions=self.existing_actions,
            frame_start=self.frame_start,
            use_scene_timing=self.use_scene_timing,
            use_render_size=self.use_render_size,
            use_companions=self.use_companions,
            sequence_actions=self.sequence_actions,
            use_textures=self.use_textures,
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
            use_conversion_of_armature=not self._has_own_conversion(),
        )
        paths = self._paths_to_import()
        result = import_files(context, paths, options)
        file_operators.show_imported(context, result)
        return result.report, paths

    def _animation_source(self) -> str:
        """The option *Animations*; a script that sets only a filter imports from the folder."""
        has_own_filter = bool(self.animation_filter.strip()) and not self.properties.is_property_set(
            "animations"
        )
        return "FOLDER" if has_own_filter else self.animations

    def _folder(self) -> Path:
        """The folder of the files, or the one that is chosen instead of a file."""
        if self.directory:
            return Path(bpy.path.abspath(self.directory))
        path = Path(bpy.path.abspath(self.filepath))
        return path if path.is_dir() else path.parent

    def _has_file(self) -> bool:
        """Whether a file is given, and not only a folder."""
        if any(file.name for file in self.files):
            return True
        path = bpy.path.abspath(self.filepath)
        return bool(path) and not Path(path).is_dir()

    def _folder_for_armature(self) -> Path | None:
        """The folder with animations for the active armature: without a file, or if they are chosen without a model."""
        if self._animation_source() == "NONE":
            return None
        names = [self.filepath, *(file.name for file in self.files)]
        has_model = any(name.lower().endswith(MESH_SUFFIX) for name in names)
        is_chosen = self.animations == "CHOOSE" and not has_model
        return self._folder() if is_chosen or not self._has_file() else None

    def _paths_to_import(self) -> list[Path]:
        """The files; none if animations of a folder are imported onto the active armature.

        Raises NoFileError if there is no file, and no armature or no folder either.
        """
        is_for_armature = (
            self._animation_source() != "NONE"
            and bool(self.directory or self.filepath)
            and not self._has_file()
            and active_skeleton(bpy.context) is not None
            and self._folder().is_dir()
        )
        return [] if is_for_armature else self.paths()

    def _selection(self, context: Context) -> tuple[Path, list[str]]:
        """The folder and the names of the files that are selected in the file browser, or were given."""
        params = getattr(context.space_data, "params", None)
        if params is not None and getattr(params, "directory", None):
            return Path(os.fsdecode(params.directory)), self.selected_names(context)
        names = [file.name for file in self.files if file.name]
        return self._folder(), names or [Path(self.filepath).name]

    def _may_import_camera(self, context: Context) -> bool:
        """Whether a selected file is a camera path."""
        return any(name.lower().endswith(CAMERA_SUFFIX) for name in self.selected_names(context))

    def _has_own_conversion(self) -> bool:
        """Whether the user or a script has set a scale or axes."""
        return self.has_own_axes() or self.has_own_scale()
