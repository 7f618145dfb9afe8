"""Where a camera is and what it sees: Blender's way and the file's.

A camera of the file looks along the +X of its orientation with +Y on its left and +Z above; one of Blender looks along
its own -Z with +X on its right and +Y above. The file's field of view is the horizontal angle of a 4:3 picture. Blender
has focal length and sensor instead, of which only the focal length can be animated.
"""

from __future__ import annotations

import math

import numpy as np

from ..io_common.scene.axes import Conversion
from .format import quaternions as quat
from .format.model import Floats

SENSOR_WIDTH = 36.0
"""Of new cameras, in millimetres: Blender's own default."""

PICTURE = 4.0 / 3.0
"""Width to height of the picture that a field of view is for."""

# What a camera of Blender can show, in degrees, and the shortest focal length it takes, in millimetres.
_NARROWEST, _WIDEST = 0.01, 179.9
_SHORTEST_LENS = 1.0

# Blender's axes right, up and back among forward, left and up: columns of coordinates.
_LENS_AXES = quat.from_matrices([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def to_scene(orientations: Floats, conversion: Conversion) -> Floats:
    """Rotations of cameras of Blender, (n, 4), for x y z of orientations of the file, (n, 3).

    Neighbours have like signs, and the first has w >= 0.
    """
    turn = quat.from_matrices(conversion.rotation)
    rotations = quat.make_continuous(
        quat.multiply(quat.multiply(turn, quat.with_w(orientations)), _LENS_AXES)
    )
    return rotations * (-1.0 if rotations[0, 0] < 0.0 else 1.0)


def to_file(matrices: Floats, conversion: Conversion) -> tuple[Floats, Floats]:
    """Positions (n, 3) and x y z of orientations (n, 3) in the file for cameras of Blender.

    Args:
        matrices: of the objects in the space of the scene, (n, 4, 4); scaled ones look as they do in Blender, where
            scale has no effect.
        conversion: from the scene to the file.
    """
    forward = _unit(-matrices[:, :3, 2])
    up = matrices[:, :3, 1]
    up = _unit(up - np.einsum("ni,ni->n", up, forward)[:, None] * forward)
    axes = np.stack([forward, np.cross(up, forward), up], axis=-1)
    orientations = quat.from_matrices(conversion.rotation @ axes)
    return conversion.points(matrices[:, :3, 3]), quat.without_w(orientations)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0.0, lengths, 1.0)


def visible(fields_of_view: Floats) -> Floats:
    """Fields of view in degrees, brought into what Blender can show."""
    return np.clip(fields_of_view, _NARROWEST, _WIDEST)


def lenses(fields_of_view: Floats) -> tuple[Floats, float]:
    """Focal lengths (n,) for fields of view in degrees (n,), and the width of the sensor that they are for."""
    slopes = 2.0 * np.tan(np.radians(visible(fields_of_view)) / 2.0)
    sensor_width = max(SENSOR_WIDTH, _SHORTEST_LENS * float(slopes.max(initial=0.0)))
    return sensor_width / slopes, sensor_width


def field_of_view(
    lens: float, sensor_width: float, sensor_height: float, sensor_fit: str, aspect: float
) -> float:
    """The horizontal angle in degrees of the picture that Blender renders.

    The sensor's width is the picture's if *Sensor Fit* is Horizontal, or Auto and the picture is not higher than wide;
    its width is the picture's height if it is Auto and the picture is higher, and its height if it is Vertical. With
    Horizontal, the angle does not depend on the picture's size.

    Args:
        lens: focal length in millimetres.
        sensor_width: in millimetres.
        sensor_height: in millimetres.
        sensor_fit: 'AUTO', 'HORIZONTAL' or 'VERTICAL'.
        aspect: width to height of the picture.
    """
    if sensor_fit == "VERTICAL":
        across = sensor_height * aspect
    elif sensor_fit == "AUTO":
        across = sensor_width * min(aspect, 1.0)
    else:
        across = sensor_width
    return math.degrees(2.0 * math.atan(across / (2.0 * lens)))
