"""Clips as Blender plays them, and what animation overwrites: captured before and restored afterwards.

A change of frame evaluates every animated property again, and would discard what is changed but not keyed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Action, Context, Depsgraph, Object, Scene

from .. import state, versions
from ..scene.mesh_data import read_array
from ..scene.time_dependence import has_frame_handlers
from .actions import sets_keys
from .clip import Clip

POSE_CHANNELS = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""The channels of a pose bone, and the values of its rest pose."""


class Pose:
    """The channels of all bones of an armature, captured to be restored later."""

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


def pose_channel(obj: Object, name: str) -> npt.NDArray[np.float32]:
    """A channel of all bones of an armature, float32 (J, width)."""
    return read_array(obj.pose.bones, name, len(POSE_CHANNELS[name]))


def _set_pose_channel(obj: Object, name: str, values: npt.NDArray[np.float32]) -> None:
    if obj.library is None and obj.override_library is None:
        obj.pose.bones.foreach_set(name, values.ravel())
        return
    # `foreach_set` has no effect on linked and overridden data.
    for bone, value in zip(obj.pose.bones, values.tolist(), strict=True):
        setattr(bone, name, value)


class PlayedData:
    """The action, slot, NLA tracks and strips that play on a data-block, if any, captured to be restored later."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._data = data = owner.animation_data
        if data is None:
            return
        self._playing = self._what_plays()
        self._behind_tweak = versions.action_behind_tweak(data)
        self._last_slot = versions.last_slot_identifier(data)
        self._strips = state.Saved(state.strips_of(data), "mute")
        self._tracks = state.Saved(data.nla_tracks, "mute", "is_solo")
        self._known = {track.as_pointer() for track in data.nla_tracks}

    def _what_plays(self) -> tuple[Any, ...]:
        data = self._data
        return data.action, versions.assigned_slot(data), data.use_tweak_mode, data.use_nla

    def restore(self) -> bool:
        """Restores them without what was added, and returns whether anything had changed."""
        data = self._data
        if data is None:
            is_new = self._owner.animation_data is not None
            if is_new:
                self._owner.animation_data_clear()
            return is_new
        for track in [track for track in data.nla_tracks if track.as_pointer() not in self._known]:
            data.nla_tracks.remove(track)
        changed = any([self._strips.restore(), self._tracks.restore()])
        if changed and not data.use_tweak_mode:
            # Unmuting alone does not make Blender evaluate tracks again.
            versions.play(data, None, None)
        # Assigning them again would overwrite poses that are not keyed.
        if self._what_plays() != self._playing:
            action, slot, tweaks, use_nla = self._playing
            data.use_nla, changed = use_nla, True
            if tweaks:
                # Entering tweak mode makes the strip's action active again, and leaving it the one from before.
                versions.play(data, *self._behind_tweak)
                data.use_tweak_mode = True
            else:
                versions.play(data, action, slot)
        versions.set_last_slot_identifier(data, self._last_slot)
        return changed


class AnimatedValues:
    """The values of all animated properties; `others` have actions that will be played on them."""

    def __init__(self, others: Iterable[tuple[Any, Action]] = (), *, with_poses: bool = True) -> None:
        self._values = [
            (owner, path, _value(owner, path))
            for owner, path in _animated_paths(others)
            # The channels of bones are captured as poses.
            if with_poses or not (path.startswith("pose.bones[") and path.rpartition("].")[2] in POSE_CHANNELS)
        ]

    def restore(self) -> bool:
        """Restores the values that have changed, and returns whether there were any."""
        changed = False
        for owner, path, value in self._values:
            if value is not None and _value(owner, path) != value:
                _set_value(owner, path, value)
                changed = True
                if isinstance(owner, bpy.types.ID):
                    # A custom property alone does not tell its drivers.
                    owner.update_tag()
        return changed


def _animated_paths(others: Iterable[tuple[Any, Action]]) -> list[tuple[Any, str]]:
    """The paths of the properties that F-curves and strips set, each with its data-block or strip."""
    owners = [
        owner
        for data in state.data_blocks()
        for owner in (data, getattr(data, "node_tree", None))
        if getattr(owner, "animation_data", None) is not None
    ]
    strips = {owner: state.strips_of(owner.animation_data) for owner in owners}
    curves = [(owner, versions.played_fcurves(owner.animation_data)) for owner in owners]
    played = [(owner, strip.action) for owner in owners for strip in strips[owner] if strip.action is not None]
    curves += [(owner, versions.all_fcurves(action)) for owner, action in (*played, *others)]
    paths: dict[tuple[int, str], tuple[Any, str]] = {}
    for owner, found in curves:
        pointer = owner.as_pointer()
        for path in dict.fromkeys(curve.data_path for curve in found):
            paths[pointer, path] = (owner, path)
    for strip in (strip for found in strips.values() for strip in found):
        for name in ("influence", "strip_time"):
            paths[strip.as_pointer(), name] = (strip, name)
    return list(paths.values())


def _value(owner: Any, path: str) -> Any:
    """The value of a property as plain data; None if there is no such property."""
    try:
        value = owner.path_resolve(path)
        if path.endswith('"]') and isinstance(value, float):
            # `path_resolve` rounds custom properties to single precision.
            holder, name = _custom_property(owner, path)
            value = holder[name]
    except (KeyError, ValueError):
        return None
    return value if isinstance(value, bool | int | float | str) else tuple(value)


def _set_value(owner: Any, path: str, value: Any) -> None:
    if path.endswith('"]'):
        custom, key = _custom_property(owner, path)
        custom[key] = value
        return
    holder, _, name = path.rpartition(".")
    setattr(owner.path_resolve(holder) if holder else owner, name, value)


def _custom_property(owner: Any, path: str) -> tuple[Any, str]:
    """The holder and the name of a custom property, such as the path pose.bones["a"]["b"]."""
    holder, _, name = path.rpartition('["')
    return owner.path_resolve(holder) if holder else owner, bpy.utils.unescape_identifier(name[:-2])


@contextmanager
def restored_frame_and_values(scene: Scene) -> Iterator[None]:
    """Restores the scene's frame, its camera, which markers may switch, and the values of animated properties."""
    values, frame, camera = AnimatedValues(), scene.frame_float, scene.camera
    try:
        yield
    finally:
        state.set_frame(scene, frame)
        scene.camera = camera
        if values.restore():
            # Drivers follow the properties that they read.
            _update(scene)


