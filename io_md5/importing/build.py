"""The last step of an import: data-blocks made of files that were read and checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...io_blender import state, versions
from ...io_blender.clips import action_users
from ...io_blender.clips.suitable_actions import store_owner
from ...io_blender.materials.library import MaterialLibrary
from ...io_blender.reports import Progress, Report, listing
from ...io_blender.results import ImportResult
from ...io_blender.scene import axes, names
from ...io_blender.scene.imported_conversion import conversion_of
from ...io_common.counting import counted
from ..format import Animation, Camera, Joints, Model
from ..format.model import Floats
from ..format.playback import loop_type
from ..format.scale_file import Scales
from ..format.skeleton import Match, match_joints
from ..format.skinning import bind_pose
from ..records import COMMANDLINE, CONVERSION, GROUP
from .action import build_action
from .armature import build_armature
from .camera import build_camera, frame_count, set_render_size
from .conversion import convert_animation, convert_joints, convert_model
from .existing_actions import ExistingActions
from .mesh import build_mesh
from .options import ImportOptions
from .read import ImportSkeleton, SourceFiles
from .rig import read_rig
from .verification import verify_import

if TYPE_CHECKING:
    from bpy.types import Context

# Disagreements between the weights of a vertex are reported above this fraction of the model's size.
_DISAGREEMENT_TOLERANCE = 1e-5


def build_model(
    context: Context,
    skeleton: ImportSkeleton,
    options: ImportOptions,
    materials: MaterialLibrary,
    result: ImportResult,
    progress_bar: Progress,
) -> None:
    """Builds the armature of a skeleton and its meshes, in a collection of their own.

    The armature is set on `skeleton`; `progress_bar` takes a step for the armature and for each mesh.
    """
    conversion = options.conversion
    model = convert_model(skeleton.model or Model(skeleton.joints, []), conversion)
    if skeleton.model is None:
        model.joints = convert_joints(model.joints, conversion)
    collection = bpy.data.collections.new(names.for_blender(skeleton.name, versions.MAX_ID_NAME, "Model"))
    state.target_collection(context).children.link(collection)
    joints = model.joints
    poses = [bind_pose(mesh, joints.positions, joints.orientations) for mesh in model.meshes]
    size = _model_size(joints, [vertices for vertices, _ in poses])
    obj, bone_names = build_armature(
        context, skeleton.name, joints, collection, size=size, direction=options.bone_direction
    )
    armature: Any = obj.data
    armature[GROUP] = {}
    COMMANDLINE.write(armature, model.commandline or None)
    CONVERSION.write(armature, conversion)
    versions.expect_slot(obj.animation_data_create())
    skeleton.obj = obj
    result.objects.append(obj)
    result.report.count("joints", len(joints))
    progress_bar.step()
    _warn_of_disagreements([distances for _, distances in poses], size, skeleton.name, result.report)
    for index, mesh in enumerate(model.meshes):
        name = mesh.comment_name or mesh.name or _base_name(mesh.shader) or skeleton.name
        images = skeleton.images[index] if skeleton.images else None
        material = materials.get(mesh.shader, skeleton.name, images, os.fspath(skeleton.path or ""))
        mesh_obj = build_mesh(
            name,
            index,
            mesh,
            poses[index][0],
            obj,
            bone_names,
            material,
            merge_vertices=options.merge_vertices,
        )
        CONVERSION.write(mesh_obj.data, conversion)
        for skin, found in skeleton.skins[index] if skeleton.skins else ():
            further = materials.get(skin, skeleton.name, found)
            if mesh_obj.data.materials.find(further.name) < 0:
                mesh_obj.data.materials.append(further)
        collection.objects.link(mesh_obj)
        result.objects.append(mesh_obj)
        result.report.count("meshes")
        result.report.count("vertices", len(mesh_obj.data.vertices))
        result.report.count("triangles", len(mesh_obj.data.polygons))
        progress_bar.step()


def _model_size(joints: Joints, vertices: list[Floats]) -> float:
    """The diagonal of the box around vertices and joints."""
    points = np.concatenate([joints.positions, *vertices])
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0


def _base_name(shader: str) -> str:
    """The last part of a shader's name without its extension."""
    last = shader.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _warn_of_disagreements(mesh_distances: list[Floats], size: float, name: str, report: Report) -> None:
    distances = np.concatenate([np.empty(0), *mesh_distances])
    notable = distances > _DISAGREEMENT_TOLERANCE * size
    if notable.any():
        report.warn(
            f"the weights of {counted(int(notable.sum()), 'vertices')} disagree about the bind pose by up to "
            f"{distances.max():.4g} units ({distances.max() / size:.2%} of the model); Blender's animation differs "
            "from the game's by up to that much",
            name,
        )


