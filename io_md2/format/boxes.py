"""Boxes around the vertices of frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .errors import Md2Error
from .frames import decompress
from .model import Model
from .validation import validate_structure


def frame_bounds(model: Model) -> NDArray[np.float32]:
    """The box of each frame, in the model's units and axes.

    Args:
        model: the model.

    Returns:
        (F, 2, 3) float32: the least and the greatest x, y and z of each frame.

    Raises:
        Md2Error: the model is not valid, or has no vertices.
    """
    validate_structure(model)
    if not model.vertex_count:
        raise Md2Error("vertices is empty, so there is no box around them", found="0", expected="1 or more")
    # The formula is monotonic in the byte, falling where a scale is negative.
    ends = np.stack([model.vertices.min(axis=1), model.vertices.max(axis=1)], axis=1)
    corners = decompress(ends, model.scale, model.translate)
    return np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)


def model_bounds(model: Model) -> NDArray[np.float32]:
    """The box around all frames, in the model's units and axes.

    Args:
        model: with at least one frame.

    Returns:
        (2, 3) float32: the least and the greatest x, y and z.

    Raises:
        Md2Error: the model is not valid, or has no vertices or frames.
    """
    boxes = frame_bounds(model)
    if not len(boxes):
        raise Md2Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
