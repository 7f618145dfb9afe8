"""MD2 files into the scene and out of it, for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..io_blender.batch import Loaded, LoadOptions, SaveOptions, separated
from ..io_blender.clips.frame_plan import FrameOptions
from ..io_blender.reports import ExportResult
from .exporting.exporter import ExportOptions, export_model
from .format.games import game_named
from .importing.importer import ImportOptions, import_files

if TYPE_CHECKING:
    from bpy.types import Context


def load(context: Context, path: Path, options: LoadOptions) -> Loaded:
    """Imports a file; for the arguments and errors see `import_files`."""
    result = import_files(
        context,
        [path],
        ImportOptions(
            sequence_actions=options.separate_actions,
            use_textures=options.use_textures,
            game_folders=options.game_folders,
            conversion=options.conversion,
        ),
    )
    return Loaded(result.report, result.objects[0].data.shape_keys, separated(result))


def save(context: Context, path: Path, options: SaveOptions) -> ExportResult:
    """Exports the scene's meshes, joined, as a model.

    Raises Md2Error if the game would refuse the result, NothingToExportError if there is nothing to export, and OSError
    if the file cannot be written.
    """
    return export_model(
        context,
        path,
        ExportOptions(
            frames=FrameOptions("SCENE" if options.use_scene_range else "AUTO"),
            game=game_named(options.game),
            verify=options.verify,
            conversion=options.conversion,
            game_folders=options.game_folders,
            compares_speed=options.compares_speed,
        ),
    )
