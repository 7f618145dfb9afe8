"""Timeline markers that are cuts of cameras.

A marker is a cut if its name begins with the word ``cut`` (``Cut``, ``cut 3``, ``cut.001``, ``cut to the door``). If
its name is ``cut`` and the name of a camera (``cut intro``), it is a cut of that camera only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_blender import versions
from ...io_blender.clips.keyframes import CONSTANT
from ...io_blender.scene import names
from ...io_blender.scene.mesh_data import without_infinity
from ..records import CUT_MARKER

if TYPE_CHECKING:
    from bpy.types import FCurve, Object, Scene

_CUT = re.compile(r"cut(?![a-z])", re.IGNORECASE)
_VIEW_PATH = re.compile(r"(delta_)?(location|rotation_\w+|scale)|lens|sensor_width|sensor_height")
# Steps of a curve that are smaller than this, in units or radians, are no jump.
_SMALLEST_JUMP = 1e-3


def marker_name(camera_name: str) -> str:
    """The name of the markers of a camera's cuts."""
    return names.for_blender(f"cut {camera_name}", versions.MAX_NAME, "cut")


def cut_frames(scene: Scene, cameras: list[Object]) -> Counter[int]:
    """The frames with markers that are cuts of some cameras of a scene, with the count on each."""
    own: set[str] = set()
    foreign: set[str] = set()
    for obj in scene.objects:
        if obj.type == "CAMERA":
            name = marker_name(obj.name)
            (own if obj in cameras else foreign).update({name, CUT_MARKER.read(obj.data) or name})
    return Counter(
        marker.frame
        for marker in scene.timeline_markers
        if marker.name in own or (_CUT.match(marker.name) and marker.name not in foreign)
    )


def jumps(camera: Object) -> set[int]:
    """The first frame after each jump of a camera: it or a parent has a keyframe with constant interpolation before."""
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
