"""The import of MD5 files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from pathlib import Path

from bpy.types import Context

from ...io_blender import state
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.reports import ImportResult, Job, Progress, kept_on_failure
from ...io_blender.skeletal.importing.importer import build_files, finish_import, set_scene_timing
from ...io_blender.skeletal.importing.plan import active_skeleton
from ...io_blender.skeletal.records import SHADERS
from ...io_common.textures.search import Search
from ..format.companions import TEXTURE_RULES
from ..options import ImportOptions
from .camera import build_camera_path, frame_count
from .read import read_files


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports md5mesh, md5anim and md5camera files; raises Md5Error or OSError before anything is changed."""
    result = ImportResult()
    with kept_on_failure(result.report):
        yield from _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> Job[None]:
    search = Search(options.game_folders, TEXTURE_RULES)
    active = active_skeleton(context) if options.animation_folder is not None else None
    progress = Progress()
    files, cameras = yield from read_files(paths, options, search, result.report, active, progress)
    progress.expect(len(cameras))
    materials = MaterialLibrary(SHADERS, search.palette)
    armatures = yield from build_files(context, files, options, materials, result, progress)
    materials.add_to_report(result.report, search.warnings)
    for path, camera in cameras.items():
        build_camera_path(context, path.stem, camera, options, result)
        yield progress.step()
    if options.use_scene_timing:
        for camera in list(cameras.values())[:1]:
            state.set_frame_rate(context.scene, camera.frame_rate, result.report)
            last = options.frame_start + frame_count(camera) - 1
            state.set_frame_range(context.scene, options.frame_start, last)
        if files.animations and not cameras:
            set_scene_timing(context.scene, files.animations[0], options, result.report)
    finish_import(context, result, armatures)
