"""File > Import > id Tech 3 MD3 (.md3)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...io_blender.operators import preferences
from ...io_blender.operators.frame_operators import FrameImport
from ...io_blender.options import mixin_of, option, properties, values_of
from ...io_blender.reports import ImportResult, Job
from ..format import Md3Error
from ..importing.importer import ImportOptions, import_files
from ..options import ImportProperties

if TYPE_CHECKING:
    from bpy.types import Context

    _Options = ImportProperties
else:
    _Options = mixin_of(ImportProperties)


@properties
class IMPORT_SCENE_OT_md3(_Options, FrameImport, bpy.types.Operator):
    """Import MD3 models of Quake III and related games, with frames as shape keys and tags as empties"""

    bl_idname = "import_scene.md3"
    bl_label = "Import MD3"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    family, filename_ext = "md3", ".md3"
    model_options = ("merge_vertices", "custom_normals", "tags")
    bad_data = Md3Error
    filter_glob: str = option("*.md3", options={"HIDDEN"})

    def load(self, context: Context, paths: list[Path]) -> Job[ImportResult]:
        options = ImportOptions(
            **values_of(self, ImportProperties),
            game_folders=tuple(preferences.game_folders()),
            conversion=self.conversion(),
        )
        return import_files(context, paths, options)
