"""MD2 files (MD2 specification): reading, writing and description.

Every count and offset is checked against the file's size before anything is read, so that time and memory are bounded
by that size. What would index outside the file or its tables, or makes no sense, is refused; what real files have and
can be understood is read with a warning. Sections are written in the order of Quake II's model compiler.
"""

from __future__ import annotations

import struct
from dataclasses import asdict
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.arrays import MAX_INT32, encode_names
from ...io_common.binary import INCOMPLETE, BinaryReader, write_contents
from ...io_common.files import Source, Target, read_source
from ...io_common.frames import FRAME_NAME_SIZE, find_sequences
from ...io_common.rules import Description, box_line, describe_findings, game_named
from ...io_common.texts import counted
from . import model as md2
from .frames import model_bounds
from .games import Game, check_model, find_oddities
from .glcommands import restore_st
from .model import GlCommands, Md2Error, Model


def read_model(source: Source, name: str = "", *, preserve: bool = False) -> Model:
    """Reads a file; the model owns its arrays, which may be changed, and its ``warnings`` say what was unusual.

    ``source`` is a path, the bytes of a file, or a file object in binary mode, such as an entry of a zip file, which is
    read to its end and stays open. ``name`` is for messages; that of the path or file object if empty. With
    ``preserve``, an unchanged model is written with all bytes of the file: with what follows the end of names, the
    order of its sections, and gaps. Raises Md2Error if the file is not an MD2 model or is damaged, OSError if it cannot
    be read, or TypeError if the source is none of these, or a file in text mode.
    """
    return parse_model(*read_source(source, name), preserve=preserve)


def parse_model(data: bytes | bytearray | memoryview, name: str = "", *, preserve: bool = False) -> Model:
    """The model in the bytes of a file, of which ``name`` is the name for messages; see ``read_model``."""
    model = _Reader(bytes(data), name).model()
    model.preserved = bytes(data) if preserve else None
    return model


_HEADER = struct.Struct(f"<{len(md2.HEADER_FIELDS)}i")
_PLACES = {name: 4 * number for number, name in enumerate(md2.HEADER_FIELDS)}


