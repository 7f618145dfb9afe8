"""The one validation of a model: what it accepts can be written, and is read again as an equal model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...io_common.arrays import (
    MAX_INT32,
    Shape,
    check_array,
    check_encoded,
    check_indices,
    check_integer,
    check_names,
    check_range,
)
from ...io_common.frame_names import FRAME_NAME_SIZE
from .model import SKIN_NAME_SIZE, GlCommands, Md2Error, Model, is_in_range


def validate_model(model: Model) -> None:
    """Checks that a model can be written.

    Args:
        model: it is not changed.

    Raises:
        Md2Error: it cannot; the message begins with the attribute.
    """
    validate_structure(model)
    if model.frame_count == 0:
        raise Md2Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    for name, array, dtype in (
        ("st", model.st, np.int16),
        ("triangles", model.triangles, np.uint16),
        ("triangle_st", model.triangle_st, np.uint16),
    ):
        check_range(Md2Error, name, array, np.iinfo(dtype).min, np.iinfo(dtype).max)
    check_encoded(Md2Error, "skins", "skin name", model.skins, SKIN_NAME_SIZE)
    check_encoded(Md2Error, "frame_names", "frame name", model.frame_names, FRAME_NAME_SIZE)


def validate_structure(model: Model) -> None:
    """Raises Md2Error if the parts of a model do not fit; the message begins with the attribute."""
    for name in ("skin_width", "skin_height"):
        check_integer(Md2Error, name, getattr(model, name))
    check_names(Md2Error, "skins", model.skins)
    check_names(Md2Error, "frame_names", model.frame_names)
    for name, array, shape, kind in _arrays(model):
        check_array(Md2Error, name, array, shape, kind)
    validate_commands(model.gl_commands)
    for name, array in (("vertices", model.vertices), ("normals", model.normals)):
        check_range(Md2Error, name, array, 0, 255)
    for name, array, count in (
        ("triangles", model.triangles, model.vertex_count),
        ("triangle_st", model.triangle_st, len(model.st)),
        ("gl_commands.vertices", model.gl_commands.vertices, model.vertex_count),
    ):
        check_indices(Md2Error, name, array, count)
    bad = np.flatnonzero(~is_in_range(model.scale, model.translate).all(axis=1))
    if len(bad):
        frame = int(bad[0])
        raise Md2Error(
            f"scale and translate of frame {frame} give positions that are not finite",
            found=f"scale {model.scale[frame]}, translate {model.translate[frame]}",
            expected="finite numbers",
        )


def validate_commands(commands: GlCommands) -> None:
    """Raises Md2Error if arrays of GL commands do not fit; the message begins with the attribute."""
    if not isinstance(commands, GlCommands):
        raise Md2Error("gl_commands is not GlCommands", found=type(commands).__name__, expected="GlCommands")
    check_array(Md2Error, "gl_commands.counts", commands.counts, (None,), "integers")
    check_range(Md2Error, "gl_commands.counts", commands.counts, -MAX_INT32, MAX_INT32)
    if not commands.counts.all():
        raise Md2Error("gl_commands.counts has a 0, which would end the GL commands early", found="0")
    corners = int(np.abs(commands.counts.astype(np.int64)).sum())
    check_array(Md2Error, "gl_commands.st", commands.st, (corners, 2), "float32")
    check_array(Md2Error, "gl_commands.vertices", commands.vertices, (corners,), "integers")


def _arrays(model: Model) -> Iterator[tuple[str, Any, Shape, str]]:
    """Each array of the model with its name, shape and kind; None is any length."""
    frames = len(model.frame_names)
    yield "st", model.st, (None, 2), "integers"
    yield "triangles", model.triangles, (None, 3), "integers"
    yield "triangle_st", model.triangle_st, (len(model.triangles), 3), "integers"
    yield "scale", model.scale, (frames, 3), "float32"
    yield "translate", model.translate, (frames, 3), "float32"
    yield "vertices", model.vertices, (frames, None, 3), "integers"
    yield "normals", model.normals, (frames, model.vertex_count), "integers"
