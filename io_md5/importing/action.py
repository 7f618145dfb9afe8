"""Actions with quaternion keyframes, made of animations."""
# A pose bone's channels are relative to its rest. With rest matrices R of the bone, J of its joint's bind pose and L(t)
# the joint relative to its parent at a time, they are `(R⁻¹ · J of the parent) · L(t) · (J⁻¹ · R)`: two constant
# transforms around the joint's transform in the file, whatever axes the bones have.
#
# A joint with a scale s, from an .md5scale file, is a bone scaled by s that inherits no scale. Blender still scales the
# location of a bone by its parent's scale, so the location is divided by that; 0 becomes `SMALLEST_SCALE`.

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.clips.actions import (
    ActionFinder,
    add_muted_strip,
    moves_bones,
    played_actions,
    store_owner,
    strip_actions,
)
from ...io_blender.clips.keyframes import CONSTANT, LINEAR, KeyframeWriter, write_keyframes
from ...io_blender.reports import ImportResult, Report, listing
from ...io_blender.scene import axes, names
from ...io_blender.scene.objects import conversion_of
from ..format import ROOT, Animation
from ..format import quaternions as quat
from ..format.joint_map import map_retargeting, transfer_animation
from ..format.model import Floats, as_singles
from ..format.playback import loop_type_of_components
from ..format.retargeting import Retargeting
from ..format.scale_file import Scales, ScaleTable
from ..format.skeleton import Match, components, match_joints
from ..options import ImportOptions
from ..records import load_action, load_joint_map, store_action, store_joint_map
from .conversion import convert_animation, convert_joints
from .read import ImportSkeleton, Transfer
from .rig import SMALLEST_SCALE, Rig, read_rig
from .verification import verify_import

if TYPE_CHECKING:
    from bpy.types import Context

# Poses computed at once.
_CHUNK = 1 << 13

# Of the size of a skeleton: bones that move less are only turned.
_LEAST_MOVE = 1e-3


def build_action(
    name: str,
    animation: Animation,
    rig: Rig,
    match: Match,
    *,
    frame_start: int,
    scales: ScaleTable | None = None,
    template: bpy.types.Action | None = None,
) -> bpy.types.Action:
    """An action with a frame range and a fake user, not assigned yet; `animation` is in scene coordinates."""
    # Copying the curves of `template`, an action for the same bones without scales, takes half as long as making them.
    shown_name = names.for_blender(name, versions.MAX_ID_NAME, "Action")
    action = bpy.data.actions.new(shown_name) if template is None else _copy_curves(template, shown_name)
    copied = None if template is None else iter(versions.action_fcurves(action, "OBJECT"))
    action.use_fake_user = True
    action.use_frame_range = True
    action.frame_start = frame_start
    action.frame_end = frame_start + animation.frame_count - 1
    # As Blender means it: the last frame of the range repeats the first.
    table = components(animation)
    action.use_cyclic = loop_type_of_components(table) == "closed"
    scaled = scales.scales_position if scales is not None else np.zeros(len(animation.names), dtype=bool)
    store_action(
        action, name, animation.commandline, animation.frame_rate,
        [animation.names[joint] for joint in np.flatnonzero(scaled)],
    )  # fmt: skip
    joints, bones = np.array(match.joints, dtype=np.int64), np.array(match.bones, dtype=np.int64)
    is_moving = (table != table[:1]).any(axis=0)
    is_translated, is_rotated = is_moving[:, :3].any(axis=1), is_moving[:, 3:].any(axis=1)
    scaling = None
    if scales is not None:
        table[..., :3] *= scales.translation_factors()[..., None]
        scaling = _Scaling(scales, rig, joints, bones)
        is_translated[joints] |= scaling.moves
    curves = versions.ActionCurves(action, "OBJECT")
    count = animation.frame_count
    linear = np.full(count, LINEAR, dtype=np.int32)
    # A few joints at a time, so that their arrays stay in the processor's cache.
    step = max(1, _CHUNK // max(count, 1))
    for first in range(0, len(joints), step):
        chunk = slice(first, first + step)
        locations, rotations = _channels(
            table[:, joints[chunk]], rig, bones[chunk], scaling.part(chunk) if scaling is not None else None
        )
        points = _points(np.concatenate([locations, rotations], axis=2), frame_start)
        for column, (joint, bone) in enumerate(zip(match.joints[chunk], match.bones[chunk], strict=True)):
            bone_name = rig.bone_names[bone]
            kinds = linear
            if scaling is not None:
                kinds = linear.copy()
                kinds[scaling.held_frames(first + column)] = CONSTANT
            has_motion = is_translated[joint], is_rotated[joint]
            made = copied or _new_curves(curves, bone_name)
            for (is_rotation, _, _), curve, values in zip(_CURVES, made, points[column], strict=False):
                # What does not change gets the first keyframe alone.
                values = values if has_motion[is_rotation] else values[:2]
                write_keyframes(curve, values, linear if is_rotation else kinds)
            if scaling is not None:
                _write_scale(curves, bone_name, frame_start, scaling.channels[:, first + column])
    return action


_CURVES = (*((0, "location", index) for index in range(3)), *((1, "rotation_quaternion", index) for index in range(4)))
"""The curves of a bone in their order: whether it is of a rotation, the property and the index."""


def _new_curves(curves: versions.ActionCurves, bone_name: str) -> Iterator[bpy.types.FCurve]:
    path = _path(bone_name)
    for _, name, index in _CURVES:
        yield curves.new(f"{path}.{name}", index, bone_name)


def _path(bone_name: str) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(bone_name)}"]'


