"""Models and animations that were read become armatures, meshes and actions."""

from __future__ import annotations

from bpy.types import Context, Object, Scene

from ....io_common.skeletal.playback import loop_type
from ... import state
from ...clips.actions import replace_actions
from ...materials.library import MaterialLibrary
from ...records import store_warnings
from ...reports import ImportResult, Job, Progress, Report
from ..options import ImportOptions
from ..records import ACTION_NAME, GROUP, load_action
from .action import ActionBuilder
from .model import build_model
from .plan import plan_animations
from .sources import SourceAnimation, SourceFiles


def build_files(
    context: Context,
    files: SourceFiles,
    options: ImportOptions,
    materials: MaterialLibrary,
    result: ImportResult,
    progress: Progress,
) -> Job[list[Object]]:
    """Builds models and animations, and returns the armatures that got some; raises SkeletalError before it starts."""
    # An animation is imported onto the models of the same call that share most joints with it, else onto the active
    # armature, else onto the one armature of the scene that shares most. With none at all, an armature is made from its
    # base frame.
    plan = plan_animations(context, files, result.report)
    step_count = sum(len(skeleton.model.meshes) + 1 for skeleton in files.skeletons if skeleton.model)
    progress.expect(step_count + len(plan))
    state.switch_to_object_mode(context)
    for skeleton in dict.fromkeys([*files.skeletons, *(target for _, target, _ in plan)]):
        if skeleton.obj is None:
            yield from build_model(context, skeleton, options, materials, result, progress)
    builders: dict[Object, ActionBuilder] = {}
    for source, target, transfer in plan:
        assert target.obj is not None
        if target.obj not in builders:
            builders[target.obj] = ActionBuilder(context, target.obj, options, result)
        action = builders[target.obj].build(source, transfer)
        if source.sequences:
            builders[target.obj].divide(source, action)
        yield progress.step()
    file_names = {new: load_action(new).name for new in result.replaced.values()}
    replace_actions(result.replaced)
    for action, name in file_names.items():
        # It has another name in Blender now.
        ACTION_NAME.store(action, name, action.name)
    return list(builders)


def finish_import(context: Context, result: ImportResult, armatures: list[Object]) -> None:
    """Stores the warnings with armatures and cameras, for their panels, and selects what was imported."""
    for obj in dict.fromkeys([*result.objects, *armatures]):
        if obj.type in ("ARMATURE", "CAMERA"):
            store_warnings(obj.data, GROUP, result.report.other_warnings, result.report.facts)
    if result.objects:
        state.select_only(context, result.objects, result.objects[0])


def set_scene_timing(scene: Scene, source: SourceAnimation, options: ImportOptions, report: Report) -> None:
    """Sets the scene's frame rate and range from an animation."""
    animation = source.animation
    state.set_frame_rate(scene, animation.frame_rate, report)
    last = options.frame_start + animation.frame_count - 1
    state.set_frame_range(scene, options.frame_start, last, is_closed_loop=loop_type(animation) == "closed")
