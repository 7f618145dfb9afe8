"""Verification of a camera path: compared with what Blender shows.

The path is played by Doom 3's rules: the cuts give the entry of a frame; the matrix of an entry has forward, left and
up as columns. The picture in Blender is the rectangle of its camera's view frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.scene.axes import Conversion
from ..format import Camera
from ..format import quaternions as quat
from ..format.model import Floats
from ..format.text.camera_file import timeline
from ..importing import camera_view

if TYPE_CHECKING:
    from ...io_blender.reports import Report

# Tolerances: a fraction of the path's size, degrees, and degrees.
_POSITION, _DIRECTION, _FIELD_OF_VIEW = 1e-4, 0.01, 0.01
# The precision of 32-bit floats, as a fraction of a coordinate.
_ROUNDING = 2e-6


@dataclass(frozen=True, eq=False)
class EvaluatedView:
    """The view of an evaluated Blender camera on a frame.

    Attributes:
        name: of the camera.
        frame: of the scene.
        matrix: of the evaluated camera, float64 (4, 4).
        corners: of its picture in its own space: right top, right bottom, left bottom, left top, float64 (4, 3).
    """

    name: str
    frame: int
    matrix: Floats
    corners: Floats


@dataclass(frozen=True)
class Difference:
    """A difference between a path and what Blender shows.

    Attributes:
        name: of the camera.
        frame: of the scene.
        what: what differs, with its amount; "" if only the picture is mirrored.
        is_skewed: whether parents shear the camera, which a path cannot.
        is_mirrored: whether Blender shows the picture mirrored, which a path cannot.
    """

    name: str
    frame: int
    what: str
    is_skewed: bool = False
    is_mirrored: bool = False


def find_differences(
    camera: Camera, views: dict[int, EvaluatedView], conversion: Conversion
) -> list[Difference]:
    """The first difference of each camera between a finished path and what Blender shows on some of its frames.

    `views` are by frame counted from the first; `conversion` goes from the scene to the file.
    """
    entries, _instants = timeline(camera.cuts, camera.entry_count)
    found: dict[str, Difference] = {}
    size = float(np.linalg.norm(np.ptp(camera.positions, axis=0)))
    for frame, view in sorted(views.items()):
        if view.name in found:
            continue
        if frame >= len(entries):
            found[view.name] = Difference(view.name, view.frame, "the path ends before this frame")
            continue
        what = _compare(camera, int(entries[frame]), view, conversion, size)
        is_mirrored = bool(np.linalg.det(view.matrix[:3, :3]) < 0.0)
        if what or is_mirrored:
            found[view.name] = Difference(view.name, view.frame, what, _is_skewed(view.matrix), is_mirrored)
    return list(found.values())


def _compare(camera: Camera, entry: int, view: EvaluatedView, conversion: Conversion, size: float) -> str:
    """The differences on one frame, with amounts; empty if there are none."""
    position = conversion.points(view.matrix[:3, 3])
    distance = float(np.linalg.norm(camera.positions[entry] - position))
    allowed = _POSITION * size + _ROUNDING * max(float(np.abs(position).max()), 1.0)
    axes = quat.to_matrices(quat.wxyz_from_xyz(camera.orientations[entry]))
    forward, left, up, angle = _picture(view, conversion)
    off = max(_angle(axes[:, k], direction) for k, direction in enumerate((forward, left, up)))
    zoom = abs(float(camera_view.clamped(camera.fields_of_view[entry])) - angle)
    parts = []
    if not distance <= allowed:
        relative = f" ({distance / size:.2%} of the path's size)" if size > 0.0 else ""
        parts.append(f"position by {distance:.4g} units{relative}")
    if not off <= _DIRECTION:
        parts.append(f"direction by {off:.3g}°")
    if not zoom <= _FIELD_OF_VIEW:
        parts.append(f"field of view by {zoom:.3g}°")
    return ", ".join(parts)


def _picture(view: EvaluatedView, conversion: Conversion) -> tuple[Floats, Floats, Floats, float]:
    """Forward, left and up of a picture in the space of the file, and its horizontal angle in degrees.

    Blender removes the scale of each axis of a camera, so that only shear and mirroring remain. If the picture is
    mirrored, left is the direction before mirroring: only forward and up tell where the camera looks.
    """
    lengths = np.linalg.norm(view.matrix[:3, :3], axis=0)
    basis = view.matrix[:3, :3] / np.where(lengths > 0.0, lengths, 1.0)
    # Lens shift, which the format does not have, moves the middle of the picture off the axis.
    right_top, right_bottom, left_bottom, left_top = view.corners
    across, upright = right_top - left_top, right_top - right_bottom
    middle = np.array([0.0, 0.0, (right_top + left_bottom)[2] / 2.0])
    angle = 2.0 * math.degrees(math.atan2(float(np.linalg.norm(across)) / 2.0, abs(middle[2])))
    forward, left, up = (conversion.rotation @ basis @ vector for vector in (middle, -across, upright))
    if np.linalg.det(basis) < 0.0:
        left = -left
    return forward, left, up, angle


def _angle(some: Floats, other: Floats) -> float:
    """The angle in degrees between two directions, accurate for small angles."""
    cross = float(np.linalg.norm(np.cross(some, other)))
    return math.degrees(math.atan2(cross, float(np.dot(some, other))))


def _is_skewed(matrix: npt.NDArray[np.float64]) -> bool:
    """Whether the axes of a camera are not at right angles."""
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    basis = matrix[:3, :3] / np.where(lengths > 0.0, lengths, 1.0)
    return bool(np.abs(basis.T @ basis - np.eye(3)).max() > 1e-5)


def warn(differences: list[Difference], report: Report) -> None:
    """Adds a warning for each difference."""
    for difference in differences:
        if difference.is_mirrored:
            report.warn(
                "negative scale mirrors the picture in Blender, which no path can: the path looks the same way, not "
                "mirrored. Make the scale of the camera and its parents positive",
                difference.name,
            )
        if not difference.what:
            continue
        cause = (
            "parents with uneven scale shear the camera: apply their scale"
            if difference.is_skewed
            else "the camera is too far from the origin, or has a field of view that the format cannot store"
        )
        report.warn(
            f"the path differs from what Blender shows on frame {difference.frame}: {difference.what}. "
            f"Likely cause: {cause}",
            difference.name,
        )
