"""The MD3 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...io_blender.frame_options import FrameProperties
from ...io_blender.operators import layouts
from ...io_blender.operators.frame_operators import (
    FrameExport,
    FrameExportFile,
    FrameFormat,
    FrameImport,
    list_when_chosen,
)
from ...io_blender.options import game_option, mixin_of, option, properties
from ..exporting.exporter import ExportOptions, export_model, find_game_findings
from ..family import FAMILY
from ..format import PROFILES
from ..importing.importer import ImportOptions, import_files
from ..options import ImportProperties, ModelProperties
from . import panels

if TYPE_CHECKING:
    from bpy.types import UILayout

    _ImportOptions = ImportProperties

    class _Options(ModelProperties, FrameProperties):
        """The options of an export."""

else:
    _ImportOptions = mixin_of(ImportProperties)
    _Options = mixin_of(ModelProperties, FrameProperties, frames={"update": list_when_chosen})

FORMAT = FrameFormat(FAMILY, ImportOptions, import_files, ExportOptions, export_model, find_game_findings)


@properties
class IMPORT_SCENE_OT_md3(_ImportOptions, FrameImport, bpy.types.Operator):
    """Import MD3 models of Quake III and related games, with frames as shape keys and tags as empties"""

    bl_idname = "import_scene.md3"
    bl_label = "Import MD3"

    format, filename_ext = FORMAT, ".md3"
    model_options = ("merge_vertices", "custom_normals", "tags")
    filter_glob: str = option("*.md3", options={"HIDDEN"})


@properties
class BuildOptions(_Options, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    format, family, profiles = FORMAT, "md3", PROFILES
    game: str = game_option(PROFILES)


@properties
class EXPORT_SCENE_OT_md3(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as the surfaces of one MD3 model, and empties and bones named tag_… as its tags"""

    bl_idname = "export_scene.md3"
    bl_label = "Export MD3"

    filename_ext = ".md3"
    filter_glob: str = option("*.md3", options={"HIDDEN"})

    def draw_model(self, layout: UILayout) -> None:
        layouts.draw_wide(layout, self, "split_surfaces")


BLENDER = FORMAT.blender_part(IMPORT_SCENE_OT_md3, EXPORT_SCENE_OT_md3, BuildOptions, panels.CLASSES, panels.PROPERTIES)
