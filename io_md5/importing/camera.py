"""Camera paths as keyed cameras, with a timeline marker for each cut."""
# On every whole frame the camera shows what Doom 3 shows then (see `format.cuts`). The last keyframe of a shot has
# constant interpolation, so that the camera jumps to the next shot; the end of the shot, which the old camera moves to
# during the last frame, is stored (see `records`).
#
# A camera of a file looks along the +X of its orientation with +Y left and +Z up; a Blender camera looks along its -Z
# with +X right and +Y up. The field of view of a file is the horizontal angle of a 4:3 picture.
#
# A marker is a cut if its name begins with the word `cut` (`Cut`, `cut 3`, `cut.001`, `cut to the door`). If its name
# is `cut` and the name of a camera (`cut intro`), it is a cut of that camera only.

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, FCurve, Object, Scene

from ...io_blender import state, versions
from ...io_blender.clips.keyframes import CONSTANT, KeyframeWriter
from ...io_blender.reports import ImportResult
from ...io_blender.scene import axes
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.mesh_data import without_infinity
from ...io_common import names
from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.model import Floats, Ints, as_singles
from ...io_common.skeletal.skinning import unit
from ..format import Camera
from ..format.text.camera_file import timeline
from ..options import ImportOptions
from ..records import CUT_MARKER, store_camera

# In units of the file: Doom 3's maps exceed Blender's default clipping range, and would hide a camera of one inch.
_CLIP_START, _CLIP_END = 1.0, 131072.0
_DISPLAY_SIZE = 16.0

# The sensor width of new cameras in millimetres, Blender's default, and the aspect ratio of the picture of the file.
_SENSOR_WIDTH, _PICTURE_ASPECT = 36.0, 4.0 / 3.0
# The limits of Blender's cameras: fields of view in degrees, and the shortest focal length in millimetres.
_MIN_ANGLE, _MAX_ANGLE = 0.01, 179.9
_MIN_LENS = 1.0

