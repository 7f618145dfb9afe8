"""File > Import > id Tech 4 MD5."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
)
from bpy_extras.io_utils import ImportHelper, orientation_helper

from ...io_common import axes, panels, preferences, reports
from ..format import Md5Error
from ..importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context


@orientation_helper(axis_forward="Y", axis_up="Z")
class IMPORT_SCENE_OT_md5(bpy.types.Operator, ImportHelper):
    """Load MD5 models, animations and camera paths (Doom 3, Quake 4, Sauerbraten, the Quake re-releases)"""

    bl_idname = "import_scene.md5"
    bl_label = "Import MD5"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".md5mesh"
    filter_glob: StringProperty(default="*.md5mesh;*.md5anim;*.md5camera", options={"HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

    global_scale: FloatProperty(
        name="Scale",
        description="Factor of all lengths. An animation for an armature of the scene takes the armature's own "
        "scale and axes unless it is set here",
        default=1.0,
        min=1e-6,
        max=1e6,
        soft_min=0.001,
        soft_max=1000.0,
    )
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
        name="Start Frame", description="The scene frame of the first frame of a file", default=0
    )
    use_scene_timing: BoolProperty(
        name="Set Scene Timing",
        description="Set the scene's frame rate and range by the first camera path, else by the first animation",
        default=True,
    )
    use_render_size: BoolProperty(
        name="4:3 Render Size",
        description="Set the render size to 4:3 when a camera path is imported: the field of view of the file is the "
        "width of such a picture",
        default=False,
    )

    use_textures: BoolProperty(
        name="Textures",
        description="Give the materials their images, found by their names beside the model, in its game folder "
        "and in the game folders of the add-on's preferences",
        default=True,
    )

    def invoke(self, context: Context, event: bpy.types.Event) -> set[str]:
        """Asks in the file browser, or, for files that were dropped, only for the options."""
        del event
        return self.invoke_popup(context)  # type: ignore[return-value] # the stubs lack what it returns

    def execute(self, context: Context) -> set[str]:
        """Imports the chosen files."""
        started = time.perf_counter()
        options = ImportOptions(
            merge_vertices=self.merge_vertices,
            bone_direction=self.bone_direction,
            animations=self.animations,
            frame_start=self.frame_start,
            use_scene_timing=self.use_scene_timing,
            use_render_size=self.use_render_size,
            use_textures=self.use_textures,
            game_folders=tuple(preferences.game_folders()),
            conversion=self._conversion(),
        )
        paths = self._paths()
        try:
            result = import_files(context, paths, options)
        except (Md5Error, OSError) as error:
            reports.tell(self, "ERROR", str(error))
            return {"CANCELLED"}
        reports.deliver(
            self, result.report, "Imported", reports.listing([path.name for path in paths], 2), started
        )
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        """Draws the panels of the file browser."""
        del context
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        panels.transform(layout, self, "IO_MD5_import")
        header, body = layout.panel("IO_MD5_import_model")
        header.label(text="Model")
        if body:
            body.prop(self, "merge_vertices")
            body.prop(self, "bone_direction")
        panels.materials(layout, self, "IO_MD5_import")
        header, body = layout.panel("IO_MD5_import_animation")
        header.label(text="Animation")
        if body:
            body.prop(self, "animations")
            body.prop(self, "frame_start")
            body.prop(self, "use_scene_timing")
            body.prop(self, "use_render_size")

    def _paths(self) -> list[Path]:
        names = [file.name for file in self.files if file.name]
        if names:
            return [Path(bpy.path.abspath(self.directory)) / name for name in names]
        return [Path(bpy.path.abspath(self.filepath))]

    def _conversion(self) -> axes.Conversion | None:
        given = any(
            self.properties.is_property_set(name) for name in ("global_scale", "axis_forward", "axis_up")
        )
        return axes.importing(self.global_scale, self.axis_forward, self.axis_up) if given else None


def menu(self: Any, context: Context) -> None:
    """The entry in File > Import."""
    del context
    self.layout.operator(IMPORT_SCENE_OT_md5.bl_idname, text="id Tech 4 MD5 (.md5mesh, .md5anim, .md5camera)")
