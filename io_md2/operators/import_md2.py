"""File > Import > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_blender.operators import file_operators, preferences
from ...io_blender.options import mixin_of, option, properties, values_of
from ...io_blender.reports import ImportResult, Job
from ..format import Md2Error
from ..importing.importer import ImportOptions, import_files
from ..options import ImportProperties

if TYPE_CHECKING:
    from bpy.types import Context

    _Options = ImportProperties
else:
    _Options = mixin_of(ImportProperties)


@properties
class IMPORT_SCENE_OT_md2(_Options, file_operators.ImportFiles, bpy.types.Operator):
    """Import MD2 models of Quake II and related games, with frames as shape keys"""

    bl_idname = "import_scene.md2"
    bl_label = "Import MD2"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".md2"
    bad_data = Md2Error
    filter_glob: str = option("*.md2", options={"HIDDEN"})

    def draw(self, context: Context) -> None:
        del context
        layout = file_operators.panel_layout(self)
        draw_panel, prefix = file_operators.draw_panel, "IO_MD2_import"
        layout.prop(self, "animation")
        self.draw_transform(layout, prefix)
        draw_panel(layout, f"{prefix}_model", "Model", self, "merge_vertices", "custom_normals")
        draw_panel(layout, f"{prefix}_materials", "Materials", self, "use_textures")
        body = draw_panel(layout, f"{prefix}_animation", "Animation", self)
        if body:
            column = body.column()
            column.active = self.animation != "NONE"
            column.prop(self, "sequence_actions")
            column.prop(self, "frame_start")
            file_operators.draw_wide(column, self, "use_scene_timing")
            row = column.row()
            row.active = self.use_scene_timing
            row.prop(self, "fps")

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        options = ImportOptions(
            **values_of(self, ImportProperties),
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        return import_files(context, paths, options)
