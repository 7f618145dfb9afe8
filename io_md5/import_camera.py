"""A camera path into a keyed camera, with a timeline marker for each cut.

On every whole frame the camera is what Doom 3 shows at that time (see `format.cuts`). The last key of a shot is
stepped, so that nothing swoops from one shot to the next; what the old camera moves towards during the last frame is
stored (see `source.camera`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..io_common.reports import Report
from ..io_common.scene import axes, names, versions
from ..io_common.scene.keyframes import KeyframeWriter
from . import camera_view
from .camera_cuts import marker_name
from .format import Camera
from .format.cuts import timeline
from .format.model import Ints
from .source.camera import store_camera

if TYPE_CHECKING:
    from bpy.types import Collection, Object, Scene

# In units of the file. A map of Doom 3 is far larger than what Blender's cameras see by default, and a camera drawn
# one inch large could not be found in it.
_CLIP_START, _CLIP_END = 1.0, 131072.0
_DISPLAY_SIZE = 16.0


def frame_count(camera: Camera) -> int:
    """How many frames a camera plays."""
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
    """Makes the camera, and makes it the scene's active one.

    Args:
        name: of the camera and its actions.
        camera: as in the file.
        scene: gets the markers.
        collection: gets the object.
        frame_start: the scene frame of the first frame of the file.
        conversion: from the file to the scene.
        report: takes warnings.
    """
    name = names.for_blender(name, versions.MAX_ID_NAME, "Camera")
    data = bpy.data.cameras.new(name)
    obj = bpy.data.objects.new(name, data)
    collection.objects.link(obj)
    shown, instants = timeline(camera.cuts, camera.entry_count)
    data.clip_start, data.clip_end = _CLIP_START * conversion.scale, _CLIP_END * conversion.scale
    data.display_size = _DISPLAY_SIZE * conversion.scale
    keyframes = KeyframeWriter(frame_start, len(shown), instants[instants > 0] - 1)
    _animate_object(obj, camera, shown, conversion, keyframes)
    _animate_lens(data, camera, shown, keyframes)
    marker = marker_name(obj.name)
    for instant in instants.tolist():
        scene.timeline_markers.new(marker, frame=frame_start + instant)
    store_camera(data, camera, conversion, frame_start, marker)
    _warn(name, camera, scene, report)
    scene.camera = obj
    return obj


def _warn(name: str, camera: Camera, scene: Scene, report: Report) -> None:
    angles = camera.fields_of_view
    if (camera_view.visible(angles) != angles).any():
        report.warn("fields of view that no camera can have are shown as the nearest possible", name)
    if any(marker.camera for marker in scene.timeline_markers):
        report.warn("timeline markers of the scene bind other cameras, which Blender switches to", name)


def set_render_size(scene: Scene) -> None:
    """Makes the picture 4:3, of nearly the same height."""
    unit = max(1, round(scene.render.resolution_y / 3))
    scene.render.resolution_x, scene.render.resolution_y = 4 * unit, 3 * unit
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0


def _animate_object(
    obj: Object, camera: Camera, shown: Ints, conversion: axes.Conversion, keyframes: KeyframeWriter
) -> None:
    locations = conversion.points(camera.positions[shown])
    rotations = camera_view.to_scene(camera.orientations[shown], conversion)
    obj.rotation_mode = "QUATERNION"
    obj.location, obj.rotation_quaternion = locations[0], rotations[0]
    action = bpy.data.actions.new(obj.name)
    curves = versions.ActionCurves(action, "OBJECT")
    for path, values in (("location", locations), ("rotation_quaternion", rotations)):
        moves = bool((values != values[0]).any())
        chosen = np.arange(len(values) if moves else 1)
        for index in range(values.shape[1]):
            keyframes.write(curves.new(path, index, "Object Transforms"), values[:, index], chosen)
    versions.assign_action(obj.animation_data_create(), action, "OBJECT")


def _animate_lens(data: bpy.types.Camera, camera: Camera, shown: Ints, keyframes: KeyframeWriter) -> None:
    """Sets the focal length, and keys it on both sides of every change."""
    fields_of_view = camera.fields_of_view[shown]
    lenses, sensor_width = camera_view.lenses(fields_of_view)
    data.sensor_fit = "HORIZONTAL"
    data.sensor_width = sensor_width
    data.sensor_height = sensor_width / camera_view.PICTURE
    data.lens = lenses[0]
    changes = np.flatnonzero(np.diff(fields_of_view))
    if len(changes) == 0:
        return
    action = bpy.data.actions.new(f"{data.name} Lens")
    curve = versions.ActionCurves(action, "CAMERA").new("lens", 0, "Lens")
    keyframes.write(curve, lenses, np.union1d(changes, changes + 1))
    versions.assign_action(data.animation_data_create(), action, "CAMERA")
