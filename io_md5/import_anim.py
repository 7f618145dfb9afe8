"""Frames into an action of quaternion keyframes.

A pose bone's channels are relative to its rest. With rest matrices R of the bone, J of its joint's bind pose and
L(t) the joint relative to its parent at a time, they are ``(R⁻¹ · J of the parent) · L(t) · (J⁻¹ · R)``: two
constant transforms around what the file says, whatever axes the bones have.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt

from ..io_common.scene import names, versions
from ..io_common.scene.keyframes import KeyframeWriter
from .format import ROOT, Animation, Joints
from .format import quaternions as quat
from .format.model import Floats
from .format.skeleton import component_columns, components
from .rig import Rig, parent_names
from .source.actions import store_action

# So many poses of a joint are computed at once.
_CACHED = 1 << 13


@dataclass(frozen=True)
class Match:
    """Which joints of an animation move which bones.

    Attributes:
        joints: joints of the animation.
        bones: the bone of each, as an index into the rig.
        extra: names of joints that the rig does not have.
        missing: names of bones that the animation does not move.
        differing: names of joints that hang under another parent than in the rig; they are not moved.
    """

    joints: list[int] = field(default_factory=list)
    bones: list[int] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the animation is one of exactly this skeleton."""
        return not (self.extra or self.missing or self.differing)


def match_joints(animation: Animation, joints: Joints) -> Match:
    """Matches the joints of an animation with those of a skeleton by name; of equal names the first counts."""
    match = Match()
    bones = {name: bone for bone, name in reversed(list(enumerate(joints.names)))}
    animation_parents = parent_names(animation.names, animation.parents)
    rig_parents = parent_names(joints.names, joints.parents)
    for joint, name in enumerate(animation.names):
        bone = bones.pop(name, None)
        if bone is None:
            match.extra.append(name)
        elif animation.has_hierarchy and animation_parents[joint] != rig_parents[bone]:
            match.differing.append(name)
        else:
            match.joints.append(joint)
            match.bones.append(bone)
    match.missing.extend(joints.names[bone] for bone in sorted(bones.values()))
    return match


def build_action(
    name: str, animation: Animation, rig: Rig, match: Match, *, frame_start: int
) -> bpy.types.Action:
    """An action with a frame range and a fake user; it is assigned to nothing.

    Args:
        name: of the action.
        animation: in the coordinates of the scene.
        rig: whose bones it moves.
        match: which joints move which bones.
        frame_start: the scene frame of the first frame of the file.
    """
    action = bpy.data.actions.new(names.for_blender(name, versions.MAX_ID_NAME, "Action"))
    action.use_fake_user = True
    action.use_frame_range = True
    action.frame_start = frame_start
    action.frame_end = frame_start + animation.frame_count - 1
    store_action(action, name, animation.commandline, animation.frame_rate)
    joints, bones = np.array(match.joints, dtype=np.int64), np.array(match.bones, dtype=np.int64)
    table = components(animation)
    moves, turns = _moving(animation)
    curves = versions.ActionCurves(action, "OBJECT")
    keyframes = KeyframeWriter(frame_start, animation.frame_count)
    # A few joints at a time, so that what is computed of them stays in the processor's cache.
    step = max(1, _CACHED // max(animation.frame_count, 1))
    for first in range(0, len(joints), step):
        some = slice(first, first + step)
        locations, rotations = _channels(table[:, joints[some]], rig, bones[some])
        for place, (joint, bone) in enumerate(zip(match.joints[some], match.bones[some], strict=True)):
            bone_name = rig.bone_names[bone]
            path = f'pose.bones["{bpy.utils.escape_identifier(bone_name)}"]'
            moving, turning = _chosen(moves[joint]), _chosen(turns[joint])
            for index in range(3):
                curve = curves.new(f"{path}.location", index, bone_name)
                keyframes.write(curve, locations[:, place, index], moving)
            for index in range(4):
                curve = curves.new(f"{path}.rotation_quaternion", index, bone_name)
                keyframes.write(curve, rotations[:, place, index], turning)
    return action


def _chosen(is_changing: np.bool_) -> slice:
    """The frames that get a keyframe: all of them, or the first one alone for what does not change."""
    return slice(None if is_changing else 1)


def _moving(animation: Animation) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which joints change place, and which turn, relative to their parents, each (J,)."""
    changing = (animation.frames != animation.frames[:1]).any(axis=0)
    joints, bits, columns = component_columns(animation.flags, animation.starts)
    moves = np.zeros((len(animation.names), 6), dtype=bool)
    moves[joints, bits] = changing[columns]
    return np.any(moves[:, :3], axis=1), np.any(moves[:, 3:], axis=1)


def _channels(
    table: Floats, rig: Rig, bones: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Locations (F, n, 3) and continuous rotations (F, n, 4) of some bones.

    Args:
        table: the components of the bones' joints, (F, n, 6).
        rig: the armature.
        bones: indices into the rig, (n,).
    """
    positions, orientations = table[..., :3], quat.with_w(table[..., 3:])

    bind = rig.joints
    parents = bind.parents[bones]
    above_positions, above_orientations = _padded(bind.positions, bind.orientations, parents)
    rest_positions, rest_turns_back = rig.rest_positions[bones], quat.conjugate(rig.rest_orientations[bones])
    bind_turns_back = quat.conjugate(bind.orientations[bones])
    before_turn = quat.multiply(rest_turns_back, above_orientations)
    before_move = quat.rotate(rest_turns_back, above_positions - rest_positions)
    after_turn = quat.multiply(bind_turns_back, rig.rest_orientations[bones])
    after_move = quat.rotate(bind_turns_back, rest_positions - bind.positions[bones])

    locations = positions + quat.rotate(orientations, after_move)
    locations = quat.rotate(before_turn, locations) + before_move
    rotations = quat.multiply(quat.multiply(before_turn, orientations), after_turn)
    return locations.astype(np.float32), _positive_first(quat.make_continuous(rotations)).astype(np.float32)


def _padded(positions: Floats, orientations: Floats, parents: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Place and axes of each parent, (n, 3) and (n, 4); those of the armature for a root."""
    has_parent = (parents != ROOT)[:, None]
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    return np.where(has_parent, positions[parents], 0.0), np.where(
        has_parent, orientations[parents], identity
    )


def _positive_first(rotations: Floats) -> Floats:
    """The same rotations (F, n, 4), all negated where w is negative in the first frame: rest is 1 0 0 0."""
    return rotations * np.where(rotations[:1, :, :1] < 0.0, -1.0, 1.0)
