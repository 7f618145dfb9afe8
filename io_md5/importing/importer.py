"""The import of MD5 files: everything is read and checked before the first data-block is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import bpy

from ...io_blender import state
from ...io_blender.clips.actions import replace_actions
from ...io_blender.clips.keyframes import add_markers
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.records import store_warnings
from ...io_blender.reports import ImportResult, Job, Progress, Report, kept_on_failure, listing
from ...io_common.skeletal.playback import loop_type
from ...io_common.skeletal.skeleton import match_joints
from ...io_common.textures.search import Search
from ..format import Animation, Camera, Md5Error
from ..options import ImportOptions
from ..records import GROUP, SHADERS, load_action, store_action_name
from .action import ActionBuilder
from .camera import build_camera_path, frame_count
from .companions import TEXTURE_RULES
from .model import build_model
from .read import ImportSkeleton, SourceFiles, check_size, read_files
from .rig import read_rig
from .transfer import Transfer, base_pose, plan_transfer

if TYPE_CHECKING:
    from bpy.types import Context, Object


def import_files(context: Context, paths: list[Path], options: ImportOptions) -> Job[ImportResult]:
    """Imports md5mesh, md5anim and md5camera files; raises Md5Error or OSError before anything is changed."""
    # An animation is imported onto the models of the same call that share most joints with it, else onto the active
    # armature, else onto the one armature of the scene that shares most. With none at all, an armature is made from its
    # base frame.
    result = ImportResult()
    with kept_on_failure(result.report):
        yield from _import(context, paths, options, result)
    return result


def _import(context: Context, paths: list[Path], options: ImportOptions, result: ImportResult) -> Job[None]:
    search = Search(options.game_folders, TEXTURE_RULES)
    active = active_skeleton(context) if options.animation_folder is not None else None
    progress = Progress()
    files = yield from read_files(paths, options, search, result.report, active, progress)
    plan = plan_animations(context, files, result.report)
    step_count = sum(len(skeleton.model.meshes) + 1 for skeleton in files.skeletons if skeleton.model)
    progress.expect(step_count + len(plan) + len(files.cameras))
    state.switch_to_object_mode(context)
    materials = MaterialLibrary(SHADERS, search.palette)
    for skeleton in dict.fromkeys([*files.skeletons, *(one.target for one in plan)]):
        if skeleton.obj is None:
            yield from build_model(context, skeleton, options, materials, result, progress)
    materials.add_to_report(result.report, search.warnings)
    builders: dict[Object, ActionBuilder] = {}
    for path, target, transfer in plan:
        assert target.obj is not None
        if target.obj not in builders:
            builders[target.obj] = ActionBuilder(context, target.obj, options, result)
        before = len(result.actions)
        builders[target.obj].build(path.stem, files.animations[path], files.scales.get(path), transfer)
        if path in files.companions:
            whole = result.actions[before:]
            _build_sequences(context, path, files, builders[target.obj], options, result)
            result.divided += whole if len(result.actions) > before + len(whole) else []
        yield progress.step()
    for path, camera in files.cameras.items():
        build_camera_path(context, path.stem, camera, options, result)
        yield progress.step()
    file_names = {new: load_action(new).name for new in result.replaced.values()}
    replace_actions(result.replaced)
    for action, name in file_names.items():
        # It has another name in Blender now.
        store_action_name(action, name)
    set_scene_timing(context.scene, files, options, result.report)
    # For the panels of armatures and cameras.
    for obj in dict.fromkeys([*result.objects, *builders]):
        if obj.type in ("ARMATURE", "CAMERA"):
            store_warnings(obj.data, GROUP, result.report.warnings)
    if result.objects:
        state.select_only(context, result.objects, result.objects[0])


def _build_sequences(
    context: Context,
    path: Path,
    files: SourceFiles,
    builder: ActionBuilder,
    options: ImportOptions,
    result: ImportResult,
) -> None:
    """A marker where each sequence of the replaced model begins, and on request an action of each."""
    animation, scales = files.animations[path], files.scales.get(path)
    last_frame = animation.frame_count - 1
    sequences = [one for one in files.companions[path].sequences if one.first <= last_frame]
    result.report.count("sequences", len(sequences))
    add_markers(context.scene, [(one.name, options.frame_start + one.first) for one in sequences])
    if not options.sequence_actions:
        return
    # The frames are those of the animation, which is counted already.
    counts = dict(result.report.counts)
    for sequence in sequences:
        first, last = sequence.first, min(sequence.last, last_frame)
        part = replace(
            animation, frames=animation.frames[first : last + 1], bounds=animation.bounds[first : last + 1], warnings=[]
        )
        part_scales = scales.part(first, last) if scales is not None else None
        builder.build(sequence.name or "frame", part, part_scales)
    result.report.counts.update(counts)


class Planned(NamedTuple):
    """An animation with a skeleton to import it onto; there may be several for one animation."""

    path: Path
    target: ImportSkeleton
    transfer: Transfer | None  # None if the animation moves its joints as it is


def active_skeleton(context: Context) -> ImportSkeleton | None:
    """The active armature, or that of the active mesh; None if there is none or it has no bones."""
    return _armatures_of_scene(context)[0]


def plan_animations(context: Context, files: SourceFiles, report: Report) -> list[Planned]:
    """The skeletons for each animation; raises Md5Error if none matches, or several equally well."""
    active, others = _armatures_of_scene(context) if files.animations else (None, [])
    plan: list[Planned] = []
    added: list[ImportSkeleton] = []
    for path, animation in files.animations.items():
        # Models with the same skeleton, such as a character and its armour, all get the animation.
        targets = _best_matches([*files.skeletons, *added], animation)
        if not targets and active is not None:
            targets = _best_matches([active], animation)
        if not targets:
            targets = _best_matches(others, animation)
            if active is not None and targets:
                fitting = len(match_joints(animation, targets[0].joints).joints)
                # A few equal names say nothing.
                targets = targets if 2 * fitting >= len(animation.names) else []
            if len(targets) > 1:
                raise Md5Error(
                    "several armatures match the animation equally well: make one of them active",
                    path=str(path), found=listing([skeleton.name for skeleton in targets]),
                )  # fmt: skip
            if targets and active is not None:
                report.warn(
                    f"imported onto {targets[0].name}, which has its joints. To transfer it to {active.name}, select "
                    "both and use Animation Between Skeletons",
                    path.name,
                )
        candidates = targets or files.skeletons[:1] or ([active] if active is not None else others)
        transfer = None
        if len(candidates) == 1 or targets:
            transfer = plan_transfer(path, animation, candidates[0], files.joint_map)
            targets = candidates if transfer is not None else targets
        if not targets:
            present = [skeleton.name for skeleton in [*files.skeletons, *([active] if active else []), *others]]
            if present:
                raise Md5Error(
                    "no bone matches a joint of the animation: import its model first",
                    path=str(path), found=listing(animation.names), expected=f"joints of {listing(present)}",
                )  # fmt: skip
            targets = [ImportSkeleton(path.stem, base_pose(animation))]
            check_size(targets[0].joints, 0, path)
            added += targets
        for target in targets:
            if target.obj is not None:
                check_editable(target.obj, path)
            plan.append(Planned(path, target, transfer))
    return plan


def check_editable(armature: Object, path: Path | None = None) -> None:
    """Raises Md5Error if the armature is linked or not editable, so that saving would lose a new action."""
    override = armature.override_library
    if armature.library is not None:
        reason = f"is linked from {Path(armature.library.filepath).name}"
    elif override is not None and override.is_system_override:
        reason = "is a library override that is not editable"
    else:
        return
    raise Md5Error(
        f"the armature {armature.name} {reason}: make it local, or make an editable library override",
        path=str(path or ""),
    )


def _armatures_of_scene(context: Context) -> tuple[ImportSkeleton | None, list[ImportSkeleton]]:
    """The active armature, or that of the active mesh; and all others."""
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = active.find_armature()
    found = []
    for obj in context.view_layer.objects:
        if obj.type == "ARMATURE" and obj.data.bones:
            rig = read_rig(obj.data)
            is_edited = not rig.is_unmoved[rig.indices >= 0].all()
            found.append(ImportSkeleton(obj.name_full, rig.joints, obj=obj, is_edited=is_edited))
    first = next((skeleton for skeleton in found if skeleton.obj == active), None)
    return first, [skeleton for skeleton in found if skeleton is not first]


def _best_matches(skeletons: list[ImportSkeleton], animation: Animation) -> list[ImportSkeleton]:
    scores = [len(match_joints(animation, skeleton.joints).joints) for skeleton in skeletons]
    best = max(scores, default=0)
    if best == 0:
        return []
    return [skeleton for skeleton, score in zip(skeletons, scores, strict=True) if score == best]


def set_scene_timing(scene: bpy.types.Scene, files: SourceFiles, options: ImportOptions, report: Report) -> None:
    """Sets the scene's frame rate and range from the first camera, else from the first animation."""
    sources: list[Camera | Animation] = [*files.cameras.values(), *files.animations.values()]
    if not sources or not options.use_scene_timing:
        return
    source = sources[0]
    is_closed = isinstance(source, Animation) and loop_type(source) == "closed"
    count = frame_count(source) if isinstance(source, Camera) else source.frame_count
    state.set_frame_rate(scene, source.frame_rate, report)
    state.set_frame_range(scene, options.frame_start, options.frame_start + count - 1, is_closed_loop=is_closed)
