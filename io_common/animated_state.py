"""What animation changes in a scene, captured before an export plays it and put back afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import versions

if TYPE_CHECKING:
    from bpy.types import AnimData, Armature, Key, Object, Scene

POSE_CHANNELS = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""The channels of a pose bone, and the values of its rest pose."""

_OBJECT_CHANNELS = (*POSE_CHANNELS, "rotation_mode")


class AnimatedState:
    """The frame of a scene, what plays on its objects, and the values that animation overwrites.

    A pose that was changed by hand and not keyed yet is lost on a change of frame, so values are captured as well.

    Args:
        scene: whose objects are captured.
        others: objects that the scene does not show, but an export plays.
    """

    def __init__(self, scene: Scene, others: list[Object]) -> None:
        self._scene = scene
        self._frame = scene.frame_current, scene.frame_subframe
        self._camera = scene.camera
        objects = list(dict.fromkeys([*scene.objects, *others]))
        self._playing = [_Playing(obj.animation_data) for obj in objects if obj.animation_data is not None]
        self._without_data = [obj for obj in others if obj.animation_data is None]
        self._positions: list[tuple[Armature, Any]] = [
            (obj.data, obj.data.pose_position) for obj in others if obj.type == "ARMATURE"
        ]
        self._poses = [_Pose(obj) for obj in objects if obj.pose is not None]
        self._transforms = [_Transform(obj) for obj in objects if obj.animation_data is not None]
        keys = [getattr(obj.data, "shape_keys", None) for obj in objects]
        self._keys = [_KeyValues(key) for key in keys if key is not None and key.animation_data is not None]

    def restore(self) -> None:
        """Puts everything back."""
        for playing in self._playing:
            playing.restore()
        for obj in self._without_data:
            if obj.animation_data is not None:
                obj.animation_data_clear()
        for armature, position in self._positions:
            if armature.pose_position != position:
                armature.pose_position = position
        # Animation is evaluated on a change of frame, and overwrites what is not keyed.
        self._scene.frame_set(self._frame[0], subframe=self._frame[1])
        self._scene.camera = self._camera
        for values in (*self._transforms, *self._keys, *self._poses):
            values.restore()


class _Playing:
    """The action, its slot, and the NLA switches of an animation data."""

    def __init__(self, data: AnimData) -> None:
        self._data = data
        self._tweaks = data.use_tweak_mode
        self._use_nla = data.use_nla
        self._action = data.action
        self._slot = versions.assigned_slot(data)

    def restore(self) -> None:
        data = self._data
        if (
            data.action == self._action
            and data.use_tweak_mode == self._tweaks
            and data.use_nla == self._use_nla
            and versions.assigned_slot(data) == self._slot
        ):
            return
        data.use_nla = self._use_nla
        if self._tweaks:
            # Leaving tweak mode brought back the action below, and entering it brings back the strip's.
            data.use_tweak_mode = True
        else:
            versions.play(data, self._action, self._slot)


class _Pose:
    """The channels of all bones of an armature."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self._channels = {name: pose_channel(obj, name) for name in POSE_CHANNELS}

    def restore(self) -> None:
        changed = False
        for name, values in self._channels.items():
            if not np.array_equal(pose_channel(self._obj, name), values):
                self._obj.pose.bones.foreach_set(name, values.ravel())
                changed = True
        if changed:
            self._obj.update_tag(refresh={"OBJECT", "DATA"})


def pose_channel(obj: Object, name: str) -> npt.NDArray[np.float32]:
    """A channel of all bones of an armature, float32 (J, width)."""
    bones = obj.pose.bones
    values = np.empty((len(bones), len(POSE_CHANNELS[name])), dtype=np.float32)
    bones.foreach_get(name, values.ravel())
    return values


def reset_pose(obj: Object) -> None:
    """Sets all bones of an armature to their rest pose."""
    for name, rest in POSE_CHANNELS.items():
        values = np.tile(np.array(rest, dtype=np.float32), len(obj.pose.bones))
        obj.pose.bones.foreach_set(name, values)


class _Transform:
    """The transform of an animated object."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj
        self._values: dict[str, Any] = {}
        for name in _OBJECT_CHANNELS:
            value = getattr(obj, name)
            self._values[name] = value if isinstance(value, str) else tuple(value)

    def restore(self) -> None:
        for name, value in self._values.items():
            current = getattr(self._obj, name)
            if (current if isinstance(current, str) else tuple(current)) != value:
                setattr(self._obj, name, value)


class _KeyValues:
    """The values of animated shape keys."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._values = [block.value for block in key.key_blocks]
        self._time = key.eval_time

    def restore(self) -> None:
        for block, value in zip(self._key.key_blocks, self._values, strict=True):
            if block.value != value:
                block.value = value
        if self._key.eval_time != self._time:
            self._key.eval_time = self._time
