"""The MD3 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender.clips.frame_plan import FrameOptions
from ...io_blender.options import Scene, Settings
from ...io_blender.reports import ExportResult, ImportResult, finish
from ...io_blender.scene.axes import Conversion
from ...io_blender.verification import Verify
from ...io_common.family import BlenderPart
from ..exporting.exporter import export_model
from ..exporting.scene import ExportOptions
from ..format.games import game_named
from ..importing.importer import ImportOptions, import_files
from . import export_md3, import_md3, panels

if TYPE_CHECKING:
    from bpy.types import Context


def load(context: Context, path: Path, settings: Settings, conversion: Conversion) -> ImportResult:
    """Imports a file; for the arguments and errors see `import_files`."""
    options = ImportOptions(
        # Only glTF holds the animations of a file separately.
        sequence_actions=settings.format == "glb",
        use_textures=settings.use_textures,
        game_folders=settings.game_folders,
        conversion=conversion,
    )
    return finish(import_files(context, [path], options))


def save(context: Context, path: Path, settings: Settings, scene: Scene) -> ExportResult:
    """Exports the scene; raises Md3Error if the game refuses it, NothingToExportError or OSError."""
    options = ExportOptions(
        frames=FrameOptions("SCENE" if scene.use_scene_range else "AUTO"),
        game=game_named(settings.game),
        verify=Verify(settings.verify),
        conversion=scene.conversion,
        game_folders=settings.game_folders,
        compares_speed=scene.compares_speed,
    )
    return finish(export_model(context, path, options))


BLENDER = BlenderPart(
    importer=import_md3.IMPORT_SCENE_OT_md3,
    exporters=(export_md3.EXPORT_SCENE_OT_md3,),
    load=load,
    save=save,
    classes=(export_md3.OBJECT_OT_md3_check_game, export_md3.DATA_PT_md3_game, *panels.CLASSES),
    properties=panels.PROPERTIES,
)
