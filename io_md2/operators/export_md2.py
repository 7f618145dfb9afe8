"""File > Export > id Tech 2 MD2 (.md2), and Check for Game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_blender.operators import game_check, layouts
from ...io_blender.operators.frame_operators import FrameCheck, FrameExport, FrameExportFile, list_when_chosen
from ...io_blender.options import game_option, mixin_of, option, properties, values_of
from ...io_blender.reports import ExportResult, Job
from ..exporting.exporter import TEMPLATE_LABELS, ExportOptions, export_model, find_game_findings
from ..format import FRAMES_PER_SECOND, PROFILES, Game, Md2Error
from ..format.sequences import Template, match_template
from ..options import FrameProperties, ModelProperties

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

    class _Options(ModelProperties, FrameProperties):
        """The options of an export."""

else:
    _Options = mixin_of(ModelProperties, FrameProperties, frames={"update": list_when_chosen})


@properties
class BuildOptions(_Options, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    family, profiles, game_rate = "md2", PROFILES, FRAMES_PER_SECOND
    game: str = game_option(PROFILES)

    def export_options(self, context: Context) -> ExportOptions:
        """The options of the export."""
        return ExportOptions(
            **values_of(self, ModelProperties),
            **self.shared_options(),
            frames=self.frame_options(context),
            template=Template(self.sequence_template),
            force_skin_size=self.skin_size_from == "CUSTOM",
            game=Game(self.game_or_default()),
        )


@properties
class EXPORT_SCENE_OT_md2(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"
    bl_options = {"REGISTER", "PRESET"}

    filename_ext = ".md2"
    bad_data = Md2Error
    filter_glob: str = option("*.md2", options={"HIDDEN"})

    def save(self, context: Context, path: Path) -> Job[ExportResult]:
        return export_model(context, path, self.export_options(context))

    def check_operator(self) -> type:
        return OBJECT_OT_md2_check_game

    def draw_frames(self, layout: UILayout) -> None:
        layouts.draw_wide(layout, self, "one_box")

    def draw_model(self, layout: UILayout) -> None:
        layouts.draw_wide(layout, self, "split_sharp")
        layout.prop(self, "skin_size_from")
        layout.prop(self, "skin_size", text="Fallback Size" if self.skin_size_from == "AUTO" else "Size")

    def draw_template(self, layout: UILayout) -> None:
        layout.prop(self, "sequence_template")

    def problems_of(self, chosen: list[tuple[str, int]]) -> tuple[str, list[str]]:
        template = Template(self.sequence_template)
        return f"Not yet a {TEMPLATE_LABELS[template]}:", match_template(template, chosen).problems


@properties
class OBJECT_OT_md2_check_game(BuildOptions, FrameCheck, bpy.types.Operator):
    """List the problems that a game would have with the visible meshes as an MD2 model"""

    bl_idname = "object.md2_check_game"
    bl_label = "Check for Game (MD2)"
    bl_options = {"REGISTER", "UNDO"}
    bad_data = Md2Error

    def find(self, context: Context) -> list[game_check.LocatedFinding]:
        return find_game_findings(context, self.export_options(context))


class DATA_PT_md2_game(game_check.GamePanel, bpy.types.Panel):
    """The check in the properties of a mesh."""

    bl_label = "Game (MD2)"
    check = OBJECT_OT_md2_check_game
    kinds = ("MESH",)
