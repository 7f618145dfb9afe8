"""Writing of MD2 files.

Sections are in the order of Quake II's model compiler: header, skins, texture coordinates, triangles,
frames, GL commands. Names are padded with NULs.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.files.sources import Target, target_name, write_target
from .errors import Md2Error
from .model import (
    FRAME_NAME_SIZE,
    HEADER_FIELDS,
    HEADER_SIZE,
    MAGIC,
    NAME_ENCODING,
    SKIN_NAME_SIZE,
    ST_DTYPE,
    TRIANGLE_DTYPE,
    VERSION,
    GlCommands,
    Model,
    frame_dtype,
)
from .validation import MAX_INT32, validate_model


def write_model(model: Model, target: Target) -> None:
    """Writes a file. What is written can be read: ``read_model`` returns an equal model.

    The file is opened after all bytes are made, so a model that cannot be written leaves an existing file unchanged.

    Args:
        model: the model; it is not changed.
        target: a path, or a file object in binary mode, such as a new entry of a zip file, which stays open.

    Raises:
        Md2Error: the model cannot be expressed in MD2.
        OSError: the file cannot be written.
        TypeError: the target is neither.
    """
    try:
        data = format_model(model)
    except Md2Error as error:
        error.path = target_name(target)
        raise
    write_target(data, target)


def format_model(model: Model) -> bytes:
    """The bytes of the file of a model.

    Only the limits of the format are checked here, by ``validate_model``; those of games are checked by
    ``check_model``. ``parse_model`` returns an equal model.

    Args:
        model: the model; it is not changed. Its GL commands are written as they are.

    Raises:
        Md2Error: the model is not valid; the message names the attribute.
    """
    validate_model(model)
    st = np.zeros(len(model.st), ST_DTYPE)
    st["st"] = model.st
    triangles = np.zeros(model.triangle_count, TRIANGLE_DTYPE)
    triangles["vertex"] = model.triangles
    triangles["st"] = model.triangle_st
    frames = np.zeros(model.frame_count, frame_dtype(model.vertex_count))
    frames["scale"] = model.scale
    frames["translate"] = model.translate
    frames["name"] = _names(model.frame_names, FRAME_NAME_SIZE)
    # One component at a time gives numpy long rows to work on.
    for axis in range(3):
        frames["vertices"][:, :, axis] = model.vertices[:, :, axis]
    frames["vertices"][:, :, 3] = model.normals
    skins = _names(model.skins, SKIN_NAME_SIZE)
    commands = _format_commands(model.gl_commands)

    sections = (skins, st, triangles, frames, commands)
    offsets = [HEADER_SIZE]
    for section in sections:
        offsets.append(offsets[-1] + section.nbytes)
    if offsets[-1] > MAX_INT32:
        raise Md2Error("the file would be too large", found=f"{offsets[-1]} bytes", expected=str(MAX_INT32))
    header = struct.pack(
        f"<4s{len(HEADER_FIELDS) - 1}i",
        MAGIC,
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
    # The bytes of an array; an empty one has no view of them.
    contents = [section.view(np.uint8).data for section in sections if section.size]
    return b"".join([header, *contents])


def _names(names: Sequence[str], size: int) -> NDArray[Any]:
    encoded = [name.encode(NAME_ENCODING).ljust(size, b"\0") for name in names]
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
