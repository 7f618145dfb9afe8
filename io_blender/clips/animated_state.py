"""What animation changes in a scene, captured before an export plays it and restored afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from .. import state, versions
from .animated_values import AnimatedValues

if TYPE_CHECKING:
    from bpy.types import Action, AnimData, NlaStrip, Object, Scene

POSE_CHANNELS = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""The channels of a pose bone, and the values of its rest pose."""


class AnimatedState:
    """The frame of a scene, what plays on its objects, and the values that animation overwrites.

    A change of frame discards poses that are not keyed yet, so their values are captured as well. `armature` is the one
    that an export plays, even if the scene does not show it; `actions` are going to be played on it.
    """

    def __init__(self, scene: Scene, armature: Object, actions: list[Action]) -> None:
        self._scene = scene
        self._frame = scene.frame_float
        self._camera = scene.camera
        objects = list(dict.fromkeys([*scene.objects, armature]))
        self._playing = [PlayedData(obj) for obj in objects if obj.animation_data is not None]
        self._armature = armature
        self._had_data = armature.animation_data is not None
        self._position = armature.data.pose_position
        # Constraints may refer to armatures of other scenes.
        self._poses = [Pose(obj) for obj in bpy.data.objects if obj.pose is not None]
        self._values = AnimatedValues([(armature, action) for action in actions], skips=_is_pose_channel)

    def restore_values(self) -> None:
        """Restores the values that animation has set, except poses."""
        self._values.restore()

    def restore(self) -> None:
        """Restores everything."""
        has_changed = False
        for playing in self._playing:
            has_changed |= playing.restore()
        if not self._had_data and self._armature.animation_data is not None:
            self._armature.animation_data_clear()
        if self._armature.data.pose_position != self._position:
            self._armature.data.pose_position = self._position
        # Assigning an action or changing the frame evaluates animation, which overwrites unkeyed values.
        if self._frame != self._scene.frame_float:
            state.set_frame(self._scene, self._frame)
            self._scene.camera = self._camera
        elif has_changed:
            self._update()
        were_changed = [self._values.restore(), *(pose.restore() for pose in self._poses)]
        if any(were_changed):
            # Updates drivers of restored properties, and the matrices of the bones.
            self._update()

    def _update(self) -> None:
        for layer in self._scene.view_layers:
            layer.update()


class PlayedData:
    """The action, its slot, and the NLA tracks and strips that play on a data-block, captured to be restored later."""

    def __init__(self, owner: Any) -> None:
        data = owner.animation_data
        self._data = data
        self._tweaks = data.use_tweak_mode
        self._use_nla = data.use_nla
        self._action = data.action
        self._slot = versions.assigned_slot(data)
        self._behind_tweak = versions.action_behind_tweak(data)
        self._last_slot = versions.last_slot_identifier(data)
        self._tracks = [(track, track.is_solo, track.mute) for track in data.nla_tracks]
        self._strips = [(strip, strip.mute) for track in data.nla_tracks for strip in track.strips]

    def restore(self) -> bool:
        """Restores them, and returns whether anything had changed."""
        changed = self._restore_nla() | self._restore_action()
        versions.set_last_slot_identifier(self._data, self._last_slot)
        return changed

    def _restore_nla(self) -> bool:
        changed = False
        for strip, mute in self._strips:
            if strip.mute != mute:
                strip.mute, changed = mute, True
        for track, is_solo, mute in self._tracks:
            if track.mute != mute:
                track.mute, changed = mute, True
            if track.is_solo != is_solo:
                track.is_solo, changed = is_solo, True
        if changed and not self._data.use_tweak_mode:
            _refresh(self._data)
        return changed

    def _restore_action(self) -> bool:
        data = self._data
        if (
            data.action == self._action
            and data.use_tweak_mode == self._tweaks
            and data.use_nla == self._use_nla
            and versions.assigned_slot(data) == self._slot
        ):
            return False
        data.use_nla = self._use_nla
        if self._tweaks:
            # Entering tweak mode makes the strip's action active again, and leaving it the one from before.
            data.use_tweak_mode = False
            versions.play(data, *self._behind_tweak)
            data.use_tweak_mode = True
        else:
            versions.play(data, self._action, self._slot)
        return True


class Pose:
    """The channels of all bones of an armature."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self._channels = {name: pose_channel(obj, name) for name in POSE_CHANNELS}

    def restore(self) -> bool:
        """Restores them, and returns whether anything had changed."""
        changed = False
        for name, values in self._channels.items():
            if not np.array_equal(pose_channel(self._obj, name), values):
                _set_pose_channel(self._obj, name, values)
                changed = True
        if changed:
            self._obj.update_tag(refresh={"OBJECT", "DATA"})
        return changed


def play_alone(owner: Any, action: Action | None, slot: Any) -> None:
    """Plays an action without NLA tracks.

    The owner is an object or shape keys whose state is captured. The slot is None before Blender 4.4.
    """
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    data.use_nla = False
    versions.play(data, action, slot)


def play_strip_alone(owner: Any, strip: NlaStrip) -> None:
    """Plays an NLA strip, muted or not, without others and without the active action.

    The owner is an object or shape keys whose state is captured; the strip is on one of its tracks.
    """
    data = owner.animation_data
    data.use_tweak_mode = False
    data.use_nla = True
    for track in data.nla_tracks:
        if track.is_solo:
            track.is_solo = False
        strips = list(track.strips)
        track.mute = strip not in strips
        for other in strips:
            other.mute = other != strip
    _refresh(data)


def _refresh(data: AnimData) -> None:
    """Lets Blender evaluate tracks that were muted, for which unmuting is not enough. No action is active then."""
    versions.play(data, None, None)


def pose_channel(obj: Object, name: str) -> npt.NDArray[np.float32]:
    """A channel of all bones of an armature, float32 (J, width)."""
    bones = obj.pose.bones
    values = np.empty((len(bones), len(POSE_CHANNELS[name])), dtype=np.float32)
    bones.foreach_get(name, values.ravel())
    return values


def reset_pose(obj: Object) -> None:
    """Sets all bones of an armature to their rest pose."""
    for name, rest in POSE_CHANNELS.items():
        _set_pose_channel(obj, name, np.tile(np.array(rest, dtype=np.float32), (len(obj.pose.bones), 1)))


def _set_pose_channel(obj: Object, name: str, values: npt.NDArray[np.float32]) -> None:
    """Sets a channel of all bones of an armature, float32 (J, width)."""
    if obj.library is None and obj.override_library is None:
        obj.pose.bones.foreach_set(name, values.ravel())
        return
    # `foreach_set` has no effect on linked and overridden data.
    for bone, value in zip(obj.pose.bones, values.tolist(), strict=True):
        setattr(bone, name, value)


def _is_pose_channel(path: str) -> bool:
    """Whether a path is that of a channel that `Pose` restores."""
    return path.startswith("pose.bones[") and path.rpartition("].")[2] in POSE_CHANNELS
