"""Animations made of the motion of an armature. Poses are read from Blender's evaluation, including constraints,
drivers, IK and NLA, or from F-curves if only those move the armature."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...io_blender import versions
from ...io_blender.clips.playing import Player
from ...io_blender.reports import Job, Progress, Report, listing
from ...io_blender.scene import mesh_data
from ...io_blender.scene.mesh_data import without_infinity
from ...io_blender.scene.time_dependence import has_frame_handlers
from ..format import Animation, Md5Error
from ..format import quaternions as quat
from ..format import skeleton as encoding
from ..format.model import Floats
from ..format.scale_file import ScaleTable, scaled_poses
from ..format.skeleton import decompose, poses
from ..importing.rig import SMALLEST_SCALE, Rig
from .causes import split_by_constraints
from .clips import AnimationOptions, Clip
from .pose_curves import poses_from_curves
from .skeleton import Skeleton

# Between poses of F-curves and those that Blender evaluates in single precision: a distance relative to the largest
# coordinate, and one minus the cosine of half an angle.
_LARGEST_MOVE, _LARGEST_TURN = 1e-5, 1e-6

# Of the volume of a bone that is not scaled, as Blender evaluates it.
_LARGEST_CHANGE_OF_VOLUME = 1e-4


Pose = tuple[Floats, Floats, "Floats | None"]
"""Joints: positions (…, J, 3), orientations (…, J, 4) and scales (…, J), None for 1."""


@dataclass(eq=False)
class SampledClip:
    """The sampled poses of a clip: F frames, n joints, in the coordinates of the file."""

    clip: Clip
    frames: Floats  # of the scene
    frame_rate: float
    positions: Floats  # (F, n, 3)
    orientations: Floats  # quaternions (F, n, 4)
    scales: ScaleTable | None = None  # None if the game has none, or all are 1
    # The index of the frame on which a bone is scaled most; None if no bone is.
    most_scaled: int | None = None
    moves_armature: bool = False  # whether the armature object moves, and not only its bones


def sample_clip(
    clip: Clip,
    skeleton: Skeleton,
    player: Player | None,
    options: AnimationOptions,
    report: Report,
    progress: Progress,
    *,
    with_scales: bool = False,
) -> Job[SampledClip]:
    """The joints of a skeleton while a clip plays; raises Md5Error if a bone has no finite pose."""
    # `with_scales` says whether the game takes scales of joints; `player` is None for a model without armature.
    frames, rate = clip.samples(options)
    if player is None or not len(skeleton.rig):
        positions = np.repeat(skeleton.joints.positions[None], len(frames), axis=0)
        orientations = np.repeat(skeleton.joints.orientations[None], len(frames), axis=0)
        return SampledClip(clip, frames, rate, positions, orientations)
    _warn_of_range(clip, player, report)
    from_curves = sampled = None
    if not player.remaps_time and skeleton.armature is not None and len(skeleton.parts) == 1:
        from_curves = poses_from_curves(skeleton.armature, skeleton.rig, clip, frames, with_scales=with_scales)
    if from_curves is not None:
        pose = skeleton.joints_of_armature(*from_curves[:2])
        sampled = SampledClip(
            clip, frames, rate, *pose, _scale_table(clip, skeleton, skeleton.exported(from_curves[2]))
        )
        if not has_frame_handlers():
            return sampled
    matrices, moves_armature = yield from _sample(clip, skeleton, player, frames, progress)
    # Scripts may move bones as well.
    if sampled is not None and _is_shown(sampled, skeleton, matrices):
        return sampled
    if with_scales:
        positions, orientations, scales, uneven = skeleton.scaled_joints_of_scene(matrices)
        table = _scale_table(clip, skeleton, scales)
        problem = "scaled unevenly in the animation, which joints cannot be: {}: use one scale for all axes"
    else:
        positions, orientations, uneven = skeleton.joints_of_scene(matrices)
        table = None
        problem = "scaled in the animation, which joints cannot be: {}: remove the scale"
    scaling, others = list[str](), list[str]()
    for part in skeleton.parts:
        of_part = uneven[:, part.first : part.first + len(part.rig)].any(axis=0)
        names = [part.rig.bone_names[bone] for bone in np.flatnonzero(of_part)]
        found = split_by_constraints(part.armature, names)
        scaling += found[0]
        others += found[1]
    if skeleton.armature is None:
        others = [skeleton.rig.bone_names[bone] for bone in np.flatnonzero(uneven.any(axis=0))]
    if scaling:
        report.warn(
            f"constraints scale bones, which joints cannot be: {listing(scaling, 3)}. Disable them, or use one that "
            "does not scale, as Damped Track instead of Stretch To",
            clip.name,
        )
    if others:
        report.warn(f"bones are {problem.format(listing(others, 3))}", clip.name)
    most_scaled = _most_scaled(matrices, skeleton.volumes)
    return SampledClip(clip, frames, rate, positions, orientations, table, most_scaled, moves_armature)


def _most_scaled(matrices: Floats, at_rest: Floats) -> int | None:
    """The index of the frame on which a bone is scaled most, by matrices in the space of the scene."""
    volumes = np.linalg.det(matrices[..., :3, :3]) / at_rest
    changes = np.abs(volumes - 1.0).max(axis=1, initial=0.0)
    most = int(changes.argmax())
    return most if changes[most] > _LARGEST_CHANGE_OF_VOLUME else None


def _warn_of_range(clip: Clip, player: Player, report: Report) -> None:
    if clip.action is None:
        return
    if player.remaps_time:
        report.warn(
            f"Time Stretching moves its keys to other frames, but frames {clip.start:g} to {clip.end:g} are exported: "
            "turn it off, or set Actions to Scene Playback",
            clip.name,
        )
    curves = versions.fcurves_of_slot(clip.action, clip.slot)
    if clip.start == clip.end and any(
        not curve.mute and any(not modifier.mute for modifier in curve.modifiers) for curve in curves
    ):
        report.warn(
            "only one frame is exported, as all keys are on one frame, but modifiers of F-curves go on. Set a Manual "
            "Frame Range in the Action Editor, or Actions to Scene Playback",
            clip.name,
        )


def _is_shown(sampled: SampledClip, skeleton: Skeleton, matrices: Floats) -> bool:
    """Whether Blender shows the poses of a clip: those of the bones in the space of the scene."""
    positions, orientations, _ = skeleton.joints_of_scene(matrices)
    tolerance = _LARGEST_MOVE * max(1.0, np.abs(positions).max())
    turned = np.abs((orientations * sampled.orientations).sum(axis=2))
    return bool(
        np.allclose(positions, sampled.positions, rtol=0.0, atol=tolerance) and (turned > 1.0 - _LARGEST_TURN).all()
    )


def _scale_table(clip: Clip, skeleton: Skeleton, scales: Floats) -> ScaleTable | None:
    stored = clip.stored.scales_position if clip.stored is not None else frozenset()
    is_zero = np.abs(scales) < 2.0 * SMALLEST_SCALE
    table = ScaleTable(
        np.where(is_zero, 0.0, scales), np.array([name in stored for name in skeleton.joints.names], dtype=bool)
    )
    return table if table.is_used else None


def encode_clip(sampled: SampledClip, skeleton: Skeleton, options: AnimationOptions, commandline: str) -> Animation:
    """The animation of a sampled clip, without bounds. `commandline` is written to the file."""
    joints = skeleton.joints
    positions, orientations = decompose(joints.parents, sampled.positions, sampled.orientations)
    if sampled.scales is not None:
        positions = _without_scales(positions, sampled.scales)
    return encoding.encode_local_poses(
        joints.names,
        joints.parents,
        positions,
        orientations,
        frame_rate=sampled.frame_rate,
        bounds=np.empty((0, 2, 3)),
        commandline=commandline,
        position_precision=options.position_precision,
        orientation_precision=options.orientation_precision,
    )


def poses_in_file(sampled: SampledClip, animation: Animation, chosen: list[int], *, as_read: bool = True) -> Pose:
    """The joints in some frames of an encoded clip, as games read them."""
    animation = replace(animation, frames=animation.frames[chosen])
    if sampled.scales is None:
        return *poses(animation, as_read=as_read), None
    table = ScaleTable(sampled.scales.values[chosen], sampled.scales.scales_position)
    return *scaled_poses(animation, table, as_read=as_read), table.values


def _without_scales(positions: Floats, scales: ScaleTable) -> Floats:
    """Translations that the game multiplies by joints' scales; where one is 0, that of the frame before."""
    result = positions.copy()
    for joint in np.flatnonzero(scales.scales_position).tolist():
        factors = scales.values[:, joint]
        known = np.flatnonzero(factors)
        if len(known):
            before = np.maximum(np.searchsorted(known, np.arange(len(factors)), side="right") - 1, 0)
            chosen = known[before]
            result[:, joint] = positions[chosen, joint] / factors[chosen, None]
    return result