def _copy_curves(template: bpy.types.Action, name: str) -> bpy.types.Action:
    """A copy of an action with nothing but its curves."""
    action: Any = template.copy()
    action.name = name
    for key in list(action.keys()):
        del action[key]
    for marker in list(action.pose_markers):
        action.pose_markers.remove(marker)
    copied: bpy.types.Action = action
    return copied


def _write_scale(curves: versions.ActionCurves, bone_name: str, frame_start: int, values: Floats) -> None:
    """Keyframes of a bone's scale, held up to the next one; none if it is always 1."""
    if (values == 1.0).all():
        return
    count = len(values)
    chosen = np.append(0, np.flatnonzero(np.diff(values)) + 1)
    writer = KeyframeWriter(frame_start, count, np.arange(count))
    for index in range(3):
        writer.write(curves.new(f"{_path(bone_name)}.scale", index, bone_name), values, chosen)


class _Scaling:
    """The scales of the bones that an animation moves, each float64 (F, n)."""

    # `joints` and `bones` pair indices into the animation with indices into the rig, both (n,).

    def __init__(
        self, scales: ScaleTable, rig: Rig, joints: npt.NDArray[np.int64], bones: npt.NDArray[np.int64]
    ) -> None:
        values = scales.values[:, joints]
        # In the space of the armature.
        self.values = np.where(np.abs(values) < SMALLEST_SCALE, SMALLEST_SCALE, values)
        of_rig = np.ones((len(values), len(rig)))
        of_rig[:, bones] = self.values
        parents = rig.joints.parents[bones]
        self.above = np.where(parents != ROOT, of_rig[:, parents], 1.0)  # those of the parents
        # To be keyed: the scale of a bone under one with a negative scale is negated.
        self.channels = self.values * np.sign(self.above)
        changes = (self.values != self.values[:1]) | (self.above != self.above[:1])
        # Whether the location of each bone may change because of scales, bool (n,).
        self.moves: npt.NDArray[np.bool_] = changes.any(axis=0)

    def part(self, chunk: slice) -> tuple[Floats, Floats]:
        return self.values[:, chunk], self.above[:, chunk]

    def held_frames(self, column: int) -> npt.NDArray[np.int64]:
        """The frames after which the location of a bone jumps, because the scale of its parent does."""
        result: npt.NDArray[np.int64] = np.flatnonzero(np.diff(self.above[:, column]))
        return result


def _points(values: npt.NDArray[np.float32], frame_start: int) -> npt.NDArray[np.float32]:
    """The frames and values (F, n, m) of keyframes, in turn, (n, m, 2 F)."""
    count, *rest = values.shape
    points = np.empty((*rest, count, 2), dtype=np.float32)
    points[..., 0] = np.arange(frame_start, frame_start + count)
    points[..., 1] = np.moveaxis(values, 0, -1)
    return points.reshape(*rest, 2 * count)


