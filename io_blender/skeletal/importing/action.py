"""Actions with quaternion keyframes, made of animations."""
# A pose bone's channels are relative to its rest. With rest matrices R of the bone, J of its joint's bind pose and L(t)
# the joint relative to its parent at a time, they are `(R⁻¹ · J of the parent) · L(t) · (J⁻¹ · R)`: two constant
# transforms around the joint's transform in the file, whatever axes the bones have.
#
# A joint with a scale s, from an .md5scale file, is a bone scaled by s that inherits no scale. Blender still scales the
# location of a bone by its parent's scale, so the location is divided by that; 0 becomes `SMALLEST_SCALE`.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Action, Context, Object

from ....io_common import names
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal.joint_map import map_retargeting, transfer_animation
from ....io_common.skeletal.model import ROOT, Floats, as_singles
from ....io_common.skeletal.playback import loop_type_of_components
from ....io_common.skeletal.retargeting import Retargeting
from ....io_common.skeletal.scales import ScaleTable
from ....io_common.skeletal.skeleton import Match, components, match_joints, of_parents
from ....io_common.texts import counted
from ... import versions
from ...clips.actions import add_muted_strip, own_animations, played_actions, store_owner
from ...clips.keyframes import CONSTANT, LINEAR, KeyframeWriter, add_markers, write_keyframes
from ...reports import ImportResult, listing
from ...scene import axes
from ...scene.mesh_data import read_array
from ...scene.objects import conversion_of
from ...state import strips_of
from ..options import ImportOptions
from ..records import load_action, load_joint_map, store_action, store_joint_map
from ..rig import SMALLEST_SCALE, Motion, Rig, bone_path, convert_animation, convert_joints, read_rig
from .plan import Transfer
from .sources import SourceAnimation
from .verification import verify_import

# Poses computed at once.
_CHUNK = 1 << 13
# Of the size of a skeleton: bones that move less are only turned.
_LEAST_MOVE = 1e-3


def build_action(name: str, motion: Motion, frame_start: float, template: Action | None = None) -> Action:
    """An action with a frame range and a fake user, not assigned yet."""
    # Copying the curves of `template`, an action for the same bones without scales, takes half as long as making them.
    animation, scales = motion.animation, motion.scales
    shown_name = names.for_blender(name, versions.MAX_ID_NAME, "Action")
    action = bpy.data.actions.new(shown_name) if template is None else _copy_curves(template, shown_name)
    copied = None if template is None else iter(versions.action_fcurves(action, "OBJECT"))
    action.use_fake_user = True
    action.use_frame_range = True
    action.frame_start = frame_start
    action.frame_end = frame_start + animation.frame_count - 1
    table = components(animation)
    # As Blender means it: the last frame of the range repeats the first. Some files say what repeats.
    action.use_cyclic = loop_type_of_components(table) == "closed" if motion.is_loop is None else motion.is_loop
    scaled = scales.scales_position if scales is not None else np.zeros(len(animation.names), dtype=bool)
    store_action(
        action, name, animation.commandline, animation.frame_rate,
        [animation.names[joint] for joint in np.flatnonzero(scaled)],
    )  # fmt: skip
    _write_curves(action, motion, table, frame_start, copied)
    return action