class _Reader(BinaryReader):
    ERROR = Md2Error
    header: dict[str, int]
    end = md2.HEADER_SIZE  # of the last section

    def model(self) -> Model:
        self.read_header()
        h = self.header
        skins = self.table("skins", md2.SKIN_DTYPE)
        st = self.table("st", md2.ST_DTYPE)["st"]
        triangles = self.table("tris", md2.TRIANGLE_DTYPE)
        frames = self.table("frames", md2.frame_dtype(h["num_vertices"], h["framesize"]))
        skin_names = self.names_in(skins.tolist(), "skin names")
        names = self.names_in(frames["name"].tolist(), "frame names")
        corners = triangles["vertex"].astype(np.int32)
        scale, translate = frames["scale"].astype(np.float32), frames["translate"].astype(np.float32)
        self.check_triangles(corners)
        self.check_grids(scale, translate)
        commands = self.gl_commands(h["num_vertices"])
        st, triangle_st, warning = restore_st(
            st.astype(np.int16), corners, triangles["st"].astype(np.int32), commands,
            (h["skinwidth"], h["skinheight"]),
        )  # fmt: skip
        self.warnings += [warning] if warning else []
        model = Model(
            skin_width=h["skinwidth"],
            skin_height=h["skinheight"],
            skins=skin_names,
            st=st,
            triangles=corners,
            triangle_st=triangle_st,
            scale=scale,
            translate=translate,
            frame_names=names,
            vertices=_position_bytes(frames["vertices"]),
            normals=np.ascontiguousarray(frames["vertices"][:, :, 3]),
            gl_commands=commands,
        )
        length = len(self.data)
        if h["offset_end"] != length:
            self.warnings.append(f"offset_end is {h['offset_end']}, the file has {length} bytes")
        if length > self.end:
            self.warnings.append(f"{counted(length - self.end, 'bytes', 'follow')} the last section")
        model.warnings = self.warnings + find_oddities(model)
        return model

    def read_header(self) -> None:
        self.check_start(md2.MAGIC, md2.HEADER_SIZE, "an MD2 model")
        values = _HEADER.unpack_from(self.data)
        self.header = h = dict(zip(md2.HEADER_FIELDS, values, strict=True))
        if h["version"] != md2.VERSION:
            raise self.error("unknown version of MD2", _PLACES["version"], h["version"], md2.VERSION)
        # offset_end is not needed, and wrong in real files.
        if min(values[1:-1]) < 0:
            name = next(name for name in md2.HEADER_FIELDS[1:] if h[name] < 0)
            raise self.error(f"negative {name}", _PLACES[name], h[name], "0 or more")
        if h["num_frames"] == 0:
            raise self.error("the model has no frames", _PLACES["num_frames"], 0, "1 or more")
        needed, size = md2.FRAME_HEADER_SIZE + md2.VERTEX_SIZE * h["num_vertices"], h["framesize"]
        if size == 0:
            # The engine and the specification's reader never use it.
            self.warnings.append(f"framesize is 0; frames were taken to be {needed} bytes, as their vertices need")
            h["framesize"] = needed
        elif size < needed:
            reason = f"a frame is too small for {counted(h['num_vertices'], 'vertices')}"
            raise self.error(reason, _PLACES["framesize"], size, f"{needed} bytes")
        elif size > needed:
            self.warnings.append(f"Frames are {size} bytes, {size - needed} more than their vertices need")
        if h["framesize"] > len(self.data):
            raise self.error(INCOMPLETE, _PLACES["framesize"], h["framesize"], f"at most {len(self.data)} bytes")

    def table(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        offset = self.header[f"offset_{name}"]
        rows = self.rows(name, dtype, self.header[f"num_{name}"], offset, md2.HEADER_SIZE)
        self.end = max(self.end, offset + rows.nbytes if rows.size else 0)
        return rows

    def check_triangles(self, triangles: NDArray[np.int32]) -> None:
        count = self.header["num_vertices"]
        if triangles.max(initial=-1) >= count:
            bad = np.flatnonzero(triangles >= count)
            triangle, corner = divmod(int(bad[0]), 3)
            raise self.error(
                f"triangle {triangle} uses a vertex that does not exist ({counted(len(bad), 'such corners')})",
                self.header["offset_tris"] + md2.TRIANGLE_DTYPE.itemsize * triangle + 2 * corner,
                int(triangles[triangle, corner]),
                f"an index below {count}",
            )

    def check_grids(self, scale: NDArray[np.float32], translate: NDArray[np.float32]) -> None:
        is_good = md2.is_in_range(scale, translate)
        if not is_good.all():
            frame, axis = divmod(int(is_good.argmin()), 3)
            raise self.error(
                f"frame {frame} has positions that are not finite on axis {'xyz'[axis]}",
                self.header["offset_frames"] + self.header["framesize"] * frame + 4 * axis,
                f"scale {scale[frame, axis]}, translate {translate[frame, axis]}",
                "finite numbers",
            )

    def gl_commands(self, vertex_count: int) -> GlCommands:
        count, offset = self.header["num_glcmds"], self.header["offset_glcmds"]
        if count == 0:
            if self.header["num_tris"]:
                self.warnings.append("The model has no GL commands")
            return GlCommands()
        if offset < md2.HEADER_SIZE:
            self.warnings.append(f"The GL commands begin at byte {offset}, inside the header")
        available = max(0, len(self.data) - offset) // 4
        if count > available:
            self.warnings.append(
                f"The GL commands run past the end of the file: {counted(count, 'words', 'are')} declared, "
                f"but the file has {available}"
            )
            count = available
        if count == 0:
            return GlCommands()
        words = np.frombuffer(self.data, "<i4", count, offset)
        self.end = max(self.end, offset + 4 * count)

        counts, is_vertex, ended = _walk(words)
        end = len(is_vertex)
        if not ended:
            self.warnings.append("The GL commands have no terminator")
            if end < count:
                self.warnings.append("The last of the GL commands runs past their end and was left out")
        if min(map(abs, counts), default=3) < 3:
            self.warnings.append("The GL commands have primitives of fewer than three vertices")

        body = words[:end][is_vertex].reshape(-1, 3)
        vertices = body[:, 2].astype(np.int32)
        unsigned = vertices.view(np.uint32)  # in which negative ones are too large
        if len(unsigned) and unsigned.max() >= vertex_count:
            bad = int((unsigned >= vertex_count).argmax())
            word = int(np.flatnonzero(is_vertex)[3 * bad + 2])
            reason, expected = ("the GL commands use a vertex that does not exist", f"an index below {vertex_count}")
            raise self.error(reason, offset + 4 * word, int(vertices[bad]), expected)
        st = body.view("<f4")[:, :2].astype(np.float32)
        return GlCommands(np.array(counts, np.int32), st, vertices)


def _position_bytes(vertices: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes of positions without those of normals."""
    positions = np.empty((*vertices.shape[:2], 3), np.uint8)
    # One axis at a time gives numpy long rows to work on.
    for axis in range(3):
        positions[..., axis] = vertices[..., axis]
    return positions


def _walk(words: NDArray[np.int32]) -> tuple[list[int], NDArray[np.bool_], bool]:
    """The counts of the primitives, which of their words are vertices, and whether a 0 ended them."""
    counts: list[int] = []
    position, size = 0, len(words)
    is_vertex = bytearray(b"\1") * size
    values = words.astype(np.int32).data  # a view, whose elements are read faster than those of an array
    while position < size:
        count = values[position]
        if count == 0:
            break
        following = position + 1 + 3 * abs(count)
        if following > size:
            break
        is_vertex[position] = 0
        counts.append(count)
        position = following
    ended = position < size and values[position] == 0
    return counts, np.frombuffer(is_vertex, bool)[:position], ended


def write_model(model: Model, target: Target) -> None:
    """Writes a file, which ``read_model`` reads as an equal model, to a path or a file object in binary mode, which
    stays open.

    The file is opened after all bytes are made, so a model that cannot be written leaves an existing file unchanged.
    Raises Md2Error if the model cannot be expressed in MD2, OSError, or TypeError if the target is neither.
    """
    write_contents(model, target, format_model)


def format_model(model: Model) -> bytes:
    """The bytes of the file of a model; ``parse_model`` returns an equal one. GL commands are written as they are.

    Only the limits of the format are checked here, by ``validate_model``, which raises Md2Error; those of games are
    checked by ``check_model``.
    """
    md2.validate_model(model)
    if model.preserved is not None and parse_model(model.preserved) == model:
        return model.preserved
    st = np.zeros(len(model.st), md2.ST_DTYPE)
    st["st"] = model.st
    triangles = np.zeros(model.triangle_count, md2.TRIANGLE_DTYPE)
    triangles["vertex"] = model.triangles
    triangles["st"] = model.triangle_st
    frames = np.zeros(model.frame_count, md2.frame_dtype(model.vertex_count))
    frames["scale"] = model.scale
    frames["translate"] = model.translate
    frames["name"] = encode_names(model.frame_names, FRAME_NAME_SIZE)
    # One component at a time gives numpy long rows to work on.
    for axis in range(3):
        frames["vertices"][:, :, axis] = model.vertices[:, :, axis]
    frames["vertices"][:, :, 3] = model.normals
    skins = encode_names(model.skins, md2.SKIN_NAME_SIZE)
    commands = _format_commands(model.gl_commands)

    sections = (skins, st, triangles, frames, commands)
    offsets = list(accumulate((section.nbytes for section in sections), initial=md2.HEADER_SIZE))
    if offsets[-1] > MAX_INT32:
        raise Md2Error("the file would be too large", found=f"{offsets[-1]} bytes", expected=str(MAX_INT32))
    size, counts = frames.dtype.itemsize, [len(skins), model.vertex_count, *map(len, (st, triangles, commands, frames))]
    header = _HEADER.pack(md2.MAGIC_NUMBER, md2.VERSION, model.skin_width, model.skin_height, size, *counts, *offsets)
    # The bytes of an array; an empty one has no view of them.
    contents = [section.view(np.uint8).data for section in sections if section.size]
    return b"".join([header, *contents])


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


def describe(source: Source | Model, game: str = "", name: str = "") -> Description:
    """Describes an .md2 file or a model, with the findings of a game if there is one with that name.

    ``source`` and ``name`` are those of ``read_model``, or a model. Raises Md2Error if it cannot be understood or is
    not valid, OSError if it cannot be read.
    """
    model = source if isinstance(source, Model) else read_model(source, name)
    md2.validate_structure(model)
    sequences = [asdict(one) for one in find_sequences(model.frame_names)]
    facts: dict[str, Any] = {
        "kind": "md2",
        "frames": model.frame_count,
        "seconds": model.frame_count / md2.FRAMES_PER_SECOND,
        "vertices": model.vertex_count,
        "triangles": model.triangle_count,
        "texture_coordinates": len(model.st),
        "gl_commands": len(model.gl_commands.counts),
        "skin_size": [model.skin_width, model.skin_height],
        "skins": model.skins,
        "sequences": sequences,
        "box": model_bounds(model).tolist() if model.frame_count and model.vertex_count else [],
        "warnings": list(dict.fromkeys([*model.warnings, *(str(finding) for finding in check_model(model))])),
    }
    lines = [
        "MD2 model",
        f"{counted(model.frame_count, 'frames')}, {counted(model.vertex_count, 'vertices')}, "
        f"{counted(model.triangle_count, 'triangles')}, {counted(facts['gl_commands'], 'GL commands')}",
        f"skin of {model.skin_width} by {model.skin_height} pixels: {', '.join(model.skins) or 'none named'}",
        *box_line(facts["box"]),
        *(f"sequence {sequence['name']!r}: frames {sequence['first']} to {sequence['last']}" for sequence in sequences),
    ]
    return describe_findings(facts, lines, game, check_model(model, game_named(Game, game)) if game else None)