def _channels(
    table: Floats, rig: Rig, bones: npt.NDArray[np.int64], scaling: tuple[Floats, Floats] | None = None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Locations (F, n, 3) and continuous rotations (F, n, 4) of some bones, by their joints' components."""
    # All frames of a bone follow each other in memory: numpy repeats what is the same in all of them quickly then.
    rows = np.ascontiguousarray(table.swapaxes(0, 1))
    positions, orientations = rows[..., :3], quat.wxyz_from_xyz(rows[..., 3:])

    bind = rig.joints
    parents = bind.parents[bones]
    parent_positions, parent_orientations = _parent_transforms(bind.positions, bind.orientations, parents)
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
    continuous = _positive_first(quat.make_continuous(rotations))
    return as_singles(locations.swapaxes(0, 1)), continuous.astype(np.float32)


def _parent_transforms(
    positions: Floats, orientations: Floats, parents: npt.NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """The position and orientation of each parent; the identity for a root."""
    has_parent = (parents != ROOT)[:, None]
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    return np.where(has_parent, positions[parents], 0.0), np.where(has_parent, orientations[parents], identity)


def _positive_first(rotations: Floats) -> Floats:
    """The same rotations (F, n, 4), all negated where w is negative in the first frame: rest is 1 0 0 0."""
    return rotations * np.where(rotations[:1, :, :1] < 0.0, -1.0, 1.0)


def build_animation(
    context: Context,
    name: str,
    animation: Animation,
    target: ImportSkeleton,
    options: ImportOptions,
    result: ImportResult,
    scales: Scales | None = None,
    transfer: Transfer | None = None,
) -> None:
    """Builds the action of an animation of the file; an armature's first becomes its active action."""
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
        target.conversion = target.conversion or conversion_of(obj) or axes.identity()
        conversion = target.conversion
    rig = target.rig = target.rig or read_rig(obj.data)
    converted = convert_animation(animation, conversion)
    if transfer is not None:
        retargeting = _find_retargeting(transfer, target, rig, conversion, name, result.report)
        converted = transfer_animation(converted, retargeting, keep_feet=options.keep_feet)
        # Bones that are not mapped are keyed at rest, as the action that played before may have posed them.
        bones = list(range(len(rig)))
        match, scales = Match(bones, bones), None
        hint = "Transferred from another skeleton by its joint map"
        is_other = transfer.rest.joints.names != rig.joints.names
        result.report.hints += [hint] if is_other and hint not in result.report.hints else []
    else:
        match = match_joints(animation, rig.joints)
        _warn_of_mismatch(match, name, result.report)
    table = scales.table(animation.names, animation.frame_count)[0] if scales is not None else None
    if table is not None and not table.is_used:
        table = None
    template = target.template if table is None and target.template_bones == match.bones else None
    action = build_action(name, converted, rig, match, frame_start=options.frame_start, scales=table, template=template)
    if table is None:
        target.template, target.template_bones = action, match.bones
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
        add_muted_strip(obj, action, options.frame_start, shown_name)
    if not is_new:
        verify_import(
            context, obj, rig, action, converted, match, table, result.report, is_transferred=transfer is not None
        )
    result.report.count("animations")
    result.report.count("frames", animation.frame_count)


def _find_retargeting(
    transfer: Transfer, target: ImportSkeleton, rig: Rig, conversion: axes.Conversion, name: str, report: Report
) -> Retargeting:
    """The transfer to a skeleton; that of the animation before, if it has the same joints at rest and the same map."""
    assert target.obj is not None
    rest = convert_joints(transfer.rest.joints, conversion)
    made = target.retargeting
    if (
        made is not None
        and target.pairs == transfer.pairs
        and made.source.names == rest.names
        and np.array_equal(made.source.positions, rest.positions)
        and np.array_equal(made.source.orientations, rest.orientations)
    ):
        return made
    if not transfer.rest.is_known:
        report.warn("its rest pose is not known, so its base frame is used: put its .md5mesh into its folder", name)
    missing = {transfer.pairs[bone] for bone in rig.joints.names if bone in transfer.pairs}.difference(rest.names)
    if missing:
        report.warn(f"joints of the map that it does not have: {listing(sorted(missing))}", name)
    if transfer.found and not load_joint_map(target.obj.data):
        store_joint_map(target.obj.data, {bone: (pair.source, pair.how) for bone, pair in transfer.found.items()})
    if target.translated is None:
        target.translated = _translated_bones(target.obj, rig)
    target.pairs = transfer.pairs
    target.retargeting = map_retargeting(rest, rig.joints, transfer.pairs, translated=target.translated)
    return target.retargeting


def _translated_bones(armature: bpy.types.Object, rig: Rig) -> list[bool]:
    """Whether the actions of an armature move each of its bones, and do not only turn it."""
    paths = {f"{_path(name)}.location": bone for bone, name in enumerate(rig.bone_names)}
    least = _LEAST_MOVE * float(np.ptp(rig.joints.positions, axis=0).max(initial=0.0))
    moved = [False] * len(rig)
    finder = ActionFinder(armature)
    for action in bpy.data.actions:
        if moves_bones(action, armature) and finder.owns(action):
            for curve in versions.action_fcurves(action, "OBJECT"):
                if curve.data_path in paths and not moved[paths[curve.data_path]]:
                    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
                    curve.keyframe_points.foreach_get("co", points)
                    moved[paths[curve.data_path]] = bool(np.abs(points[1::2]).max(initial=0.0) > least)
    return moved


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


class ExistingActions:
    """The actions of an armature before an import; `new` are those that the import has made already."""

    def __init__(self, armature: bpy.types.Object, new: Collection[bpy.types.Action]) -> None:
        self.in_strips = strip_actions(armature)  # those that NLA strips of the armature play
        self._armature = armature
        # By the name in Blender, and by that of the file.
        self._shown: dict[str, list[bpy.types.Action]] = {}
        self._stored: dict[str, list[bpy.types.Action]] = {}
        made, finder = set(new), ActionFinder(armature)
        for action in bpy.data.actions:
            is_local = action not in made and action.library is None
            if is_local and moves_bones(action, armature) and finder.owns(action):
                self._shown.setdefault(action.name, []).append(action)
                self._stored.setdefault(load_action(action).name, []).append(action)

    def find(self, name: str, replaced: Collection[bpy.types.Action]) -> bpy.types.Action | None:
        """The action of the name, or imported from a file of that name; those in `replaced` are skipped."""
        # The actions that the armature plays come first, then the one with exactly that name.
        shown_name = names.for_blender(name, versions.MAX_ID_NAME, "Action")
        named = [*self._shown.get(shown_name, ()), *self._stored.get(name, ())]
        found = [action for action in dict.fromkeys(named) if action not in replaced]
        if len(found) < 2:
            return next(iter(found), None)
        played = played_actions(self._armature)
        return min(found, key=lambda action: (action not in played, action.name != shown_name))