def _write_curves(
    action: Action, motion: Motion, table: Floats, frame_start: float, copied: Iterator[bpy.types.FCurve] | None
) -> None:
    """Keyframes of the components (F, J, 6) of joints, in new curves or those of a copy."""
    rig, match, scales = motion.rig, motion.match, motion.scales
    joints, bones = np.array(match.joints, dtype=np.int64), np.array(match.bones, dtype=np.int64)
    is_moving = (table != table[:1]).any(axis=0)
    is_translated, is_rotated = is_moving[:, :3].any(axis=1), is_moving[:, 3:].any(axis=1)
    scaling = None
    if scales is not None:
        table[..., :3] *= scales.translation_factors()[..., None]
        scaling = _bone_scales(scales, rig, joints, bones)
        is_translated[joints] |= (scaling != scaling[:, :1]).any(axis=(0, 1))
    curves = versions.ActionCurves(action, "OBJECT")
    count = len(table)
    linear = np.full(count, LINEAR, dtype=np.int32)
    # A few joints at a time, so that their arrays stay in the processor's cache.
    step = max(1, _CHUNK // max(count, 1))
    for first in range(0, len(joints), step):
        chunk = slice(first, first + step)
        of_chunk = None if scaling is None else scaling[..., chunk]
        locations, rotations = _channels(table[:, joints[chunk]], rig, bones[chunk], of_chunk)
        points = _points(np.concatenate([locations, rotations], axis=2), frame_start)
        for column, (joint, bone) in enumerate(zip(match.joints[chunk], match.bones[chunk], strict=True)):
            bone_name = rig.bone_names[bone]
            kinds = linear
            if of_chunk is not None:
                of_bone, above = of_chunk[..., column]
                # The location jumps where the scale of the parent does.
                kinds = linear.copy()
                kinds[np.flatnonzero(np.diff(above))] = CONSTANT
                # The scale of a bone under one with a negative scale is negated.
                _write_scale(curves, bone_name, frame_start, of_bone * np.sign(above))
            has_motion = is_translated[joint], is_rotated[joint]
            path = bone_path(bone_name)
            made = copied or (curves.new(f"{path}.{name}", index, bone_name) for _, name, index in _CURVES)
            for (is_rotation, _, _), curve, values in zip(_CURVES, made, points[column], strict=False):
                # What does not change gets the first keyframe alone.
                values = values if has_motion[is_rotation] else values[:2]
                write_keyframes(curve, values, linear if is_rotation else kinds)


_CURVES = (*((0, "location", index) for index in range(3)), *((1, "rotation_quaternion", index) for index in range(4)))
"""The curves of a bone in their order: whether it is of a rotation, the property and the index."""


def _copy_curves(template: Action, name: str) -> Action:
    """A copy of an action with nothing but its curves."""
    action: Any = template.copy()
    action.name = name
    for key in list(action.keys()):
        del action[key]
    for marker in list(action.pose_markers):
        action.pose_markers.remove(marker)
    return action


def _write_scale(curves: versions.ActionCurves, bone_name: str, frame_start: float, values: Floats) -> None:
    """Keyframes of a bone's scale, held up to the next one; none if it is always 1."""
    if (values == 1.0).all():
        return
    count = len(values)
    chosen = np.append(0, np.flatnonzero(np.diff(values)) + 1)
    writer = KeyframeWriter(frame_start, count, np.arange(count))
    for index in range(3):
        writer.write(curves.new(f"{bone_path(bone_name)}.scale", index, bone_name), values, chosen)


def _bone_scales(scales: ScaleTable, rig: Rig, joints: npt.NDArray[np.int64], bones: npt.NDArray[np.int64]) -> Floats:
    """The scales of the bones that an animation moves in the space of the armature, and of their parents, (2, F, n)."""
    values = scales.values[:, joints]
    of_bones = np.where(np.abs(values) < SMALLEST_SCALE, SMALLEST_SCALE, values)
    of_rig = np.ones((len(values), len(rig)))
    of_rig[:, bones] = of_bones
    return np.array([of_bones, of_parents(rig.joints.parents, of_rig[..., None])[:, bones, 0]])


def _points(values: npt.NDArray[np.float32], frame_start: float) -> npt.NDArray[np.float32]:
    """The frames and values (F, n, m) of keyframes, in turn, (n, m, 2 F)."""
    count, *rest = values.shape
    points = np.empty((*rest, count, 2), dtype=np.float32)
    points[..., 0] = np.arange(frame_start, frame_start + count)
    points[..., 1] = np.moveaxis(values, 0, -1)
    return points.reshape(*rest, 2 * count)


def _channels(
    table: Floats, rig: Rig, bones: npt.NDArray[np.int64], scaling: Floats | None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Locations (F, n, 3) and continuous rotations (F, n, 4) of some bones, by their joints' components."""
    # All frames of a bone follow each other in memory: numpy repeats what is the same in all of them quickly then.
    rows = np.ascontiguousarray(table.swapaxes(0, 1))
    positions, orientations = rows[..., :3], quat.wxyz_from_xyz(rows[..., 3:])

    bind = rig.joints
    parents = bind.parents[bones]
    has_parent = (parents != ROOT)[:, None]
    parent_positions = np.where(has_parent, bind.positions[parents], 0.0)
    parent_orientations = np.where(has_parent, bind.orientations[parents], (1.0, 0.0, 0.0, 0.0))
    rest_positions, inverse_rest = rig.rest_positions[bones], quat.conjugate(rig.rest_orientations[bones])
    inverse_bind = quat.conjugate(bind.orientations[bones])
    pre_rotation = quat.multiply(inverse_rest, parent_orientations)[:, None]
    pre_translation = quat.rotate(inverse_rest, parent_positions - rest_positions)[:, None]
    post_rotation = quat.multiply(inverse_bind, rig.rest_orientations[bones])[:, None]
    post_translation = quat.rotate(inverse_bind, rest_positions - bind.positions[bones])[:, None]

    # The bones of imported models begin at their joints.
    if post_translation.any():
        offsets = quat.rotate(orientations, post_translation)
        positions = positions + (offsets if scaling is None else offsets * scaling[0].T[..., None])
    locations = quat.rotate(pre_rotation, positions)
    if scaling is not None:
        locations /= scaling[1].T[..., None]
    locations += pre_translation
    rotations = quat.multiply(quat.multiply(pre_rotation, orientations), post_rotation).swapaxes(0, 1)
    continuous = quat.make_continuous(rotations)
    # At rest they are 1 0 0 0, so w is positive in the first frame.
    continuous = continuous * np.where(continuous[:1, :, :1] < 0.0, -1.0, 1.0)
    return as_singles(locations.swapaxes(0, 1)), continuous.astype(np.float32)


class ActionBuilder:
    """Makes actions of an armature out of the animations of an import; its first becomes the active action."""

    def __init__(self, context: Context, armature: Object, options: ImportOptions, result: ImportResult) -> None:
        self._context, self._armature, self._options, self._result = context, armature, options, result
        self._rig = read_rig(armature.data)
        self._conversion = options.conversion
        if options.use_conversion_of_armature:
            self._conversion = conversion_of(armature) or axes.identity()
        # The last action without scales that was made, and the bones that it moves.
        self._template: Action | None = None
        self._template_bones: list[int] = []
        # By the joints of the other skeleton at rest and its map.
        self._retargetings: dict[tuple[object, ...], Retargeting] = {}

    def build(self, source: SourceAnimation, transfer: Transfer | None = None) -> Action | None:
        """Builds the action of an animation; None if there is one of its name, which is kept."""
        name, animation = source.name, source.animation
        armature, options, result, rig = self._armature, self._options, self._result, self._rig
        existing = self._find_existing(name) if options.existing_actions != "CREATE" else None
        animation_data = armature.animation_data or armature.animation_data_create()
        if existing is not None and options.existing_actions == "SKIP":
            # A new armature plays the action that is kept.
            if animation_data.action is None and not animation_data.use_tweak_mode:
                versions.assign_action(animation_data, existing, "OBJECT")
            result.report.count("skipped animations")
            return None
        motion = self._motion(source, transfer)
        template = self._template if motion.scales is None and self._template_bones == motion.match.bones else None
        frame_start = options.frame_start if source.frame_start is None else source.frame_start
        action = build_action(name, motion, frame_start, template)
        source.actions.append(action)
        bones = motion.match.bones
        if motion.scales is None:
            self._template, self._template_bones = action, bones
        store_owner(action, armature, name)
        for bone in bones:
            armature.pose.bones[rig.bone_names[bone]].rotation_mode = "QUATERNION"
            if motion.scales is not None:
                # A joint does not inherit the scale of its parent.
                armature.data.bones[rig.bone_names[bone]].inherit_scale = "NONE"
        if animation_data.action not in result.actions:
            versions.assign_action(animation_data, action, "OBJECT")
        result.actions.append(action)
        if existing is not None:
            result.replaced[existing] = action
        if options.nla_tracks and (existing is None or existing not in self._actions_of_strips):
            # A new action takes the name of the one that it replaces at the end of the import.
            shown_name = existing.name if existing is not None else action.name
            add_muted_strip(armature, action, options.frame_start, shown_name)
        if armature not in result.objects:
            verify_import(self._context, armature, action, motion, result.report)
        result.report.count("animations")
        result.report.count("frames", animation.frame_count)
        return action

    def divide(self, source: SourceAnimation, whole: Action | None) -> None:
        """Adds a marker where each sequence of an animation begins, and on request an action of each."""
        animation, scales, result = source.animation, source.scales, self._result
        last_frame = animation.frame_count - 1
        sequences = [one for one in source.sequences if one.first <= last_frame]
        result.report.count("sequences", len(sequences))
        add_markers(self._context.scene, [(one.name, self._options.frame_start + one.first) for one in sequences])
        if not self._options.sequence_actions or not sequences:
            return
        # The frames are those of the animation, which is counted already.
        counts, before = dict(result.report.counts), len(result.actions)
        for sequence in sequences:
            frames = slice(sequence.first, min(sequence.last, last_frame) + 1)
            part = replace(animation, frames=animation.frames[frames], bounds=animation.bounds[frames], warnings=[])
            part_scales = replace(scales, values=scales.values[frames]) if scales is not None else None
            self.build(SourceAnimation(source.path, part, sequence.name or "frame", part_scales))
        result.report.counts.update(counts)
        result.divided += [whole] if whole is not None and len(result.actions) > before else []

    def _motion(self, source: SourceAnimation, transfer: Transfer | None) -> Motion:
        """The motion of the armature by an animation; tells which joints do not fit."""
        rig, report, name = self._rig, self._result.report, source.name
        converted = convert_animation(source.animation, self._conversion)
        if transfer is not None:
            keep_feet = self._options.keep_feet
            converted = transfer_animation(converted, self._retargeting(transfer, name), keep_feet=keep_feet)
            hint = "Transferred from another skeleton by its joint map"
            if transfer.rest.joints.names != rig.joints.names and hint not in report.hints:
                report.hints.append(hint)
            # Bones that are not mapped are keyed at rest, as the action that played before may have posed them.
            bones = list(range(len(rig)))
            return Motion(rig, converted, Match(bones, bones), is_loop=source.is_loop, is_transferred=True)
        match = match_joints(source.animation, rig.joints)
        for joints, text in (
            (match.extra, "joints without a bone in the armature"),
            (match.missing, "bones without a joint in the animation"),
            (match.differing, "joints with another parent than their bone, not animated"),
        ):
            if joints:
                report.warn(f"{text}: {listing(joints)}", name)
        if match.renamed:
            renamed = f"{counted(len(match.renamed), 'joints')} with other names than the bones"
            report.warn(f"{renamed} were matched by their order: {listing(match.renamed)}", name)
        is_scaled = source.scales is not None and source.scales.is_used
        return Motion(rig, converted, match, source.scales if is_scaled else None, source.is_loop)

    def _retargeting(self, transfer: Transfer, name: str) -> Retargeting:
        """The transfer of poses that animations with these joints and this map share; stores a map that was found."""
        rest = convert_joints(transfer.rest.joints, self._conversion)
        key = (*rest.names, rest.positions.tobytes(), rest.orientations.tobytes(), *transfer.pairs.items())
        if key not in self._retargetings:
            report, joints, data, pairs = self._result.report, self._rig.joints, self._armature.data, transfer.pairs
            if not transfer.rest.is_known:
                report.warn("its rest pose is not known, so its base frame is used: put its model in its folder", name)
            missing = {pairs[bone] for bone in joints.names if bone in pairs}.difference(rest.names)
            if missing:
                report.warn(f"joints of the map that it does not have: {listing(sorted(missing))}", name)
            if transfer.found and not load_joint_map(data):
                store_joint_map(data, {bone: (pair.source, pair.how) for bone, pair in transfer.found.items()})
            self._retargetings[key] = map_retargeting(rest, joints, pairs, translated=self._translated)
        return self._retargetings[key]

    @cached_property
    def _translated(self) -> list[bool]:
        """Whether the actions of the armature move each of its bones, and do not only turn it."""
        rig, moved = self._rig, [False] * len(self._rig)
        paths = {f"{bone_path(name)}.location": bone for bone, name in enumerate(rig.bone_names)}
        least = _LEAST_MOVE * float(np.ptp(rig.joints.positions, axis=0).max(initial=0.0))
        for action in own_animations(self._armature):
            for curve in versions.action_fcurves(action, "OBJECT"):
                if curve.data_path in paths and not moved[paths[curve.data_path]]:
                    values = read_array(curve.keyframe_points, "co", 2)[:, 1]
                    moved[paths[curve.data_path]] = bool(np.abs(values).max(initial=0.0) > least)
        return moved

    @cached_property
    def _actions_of_strips(self) -> set[Action]:
        return {strip.action for strip in strips_of(self._armature.animation_data) if strip.action is not None}

    @cached_property
    def _existing(self) -> list[tuple[Action, str, str]]:
        """The actions of the armature before the import, with their names in Blender and in the file."""
        made = set(self._result.actions)
        return [
            (action, action.name, load_action(action).name)
            for action in own_animations(self._armature)
            if action not in made and action.library is None
        ]

    def _find_existing(self, name: str) -> Action | None:
        """The action of the name, or imported from a file of that name, that was not replaced yet."""
        # The actions that the armature plays come first, then the one with exactly that name.
        wanted = names.for_blender(name, versions.MAX_ID_NAME, "Action")
        found = [
            (action, shown_name)
            for action, shown_name, stored in self._existing
            if (shown_name == wanted or stored == name) and action not in self._result.replaced
        ]
        played = played_actions(self._armature) if len(found) > 1 else ()
        return min(found, key=lambda one: (one[0] not in played, one[1] != wanted), default=(None, ""))[0]
