"""Poses computed from the F-curves of an action, about twenty times as fast as Blender's evaluation. Used only where
the result is the same: without constraints, drivers, special bone settings or a moving armature object."""
# Bones may be scaled evenly if scales are exported and no bone inherits them.

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.clips.keyframes import LINEAR
from ...io_blender.clips.playing import POSE_CHANNELS, pose_channel
from ...io_blender.scene.time_dependence import depends_on_time
from ..format import ROOT
from ..format import quaternions as quat
from ..format.model import Floats
from ..format.skeleton import compose
from ..importing.rig import Rig
from .clips import Clip

if TYPE_CHECKING:
    from bpy.types import FCurve, Object

_WIDTHS = {"location": 3, "rotation_quaternion": 4, "scale": 3}
_TOLERANCE = 1e-6

# Blender treats shorter quaternions as no rotation.
_SHORTEST_QUATERNION = 1e-3

# How many keys are read in the time that Blender needs to evaluate a curve once.
_KEYS_PER_EVALUATION = 16


def poses_from_curves(
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
    # NaN is not above it either.
    if not (np.linalg.norm(rotations, axis=2) > _SHORTEST_QUATERNION).all():
        return None
    if not (np.isfinite(locations).all() and np.isfinite(rotations).all()):
        return None
    scales = _even_scales(armature, rig, bone_scales)
    if scales is None or (not with_scales and (scales != 1.0).any()):
        return None
    parents = rig.joints.parents
    # Blender scales the location of a bone by its parent's scale, even if the bone does not inherit that.
    parent_scales = np.where(parents != ROOT, scales[:, parents], 1.0)[..., None]
    # A bone relative to its parent is its rest relative to its parent's rest, then its channels.
    has_parent = (parents != ROOT)[:, None]
    above = quat.conjugate(np.where(has_parent, rig.rest_orientations[parents], (1.0, 0.0, 0.0, 0.0)))
    rest_rotations = quat.multiply(above, rig.rest_orientations)
    rest_offsets = quat.rotate(above, rig.rest_positions - np.where(has_parent, rig.rest_positions[parents], 0.0))
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
    is_plain = np.abs(channels - 1.0) <= _TOLERANCE
    if is_plain.all():
        return np.ones(scales.shape)
    if not (scales > 0.0).all() or np.abs(channels - scales[..., None]).max() > 0.0:
        return None
    if any(armature.data.bones[name].inherit_scale != "NONE" for name in rig.bone_names):
        return None
    return scales


def _is_plain(armature: Object, clip: Clip) -> bool:
    """Whether only channels of its bones move an armature."""
    animation_data = (armature.animation_data, armature.data.animation_data)
    plays_nla = (
        not clip.is_alone
        and armature.animation_data is not None
        and armature.animation_data.use_nla
        and len(armature.animation_data.nla_tracks) > 0
    )
    return (
        not plays_nla
        and (armature.parent is None or not depends_on_time(armature.parent))
        and not armature.constraints
        and not any(data is not None and data.drivers for data in animation_data)
        and not (armature.data.animation_data and armature.data.animation_data.action)
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
        f'pose.bones["{bpy.utils.escape_identifier(name)}"].{channel}': (bone, channel)
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
    """Curves with the same number of keys: whether linear between rising keys, (C,), and values, (C, F)."""
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