def _sample(
    clip: Clip, skeleton: Skeleton, player: Player, frames: Floats, progress: Progress
) -> Job[tuple[Floats, bool]]:
    """The joint of each bone in the scene at some frames, (F, J, 4, 4), and whether the object moves."""
    rig = skeleton.rig
    if skeleton.armature is None:
        return (yield from _sample_objects(skeleton, player, clip, frames, progress)), False
    orders = [[one.armature.pose.bones.find(name) for name in one.rig.bone_names] for one in skeleton.parts]
    matrices = np.empty((len(frames), len(rig), 4, 4))
    worlds = np.empty((len(frames), 4, 4))
    player.play(clip)
    for index, frame in enumerate(frames.tolist()):
        graph = player.evaluate(frame)
        for part, order in zip(skeleton.parts, orders, strict=True):
            posed = part.armature.evaluated_get(graph)
            buffer = np.empty(len(order) * 16, dtype=np.float32)
            posed.pose.bones.foreach_get("matrix", buffer)
            without_infinity(buffer)
            # Blender's matrices are stored by columns.
            local = buffer.reshape(-1, 4, 4)[order].swapaxes(1, 2)
            world = mesh_data.world_matrix(posed)
            matrices[index, part.first : part.first + len(order)] = world @ local
            if part is skeleton.parts[0]:
                worlds[index] = world
        yield progress.step(0)
    _require_finite(matrices, rig, frames, clip)
    return matrices @ quat.transforms(*rig.joints_in_bones()), bool(np.ptp(worlds, axis=0).any())


