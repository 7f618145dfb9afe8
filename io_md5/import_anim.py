"""Frames into an action of quaternion keyframes.

A pose bone's channels are relative to its rest. With rest matrices R of the bone, J of its joint's bind pose and
L(t) the joint relative to its parent at a time, they are ``(R⁻¹ · J of the parent) · L(t) · (J⁻¹ · R)``: two
constant transforms around what the file says, whatever axes the bones have.
"""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from ..io_common.scene import names, versions
from .format import ROOT, Animation
from .format import quaternions as quat
from .format.model import Floats
from .format.skeleton import component_columns, components
from .joint_matching import Match
from .rig import Rig
from .source.actions import store_action

# So many poses of a joint are computed at once.
_CACHED = 1 << 13


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
    keys = _Keys(frame_start, animation.frame_count)
    # A few joints at a time, so that what is computed of them stays in the processor's cache.
    step = max(1, _CACHED // max(animation.frame_count, 1))
    for first in range(0, len(joints), step):
        some = slice(first, first + step)
        locations, rotations = _channels(table[:, joints[some]], rig, bones[some])
        for place, (joint, bone) in enumerate(zip(match.joints[some], match.bones[some], strict=True)):
            bone_name = rig.bone_names[bone]
            path = f'pose.bones["{bpy.utils.escape_identifier(bone_name)}"]'
            for index in range(3):
                curve = curves.new(f"{path}.location", index, bone_name)
                keys.fill(curve, locations[:, place, index], moving=bool(moves[joint]))
            for index in range(4):
                curve = curves.new(f"{path}.rotation_quaternion", index, bone_name)
                keys.fill(curve, rotations[:, place, index], moving=bool(turns[joint]))
    return action


class _Keys:
    """Writes keyframes; the arrays are reused from curve to curve."""

    def __init__(self, frame_start: int, frame_count: int) -> None:
        self._points = np.empty((frame_count, 2), dtype=np.float32)
        self._points[:, 0] = np.arange(frame_start, frame_start + frame_count)
        self._linear = np.full(frame_count, versions.LINEAR, dtype=np.int32)

    def fill(self, curve: bpy.types.FCurve, values: npt.NDArray[np.float32], *, moving: bool) -> None:
        """A key on every frame, or a single one on the first for what does not move."""
        count = len(self._points) if moving else 1
        self._points[:count, 1] = values[:count]
        curve.keyframe_points.add(count)
        curve.keyframe_points.foreach_set("co", self._points[:count].ravel())
        curve.keyframe_points.foreach_set("interpolation", self._linear[:count])
        curve.update()


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
