"""The MD5 family in Blender: operators, panels, and the imports and exports of the command line."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.types import Context

from ...io_blender.options import Scene, Settings
from ...io_blender.part import BlenderPart
from ...io_blender.reports import ExportResult, finish
from ...io_blender.skeletal.exporting.clips import AnimationOptions
from ...io_blender.skeletal.operators.export_models import animations_of_settings, values_of_settings
from ...io_blender.skeletal.operators.import_models import loader
from ...io_blender.skeletal.operators.panels import draw_animations, has_animations
from ...io_blender.skeletal.records import ACTION_RATE
from ...io_blender.verification import Verify
from ..exporting import export_animations, export_mesh
from ..exporting.camera import CameraExportOptions, export_camera
from ..exporting.game import ExportOptions, ModelOptions
from ..format.games.profiles import game_named
from ..importing.importer import import_files
from ..options import ImportOptions
from . import export_md5, import_md5


def save(context: Context, path: Path, settings: Settings, scene: Scene) -> ExportResult:
    """Exports by the suffix; raises Md5Error if the game refuses it, NothingToExportError or OSError."""
    game = game_named(settings.game)
    if path.suffix.lower() == ".md5camera":
        camera = CameraExportOptions(conversion=scene.conversion, verify=Verify(settings.verify), game=game)
        return finish(export_camera(context, path, camera))
    model = ModelOptions(**values_of_settings(settings, scene), game=game)
    if path.suffix.lower() == ".md5anim":
        animation = AnimationOptions(compares_speed=scene.compares_speed)
        return finish(export_animations(context, path, ExportOptions(model, "ACTIVE", animation)))
    animations = animations_of_settings(context, settings, scene)
    result = finish(export_mesh(context, path, ExportOptions(model, *animations)))
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.data.shape_keys is not None:
            result.report.warn("MD5 animates joints only: the shape keys are not exported as frames", obj.name)
    return result


BLENDER = BlenderPart(
    importer=import_md5.IMPORT_SCENE_OT_md5,
    exporters=(
        export_md5.EXPORT_SCENE_OT_md5mesh,
        export_md5.EXPORT_SCENE_OT_md5anim,
        export_md5.EXPORT_SCENE_OT_md5camera,
    ),
    load=loader(import_files, ImportOptions),
    save=save,
    classes=(export_md5.OBJECT_OT_md5_check_game, *import_md5.CLASSES),
    properties=import_md5.PROPERTIES,
    action_frame_rate=ACTION_RATE.read,
    check=export_md5.OBJECT_OT_md5_check_game,
    has_animations=has_animations,
    draw_animations=draw_animations,
)
