"""Reading of MD2 files.

The layout is the MD2 specification's. Every count and offset is checked against the file's size before
anything is read, so that time and memory are bounded by that size, whatever the header says.

Refused, because it would index outside the file or its tables, or makes no sense: another identifier or
version, negative counts, offsets and skin sizes, sections that end outside the file, frames smaller than
their vertices, no frame at all, indices outside the table of vertices, and frames whose scale or translation
is not finite or takes a vertex beyond what a float holds.

Loaded with a warning, because real files have it and it can be understood: a wrong ``offset_end``, bytes
after the last section, padded frames, a ``framesize`` of 0, GL commands that are missing, do not end, run past
their section or the file, or overlap the header (the triangle list says the same), texture coordinates that do
not exist (the GL commands have them), normal indices of 162 and over, no vertices or triangles, a skin of 0 x 0,
texture coordinates outside the skin, names without a terminator, and more of anything than Quake II's limits.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.counting import counted
from ...io_common.files.sources import Source, read_source
from .check import find_oddities
from .errors import Md2Error
from .missing_st import restore_st
from .model import (
    FRAME_HEADER_SIZE,
    FRAME_NAME_SIZE,
    HEADER_FIELDS,
    HEADER_SIZE,
    MAGIC,
    NAME_ENCODING,
    SKIN_NAME_SIZE,
    ST_DTYPE,
    TRIANGLE_DTYPE,
    VERSION,
    VERTEX_SIZE,
    GlCommands,
    Model,
    frame_dtype,
    is_in_range,
)

_OTHER_FORMATS = {
    b"IDP3": "a Quake III model (MD3)",
    b"IDPO": "a Quake model (MDL)",
    b"IDPC": "a Half-Life alias model",
    b"IDST": "a Half-Life model",
    b"IDSP": "a sprite",
    b"IDS2": "a Quake II sprite (SP2)",
    b"RAPO": "a Hexen II model",
    b"MD5V": "an MD5 model, which is text",
    b"MDL!": "a Ghoul2 or Heretic II model",
}


def read_model(source: Source, name: str = "") -> Model:
    """Reads a file.

    Args:
        source: a path, the bytes of a file (bytes, bytearray or memoryview), or a file object in binary mode, such
            as an entry of a zip file. A file object is read to its end, and stays open.
        name: the file's name for messages; unless given, that of the path or file object.

    Returns:
        The model; it owns its arrays, which may be changed, and its ``warnings`` say what was unusual.

    Raises:
        Md2Error: the file is not an MD2 model or is damaged.
        OSError: the file cannot be read.
        TypeError: the source is none of these, or a file in text mode.
    """
    return parse_model(*read_source(source, name))


def parse_model(data: bytes | bytearray | memoryview, path: str = "") -> Model:
    """The model in the bytes of a file.

    Args:
        data: the whole file.
        path: its name, for messages.

    Returns:
        The model; it owns its arrays, and its ``warnings`` say what was unusual.

    Raises:
        Md2Error: the bytes are not an MD2 model or are damaged.
    """
    return _Reader(bytes(data), path).model()


_INCOMPLETE = "the file is incomplete (cut off or only partly downloaded)"


@dataclass
class _Section:
    name: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


class _Reader:
    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path
        self.warnings: list[str] = []
        self.header: dict[str, int] = {}

    def error(self, reason: str, offset: int, found: object, expected: str) -> Md2Error:
        return Md2Error(reason, path=self.path, offset=offset, found=str(found), expected=expected)

    def model(self) -> Model:
        self.read_header()
        h = self.header
        vertex_count = h["num_vertices"]
        skins = self.section("skins", SKIN_NAME_SIZE)
        st = self.section("st", ST_DTYPE.itemsize)
        triangles = self.section("tris", TRIANGLE_DTYPE.itemsize)
        frames = self.section("frames", h["framesize"])

        frame_array = np.frombuffer(
            self.data, frame_dtype(vertex_count, h["framesize"]), h["num_frames"], frames.offset
        )
        triangle_array = self.array(triangles, TRIANGLE_DTYPE)
        model = Model(
            skin_width=h["skinwidth"],
            skin_height=h["skinheight"],
            skins=self.names(skins.offset, h["num_skins"], SKIN_NAME_SIZE, SKIN_NAME_SIZE, "skin"),
            st=self.array(st, ST_DTYPE)["st"].astype(np.int16),
            triangles=triangle_array["vertex"].astype(np.int32),
            triangle_st=triangle_array["st"].astype(np.int32),
            scale=frame_array["scale"].astype(np.float32),
            translate=frame_array["translate"].astype(np.float32),
            frame_names=self.names(
                frames.offset + 24, h["num_frames"], FRAME_NAME_SIZE, h["framesize"], "frame"
            ),
            vertices=_position_bytes(frame_array["vertices"]),
            normals=np.ascontiguousarray(frame_array["vertices"][:, :, 3]),
        )
        self.check_triangles(model, triangles.offset)
        self.check_frames(model, frames.offset)
        model.gl_commands, commands = self.gl_commands(vertex_count)
        model.st, model.triangle_st, warning = restore_st(
            model.st,
            model.triangles,
            model.triangle_st,
            model.gl_commands,
            (model.skin_width, model.skin_height),
        )
        if warning:
            self.warnings.append(warning)
        self.check_end([skins, st, triangles, frames, commands])
        model.warnings = self.warnings + find_oddities(model)
        return model

    def read_header(self) -> None:
        data = self.data
        if data[:4] != MAGIC:
            if len(data) < 4:
                raise self.error(
                    "the file is too short for an MD2 model", 0, counted(len(data), "bytes"), "a header"
                )
            other = _OTHER_FORMATS.get(data[:4], "not an MD2 model")
            raise self.error(f"the file is {other}", 0, repr(data[:4])[1:], "'IDP2'")
        if len(data) < HEADER_SIZE:
            raise self.error(
                f"{_INCOMPLETE}: it ends inside its header",
                len(data),
                counted(len(data), "bytes"),
                f"at least {HEADER_SIZE}",
            )
        values = struct.unpack_from(f"<{len(HEADER_FIELDS)}i", data)
        self.header = h = dict(zip(HEADER_FIELDS, values, strict=True))
        if h["version"] != VERSION:
            raise self.error("unknown version of MD2", 4, h["version"], str(VERSION))
        for i, name in enumerate(HEADER_FIELDS):
            # offset_end is not needed, and wrong in real files.
            if h[name] < 0 and name not in ("ident", "offset_end"):
                raise self.error(f"negative {name}", 4 * i, h[name], "0 or more")
        if h["num_frames"] == 0:
            raise self.error("the model has no frames", self.field_offset("num_frames"), 0, "1 or more")
        needed = FRAME_HEADER_SIZE + VERTEX_SIZE * h["num_vertices"]
        if h["framesize"] == 0:
            # The engine and the specification's reader never use it.
            self.warnings.append(
                f"framesize is 0; frames were taken to be {needed} bytes, as their vertices need"
            )
            h["framesize"] = needed
        if h["framesize"] < needed:
            raise self.error(
                f"a frame is too small for {counted(h['num_vertices'], 'vertices')}",
                self.field_offset("framesize"),
                h["framesize"],
                f"{needed} bytes",
            )
        if h["framesize"] > needed:
            self.warnings.append(
                f"Frames are {h['framesize']} bytes, {h['framesize'] - needed} more than their vertices need"
            )

    @staticmethod
    def field_offset(name: str) -> int:
        return 4 * HEADER_FIELDS.index(name)

    def section(self, name: str, item_size: int) -> _Section:
        """Where a section is; the offset of an empty one is not checked."""
        count, offset = self.header[f"num_{name}"], self.header[f"offset_{name}"]
        if count == 0:
            return _Section(name, 0, 0)
        size = count * item_size
        if offset < HEADER_SIZE:
            raise self.error(
                f"offset_{name} points into the header",
                self.field_offset(f"offset_{name}"),
                offset,
                f"{HEADER_SIZE} or more",
            )
        if offset + size > len(self.data):
            raise self.error(
                f"{_INCOMPLETE}: num_{name} = {count} at offset_{name} = {offset} do not fit",
                self.field_offset(f"offset_{name}"),
                f"a file of {len(self.data)} bytes",
                f"{offset + size} or more",
            )
        return _Section(name, offset, size)

    def array(self, section: _Section, dtype: np.dtype[Any]) -> NDArray[Any]:
        return np.frombuffer(self.data, dtype, section.size // dtype.itemsize, section.offset)

    def names(self, offset: int, count: int, size: int, stride: int, kind: str) -> list[str]:
        names = []
        unterminated = 0
        for start in range(offset, offset + count * stride, stride):
            text, nul, _garbage = self.data[start : start + size].partition(b"\0")
            unterminated += not nul
            names.append(text.decode(NAME_ENCODING))
        if unterminated:
            self.warnings.append(
                f"{counted(unterminated, f'{kind} names', 'fill')} all {size} bytes, without a terminator"
            )
        return names

    def check_triangles(self, model: Model, offset: int) -> None:
        count = model.vertex_count
        bad = np.flatnonzero(model.triangles >= count)
        if len(bad):
            triangle, corner = divmod(int(bad[0]), 3)
            raise self.error(
                f"triangle {triangle} uses a vertex that does not exist ({counted(len(bad), 'such corners')})",
                offset + TRIANGLE_DTYPE.itemsize * triangle + 2 * corner,
                int(model.triangles[triangle, corner]),
                f"an index below {count}",
            )

    def check_frames(self, model: Model, offset: int) -> None:
        bad = np.flatnonzero(~is_in_range(model.scale, model.translate))
        if len(bad):
            frame, axis = divmod(int(bad[0]), 3)
            raise self.error(
                f"frame {frame} has positions that are not finite on axis {'xyz'[axis]}",
                offset + self.header["framesize"] * frame + 4 * axis,
                f"scale {model.scale[frame, axis]}, translate {model.translate[frame, axis]}",
                "finite numbers",
            )

    def gl_commands(self, vertex_count: int) -> tuple[GlCommands, _Section]:
        count, offset = self.header["num_glcmds"], self.header["offset_glcmds"]
        if count == 0:
            if self.header["num_tris"]:
                self.warnings.append("The model has no GL commands")
            return GlCommands(), _Section("glcmds", 0, 0)
        if offset < HEADER_SIZE:
            self.warnings.append(f"The GL commands begin at byte {offset}, inside the header")
        available = max(0, len(self.data) - offset) // 4
        if count > available:
            self.warnings.append(
                f"The GL commands run past the end of the file: {counted(count, 'words', 'are')} declared, "
                f"but the file has {available}"
            )
            count = available
        if count == 0:
            return GlCommands(), _Section("glcmds", 0, 0)
        words = np.frombuffer(self.data, "<i4", count, offset)

        heads, counts, ended = _walk(words)
        if not ended:
            self.warnings.append("The GL commands have no terminator")
        end = heads[-1] + 1 + 3 * abs(counts[-1]) if heads else 0
        if not ended and end < count:
            self.warnings.append("The last of the GL commands runs past their end and was left out")
        if any(abs(n) < 3 for n in counts):
            self.warnings.append("The GL commands have primitives of fewer than three vertices")

        body_mask = np.ones(end, bool)
        body_mask[heads] = False
        body = words[:end][body_mask].reshape(-1, 3)
        vertices = body[:, 2].astype(np.int32)
        bad = np.flatnonzero((vertices < 0) | (vertices >= vertex_count))
        if len(bad):
            word = int(np.flatnonzero(body_mask)[3 * bad[0] + 2])
            raise self.error(
                "the GL commands use a vertex that does not exist",
                offset + 4 * word,
                int(vertices[bad[0]]),
                f"an index below {vertex_count}",
            )
        st = np.ascontiguousarray(body[:, :2]).view("<f4").astype(np.float32)
        return GlCommands(np.array(counts, np.int32), st, vertices), _Section("glcmds", offset, 4 * count)

    def check_end(self, sections: list[_Section]) -> None:
        size = len(self.data)
        if self.header["offset_end"] != size:
            self.warnings.append(f"offset_end is {self.header['offset_end']}, the file has {size} bytes")
        left = size - max(HEADER_SIZE, *(section.end for section in sections))
        if left > 0:
            self.warnings.append(f"{counted(left, 'bytes', 'follow')} the last section")


def _position_bytes(vertices: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes of positions (F, V, 3) without those of normals; numpy copies one axis at a time much faster."""
    positions = np.empty((*vertices.shape[:2], 3), np.uint8)
    for axis in range(3):
        positions[..., axis] = vertices[..., axis]
    return positions


def _walk(words: NDArray[np.int32]) -> tuple[list[int], list[int], bool]:
    """Where the primitives begin, their counts, and whether a 0 ended them."""
    heads: list[int] = []
    counts: list[int] = []
    position, size = 0, len(words)
    while position < size:
        count = int(words[position])
        if count == 0:
            return heads, counts, True
        following = position + 1 + 3 * abs(count)
        if following > size:
            break
        heads.append(position)
        counts.append(count)
        position = following
    return heads, counts, False
