"""IQM files: reading, writing and description.

Every count and offset is checked against the size of the file before anything is read, and sections that overlap are
refused.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict, astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.binary import INCOMPLETE, BinaryReader, write_contents
from ...io_common.files import Source, Target, open_file, read_source
from ...io_common.rules import Description, box_line, box_of, describe_findings, game_named
from ...io_common.skeletal.model import ROOT
from ...io_common.texts import counted, listing
from . import model
from .games import Game, check_iqm
from .model import FORMATS, VERSION, ArrayType, Iqm, IqmError, VertexArray, encode_name, find_problems, validate_iqm

_HEADER = struct.Struct("<16s27I")
_FIELDS = (
    "version", "filesize", "flags", "num_text", "ofs_text", "num_meshes", "ofs_meshes", "num_vertexarrays",
    "num_vertexes", "ofs_vertexarrays", "num_triangles", "ofs_triangles", "ofs_adjacency", "num_joints", "ofs_joints",
    "num_poses", "ofs_poses", "num_anims", "ofs_anims", "num_frames", "num_framechannels", "ofs_frames", "ofs_bounds",
    "num_comment", "ofs_comment", "num_extensions", "ofs_extensions",
)  # fmt: skip


def _integers(names: str) -> np.dtype[Any]:
    return np.dtype([(name, "<u4") for name in names.split()])


_MESH = _integers("name material first_vertex vertices first_triangle triangles")
_ARRAY, _EXTENSION = _integers("type flags format size offset"), _integers("name size offset next")
_TEN = ("<f4", model.CHANNELS)
_JOINT = np.dtype([("joint_names", "<u4"), ("joint_parents", "<i4"), ("joint_channels", *_TEN)])
_POSE = np.dtype([("pose_parents", "<i4"), ("pose_masks", "<i4"), ("pose_offsets", *_TEN), ("pose_scales", *_TEN)])
_ANIMATION = np.dtype([("name", "<u4"), ("first", "<u4"), ("count", "<u4"), ("rate", "<f4"), ("flags", "<u4")])
_BYTE, _TRIANGLE = np.dtype("u1"), np.dtype(("<i4", 3))
# The sections that the header names, in the order of the reference compiler: rows, and the fields that count them.
_SECTIONS: dict[str, tuple[np.dtype[Any], str]] = {
    "text": (_BYTE, "num_text"), "meshes": (_MESH, "num_meshes"), "vertexarrays": (_ARRAY, "num_vertexarrays"),
    "triangles": (_TRIANGLE, "num_triangles"), "adjacency": (_TRIANGLE, "num_triangles"),
    "joints": (_JOINT, "num_joints"), "poses": (_POSE, "num_poses"), "anims": (_ANIMATION, "num_anims"),
    "frames": (np.dtype("<u2"), "num_frames num_framechannels"), "bounds": (np.dtype(("<f4", 8)), "num_frames"),
    "comment": (_BYTE, "num_comment"),
}  # fmt: skip
# Those that are attributes of an `Iqm`.
_WHOLE = ("triangles", "adjacency", "frames", "bounds")


def read_iqm(source: Source, name: str = "", *, preserve: bool = False) -> Iqm:
    """Reads a file; for arguments, results and errors see ``io_md2.format.read_model``.

    It raises IqmError if the file is not an IQM of version 2 or is damaged.
    """
    if isinstance(source, str | os.PathLike):
        with open_file(source) as file:
            return _parse(np.fromfile(file, np.uint8).data, name or os.fspath(source), preserve)
    return parse_iqm(*read_source(source, name), preserve=preserve)


def parse_iqm(data: bytes | bytearray | memoryview, name: str = "", *, preserve: bool = False) -> Iqm:
    """The contents of the bytes of a file, of which ``name`` is the name for messages; see ``read_iqm``."""
    return _parse(bytearray(data), name, preserve)


def _parse(buffer: bytearray | memoryview, name: str, preserve: bool) -> Iqm:
    # The arrays are parts of the buffer.
    iqm = _Reader(buffer, name).iqm()
    iqm.preserved = bytes(buffer) if preserve else None
    return iqm


class _Reader(BinaryReader):
    ERROR = IqmError

    def __init__(self, data: Any, path: str) -> None:
        super().__init__(data, path)
        self.sections: list[tuple[int, int, str]] = []
        self.values: dict[str, NDArray[Any]] = {}  # of attributes of the result, where they are in the file
        self.names: dict[int, str] = {}

    def iqm(self) -> Iqm:
        self.head = self.read_header()
        tables = {name: self.table(name) for name in _SECTIONS}
        self.text = tables["text"].tobytes()
        if self.text[:1] not in (b"", b"\0"):
            self.warnings.append("the text does not begin with an empty name")
        self.values = {name: tables[of][name] for of in ("joints", "poses") for name in tables[of].dtype.names or ()}
        whole = {name: tables[name] for name in _WHOLE}
        columns: dict[str, Any] = {name: values.copy() for name, values in self.values.items()} | whole
        self.values |= whole | {"meshes": tables["meshes"], "animations": tables["anims"]}
        columns["joint_names"] = [self.name(name) for name in columns["joint_names"].tolist()]
        meshes, animations = tables["meshes"].tolist(), tables["anims"].tolist()
        columns["meshes"] = [model.MeshRange(self.name(one), self.name(two), *rest) for one, two, *rest in meshes]
        columns["animations"] = [model.FrameRange(self.name(name), *rest) for name, *rest in animations]
        for parents in (columns["joint_parents"], columns["pose_parents"]):
            np.maximum(parents, ROOT, out=parents)
        iqm = Iqm(**columns, arrays=self.arrays(tables["vertexarrays"]), comment=tables["comment"].tobytes())
        iqm.flags, iqm.text = self.head["flags"], self.text or b"\0"
        extensions = self.extensions()
        # Only now is their size limited by that of the file.
        self.check_overlaps()
        iqm.extensions = [model.Extension(self.name(name), data.tobytes()) for name, data in extensions]
        for attribute, index, reason, found, expected in find_problems(iqm):
            raise self.error(reason, self.place_of(attribute, index), found, expected)
        self.warn(iqm)
        iqm.warnings = self.warnings
        return iqm

    def read_header(self) -> dict[str, int]:
        self.check_start(model.MAGIC, _HEADER.size, "an IQM")
        head = dict(zip(_FIELDS, _HEADER.unpack_from(self.data)[1:], strict=True))
        if head["version"] != VERSION:
            reason = "unknown version of IQM"
            if head["version"] == 1:
                reason = "IQM of version 1, which games no longer read: convert it with `upgrade` of lsalzman/iqm"
            raise self.error(reason, 16, head["version"], VERSION)
        size = len(self.data)
        if head["filesize"] > size:
            raise self.error(INCOMPLETE, 20, counted(size, "bytes"), head["filesize"])
        if head["filesize"] < size:
            self.warnings.append(f"filesize is {head['filesize']}, the file has {size} bytes")
        return head

    def table(self, name: str) -> NDArray[Any]:
        """The rows of a section that the header names."""
        dtype, counts = _SECTIONS[name]
        sizes, offset = [self.head[field] for field in counts.split()], self.head[f"ofs_{name}"]
        if name in ("adjacency", "bounds") and not offset:
            sizes = [0]
        return self.view(name, dtype, math.prod(sizes), offset).reshape(*sizes, *dtype.shape)

    def view(self, name: str, dtype: np.dtype[Any], count: int, offset: int) -> NDArray[Any]:
        """Rows in the file that no other section has."""
        rows = self.rows(name, dtype, count, offset, _HEADER.size)
        if rows.size:
            self.sections.append((offset, offset + rows.nbytes, name))
        return rows

    def place_of(self, attribute: str, index: int) -> int:
        """Where a value of the result is in the file."""
        values = self.values[attribute]
        if not values.size:
            return 16 + 4 * _FIELDS.index("num_frames")
        first = values.ctypes.data - np.frombuffer(self.data, np.uint8).ctypes.data
        return first + int(np.dot(np.unravel_index(index, values.shape), values.strides))

    def arrays(self, rows: NDArray[Any]) -> list[VertexArray]:
        count, start = self.head["num_vertexes"], self.head["ofs_vertexarrays"]
        if count and not len(rows):
            raise self.error("there are vertices without arrays", 44, 0, "1 array or more")
        arrays = []
        for number, (kind, flags, code, size, offset) in enumerate(rows.tolist()):
            place = start + rows.itemsize * number
            if code >= len(FORMATS):
                raise self.error("a vertex array has an unknown format", place + 8, code, f"0 to {len(FORMATS) - 1}")
            if not size:
                raise self.error("a vertex array has no components", place + 12, 0, "1 or more")
            values = self.view(f"vertex array {number}", FORMATS[code], count * size, offset).reshape(count, size)
            self.values[f"arrays[{number}]"] = values
            name = self.name(kind - ArrayType.CUSTOM) if kind >= ArrayType.CUSTOM else ""
            arrays.append(VertexArray(min(kind, ArrayType.CUSTOM), values, flags, name))
        return arrays

    def name(self, offset: int) -> str:
        if offset not in self.names:
            place = self.head["ofs_text"] + offset
            if offset and offset >= len(self.text):
                reason = "a name is outside of the text"
                raise self.error(reason, place, offset, f"an offset below {len(self.text)}")
            raw, end, _ = self.text[offset : offset + model.MAX_NAME + 1].partition(b"\0")
            if len(raw) > model.MAX_NAME:
                raise self.error("a name is too long", place, "no end", f"at most {model.MAX_NAME} bytes")
            if raw and not end:
                self.warnings.append("the last name has no terminator")
            self.names[offset] = raw.decode("utf-8", "surrogateescape")
        return self.names[offset]

    def extensions(self) -> list[tuple[int, NDArray[Any]]]:
        """The names and data of a linked list."""
        result: dict[int, tuple[int, NDArray[Any]]] = {}
        offset = self.head["ofs_extensions"]
        for number in range(self.head["num_extensions"]):
            if offset in result:
                raise self.error("the list of extensions returns to itself", offset, offset, "another offset")
            ((name, size, start, following),) = self.view(f"extension {number}", _EXTENSION, 1, offset).tolist()
            result[offset] = name, self.view(f"the data of extension {number}", _BYTE, size, start)
            offset = following
        return list(result.values())

    def check_overlaps(self) -> None:
        self.sections.sort()
        for (_, end, name), (start, _, other) in zip(self.sections, self.sections[1:], strict=False):
            if start < end:
                raise self.error(f"{other} overlaps {name}", start, start, f"{end} or more")

    def warn(self, iqm: Iqm) -> None:
        kinds = [array.type for array in iqm.arrays if array.type != ArrayType.CUSTOM]
        repeated = sorted({kind for kind in kinds if kinds.count(kind) > 1})
        if repeated:
            self.warnings.append(f"several vertex arrays have the type {listing(repeated)}; the first is used")
        for kind in (ArrayType.NORMAL, ArrayType.TANGENT, ArrayType.COLOR):
            values = iqm.array(kind)
            if values is not None and values.dtype.kind == "f" and not np.isfinite(values).all():
                self.warnings.append(f"some values of the array {kind.name} are not finite")
        if not np.isfinite(iqm.bounds).all():
            self.warnings.append("some bounds are not finite")


def write_iqm(iqm: Iqm, target: Target) -> None:
    """Writes a file to a path or a binary file object; raises as ``format_iqm``, OSError or TypeError."""
    write_contents(iqm, target, format_iqm)


def format_iqm(iqm: Iqm) -> bytes:
    """The bytes of a file, in the order of the reference compiler; ``parse_iqm`` returns equal contents.

    Raises IqmError if the contents are not valid; the message names the attribute.
    """
    validate_iqm(iqm)
    if iqm.preserved is not None and parse_iqm(iqm.preserved) == iqm:
        return iqm.preserved
    return _Writer(iqm).file()


class _Writer:
    def __init__(self, iqm: Iqm) -> None:
        self.iqm, self.data = iqm, bytearray(_HEADER.size)
        self.text = bytearray(iqm.text or b"\0")
        if self.text[-1]:
            self.text += b"\0"
        self.names: dict[bytes, int] = {}
        start = 0
        for name in bytes(self.text).split(b"\0")[:-1]:
            self.names.setdefault(name, start)
            start += len(name) + 1

    def name(self, text: str) -> int:
        raw = encode_name(text)
        if raw not in self.names:
            self.names[raw] = len(self.text)
            self.text += raw + b"\0"
        return self.names[raw]

    def rows(self, ranges: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [tuple(self.name(one) if isinstance(one, str) else one for one in astuple(item)) for item in ranges]

    def add(self, rows: NDArray[Any], parts: Sequence[NDArray[Any]] = ()) -> int:
        """The offset of rows, after which follow the parts that they lead to; 0 for nothing."""
        if not rows.nbytes:
            return 0
        self.data += bytes(-len(self.data) % (8 if rows.itemsize == 8 else 4))
        start, end = len(self.data), len(self.data) + rows.nbytes
        self.data += rows.tobytes()
        if len(parts):
            rows["offset"] = [self.add(part) for part in parts]
            self.data[start:end] = rows.tobytes()
        return start

    def file(self) -> bytes:
        iqm = self.iqm
        head = dict.fromkeys(_FIELDS, 0) | {"version": VERSION, "flags": iqm.flags, "num_vertexes": iqm.vertex_count}
        values = [one.values for one in iqm.arrays]
        tables: dict[str, NDArray[Any]] = {name: getattr(iqm, name) for name in _WHOLE}
        tables["meshes"] = np.array(self.rows(iqm.meshes), _MESH)
        joints: list[Any] = [list(map(self.name, iqm.joint_names)), iqm.joint_parents, iqm.joint_channels]
        tables["joints"] = np.rec.fromarrays(joints, _JOINT)
        poses: list[Any] = [getattr(iqm, name) for name in _POSE.names or ()]
        tables["poses"] = np.rec.fromarrays(poses, _POSE)
        tables["anims"] = np.array(self.rows(iqm.animations), _ANIMATION)
        kinds = [one.type + (self.name(one.name) if one.type == ArrayType.CUSTOM else 0) for one in iqm.arrays]
        arrays = zip(kinds, iqm.arrays, strict=True)
        tables["vertexarrays"] = np.array(
            [(kind, one.flags, FORMATS.index(one.values.dtype), one.values.shape[1], 0) for kind, one in arrays], _ARRAY
        )
        tables["comment"] = np.frombuffer(iqm.comment, _BYTE)
        parts = [np.frombuffer(one.data, _BYTE) for one in iqm.extensions]
        extensions = np.array([(self.name(one.name), len(one.data), 0, 0) for one in iqm.extensions], _EXTENSION)
        self.text += bytes(-len(self.text) % 4)
        tables["text"] = np.frombuffer(self.text, _BYTE)
        for name, (dtype, counts) in _SECTIONS.items():
            rows = tables[name].astype(dtype.base, copy=False)
            if len(rows):
                head |= dict(zip(counts.split(), rows.shape, strict=False))
            head[f"ofs_{name}"] = self.add(rows, values if name == "vertexarrays" else [])
        head["num_extensions"], first = len(parts), len(self.data) + -len(self.data) % 4
        extensions["next"][:-1] = first + _EXTENSION.itemsize * np.arange(1, max(len(parts), 1))
        head["ofs_extensions"] = self.add(extensions, parts)
        head["filesize"] = len(self.data)
        if len(self.data) >= 2**32:
            raise IqmError("the file would be too large", found=counted(len(self.data), "bytes"), expected="4 GB")
        _HEADER.pack_into(self.data, 0, model.MAGIC, *head.values())
        return bytes(self.data)


def describe(source: Source | Iqm, game: str = "", name: str = "") -> Description:
    """Describes an .iqm file or its contents, with the findings for a game if it names one.

    Raises IqmError if it cannot be understood, or the contents are not valid, OSError if it cannot be read.
    """
    iqm = source if isinstance(source, Iqm) else read_iqm(source, name)
    validate_iqm(iqm)
    points = iqm.array(ArrayType.POSITION)
    joints = len(iqm.joint_names) or len(iqm.pose_parents)
    names = {kind.value: kind.name for kind in ArrayType}
    counts = {"joints": joints, "vertices": iqm.vertex_count, "triangles": len(iqm.triangles)}
    facts: dict[str, Any] = {
        "kind": "iqm",
        **counts,
        "meshes": [asdict(one) for one in iqm.meshes],
        "arrays": [one.name or str(names.get(one.type, one.type)) for one in iqm.arrays],
        "animations": [asdict(one) for one in iqm.animations],
        "extensions": [one.name for one in iqm.extensions],
        "box": box_of(np.zeros((0, 3)) if points is None else points[:, :3].astype(np.float64)),
        "warnings": list(dict.fromkeys([*iqm.warnings, *map(str, check_iqm(iqm))])),
    }
    lines = ["IQM model" if iqm.meshes else "IQM animations", ", ".join(counted(counts[one], one) for one in counts)]
    for mesh in iqm.meshes:
        sizes = f"{counted(mesh.vertex_count, 'vertices')}, {counted(mesh.triangle_count, 'triangles')}"
        lines.append(f"mesh {mesh.name!r}: {sizes}, material {mesh.material!r}")
    for one in iqm.animations:
        rate = f"{one.frame_rate:g}{', loops' if one.is_loop else ''}"
        lines.append(f"animation {one.name!r}: {counted(one.frame_count, 'frames')} at {rate}")
    findings = check_iqm(iqm, game_named(Game, game)) if game else None
    return describe_findings(facts, [*lines, *box_line(facts["box"])], game, findings)
