"""File > Export > id Tech 3 MD3 (.md3), and Check for Game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_blender.frame_options import FrameProperties
from ...io_blender.operators import game_check, layouts
from ...io_blender.operators.frame_operators import FrameCheck, FrameExport, FrameExportFile, list_when_chosen
from ...io_blender.options import game_option, mixin_of, option, properties, values_of
from ...io_blender.reports import ExportResult, Job
from ..exporting.exporter import export_model, find_game_findings
from ..exporting.scene import ExportOptions
from ..format import FRAMES_PER_SECOND, PROFILES, Game, Md3Error
from ..options import ModelProperties

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    class _Options(ModelProperties, FrameProperties):
        """The options of an export."""

else:
    _Options = mixin_of(ModelProperties, FrameProperties, frames={"update": list_when_chosen})


@properties
class BuildOptions(_Options, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles, game_rate = "md3", PROFILES, FRAMES_PER_SECOND
    game: str = game_option(PROFILES)

    def export_options(self, context: Context) -> ExportOptions:
        """The options of the export."""
        return ExportOptions(
            **values_of(self, ModelProperties),
            **self.shared_options(),
            frames=self.frame_options(context),
            game=Game(self.game_or_default()),
        )


@properties
class EXPORT_SCENE_OT_md3(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as the surfaces of one MD3 model, and empties and bones named tag_… as its tags"""

    bl_idname = "export_scene.md3"
    bl_label = "Export MD3"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md3"
    bad_data = Md3Error
    filter_glob: str = option("*.md3", options={"HIDDEN"})

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        return export_model(context, path, self.export_options(context))

    def check_operator(self) -> type:
        return OBJECT_OT_md3_check_game

    def draw_model(self, layout: UILayout) -> None:
        layouts.draw_wide(layout, self, "split_surfaces")


@properties
class OBJECT_OT_md3_check_game(BuildOptions, FrameCheck, bpy.types.Operator):
    """List the problems that a game would have with the visible meshes as an MD3 model"""

    bl_idname = "object.md3_check_game"
    bl_label = "Check for Game (MD3)"
    bl_options = {"REGISTER", "UNDO"}
    bad_data = Md3Error

    def find(self, context: Context) -> list[game_check.LocatedFinding]:
        return find_game_findings(context, self.export_options(context))


class DATA_PT_md3_game(game_check.GamePanel, bpy.types.Panel):
    """The check in the properties of a mesh."""

    bl_label = "Game (MD3)"
    check = OBJECT_OT_md3_check_game
    kinds = ("MESH",)
