"""File > Import > id Tech 2 MD2 (.md2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_blender.frame_options import ImportProperties
from ...io_blender.operators import preferences
from ...io_blender.operators.frame_operators import FrameImport
from ...io_blender.options import mixin_of, option, properties, values_of
from ...io_blender.reports import ImportResult, Job
from ..format import Md2Error
from ..importing.importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context

    _Options = ImportProperties
else:
    _Options = mixin_of(ImportProperties)


@properties
class IMPORT_SCENE_OT_md2(_Options, FrameImport, bpy.types.Operator):
    """Import MD2 models of Quake II and related games, with frames as shape keys"""

    bl_idname = "import_scene.md2"
    bl_label = "Import MD2"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    family, filename_ext = "md2", ".md2"
    bad_data = Md2Error
    filter_glob: str = option("*.md2", options={"HIDDEN"})

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        options = ImportOptions(
            **values_of(self, ImportProperties),
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        return import_files(context, paths, options)
