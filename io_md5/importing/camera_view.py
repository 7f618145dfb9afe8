"""Transforms and fields of view of cameras, in Blender and in files.

A camera of a file looks along the +X of its orientation with +Y left and +Z up; a Blender camera looks along its -Z
with +X right and +Y up. The field of view of a file is the horizontal angle of a 4:3 picture. Blender has focal length
and sensor size instead; only the focal length is animated.
"""

from __future__ import annotations

import math

import numpy as np

from ...io_blender.scene.axes import Conversion
from ..format import quaternions as quat
from ..format.model import Floats

SENSOR_WIDTH = 36.0
"""The sensor width of new cameras, in millimetres: Blender's default."""

PICTURE_ASPECT = 4.0 / 3.0
"""The aspect ratio of the picture that a field of view is for."""

# The limits of Blender's cameras: fields of view in degrees, and the shortest focal length in millimetres.
_MIN_ANGLE, _MAX_ANGLE = 0.01, 179.9
_MIN_LENS = 1.0

# Blender's camera axes (right, up, back) as columns, in the axes of the file (forward, left, up).
_LENS_AXES = quat.from_matrices([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def to_scene(orientations: Floats, conversion: Conversion) -> Floats:
    """Rotations of Blender cameras, (n, 4), for x y z of orientations of the file, (n, 3).

    Signs are continuous, and the first has w >= 0.
    """
    rotation = quat.from_matrices(conversion.rotation)
    rotations = quat.make_continuous(
        quat.multiply(quat.multiply(rotation, quat.wxyz_from_xyz(orientations)), _LENS_AXES)
    )
    return rotations * (-1.0 if rotations[0, 0] < 0.0 else 1.0)


def to_file(matrices: Floats, conversion: Conversion) -> tuple[Floats, Floats]:
    """Positions (n, 3) and x y z of orientations (n, 3) in the file for Blender cameras.

    `matrices` are those of the objects in the space of the scene, (n, 4, 4); their scale has no effect, as in Blender.
    `conversion` goes from the scene to the file.
    """
    forward = _unit(-matrices[:, :3, 2])
    up = matrices[:, :3, 1]
    up = _unit(up - np.einsum("ni,ni->n", up, forward)[:, None] * forward)
    axes = np.stack([forward, np.cross(up, forward), up], axis=-1)
    orientations = quat.from_matrices(conversion.rotation @ axes)
    return conversion.points(matrices[:, :3, 3]), quat.xyz_from_wxyz(orientations)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0.0, lengths, 1.0)


def clamped(fields_of_view: Floats) -> Floats:
    """Fields of view in degrees, clamped to Blender's limits."""
    return np.clip(fields_of_view, _MIN_ANGLE, _MAX_ANGLE)


def lenses(fields_of_view: Floats) -> tuple[Floats, float]:
    """Focal lengths (n,) for fields of view in degrees (n,), and the sensor width that they require."""
    slopes = 2.0 * np.tan(np.radians(clamped(fields_of_view)) / 2.0)
    sensor_width = max(SENSOR_WIDTH, _MIN_LENS * float(slopes.max(initial=0.0)))
    return sensor_width / slopes, sensor_width


def field_of_view(
    lens: float, sensor_width: float, sensor_height: float, sensor_fit: str, aspect: float
) -> float:
    """The horizontal angle in degrees of the picture that Blender renders.

    The sensor's width is the picture's if *Sensor Fit* is Horizontal, or Auto and the picture is not taller than wide;
    its width is the picture's height if it is Auto and the picture is taller, and its height if it is Vertical. With
    Horizontal, the angle does not depend on the picture's size.

    `lens` is the focal length; it and the sensor are in millimetres. `sensor_fit` is 'AUTO', 'HORIZONTAL' or
    'VERTICAL', `aspect` the width of the picture divided by its height.
    """
    if sensor_fit == "VERTICAL":
        across = sensor_height * aspect
    elif sensor_fit == "AUTO":
        across = sensor_width * min(aspect, 1.0)
    else:
        across = sensor_width
    return math.degrees(2.0 * math.atan(across / (2.0 * lens)))
