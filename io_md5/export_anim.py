"""What an armature does over time into an animation.

Poses are read from Blender's own evaluation, so constraints, drivers, IK and NLA are in them. To be spared the meshes,
which cost most of the time, a scene of its own shows only the armature and what it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ..io_common import evaluated, versions
from ..io_common.reports import Report
from . import import_anim
from .export_skeleton import Skeleton
from .format import Animation, Mesh, encoding
from .format import quaternions as quat
from .format.bounds import pose_bounds
from .format.model import Floats
from .pose_curves import poses_from_curves

if TYPE_CHECKING:
    from bpy.types import Action, Context, Object, Scene

_CHANNELS = {
    "location": (3, 0.0),
    "rotation_quaternion": (4, 0.0),
    "rotation_euler": (3, 0.0),
    "rotation_axis_angle": (4, 0.0),
    "scale": (3, 1.0),
}
# A sample that misses the end of the range by this part of a frame still counts.
_END_SLACK = 1e-4


@dataclass(frozen=True)
class AnimationOptions:
    """How animations are exported.

    Attributes:
        frame_step: N for every N-th frame.
        frame_rate: frames per second of the file; 0 for the action's own, else the scene's.
        position_precision: see `format.encoding`.
        orientation_precision: see `format.encoding`.
    """

    frame_step: int = 1
    frame_rate: float = 0.0
    position_precision: float = encoding.POSITION_PRECISION
    orientation_precision: float = encoding.ORIENTATION_PRECISION


@dataclass(frozen=True)
class Clip:
    """What is exported to one file.

    Attributes:
        action: the action that plays, alone and from rest; None for the scene as it plays.
        start: the first frame of the scene.
        end: the last.
        rate: how many frames of the scene are a second.
    """

    action: Action | None
    start: float
    end: float
    rate: float

    def samples(self, options: AnimationOptions) -> tuple[Floats, float]:
        """The frames of the scene to sample, (F,), and the frame rate of the file."""
        rate = options.frame_rate or self.rate / options.frame_step
        step = self.rate / rate
        count = int((self.end - self.start) / step + _END_SLACK) + 1
        return self.start + np.arange(max(count, 1), dtype=np.float64) * step, rate


def scene_rate(scene: Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


def action_clip(action: Action, scene: Scene) -> Clip:
    """An action over its own range, at its own rate if it remembers one."""
    start, end = action.frame_range
    rate = float(action.get(import_anim.FRAME_RATE, 0.0))
    return Clip(action, start, end, rate if rate > 0.0 else scene_rate(scene))


def scene_clip(scene: Scene) -> Clip:
    """The scene over its range."""
    return Clip(None, scene.frame_start, scene.frame_end, scene_rate(scene))


def fitting_actions(armature: Object) -> list[Action]:
    """The actions that move bones of an armature, by name."""
    paths = {f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]' for bone in armature.data.bones}
    return [
        action
        for action in bpy.data.actions
        if any(
            curve.data_path.rpartition(".")[0] in paths for curve in versions.action_fcurves(action, "OBJECT")
        )
    ]


def export_clip(
    context: Context,
    clip: Clip,
    skeleton: Skeleton,
    meshes: list[Mesh],
    options: AnimationOptions,
    commandline: str,
    report: Report,
) -> Animation:
    """An animation of the joints of a skeleton.

    Args:
        context: of the scene.
        clip: what plays.
        skeleton: the joints of the file.
        meshes: in the coordinates of the file, for the bounds.
        options: how animations are exported.
        commandline: kept in the file.
        report: takes warnings.
    """
    frames, rate = clip.samples(options)
    positions, orientations, skewed = _poses(context.scene, clip, skeleton, frames)
    if skewed:
        report.warn(
            "bones are scaled in the animation; joints cannot be", clip.action.name if clip.action else ""
        )
    joints = skeleton.joints
    return encoding.encode_poses(
        joints.names,
        joints.parents,
        positions,
        orientations,
        frame_rate=rate,
        bounds=pose_bounds(meshes, positions, orientations),
        commandline=commandline,
        position_precision=options.position_precision,
        orientation_precision=options.orientation_precision,
    )


def _poses(scene: Scene, clip: Clip, skeleton: Skeleton, frames: Floats) -> tuple[Floats, Floats, bool]:
    """The joints in the coordinates of the file at some frames, and whether one was skewed."""
    armature = skeleton.armature
    if armature is not None and clip.action is not None:
        poses = poses_from_curves(armature, skeleton.rig, clip.action, frames)
        if poses is not None:
            return skeleton.place_turned(evaluated.world_matrix(armature), *poses)
    return skeleton.place(_sample(scene, clip, skeleton, frames))


def _sample(scene: Scene, clip: Clip, skeleton: Skeleton, frames: Floats) -> Floats:
    """The joint of each bone in the space of the scene at some frames, (F, J, 4, 4)."""
    armature, rig = skeleton.armature, skeleton.rig
    if armature is None:
        return np.empty((len(frames), 0, 4, 4))
    order = [armature.pose.bones.find(name) for name in rig.bone_names]
    poses = np.empty((len(frames), len(rig), 4, 4))
    buffer = np.empty(len(rig) * 16, dtype=np.float32)
    with _playing(armature, clip.action), _scene_of(scene, armature) as stage:
        # A view layer has its dependency graph once it was updated.
        stage.view_layers[0].update()
        graph = stage.view_layers[0].depsgraph
        for index, frame in enumerate(frames.tolist()):
            whole = int(np.floor(frame))
            stage.frame_set(whole, subframe=frame - whole)
            shown = armature.evaluated_get(graph)
            shown.pose.bones.foreach_get("matrix", buffer)
            # Blender's matrices lie in memory by columns.
            local = buffer.reshape(-1, 4, 4)[order].swapaxes(1, 2)
            poses[index] = evaluated.world_matrix(shown) @ local
    return poses @ quat.transforms(*rig.joints_in_bones())


@contextmanager
def _scene_of(scene: Scene, armature: Object) -> Iterator[Scene]:
    """A scene with the same clock that shows only an armature."""
    stage = bpy.data.scenes.new("io_idtech")
    try:
        stage.collection.objects.link(armature)
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(stage.render, name, getattr(scene.render, name))
        yield stage
    finally:
        bpy.data.scenes.remove(stage)


@contextmanager
def _playing(armature: Object, action: Action | None) -> Iterator[None]:
    """Lets an action play alone on an armature that is at rest otherwise; None lets everything play as it does."""
    if action is None:
        yield
        return
    had_data = armature.animation_data is not None
    data = armature.animation_data or armature.animation_data_create()
    kept = versions.AssignedAction(data)
    use_nla = data.use_nla
    bones = armature.pose.bones
    pose: dict[str, npt.NDArray[np.float32]] = {}
    for name, (size, _) in _CHANNELS.items():
        pose[name] = np.empty(len(bones) * size, dtype=np.float32)
        bones.foreach_get(name, pose[name])
    try:
        for name, (size, rest) in _CHANNELS.items():
            values = np.full((len(bones), size), rest, dtype=np.float32)
            if name == "rotation_quaternion":
                values[:, 0] = 1.0
            if name == "rotation_axis_angle":
                values[:, 2] = 1.0
            bones.foreach_set(name, values.ravel())
        data.use_nla = False
        versions.assign_action(data, action, "OBJECT")
        yield
    finally:
        kept.restore()
        data.use_nla = use_nla
        for name, before in pose.items():
            bones.foreach_set(name, before)
        if not had_data:
            armature.animation_data_clear()
        armature.update_tag(refresh={"OBJECT", "DATA"})