def _sample_objects(skeleton: Skeleton, player: Player, clip: Clip, frames: Floats, progress: Progress) -> Job[Floats]:
    """The joint of each object in the scene at some frames, (F, J, 4, 4)."""
    rig, objects = skeleton.rig, skeleton.objects
    worlds = np.empty((len(frames), len(objects), 4, 4))
    player.play(clip)
    for index, frame in enumerate(frames.tolist()):
        graph = player.evaluate(frame)
        for joint, obj in enumerate(objects):
            worlds[index, joint] = mesh_data.world_matrix(obj.evaluated_get(graph))
        yield progress.step(0)
    _require_finite(worlds, rig, frames, clip)
    # What does not change, such as an uneven scale, is part of the mesh.
    rest = quat.transforms(rig.rest_positions, rig.rest_orientations)
    return worlds @ np.linalg.inv(skeleton.object_matrices) @ rest


def _require_finite(matrices: Floats, rig: Rig, frames: Floats, clip: Clip) -> None:
    is_finite = np.isfinite(matrices).all(axis=(2, 3))
    if not is_finite.all():
        index, bone = np.argwhere(~is_finite)[0].tolist()
        raise Md5Error(
            f"the pose of {rig.bone_names[bone]} is not a number on frame {frames[index]:g}"
            + (f" of {clip.name}" if clip.name else "")
            + ": delete the key or driver that causes it"
        )
