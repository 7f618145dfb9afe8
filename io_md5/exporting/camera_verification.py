"""The comparison of a camera path, played by Doom 3's rules, with what Blender shows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...io_blender.scene.axes import Conversion
from ...io_blender.verification import amount, diagonal
from ..format import Camera
from ..format import quaternions as quat
from ..format.model import Floats
from ..format.text.camera_file import timeline
from ..importing import camera as camera_view

# Tolerances: a fraction of the path's size, degrees, and degrees.
_POSITION, _DIRECTION, _FIELD_OF_VIEW = 1e-4, 0.01, 0.01
# The precision of 32-bit floats, as a fraction of a coordinate.
_ROUNDING = 2e-6
# By how much the axes of a camera that is not skewed may be off from right angles.
_SKEWED = 1e-5


class ShownView(NamedTuple):
    """What a camera shows on a frame."""

    name: str  # of the camera
    frame: int  # of the scene
    matrix: Floats  # of the evaluated camera, float64 (4, 4)
    # Of its picture in its own space: right top, right bottom, left bottom, left top, float64 (4, 3).
    corners: Floats


def find_differences(camera: Camera, views: dict[int, ShownView], conversion: Conversion) -> list[tuple[str, str]]:
    """A warning and a name for the first difference of each camera between a path and what Blender shows."""
    # The path is played by Doom 3's rules: the cuts give the entry of a frame; the matrix of an entry has forward, left
    # and up as columns. The picture in Blender is the rectangle of its camera's view frame. `views` are by frame
    # counted from the first.
    entries, _instants = timeline(camera.cuts, camera.entry_count)
    result: list[tuple[str, str]] = []
    size = diagonal(camera.positions)
    for frame, view in sorted(views.items()):
        if any(name == view.name for name, _ in result):
            continue
        what = "the path ends before this frame"
        if frame < len(entries):
            what = _compare(camera, int(entries[frame]), view, conversion, size)
            if np.linalg.det(view.matrix[:3, :3]) < 0.0:
                text = (
                    "negative scale mirrors the picture in Blender, which no path can: the path looks the same way, "
                    "not mirrored. Make the scale of the camera and its parents positive"
                )
                result.append((view.name, text))
        if what:
            basis = _basis(view)
            cause = (
                "parents with uneven scale shear the camera: apply their scale"
                if np.abs(basis.T @ basis - np.eye(3)).max() > _SKEWED
                else "the camera is too far from the origin, or has a field of view that the format cannot store"
            )
            text = f"the path differs from what Blender shows on frame {view.frame}: {what}. Likely cause: {cause}"
            result.append((view.name, text))
    return result


def _compare(camera: Camera, entry: int, view: ShownView, conversion: Conversion, size: float) -> str:
    position = conversion.points(view.matrix[:3, 3])
    distance = float(np.linalg.norm(camera.positions[entry] - position))
    allowed = _POSITION * size + _ROUNDING * max(float(np.abs(position).max()), 1.0)
    axes = quat.to_matrices(quat.wxyz_from_xyz(camera.orientations[entry]))
    forward, left, up, angle = _picture(view, conversion)
    off = max(_angle(axes[:, k], direction) for k, direction in enumerate((forward, left, up)))
    zoom = abs(float(camera_view.clamped(camera.fields_of_view[entry])) - angle)
    parts = []
    if not distance <= allowed:
        parts.append(f"position by {amount(distance, size, 'path')}")
    if not off <= _DIRECTION:
        parts.append(f"direction by {off:.3g}°")
    if not zoom <= _FIELD_OF_VIEW:
        parts.append(f"field of view by {zoom:.3g}°")
    return ", ".join(parts)


def _picture(view: ShownView, conversion: Conversion) -> tuple[Floats, Floats, Floats, float]:
    """Forward, left and up of a picture in the space of the file, and its horizontal angle in degrees."""
    # Blender removes the scale of each axis of a camera, so that only shear and mirroring remain. If the picture is
    # mirrored, left is the direction before mirroring: only forward and up tell where the camera looks.
    basis = _basis(view)
    # Lens shift, which the format does not have, moves the middle of the picture off the axis.
    right_top, right_bottom, left_bottom, left_top = view.corners
    across, upright = right_top - left_top, right_top - right_bottom
    middle = np.array([0.0, 0.0, (right_top + left_bottom)[2] / 2.0])
    angle = 2.0 * math.degrees(math.atan2(float(np.linalg.norm(across)) / 2.0, abs(middle[2])))
    forward, left, up = (conversion.rotation @ basis @ vector for vector in (middle, -across, upright))
    if np.linalg.det(basis) < 0.0:
        left = -left
    return forward, left, up, angle


def _basis(view: ShownView) -> Floats:
    lengths = np.linalg.norm(view.matrix[:3, :3], axis=0)
    result: Floats = view.matrix[:3, :3] / np.where(lengths > 0.0, lengths, 1.0)
    return result


def _angle(some: Floats, other: Floats) -> float:
    cross = float(np.linalg.norm(np.cross(some, other)))
    return math.degrees(math.atan2(cross, float(np.dot(some, other))))
