"""MD5 files into the scene and out of it, for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..io_blender.batch import Loaded, LoadOptions, SaveOptions, separated
from ..io_blender.reports import ExportResult
from .exporting.build import ExportOptions, ModelOptions
from .exporting.camera import CameraExportOptions, export_camera
from .exporting.clips import AnimationOptions
from .exporting.exporter import export_animations, export_mesh
from .exporting.weights import WeightOptions
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
            animations="NONE" if options.animation_folder is None else "FOLDER",
            animation_folder=options.animation_folder,
            sequence_actions=options.separate_actions,
            use_textures=options.use_textures,
            game_folders=options.game_folders,
            conversion=options.conversion,
        ),
    )
    armature = next((obj for obj in result.objects if obj.type == "ARMATURE"), None)
    return Loaded(result.report, armature, separated(result))


def save(context: Context, path: Path, options: SaveOptions) -> ExportResult:
    """Exports the scene as the kind of file that the suffix says.

    Raises Md5Error if the game would refuse the result, NothingToExportError if there is nothing to export, and OSError
    if a file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".md5camera":
        camera = CameraExportOptions(
            conversion=options.conversion, verify=options.verify, game=game_named(options.game)
        )
        return export_camera(context, path, camera)
    model = ModelOptions(
        conversion=options.conversion,
        game=game_named(options.game),
        verify=options.verify,
        game_folders=options.game_folders,
        deform_only=options.deform_only,
        add_origin=options.add_origin,
        weights=WeightOptions(options.max_influences),
    )
    animation = AnimationOptions(compares_speed=options.compares_speed)
    if suffix == ".md5anim":
        return export_animations(context, path, ExportOptions(model, "ACTIVE", animation))
    # A command line shows no active object: several armatures are an error.
    context.view_layer.objects.active = None
    actions = "ALL" if options.with_animations else "NONE"
    result = export_mesh(context, path, ExportOptions(model, actions, animation))
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.data.shape_keys is not None:
            result.report.warn(
                "MD5 animates joints only: the shape keys are not exported as frames", obj.name
            )
    return result
