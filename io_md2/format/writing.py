"""Writing of MD2 files.

Sections are in the order of Quake II's model compiler: header, skins, texture coordinates, triangles,
frames, GL commands. Names are padded with NULs.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Md2Error
from .model import (
    FRAME_NAME_SIZE,
    HEADER_FIELDS,
    HEADER_SIZE,
    IDENT,
    NAME_ENCODING,
    SKIN_NAME_SIZE,
    ST_DTYPE,
    TRIANGLE_DTYPE,
    VERSION,
    GlCommands,
    Model,
    frame_dtype,
    is_in_range,
)

_INT32_MAX = 2**31 - 1


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes a file.

    The file is opened after all bytes are made, so a model that cannot be written leaves an existing file unchanged.

    Args:
        model: the model.
        path: the file.

    Raises:
        Md2Error: the model cannot be expressed in MD2.
        OSError: the file cannot be written.
    """
    try:
        data = format_model(model)
    except Md2Error as error:
        error.path = os.fspath(path)
        raise
    with open(path, "wb") as file:
        file.write(data)


def format_model(model: Model) -> bytes:
    """The bytes of the file of a model.

    Only the limits of the format are checked here; those of games are checked by ``check_model``.

    Args:
        model: the model; its GL commands are written as they are.

    Raises:
        Md2Error: arrays do not fit together, indices lie outside their tables, or values or names do not
            fit into their fields.
    """
    _check_shapes(model)
    _check_indices("triangles", model.triangles, model.vertex_count)
    _check_indices("triangle_st", model.triangle_st, len(model.st))
    _check_indices("gl_commands.vertices", model.gl_commands.vertices, model.vertex_count)
    for name in ("skin_width", "skin_height"):
        value = getattr(model, name)
        if not 0 <= value <= _INT32_MAX:
            raise Md2Error(f"{name} does not fit", found=str(value), expected=f"0 to {_INT32_MAX}")
    bad = np.flatnonzero(~is_in_range(model.scale, model.translate).all(axis=1))
    if len(bad):
        frame = int(bad[0])
        raise Md2Error(
            f"frame {frame} has positions that are not finite",
            found=f"scale {model.scale[frame]}, translate {model.translate[frame]}",
            expected="finite numbers",
        )

    st = np.zeros(len(model.st), ST_DTYPE)
    st["st"] = _fit("st", model.st, np.int16)
    triangles = np.zeros(model.triangle_count, TRIANGLE_DTYPE)
    triangles["vertex"] = _fit("triangles", model.triangles, np.uint16)
    triangles["st"] = _fit("triangle_st", model.triangle_st, np.uint16)
    frames = np.zeros(model.frame_count, frame_dtype(model.vertex_count))
    frames["scale"] = model.scale
    frames["translate"] = model.translate
    frames["name"] = _names("frame name", model.frame_names, FRAME_NAME_SIZE)
    frames["vertices"][:, :, :3] = _fit("vertices", model.vertices, np.uint8)
    frames["vertices"][:, :, 3] = _fit("normals", model.normals, np.uint8)
    skins = _names("skin name", model.skins, SKIN_NAME_SIZE)
    commands = _format_commands(model.gl_commands)

    sections = [skins.tobytes(), st.tobytes(), triangles.tobytes(), frames.tobytes(), commands.tobytes()]
    offsets = [HEADER_SIZE]
    for section in sections:
        offsets.append(offsets[-1] + len(section))
    if offsets[-1] > _INT32_MAX:
        raise Md2Error("the file would be too large", found=f"{offsets[-1]} bytes", expected=str(_INT32_MAX))
    header = struct.pack(
        f"<4s{len(HEADER_FIELDS) - 1}i",
        IDENT,
        VERSION,
        model.skin_width,
        model.skin_height,
        frames.dtype.itemsize,
        len(model.skins),
        model.vertex_count,
        len(st),
        len(triangles),
        len(commands),
        model.frame_count,
        *offsets,
    )
    return b"".join([header, *sections])


def _check_shapes(model: Model) -> None:
    frame_count, vertex_count = model.frame_count, model.vertex_count
    commands = model.gl_commands
    corners = int(np.abs(commands.counts.astype(np.int64)).sum())
    for name, array, shape in (
        ("st", model.st, (len(model.st), 2)),
        ("triangles", model.triangles, (model.triangle_count, 3)),
        ("triangle_st", model.triangle_st, (model.triangle_count, 3)),
        ("scale", model.scale, (frame_count, 3)),
        ("translate", model.translate, (frame_count, 3)),
        ("vertices", model.vertices, (frame_count, vertex_count, 3)),
        ("normals", model.normals, (frame_count, vertex_count)),
        ("gl_commands.st", commands.st, (corners, 2)),
        ("gl_commands.vertices", commands.vertices, (corners,)),
    ):
        if array.shape != shape:
            raise Md2Error(f"{name} has the wrong shape", found=str(array.shape), expected=str(shape))
    if frame_count == 0:
        raise Md2Error("the model has no frames", found="0", expected="1 or more")
    if not commands.counts.all():
        raise Md2Error("a primitive of no vertices would end the GL commands early")


def _check_indices(name: str, indices: NDArray[Any], count: int) -> None:
    bad = indices[(indices < 0) | (indices >= count)]
    if len(bad):
        raise Md2Error(
            f"{name} has {len(bad)} indices out of range",
            found=str(bad[0]),
            expected=f"an index below {count}",
        )


def _fit(name: str, array: NDArray[Any], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """The array in the type of the file; a value that does not fit is an error and is not wrapped."""
    limits = np.iinfo(dtype)
    bad = array[(array < limits.min) | (array > limits.max)]
    if len(bad):
        raise Md2Error(
            f"{name} has {len(bad)} values that do not fit",
            found=str(bad[0]),
            expected=f"{limits.min} to {limits.max}",
        )
    return array.astype(dtype)


def _names(kind: str, names: Sequence[str], size: int) -> NDArray[Any]:
    encoded = []
    for name in names:
        try:
            text = name.encode(NAME_ENCODING)
        except UnicodeEncodeError as error:
            raise Md2Error(
                f"a {kind} has characters that are not in Latin-1", found=repr(name), expected="Latin-1"
            ) from error
        if len(text) > size or b"\0" in text:
            raise Md2Error(
                f"a {kind} does not fit", found=repr(name), expected=f"at most {size} bytes, none of them NUL"
            )
        encoded.append(text.ljust(size, b"\0"))
    return np.frombuffer(b"".join(encoded), np.dtype(("V", size)))


def _format_commands(commands: GlCommands) -> NDArray[np.int32]:
    words = np.zeros(commands.word_count, "<i4")
    sizes = 1 + 3 * np.abs(commands.counts.astype(np.int64))
    heads = np.cumsum(sizes) - sizes
    body_mask = np.ones(len(words), bool)
    body_mask[heads] = False
    body_mask[-1] = False
    words[heads] = commands.counts
    body = np.empty((len(commands.vertices), 3), "<i4")
    body[:, :2] = np.ascontiguousarray(commands.st, "<f4").view("<i4")
    body[:, 2] = commands.vertices
    words[body_mask] = body.reshape(-1)
    return words
