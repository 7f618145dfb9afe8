"""Rollback of a failed import or export, for errors that importers do not expect.

It relies on no list of what was created: data-blocks that did not exist before are removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import bpy

from .. import state
from ..clips.playing import PlayedData, Pose
from ..reports import Job

if TYPE_CHECKING:
    from bpy.types import Context, Object

_Result = TypeVar("_Result")
_RANGE_PROPERTIES = ("frame_start", "frame_end", "frame_preview_start", "frame_preview_end", "use_preview_range")
_RENDER_PROPERTIES = ("fps", "fps_base", "resolution_x", "resolution_y", "pixel_aspect_x", "pixel_aspect_y")


def all_or_nothing(context: Context, job: Job[_Result]) -> Job[_Result]:
    """Does a job; all its changes are undone if it raises an exception or is ended."""
    snapshot = Snapshot(context)
    try:
        return (yield from job)
    except BaseException:
        # GeneratorExit and KeyboardInterrupt as well.
        snapshot.restore()
        raise


class Snapshot:
    """The existing data-blocks, and the state that an import may change."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scene = scene = context.scene
        self._ids = {data.session_uid for data in state.data_blocks()}
        self._settings = [
            (owner, name, getattr(owner, name))
            for owner, names in ((scene, _RANGE_PROPERTIES), (scene.render, _RENDER_PROPERTIES))
            for name in names
        ]
        self._frame, self._camera = scene.frame_float, scene.camera
        self._markers = {marker.as_pointer() for marker in scene.timeline_markers}
        self._poses = [_PoseSnapshot(obj) for obj in bpy.data.objects if obj.pose is not None]
        self._view = _view(context)

    def restore(self) -> None:
        """Removes added data-blocks, and restores the state. The same .blend file must be open."""
        self._restore_scene()
        for pose in self._poses:
            pose.restore()
        new = [data for data in state.data_blocks() if data.session_uid not in self._ids]
        if not new and _view(self._context) == self._view:
            # Leaving and entering Edit Mode again would have side effects.
            return
        state.switch_to_object_mode(self._context)
        bpy.data.batch_remove(new)
        active, mode, selected = self._view
        objects = self._context.view_layer.objects
        if len(objects):
            state.select_only(self._context, selected, None)
            objects.active = active
        if active is not None and active.mode != mode:
            bpy.ops.object.mode_set(mode=mode)

    def _restore_scene(self) -> None:
        for owner, name, value in self._settings:
            if getattr(owner, name) != value:
                setattr(owner, name, value)
        for marker in list(self._scene.timeline_markers):
            if marker.as_pointer() not in self._markers:
                self._scene.timeline_markers.remove(marker)
        if self._frame != self._scene.frame_float:
            state.set_frame(self._scene, self._frame)
        if self._scene.camera != self._camera:
            self._scene.camera = self._camera


def _view(context: Context) -> tuple[Object | None, str, list[Object]]:
    objects = context.view_layer.objects
    active = objects.active
    selected = [obj for obj in objects if obj.select_get()]
    return active, active.mode if active is not None else "OBJECT", selected


class _PoseSnapshot:
    def __init__(self, armature: Object) -> None:
        self._armature = armature
        data = armature.animation_data
        self._played = PlayedData(armature) if data is not None else None
        self._tracks = {track.as_pointer() for track in data.nla_tracks} if data is not None else set()
        self._modes = [bone.rotation_mode for bone in armature.pose.bones]
        self._pose = Pose(armature)

    def restore(self) -> None:
        for bone, mode in zip(self._armature.pose.bones, self._modes, strict=True):
            if bone.rotation_mode != mode:
                bone.rotation_mode = mode
        if self._played is not None:
            tracks = self._armature.animation_data.nla_tracks
            for track in [track for track in tracks if track.as_pointer() not in self._tracks]:
                tracks.remove(track)
            self._played.restore()
        elif self._armature.animation_data is not None:
            self._armature.animation_data_clear()
        if self._pose.restore():
            bpy.context.view_layer.update()