# Blender's camera axes (right, up, back) as columns, in the axes of the file (forward, left, up).
_LENS_AXES = quat.from_matrices([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

_CUT = re.compile(r"cut(?![a-z])", re.IGNORECASE)
_VIEW_PATH = re.compile(r"(delta_)?(location|rotation_\w+|scale)|lens|sensor_width|sensor_height")
# Steps of a curve that are smaller than this, in units or radians, are no jump.
_SMALLEST_JUMP = 1e-3


def build_camera_path(
    context: Context, name: str, camera: Camera, options: ImportOptions, result: ImportResult
) -> None:
    """Builds the camera of a camera file and its markers; it becomes the scene's active camera."""
    scene, conversion, report = context.scene, options.conversion, result.report
    name = names.for_blender(name, versions.MAX_ID_NAME, "Camera")
    data = bpy.data.cameras.new(name)
    obj = bpy.data.objects.new(name, data)
    state.target_collection(context).objects.link(obj)
    entries, instants = timeline(camera.cuts, camera.entry_count)
    data.clip_start, data.clip_end = _CLIP_START * conversion.scale, _CLIP_END * conversion.scale
    data.display_size = _DISPLAY_SIZE * conversion.scale
    keyframes = KeyframeWriter(options.frame_start, len(entries), instants[instants > 0] - 1)
    _animate_object(obj, camera, entries, conversion, keyframes)
    _animate_lens(data, camera, entries, keyframes)
    marker = marker_name(obj.name)
    for instant in instants.tolist():
        scene.timeline_markers.new(marker, frame=options.frame_start + instant)
    store_camera(data, camera, conversion, options.frame_start, marker)
    if (clamped(camera.fields_of_view) != camera.fields_of_view).any():
        report.warn("fields of view beyond Blender's limits were clamped", name)
    if any(marker.camera for marker in scene.timeline_markers):
        report.warn("timeline markers of the scene bind other cameras, so Blender will switch to those", name)
    scene.camera = obj
    if options.use_render_size:
        # 4:3, with nearly the same height.
        third = max(1, round(scene.render.resolution_y / 3))
        scene.render.resolution_x, scene.render.resolution_y = 4 * third, 3 * third
        scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0
    result.objects.append(obj)
    report.count("cameras")
    report.count("cuts", len(camera.cuts))
    report.count("frames", len(entries))


def _animate_object(
    obj: Object, camera: Camera, entries: Ints, conversion: axes.Conversion, keyframes: KeyframeWriter
) -> None:
    locations = as_singles(conversion.points(camera.positions[entries]))
    turned = quat.multiply(quat.from_matrices(conversion.rotation), quat.wxyz_from_xyz(camera.orientations[entries]))
    rotations = quat.make_continuous(quat.multiply(turned, _LENS_AXES))
    rotations = rotations * (-1.0 if rotations[0, 0] < 0.0 else 1.0)
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
    slopes = 2.0 * np.tan(np.radians(clamped(fields_of_view)) / 2.0)
    sensor_width = max(_SENSOR_WIDTH, _MIN_LENS * float(slopes.max(initial=0.0)))
    lenses = sensor_width / slopes
    data.sensor_fit = "HORIZONTAL"
    data.sensor_width = sensor_width
    data.sensor_height = sensor_width / _PICTURE_ASPECT
    data.lens = lenses[0]
    changes = np.flatnonzero(np.diff(fields_of_view))
    if len(changes) == 0:
        return
    action = bpy.data.actions.new(f"{data.name} Lens")
    curve = versions.ActionCurves(action, "CAMERA").new("lens", 0, "Lens")
    keyframes.write(curve, lenses, np.union1d(changes, changes + 1))
    versions.assign_action(data.animation_data_create(), action, "CAMERA")


def marker_name(camera_name: str) -> str:
    """The name of the markers of a camera's cuts."""
    return names.for_blender(f"cut {camera_name}", versions.MAX_NAME, "cut")


def cut_frames(scene: Scene, cameras: list[Object]) -> Counter[int]:
    """The frames with markers that are cuts of some cameras of a scene, with the count on each."""
    names: set[str] = set()
    foreign: set[str] = set()
    for obj in scene.objects:
        if obj.type == "CAMERA":
            name = marker_name(obj.name)
            (names if obj in cameras else foreign).update({name, CUT_MARKER.read(obj.data) or name})
    return Counter(
        marker.frame
        for marker in scene.timeline_markers
        if marker.name in names or (_CUT.match(marker.name) and marker.name not in foreign)
    )


def jumps(camera: Object) -> set[int]:
    """The first frame after each jump: after a constant keyframe of the camera or of a parent."""
    frames: set[int] = set()
    for curve in _view_curves(camera):
        keyframes = curve.keyframe_points
        points = np.empty((len(keyframes), 2), dtype=np.float32)
        kinds = np.empty(len(keyframes), dtype=np.int32)
        keyframes.foreach_get("co", points.ravel())
        keyframes.foreach_get("interpolation", kinds)
        values = without_infinity(points[:, 1].astype(np.float64))
        is_jump = (kinds[:-1] == CONSTANT) & (np.abs(np.diff(values)) > _SMALLEST_JUMP)
        frames.update(np.ceil(points[1:, 0][is_jump]).astype(np.int64).tolist())
    return frames


def _view_curves(camera: Object) -> Iterator[FCurve]:
    owners: list[Any] = [camera.data, camera]
    while (parent := owners[-1].parent) is not None:
        owners.append(parent)
    for owner in owners:
        if owner.animation_data is not None:
            for curve in versions.played_fcurves(owner.animation_data):
                if not curve.mute and _VIEW_PATH.fullmatch(curve.data_path):
                    yield curve


def to_file(matrices: Floats, conversion: Conversion) -> tuple[Floats, Floats]:
    """Positions and x y z of orientations in the file; scales of matrices have no effect, as in Blender."""
    forward = unit(-matrices[:, :3, 2])
    up = matrices[:, :3, 1]
    up = unit(up - np.einsum("ni,ni->n", up, forward)[:, None] * forward)
    axes = np.stack([forward, np.cross(up, forward), up], axis=-1)
    orientations = quat.from_matrices(conversion.rotation @ axes)
    return conversion.points(matrices[:, :3, 3]), quat.xyz_from_wxyz(orientations)


def clamped(fields_of_view: Floats) -> Floats:
    """Fields of view in degrees, clamped to Blender's limits."""
    return np.clip(fields_of_view, _MIN_ANGLE, _MAX_ANGLE)


def field_of_view(data: bpy.types.Camera, aspect: float) -> float:
    """The horizontal angle in degrees of the picture that Blender renders, given its width divided by its height."""
    # The sensor is as wide as the picture, with Auto as its longer side; with Vertical it is as high.
    across = data.sensor_width
    if data.sensor_fit == "VERTICAL":
        across = data.sensor_height * aspect
    elif data.sensor_fit == "AUTO":
        across *= min(aspect, 1.0)
    return math.degrees(2.0 * math.atan(across / (2.0 * data.lens)))
