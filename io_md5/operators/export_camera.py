"""File > Export > id Tech 4 MD5 Camera."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, StringProperty

from ...io_blender.operators import blender_mixins, file_operators, game_option, preferences
from ...io_blender.operators.frame_rate_option import SCENE, frame_rate_property
from ..exporting.camera import CameraExportOptions, export_camera, exported_cameras
from ..format import Md5Error
from ..format.games import PROFILES, Game

if TYPE_CHECKING:
    from bpy.types import Context, Object

    from ...io_blender.operators.blender_mixins import OperatorResult


class EXPORT_SCENE_OT_md5camera(file_operators.ExportFile, file_operators.ExportVerify, bpy.types.Operator):
    """Export the active camera, or the cameras bound to markers, as an MD5 camera path for Doom 3 cut scenes"""

    bl_idname = "export_scene.md5camera"
    bl_label = "Export MD5 Camera"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md5camera"
    if TYPE_CHECKING:
        filter_glob: str
        use_markers: bool
        frame_rate_from: str
        game: str
    else:
        filter_glob: StringProperty(default="*.md5camera", options={"HIDDEN"})

        use_markers: BoolProperty(
            name="Camera Markers",
            description="Switch between the cameras bound to timeline markers, with a cut at each. Markers whose names "
            'begin with the word "cut" are always cuts',
            default=True,
        )

        frame_rate_from: frame_rate_property(
            "Frame rate of the imported file if the camera was imported, else of the scene", SCENE
        )

        game: game_option.game_property(PROFILES)

    def default_game(self) -> str:
        """The default game in the preferences."""
        return preferences.game("md5")

    def converted_objects(self, context: Context) -> list[Object]:
        """The cameras."""
        return exported_cameras(context.scene, use_markers=self.use_markers)

    def default_name(self, context: Context) -> str:
        """The name of the scene's camera."""
        camera = context.scene.camera
        return camera.name if camera is not None else ""

    def execute(self, context: Context) -> OperatorResult:
        """Exports the frame range of the scene."""
        return file_operators.run(self, "Exported", Md5Error, lambda: self._export(context))

    def draw(self, context: Context) -> None:
        """Draws the options in the file browser."""
        del context
        layout = file_operators.panel_layout(self)
        self.draw_transform(layout, "IO_MD5_export_camera")
        header, body = blender_mixins.panel(layout, "IO_MD5_export_camera_path")
        header.label(text="Camera")
        if body:
            body.prop(self, "game")
            body.prop(self, "use_markers")
            body.prop(self, "frame_rate_from")
            body.prop(self, "verify")

    def _export(self, context: Context) -> file_operators.Outcome:
        path = self.path()
        options = CameraExportOptions(
            conversion=self.conversion(),
            use_markers=self.use_markers,
            use_scene_rate=self.frame_rate_from == SCENE,
            verify=self.verification(),
            game=Game(game_option.game_or_default(self, self.default_game())),
        )
        result = export_camera(context, path, options)
        return result.report, result.paths
