"""The one validation of a model: what it accepts can be written, and is read again as an equal model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.texts import counted
from .model import FRAME_NAME_SIZE, NAME_ENCODING, SKIN_NAME_SIZE, GlCommands, Md2Error, Model, is_in_range

MAX_INT32 = 2**31 - 1


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
        _check_range(name, array, np.iinfo(dtype).min, np.iinfo(dtype).max)
    _check_encoded("skins", "skin name", model.skins, SKIN_NAME_SIZE)
    _check_encoded("frame_names", "frame name", model.frame_names, FRAME_NAME_SIZE)


def validate_structure(model: Model) -> None:
    """Raises Md2Error if the parts of a model do not fit; the message begins with the attribute."""
    for name in ("skin_width", "skin_height"):
        _check_size(name, getattr(model, name))
    _check_names("skins", model.skins)
    _check_names("frame_names", model.frame_names)
    for name, array, shape, kind in _arrays(model):
        _check_array(name, array, shape, kind)
    validate_commands(model.gl_commands)
    for name, array in (("vertices", model.vertices), ("normals", model.normals)):
        _check_range(name, array, 0, 255)
    for name, array, count in (
        ("triangles", model.triangles, model.vertex_count),
        ("triangle_st", model.triangle_st, len(model.st)),
        ("gl_commands.vertices", model.gl_commands.vertices, model.vertex_count),
    ):
        _check_indices(name, array, count)
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
    _check_array("gl_commands.counts", commands.counts, (None,), "integers")
    _check_range("gl_commands.counts", commands.counts, -MAX_INT32, MAX_INT32)
    if not commands.counts.all():
        raise Md2Error("gl_commands.counts has a 0, which would end the GL commands early", found="0")
    corners = int(np.abs(commands.counts.astype(np.int64)).sum())
    _check_array("gl_commands.st", commands.st, (corners, 2), "float32")
    _check_array("gl_commands.vertices", commands.vertices, (corners,), "integers")


Shape = tuple[int | None, ...]


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


def _check_array(name: str, array: Any, shape: Shape, kind: str) -> None:
    if not isinstance(array, np.ndarray):
        raise Md2Error(f"{name} is not an array", found=type(array).__name__, expected=f"an array of {kind}")
    fits = array.dtype.kind in "iu" if kind == "integers" else array.dtype == np.float32
    if not fits:
        raise Md2Error(f"{name} has the wrong type", found=str(array.dtype), expected=kind)
    if len(array.shape) != len(shape) or any(
        wanted is not None and length != wanted for length, wanted in zip(array.shape, shape, strict=True)
    ):
        expected = ", ".join("any" if wanted is None else str(wanted) for wanted in shape)
        raise Md2Error(f"{name} has the wrong shape", found=str(array.shape), expected=f"({expected})")


def _check_range(name: str, array: NDArray[Any], low: int, high: int) -> None:
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        if low <= limits.min and limits.max <= high:
            return
    bad = array[(array < low) | (array > high)]
    if len(bad):
        raise Md2Error(
            f"{name} has {counted(len(bad), 'values')} out of range",
            found=str(bad[0]),
            expected=f"{low} to {high}",
        )


def _check_indices(name: str, indices: NDArray[Any], count: int) -> None:
    bad = indices[(indices < 0) | (indices >= count)]
    if len(bad):
        raise Md2Error(
            f"{name} has {counted(len(bad), 'indices')} out of range",
            found=str(bad[0]),
            expected=f"an index below {count}",
        )


def _check_size(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= MAX_INT32:
        raise Md2Error(
            f"{name} does not fit", found=repr(value), expected=f"an integer from 0 to {MAX_INT32}"
        )


def _check_names(attribute: str, names: Any) -> None:
    if not isinstance(names, list):
        raise Md2Error(f"{attribute} is not a list", found=type(names).__name__, expected="a list of names")
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise Md2Error(f"{attribute}[{number}] is not a name", found=repr(name), expected="a str")


def _check_encoded(attribute: str, kind: str, names: Sequence[str], size: int) -> None:
    for number, name in enumerate(names):
        place = f"{attribute}[{number}]: a {kind}"
        try:
            text = name.encode(NAME_ENCODING)
        except UnicodeEncodeError as error:
            raise Md2Error(
                f"{place} has characters that are not in Latin-1", found=repr(name), expected="Latin-1"
            ) from error
        if len(text) > size or b"\0" in text:
            raise Md2Error(
                f"{place} does not fit", found=repr(name), expected=f"at most {size} bytes, none of them NUL"
            )