def build_animation(
    context: Context,
    name: str,
    animation: Animation,
    target: ImportSkeleton,
    options: ImportOptions,
    result: ImportResult,
    scales: Scales | None = None,
) -> None:
    """Builds the action of an animation; the first one of an armature becomes its active action.

    `animation` is as in the file; `scales` are those of its joints, None if there are none.
    """
    obj = target.obj
    assert obj is not None
    existing = None
    if options.existing_actions != "CREATE":
        target.existing = target.existing or ExistingActions(obj, result.actions)
        existing = target.existing.find(name, result.replaced)
    if existing is not None and options.existing_actions == "SKIP":
        _keep(existing, obj, result.report)
        return
    conversion = options.conversion
    if options.use_conversion_of_armature:
        conversion = conversion_of(obj) or axes.identity()
    rig = target.rig = target.rig or read_rig(obj.data)
    match = match_joints(animation, rig.joints)
    _warn_of_mismatch(match, name, result.report)
    converted = convert_animation(animation, conversion)
    table = scales.table(animation.names, animation.frame_count)[0] if scales is not None else None
    if table is not None and not table.is_used:
        table = None
    action = build_action(name, converted, rig, match, frame_start=options.frame_start, scales=table)
    store_owner(action, obj, name)
    for bone in match.bones:
        obj.pose.bones[rig.bone_names[bone]].rotation_mode = "QUATERNION"
        if table is not None:
            # A joint does not inherit the scale of its parent.
            obj.data.bones[rig.bone_names[bone]].inherit_scale = "NONE"
    animation_data = obj.animation_data or obj.animation_data_create()
    is_new = obj in result.objects
    if animation_data.action not in result.actions:
        versions.assign_action(animation_data, action, "OBJECT")
    result.actions.append(action)
    has_strip = False
    if existing is not None and target.existing is not None:
        result.replaced[existing] = action
        has_strip = existing in target.existing.in_strips
    if options.nla_tracks and not has_strip:
        # A new action takes the name of the one that it replaces at the end of the import.
        shown_name = existing.name if existing is not None else action.name
        action_users.add_muted_strip(obj, action, options.frame_start, shown_name)
    if not is_new:
        verify_import(context, obj, rig, action, converted, match, table, result.report)
    result.report.count("animations")
    result.report.count("frames", animation.frame_count)


def _keep(action: bpy.types.Action, armature: bpy.types.Object, report: Report) -> None:
    """Keeps an action instead of importing its animation; a new armature plays it."""
    data = armature.animation_data or armature.animation_data_create()
    if data.action is None and not data.use_tweak_mode:
        versions.assign_action(data, action, "OBJECT")
    report.count("skipped animations")


def _warn_of_mismatch(match: Match, name: str, report: Report) -> None:
    for joints, text in (
        (match.extra, "joints without a bone in the armature"),
        (match.missing, "bones without a joint in the animation"),
        (match.differing, "joints with another parent than their bone, not animated"),
    ):
        if joints:
            report.warn(f"{text}: {listing(joints)}", name)


def build_camera_path(
    context: Context, name: str, camera: Camera, options: ImportOptions, result: ImportResult
) -> None:
    """Builds the camera of a camera file and its markers; it becomes the scene's active camera."""
    scene = context.scene
    obj = build_camera(
        name,
        camera,
        scene,
        state.target_collection(context),
        frame_start=options.frame_start,
        conversion=options.conversion,
        report=result.report,
    )
    if options.use_render_size:
        set_render_size(scene)
    result.objects.append(obj)
    result.report.count("cameras")
    result.report.count("cuts", len(camera.cuts))
    result.report.count("frames", frame_count(camera))


def set_scene_timing(
    scene: bpy.types.Scene, files: SourceFiles, options: ImportOptions, report: Report
) -> None:
    """Sets the scene's frame rate and range from the first camera, else from the first animation."""
    if not options.use_scene_timing:
        return
    source: Camera | Animation
    is_closed = False
    if files.cameras:
        source = next(iter(files.cameras.values()))
        count = frame_count(source)
    elif files.animations:
        source = next(iter(files.animations.values()))
        count = source.frame_count
        is_closed = loop_type(source) == "closed"
    else:
        return
    state.set_frame_rate(scene, source.frame_rate, report)
    state.set_frame_range(
        scene, options.frame_start, options.frame_start + count - 1, is_closed_loop=is_closed
    )
