"""Animations made of the motion of an armature. Poses are read from Blender's evaluation, including constraints,
drivers, IK and NLA, or from F-curves if only those move the armature."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from bpy.types import FCurve, Object

from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.model import Animation, Floats, SkeletalError
from ....io_common.skeletal.scales import Poses, ScaleTable, scaled_poses
from ....io_common.skeletal.skeleton import Precision, compose, decompose, encode_local_poses, of_parents, poses
from ... import versions
from ...clips.keyframes import LINEAR
from ...clips.playing import POSE_CHANNELS, Player, pose_channel
from ...reports import Job, Progress, Report, listing
from ...scene import mesh_data
from ...scene.time_dependence import depends_on_time, has_frame_handlers
from ..rig import SMALLEST_SCALE, Rig, bone_path
from .causes import split_by_constraints, split_by_parents
from .clips import AnimationOptions, Clip
from .skeleton import Skeleton

# Between poses of F-curves and those that Blender evaluates in single precision: a distance relative to the largest
# coordinate, and one minus the cosine of half an angle.
_LARGEST_MOVE, _LARGEST_TURN = 1e-5, 1e-6

# Of the volume of a bone that is not scaled, as Blender evaluates it.
_LARGEST_CHANGE_OF_VOLUME = 1e-4

# The channels of bones that F-curves may set.
_WIDTHS = {"location": 3, "rotation_quaternion": 4, "scale": 3}
_SCALE_TOLERANCE = 1e-6

# Blender treats shorter quaternions as no rotation.
_SHORTEST_QUATERNION = 1e-3

# How many keys are read in the time that Blender needs to evaluate a curve once.
_KEYS_PER_EVALUATION = 16


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
    player: Player,
    options: AnimationOptions,
    report: Report,
    progress: Progress,
    *,
    with_scales: bool = False,
) -> Job[SampledClip]:
    """The joints of a skeleton while a clip plays; raises SkeletalError if a bone has no finite pose."""
    # `with_scales` says whether the game takes scales of joints.
    frames, rate = clip.samples(options)
    if not len(skeleton.rig):
        positions = np.repeat(skeleton.joints.positions[None], len(frames), axis=0)
        orientations = np.repeat(skeleton.joints.orientations[None], len(frames), axis=0)
        return SampledClip(clip, frames, rate, positions, orientations)
    _warn_of_range(clip, player, report)
    from_curves = sampled = None
    if not player.remaps_time and skeleton.armature is not None and len(skeleton.parts) == 1:
        from_curves = _poses_from_curves(skeleton.armature, skeleton.rig, clip, frames, with_scales=with_scales)
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
        problem = "scaled unevenly in the animation, which the export cannot keep: {}: use one scale for all axes"
    else:
        positions, orientations, uneven = skeleton.joints_of_scene(matrices)
        table = None
        problem = "scaled in the animation, which joints cannot be: {}: remove the scale"
    _warn_of_scales(clip, skeleton, uneven, problem, report)
    volumes = np.linalg.det(matrices[..., :3, :3]) / skeleton.volumes
    changes = np.abs(volumes - 1.0).max(axis=1, initial=0.0)
    most_scaled = int(changes.argmax()) if changes.max() > _LARGEST_CHANGE_OF_VOLUME else None
    return SampledClip(clip, frames, rate, positions, orientations, table, most_scaled, moves_armature)


def _warn_of_scales(
    clip: Clip, skeleton: Skeleton, uneven: npt.NDArray[np.bool_], problem: str, report: Report
) -> None:
    """Warns of bones or objects that joints cannot follow, (F, n); `problem` is for those without a known cause."""
    scaling, others = list[str](), list[str]()
    for part in skeleton.parts:
        of_part = uneven[:, part.first : part.first + len(part.rig)].any(axis=0)
        names = [part.rig.bone_names[bone] for bone in np.flatnonzero(of_part)]
        found = split_by_constraints(part.armature, names)
        scaling += found[0]
        others += found[1]
    if skeleton.armature is None:
        sheared, others = split_by_parents([skeleton.objects[joint] for joint in np.flatnonzero(uneven.any(axis=0))])
        for sentence in sheared:
            report.warn(sentence, clip.name)
    if scaling:
        report.warn(
            f"constraints scale bones, which joints cannot be: {listing(scaling, 3)}. Disable them, or use one that "
            "does not scale, as Damped Track instead of Stretch To",
            clip.name,
        )
    if others:
        what = "bones" if skeleton.armature is not None else "objects"
        report.warn(f"{what} are {problem.format(listing(others, 3))}", clip.name)


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
    """The animation of a sampled clip, with bounds of zeros. `commandline` is written to the file."""
    joints = skeleton.joints
    positions, orientations = decompose(joints.parents, sampled.positions, sampled.orientations)
    if sampled.scales is not None:
        positions = _without_scales(positions, sampled.scales)
    return encode_local_poses(
        joints.names, joints.parents, positions, orientations,
        frame_rate=sampled.frame_rate, commandline=commandline,
        precision=Precision(options.position_precision, options.orientation_precision),
    )  # fmt: skip


def poses_in_file(sampled: SampledClip, animation: Animation, chosen: list[int], *, as_read: bool = True) -> Poses:
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
    """The joint of each bone or object in the scene at some frames, (F, J, 4, 4), and whether the armature moves."""
    rig, parts = skeleton.rig, skeleton.parts
    orders = [[part.armature.pose.bones.find(name) for name in part.rig.bone_names] for part in parts]
    matrices = np.empty((len(frames), len(rig), 4, 4))
    worlds = np.empty((len(frames), len(parts), 4, 4))
    player.play(clip)
    for index, frame in enumerate(frames.tolist()):
        graph = player.evaluate(frame)
        for joint, obj in enumerate(skeleton.objects):
            matrices[index, joint] = mesh_data.world_matrix(obj.evaluated_get(graph))
        for number, (part, order) in enumerate(zip(parts, orders, strict=True)):
            posed = part.armature.evaluated_get(graph)
            # Blender's matrices are stored by columns.
            local = mesh_data.read_array(posed.pose.bones, "matrix", 4, 4)[order].swapaxes(1, 2)
            worlds[index, number] = world = mesh_data.world_matrix(posed)
            matrices[index, part.first : part.first + len(order)] = world @ mesh_data.without_infinity(local)
        yield progress.step(0)
    is_finite = np.isfinite(matrices).all(axis=(2, 3))
    if not is_finite.all():
        index, bone = np.argwhere(~is_finite)[0].tolist()
        raise SkeletalError(
            f"the pose of {rig.bone_names[bone]} is not a number on frame {frames[index]:g}"
            + (f" of {clip.name}" if clip.name else "")
            + ": delete the key or driver that causes it"
        )
    if not parts:
        # What does not change, such as an uneven scale, is part of the mesh.
        rest = quat.transforms(rig.rest_positions, rig.rest_orientations)
        return matrices @ np.linalg.inv(skeleton.object_matrices) @ rest, False
    return matrices @ quat.transforms(*rig.joints_in_bones()), bool(np.ptp(worlds[:, 0], axis=0).any())


# Poses computed from the F-curves of an action, about twenty times as fast as Blender's evaluation. Used only where the
# result is the same: without constraints, drivers, special bone settings or a moving armature object. Bones may be
# scaled evenly if scales are exported and no bone inherits them.


def _poses_from_curves(
    armature: Object, rig: Rig, clip: Clip, frames: Floats, *, with_scales: bool = False
) -> tuple[Floats, Floats, Floats] | None:
    """The joints in the space of the armature while a clip plays; None if Blender must evaluate it."""
    # `frames` are of the scene. Without `with_scales`, Blender must evaluate a clip that scales bones. The result is
    # positions (F, J, 3), orientations (F, J, 4) and scales (F, J).
    action_frames = clip.action_frames(frames)
    if clip.action is None or action_frames is None or not _is_plain(armature, clip):
        return None
    channels = _channels(armature, rig, clip, action_frames)
    if channels is None:
        return None
    locations, rotations, bone_scales = channels
    is_valid = np.isfinite(locations).all() and np.isfinite(rotations).all()
    if not is_valid or np.linalg.norm(rotations, axis=2).min(initial=1.0) <= _SHORTEST_QUATERNION:
        return None
    scales = _even_scales(armature, rig, bone_scales)
    if scales is None or (not with_scales and (scales != 1.0).any()):
        return None
    parents = rig.joints.parents
    # Blender scales the location of a bone by its parent's scale, even if the bone does not inherit that.
    parent_scales = of_parents(parents, scales[..., None])
    # A bone relative to its parent is its rest relative to its parent's rest, then its channels.
    rest_offsets, rest_rotations = decompose(parents, rig.rest_positions, rig.rest_orientations)
    positions, orientations = compose(
        parents,
        (rest_offsets + quat.rotate(rest_rotations, locations)) * parent_scales,
        quat.multiply(rest_rotations, quat.normalise(rotations)),
    )
    offsets, rotations = rig.joints_in_bones()
    joint_positions = positions + quat.rotate(orientations, offsets * scales[..., None])
    return joint_positions, quat.multiply(orientations, rotations), scales


def _even_scales(armature: Object, rig: Rig, channels: Floats) -> Floats | None:
    """The scale of each bone, (F, J); None if one is uneven, not positive, or inherited."""
    scales = channels[..., 0]
    if (np.abs(channels - 1.0) <= _SCALE_TOLERANCE).all():
        return np.ones(scales.shape)
    is_even = (scales > 0.0).all() and (channels == scales[..., None]).all()
    inherits = any(armature.data.bones[name].inherit_scale != "NONE" for name in rig.bone_names)
    return scales if is_even and not inherits else None


def _is_plain(armature: Object, clip: Clip) -> bool:
    """Whether only channels of its bones move an armature."""
    of_object, of_data = armature.animation_data, armature.data.animation_data
    plays_nla = not clip.is_alone and of_object is not None and of_object.use_nla and len(of_object.nla_tracks) > 0
    return (
        not plays_nla
        and (armature.parent is None or not depends_on_time(armature.parent))
        and not armature.constraints
        and not any(data is not None and data.drivers for data in (of_object, of_data))
        and not (of_data and of_data.action)
        and all(
            bone.rotation_mode == "QUATERNION"
            and not bone.constraints
            and bone.bone.use_inherit_rotation
            and bone.bone.use_local_location
            and not bone.bone.use_connect
            and bone.bone.bbone_segments == 1
            for bone in armature.pose.bones
        )
    )


def _channels(armature: Object, rig: Rig, clip: Clip, frames: Floats) -> tuple[Floats, Floats, Floats] | None:
    """Locations (F, J, 3), rotations (F, J, 4) and scales (F, J, 3); None if anything else is animated."""
    assert clip.action is not None
    paths = {
        f"{bone_path(name)}.{channel}": (bone, channel)
        for bone, name in enumerate(rig.bone_names)
        for channel in _WIDTHS
    }
    order = [armature.pose.bones.find(name) for name in rig.bone_names]
    values = {}
    for channel in _WIDTHS:
        unkeyed = np.tile(np.float32(POSE_CHANNELS[channel]), (len(rig), 1))
        if not clip.is_alone:
            unkeyed = pose_channel(armature, channel)[order]
        values[channel] = np.repeat(unkeyed[None].astype(np.float64), len(frames), axis=0)
    moving: list[tuple[FCurve, int, str]] = []
    for curve in versions.fcurves_of_slot(clip.action, clip.slot):
        path = curve.data_path
        found = paths.get(path)
        if found is None:
            # Bones that the armature does not have are ignored, but other channels, and bones by index, are not
            # supported.
            if path.rpartition("].")[2] not in _WIDTHS or not path.startswith('pose.bones["'):
                return None
            continue
        if curve.mute:
            continue
        # Versions of Blender differ in the effect of a muted group.
        group = curve.group
        if (group is not None and group.mute) or curve.modifiers or not curve.keyframe_points:
            return None
        if curve.array_index < _WIDTHS[found[1]]:
            moving.append((curve, *found))
    rows = _curve_values([one[0] for one in moving], frames)
    for (curve, bone, channel), row in zip(moving, rows, strict=True):
        values[channel][:, bone, curve.array_index] = row
    return values["location"], values["rotation_quaternion"], values["scale"]


def _curve_values(curves: list[FCurve], frames: Floats) -> Floats:
    """F-curves at some frames, (C, F)."""
    result = np.empty((len(curves), len(frames)))
    by_count: dict[int, list[int]] = {}
    for number, curve in enumerate(curves):
        by_count.setdefault(len(curve.keyframe_points), []).append(number)
    for count, numbers in by_count.items():
        alike = [curves[number] for number in numbers]
        known = np.zeros(len(alike), dtype=bool)
        # Else evaluating is faster than reading.
        if count < _KEYS_PER_EVALUATION * len(frames):
            known, values = _linear_values(alike, count, frames)
            result[numbers] = values
        for number, curve, is_known in zip(numbers, alike, known.tolist(), strict=True):
            if not is_known:
                result[number] = [curve.evaluate(frame) for frame in frames.tolist()]
    return result


def _linear_values(curves: list[FCurve], count: int, frames: Floats) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Curves with the same number of keys: whether linear between ascending keys, (C,), and values, (C, F)."""
    points = np.empty((len(curves), 2 * count), dtype=np.float32)
    kinds = np.empty((len(curves), count), dtype=np.int32)
    for curve, key_points, key_kinds in zip(curves, points, kinds, strict=True):
        keys = curve.keyframe_points
        keys.foreach_get("co", key_points)
        if count > 1:
            keys.foreach_get("interpolation", key_kinds)
    times, values = points[:, 0::2], points[:, 1::2]
    is_linear = np.array([curve.extrapolation == "CONSTANT" for curve in curves])
    if count > 1:
        is_linear &= (kinds == LINEAR).all(axis=1) & (times[:, 1:] > times[:, :-1]).all(axis=1)
    if count == len(frames) and (times == frames).all():
        return is_linear, values.astype(np.float64)
    if count == 1:
        return is_linear, np.repeat(values, len(frames), axis=1).astype(np.float64)
    return is_linear, np.array([np.interp(frames, *rows) for rows in zip(times, values, strict=True)])
