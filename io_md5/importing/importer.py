"""The import of MD5 files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender import state
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.records import store_warnings
from ...io_blender.reports import ImportResult, kept_on_failure, progress
from ...io_common.textures.search import Search
from ..records import GROUP, SHADERS
from .build import build_animation, build_camera_path, build_model, set_scene_timing
from .existing_actions import replace_actions
from .options import ImportOptions
from .plan import Plan, active_skeleton, plan_animations
from .read import read_files
from .sequences import build_sequences
from .texture_rules import TEXTURE_RULES

if TYPE_CHECKING:
    from bpy.types import Context

__all__ = ["ImportOptions", "import_files"]


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> ImportResult:
    """The objects and actions made of md5mesh, md5anim and md5camera files, in any order.

    An animation is imported onto the models of the same call that share most joints with it, else onto the active
    armature, else onto the one armature of the scene that shares most. With none at all, an armature is made from its
    base frame.

    Raises Md5Error if a file cannot be understood or no armature matches an animation, and OSError if a file cannot be
    read; the scene is not changed then.
    """
    result = ImportResult()
    with kept_on_failure(result.report):
        _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> None:
    search = Search(options.game_folders, TEXTURE_RULES)
    active = active_skeleton(context) if options.animation_folder is not None else None
    with progress() as progress_bar:
        files = read_files(paths, options, search, result.report, active, progress_bar)
        plan = plan_animations(context, files)
        step_count = sum(len(skeleton.model.meshes) + 1 for skeleton in files.skeletons if skeleton.model)
        progress_bar.expect(step_count + len(plan) + len(files.cameras))
        state.switch_to_object_mode(context)
        materials = MaterialLibrary(SHADERS, search.palette)
        for skeleton in dict.fromkeys([*files.skeletons, *(target for _, target in plan)]):
            if skeleton.obj is None:
                build_model(context, skeleton, options, materials, result, progress_bar)
        materials.add_to_report(result.report, search.warnings)
        for path, target in plan:
            before = len(result.actions)
            build_animation(
                context, path.stem, files.animations[path], target, options, result, files.scales.get(path)
            )
            if path in files.companions:
                whole = result.actions[before:]
                build_sequences(context, path, files, target, options, result)
                result.divided += whole if len(result.actions) > before + len(whole) else []
            progress_bar.step()
        for path, camera in files.cameras.items():
            build_camera_path(context, path.stem, camera, options, result)
            progress_bar.step()
    replace_actions(result.replaced)
    set_scene_timing(context.scene, files, options, result.report)
    _store_warnings(plan, result)
    if result.objects:
        state.select_only(context, result.objects, result.objects[0])


def _store_warnings(plan: Plan, result: ImportResult) -> None:
    """Stores the warnings on armatures and cameras, for their panels."""
    armatures = [skeleton.obj for _, skeleton in plan if skeleton.obj is not None]
    for obj in dict.fromkeys([*result.objects, *armatures]):
        if obj.type in ("ARMATURE", "CAMERA"):
            store_warnings(obj.data, GROUP, result.report.warnings)
