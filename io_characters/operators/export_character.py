"""File > Export > id Tech Game Character."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, StringProperty

from ...io_blender import versions
from ...io_blender.operators import file_operators, preferences
from ...io_md2.format import Md2Error
from ...io_md5.format import Md5Error
from ..errors import CharacterError
from ..exporter import CharacterExport, export_character
from ..scene import find_character

if TYPE_CHECKING:
    from bpy.types import Context, Event

    from ...io_blender.operators.blender_mixins import OperatorResult


class EXPORT_SCENE_OT_idtech_character(file_operators.ExportVerify, bpy.types.Operator):
    """Write the active character, as it was imported from a game, with its models, animations and declarations"""

    bl_idname = "export_scene.idtech_character"
    bl_label = "Export Game Character"
    bl_options = {"REGISTER", "PRESET"}

    if TYPE_CHECKING:
        directory: str
        filter_folder: bool
        use_models: bool
        use_declarations: bool
    else:
        directory: StringProperty(
            name="Folder",
            description="Folder that stands for the game folder: files are written below it by their paths in the game",
            subtype="DIR_PATH",
            options={"SKIP_SAVE"} | versions.PATH_OPTIONS,
        )
        filter_folder: BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})
        use_models: BoolProperty(
            name="Models and Animations",
            description="Write the model of each part, and an animation for each of its actions",
            default=True,
        )
        use_declarations: BoolProperty(
            name="Declarations",
            description="Write what the game needs to find them: model, skin and entityDef in .def and .skin files for "
            "Doom 3, md5.cfg or md2.cfg for Sauerbraten",
            default=True,
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether the active object belongs to a character."""
        return find_character(context) is not None

    def invoke(self, context: Context, event: Event) -> OperatorResult:
        """Opens the file browser."""
        del event
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Draws the options."""
        del context
        layout = file_operators.panel_layout(self)
        layout.prop(self, "use_models")
        layout.prop(self, "use_declarations")
        layout.prop(self, "verify")

    def execute(self, context: Context) -> OperatorResult:
        """Writes the character."""
        return file_operators.run(self, "Exported", CharacterError, lambda: self._export(context))

    def _export(self, context: Context) -> file_operators.Outcome:
        found = find_character(context)
        if found is None:
            raise CharacterError(
                "no character: select an object of a character that was imported from a game"
            )
        if not self.directory:
            raise CharacterError("no folder selected: select the folder that stands for the game folder")
        options = CharacterExport(
            use_models=self.use_models,
            use_declarations=self.use_declarations,
            verify=self.verification(),
            game_folders=tuple(preferences.game_folders()),
        )
        try:
            result = export_character(context, found, Path(bpy.path.abspath(self.directory)), options)
        except (Md5Error, Md2Error) as error:
            raise CharacterError(str(error)) from error
        return result.report, result.paths
