"""Keyed cameras made of camera paths, with a timeline marker for each cut.

On every whole frame the camera shows what Doom 3 shows then (see `format.cuts`). The last keyframe of a shot has
constant interpolation, so that the camera jumps to the next shot; the end of the shot, which the old camera moves to
during the last frame, is stored (see `source.camera`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...io_blender import versions
from ...io_blender.clips.keyframes import KeyframeWriter
from ...io_blender.reports import Report
from ...io_blender.scene import axes, names
from ..format import Camera
from ..format.model import Ints, as_singles
from ..format.text.camera_file import timeline
from ..records import store_camera
from . import camera_view
from .camera_cuts import marker_name

if TYPE_CHECKING:
    from bpy.types import Collection, Object, Scene

# In units of the file. A map of Doom 3 is far larger than the default clipping range of Blender, and a camera displayed
# one inch large would be invisible in it.
_CLIP_START, _CLIP_END = 1.0, 131072.0
_DISPLAY_SIZE = 16.0


def frame_count(camera: Camera) -> int:
    """The number of frames that a camera plays."""
    return len(timeline(camera.cuts, camera.entry_count)[0])


def build_camera(
    name: str,
    camera: Camera,
    scene: Scene,
    collection: Collection,
    *,
    frame_start: int,
    conversion: axes.Conversion,
    report: Report,
) -> Object:
    """A camera made of a camera path; it becomes the scene's active camera, and the scene gets its markers.

    `camera` is as in the file; its first frame comes at `frame_start`. `conversion` goes from the file to the scene.
    """
    name = names.for_blender(name, versions.MAX_ID_NAME, "Camera")
    data = bpy.data.cameras.new(name)
    obj = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    entries, instants = timeline(camera.cuts, camera.entry_count)
    data.clip_start, data.clip_end = _CLIP_START * conversion.scale, _CLIP_END * conversion.scale
    data.display_size = _DISPLAY_SIZE * conversion.scale
    keyframes = KeyframeWriter(frame_start, len(entries), instants[instants > 0] - 1)
    _animate_object(obj, camera, entries, conversion, keyframes)
    _animate_lens(data, camera, entries, keyframes)
    marker = marker_name(obj.name)
    for instant in instants.tolist():
        scene.timeline_markers.new(marker, frame=frame_start + instant)
    store_camera(data, camera, conversion, frame_start, marker)
    _warn(name, camera, scene, report)
    scene.camera = obj
    return obj


def _warn(name: str, camera: Camera, scene: Scene, report: Report) -> None:
    angles = camera.fields_of_view
    if (camera_view.clamped(angles) != angles).any():
        report.warn("fields of view beyond Blender's limits were clamped", name)
    if any(marker.camera for marker in scene.timeline_markers):
        report.warn("timeline markers of the scene bind other cameras, so Blender will switch to those", name)


def set_render_size(scene: Scene) -> None:
    """Sets a 4:3 render size with nearly the same height."""
    unit = max(1, round(scene.render.resolution_y / 3))
    scene.render.resolution_x, scene.render.resolution_y = 4 * unit, 3 * unit
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0


def _animate_object(
    obj: Object, camera: Camera, entries: Ints, conversion: axes.Conversion, keyframes: KeyframeWriter
) -> None:
    locations = as_singles(conversion.points(camera.positions[entries]))
    rotations = camera_view.to_scene(camera.orientations[entries], conversion)
    obj.rotation_mode = "QUATERNION"
    obj.location, obj.rotation_quaternion = locations[0], rotations[0]
    action = bpy.data.actions.new(obj.name)
    curves = versions.ActionCurves(action, "OBJECT")
    for path, values in (("location", locations), ("rotation_quaternion", rotations)):
        is_animated = bool((values != values[0]).any())
        frames = np.arange(len(values) if is_animated else 1)
        for index in range(values.shape[1]):
            keyframes.write(curves.new(path, index, "Object Transforms"), values[:, index], frames)
    versions.assign_action(obj.animation_data_create(), action, "OBJECT")


def _animate_lens(data: bpy.types.Camera, camera: Camera, entries: Ints, keyframes: KeyframeWriter) -> None:
    """Sets the focal length, with keyframes on both sides of every change."""
    fields_of_view = camera.fields_of_view[entries]
    lenses, sensor_width = camera_view.lenses(fields_of_view)
    data.sensor_fit = "HORIZONTAL"
    data.sensor_width = sensor_width
    data.sensor_height = sensor_width / camera_view.PICTURE_ASPECT
    data.lens = lenses[0]
    changes = np.flatnonzero(np.diff(fields_of_view))
    if len(changes) == 0:
        return
    action = bpy.data.actions.new(f"{data.name} Lens")
    curve = versions.ActionCurves(action, "CAMERA").new("lens", 0, "Lens")
    keyframes.write(curve, lenses, np.union1d(changes, changes + 1))
    versions.assign_action(data.animation_data_create(), action, "CAMERA")