def _update(scene: Scene) -> None:
    for layer in scene.view_layers:
        layer.update()


class _SceneState:
    def __init__(self, scene: Scene, owners: Sequence[Any], clips: Iterable[Clip]) -> None:
        self._scene = scene
        self._frame, self._camera = scene.frame_float, scene.camera
        armatures = [owner.data for owner in owners if _has_pose(owner)]
        keys = [key for owner in owners if isinstance(owner, bpy.types.Key) for key in owner.key_blocks]
        self._positions, self._keys = state.Saved(armatures, "pose_position"), state.Saved(keys, "value")
        # The scene need not show the owners.
        self._playing = [PlayedData(owner) for owner in dict.fromkeys([*scene.objects, *owners])]
        # Constraints may refer to armatures of other scenes.
        self._poses = [Pose(obj) for obj in bpy.data.objects if obj.pose is not None]
        played = dict.fromkeys((owner, clip.played_on(owner)[0]) for owner in owners for clip in clips)
        others = [(owner, action) for owner, action in played if action is not None]
        self.values = AnimatedValues(others, with_poses=False)

    def restore(self) -> None:
        changes = [playing.restore() for playing in self._playing]
        self._positions.restore()
        # Assigning an action or changing the frame evaluates animation, which overwrites unkeyed values.
        if self._frame != self._scene.frame_float:
            state.set_frame(self._scene, self._frame)
            self._scene.camera = self._camera
        elif any(changes):
            _update(self._scene)
        self._keys.restore()
        changes = [self.values.restore(), *(pose.restore() for pose in self._poses)]
        if any(changes):
            # Updates drivers of restored properties, and the matrices of the bones.
            _update(self._scene)


