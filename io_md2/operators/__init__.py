"""The MD2 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...io_blender.frame_import import ImportOptions
from ...io_blender.frame_options import ImportProperties
from ...io_blender.operators import layouts
from ...io_blender.operators.frame_operators import (
    FrameExport,
    FrameExportFile,
    FrameFormat,
    FrameImport,
    list_when_chosen,
)
from ...io_blender.options import game_option, mixin_of, option, properties
from ..exporting.exporter import TEMPLATE_LABELS, ExportOptions, export_model, find_game_findings
from ..family import FAMILY
from ..format import PROFILES
from ..format.sequences import Template, match_template
from ..importing.importer import import_files
from ..options import FrameProperties, ModelProperties
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
class IMPORT_SCENE_OT_md2(_ImportOptions, FrameImport, bpy.types.Operator):
    """Import MD2 models of Quake II and related games, with frames as shape keys"""

    bl_idname = "import_scene.md2"
    bl_label = "Import MD2"

    format, filename_ext = FORMAT, ".md2"
    filter_glob: str = option("*.md2", options={"HIDDEN"})


@properties
class BuildOptions(_Options, FrameExport):
    """The properties that decide what is exported, and the options made from them."""

    format, family, profiles = FORMAT, "md2", PROFILES
    game: str = game_option(PROFILES)

    def own_options(self) -> dict[str, Any]:
        return {"template": Template(self.sequence_template), "force_skin_size": self.skin_size_from == "CUSTOM"}


@properties
class EXPORT_SCENE_OT_md2(BuildOptions, FrameExportFile, bpy.types.Operator):
    """Export meshes as one MD2 model, with frames from shape keys or from the scene"""

    bl_idname = "export_scene.md2"
    bl_label = "Export MD2"

    filename_ext = ".md2"
    filter_glob: str = option("*.md2", options={"HIDDEN"})

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


BLENDER = FORMAT.blender_part(IMPORT_SCENE_OT_md2, EXPORT_SCENE_OT_md2, BuildOptions, panels.CLASSES, panels.PROPERTIES)