class Player(AbstractContextManager["Player"]):
    """Plays clips on the owners, an armature or shape keys, and evaluates frames; the end of the block undoes all."""

    # All objects of the scene are played, because drivers, constraints, physics and nodes may depend on any of them. An
    # armature that depends on nothing else is played in a temporary scene, which is faster, with its `meshes`, if they
    # are all that is looked at.

    def __init__(
        self, context: Context, owners: Sequence[Any], clips: Iterable[Clip], meshes: Sequence[Object] | None = None
    ) -> None:
        self._context, self._meshes = context, meshes
        self._temporary_scene: Scene | None = None
        self._scene: Scene = context.scene  # type: ignore[assignment] # an operator has a scene
        self._owners, self._clips = owners, list(clips)
        self._saved: _SceneState | None = None
        render = self._scene.render
        # Whether the scene uses Time Stretching.
        self.remaps_time = render.frame_map_old != render.frame_map_new

    def play(self, clip: Clip) -> None:
        """Plays a clip: alone on bones or keys at rest, or the scene as it is."""
        if self._saved is None:
            self._saved = _SceneState(self._scene, self._owners, self._clips)
            if self._meshes is not None:
                self._leave_out_others([*self._owners, *self._meshes])
        for owner in self._owners:
            if _has_pose(owner):
                # It may be in Rest Position.
                owner.data.pose_position = "POSE"
        if not clip.is_alone:
            return
        # Undoes values that another action has set and this one does not.
        self._saved.values.restore()
        for owner in self._owners:
            if isinstance(owner, bpy.types.Object):
                for name, rest in POSE_CHANNELS.items() if _has_pose(owner) else ():
                    values = np.tile(np.array(rest, dtype=np.float32), (len(owner.pose.bones), 1))
                    _set_pose_channel(owner, name, values)
                _play_alone(owner, clip)
            elif _sets_keys(clip, owner):
                for key in owner.key_blocks:
                    key.value = 0.0
                _play_alone(owner, clip)

    def evaluate(self, frame: float) -> Depsgraph:
        """The dependency graph, evaluated at a frame of the scene."""
        state.set_frame(self._temporary_scene or self._scene, frame)
        if self._temporary_scene is None:
            return self._context.evaluated_depsgraph_get()
        graph: Any = self._temporary_scene.view_layers[0].depsgraph
        return graph

    def _leave_out_others(self, objects: list[Object]) -> None:
        has_others = len(self._scene.objects) > len(objects)
        if not has_others or self.remaps_time or not _is_self_contained(objects):
            return
        self._temporary_scene = scene = bpy.data.scenes.new("io_idtech")
        for obj in objects:
            scene.collection.objects.link(obj)
        for name in ("fps", "fps_base", "use_simplify", "simplify_subdivision"):
            setattr(scene.render, name, getattr(self._scene.render, name))
        # A view layer has no dependency graph before its first update.
        scene.view_layers[0].update()

    def __exit__(self, *error: object) -> None:
        if self._temporary_scene is not None:
            bpy.data.scenes.remove(self._temporary_scene)
        if self._saved is not None:
            self._saved.restore()


def _has_pose(owner: Any) -> bool:
    return isinstance(owner, bpy.types.Object) and owner.pose is not None


def _play_alone(owner: Any, clip: Clip) -> None:
    """Plays an action without NLA tracks, or a strip, muted or not, without others and the active action."""
    data = owner.animation_data or owner.animation_data_create()
    data.use_tweak_mode = False
    data.use_nla = clip.strip is not None
    if clip.strip is None:
        versions.play(data, *clip.played_on(owner))
        return
    for track in data.nla_tracks:
        if track.is_solo:
            track.is_solo = False
        strips = list(track.strips)
        track.mute = clip.strip not in strips
        for strip in strips:
            strip.mute = strip != clip.strip
    versions.play(data, None, None)


def _sets_keys(clip: Clip, keys: Any) -> bool:
    if clip.strip is None:
        return clip.plays is not None or sets_keys(clip.action, clip.slot, keys)
    return clip.strip in state.strips_of(keys.animation_data)


def _is_self_contained(objects: list[Object]) -> bool:
    """Whether an armature and its meshes cannot depend on other objects or on the scene."""
    armature, *meshes = objects
    owners = [owner for obj in objects for owner in (obj, obj.data, getattr(obj.data, "shape_keys", None))]
    data = [owner.animation_data for owner in owners if owner is not None]
    modifiers: list[Any] = [modifier for obj in meshes for modifier in obj.modifiers]
    return (
        not has_frame_handlers()
        and not any(found is not None and found.drivers for found in data)
        and not any(obj.constraints for obj in objects)
        and not any(bone.constraints for bone in armature.pose.bones)
        and armature.parent is None
        and all(obj.parent in (None, armature) for obj in meshes)
        and all(one.type == "ARMATURE" and one.object in (None, armature) for one in modifiers)
        and all(obj.rigid_body is None for obj in objects)
    )
