"""IQM files: reading, writing and description.

Every count and offset is checked against the size of the file before anything is read, and sections that overlap are
refused: arrays are views of one copy of the file.
"""

from __future__ import annotations

import struct
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.files import Source, Target, read_source, target_name, write_target
from ...io_common.rules import Description, box_line, box_of, describe_findings
from ...io_common.texts import counted, listing
from .games import check_iqm, game_named
from .model import (
    CHANNELS,
    FORMATS,
    MAGIC,
    MAX_NAME,
    VERSION,
    ArrayType,
    Extension,
    FrameRange,
    Iqm,
    IqmError,
    MeshRange,
    VertexArray,
    encode_name,
    find_problems,
    validate_iqm,
)

_HEADER = struct.Struct("<16s27I")
_FIELDS = (
    "version", "filesize", "flags", "num_text", "ofs_text", "num_meshes", "ofs_meshes", "num_vertexarrays",
    "num_vertexes", "ofs_vertexarrays", "num_triangles", "ofs_triangles", "ofs_adjacency", "num_joints", "ofs_joints",
    "num_poses", "ofs_poses", "num_anims", "ofs_anims", "num_frames", "num_framechannels", "ofs_frames", "ofs_bounds",
    "num_comment", "ofs_comment", "num_extensions", "ofs_extensions",
)  # fmt: skip
_JOINT = np.dtype([("name", "<u4"), ("parent", "<i4"), ("channels", "<f4", CHANNELS)])
_POSE = np.dtype([
    ("parent", "<i4"), ("mask", "<i4"), ("offsets", "<f4", CHANNELS), ("scales", "<f4", CHANNELS)
])  # fmt: skip
_ANIMATION = np.dtype([("name", "<u4"), ("first", "<u4"), ("count", "<u4"), ("rate", "<f4"), ("flags", "<u4")])
_EXTENSION = struct.Struct("<4I")
_INCOMPLETE = "the file is incomplete (cut off or only partly downloaded)"
_BYTE, _TRIANGLE, _BOUNDS = np.dtype("u1"), np.dtype(("<i4", 3)), np.dtype(("<f4", 8))
_MESH, _ARRAY = np.dtype(("<u4", 6)), np.dtype(("<u4", 5))


def read_iqm(source: Source, name: str = "", *, preserve: bool = False) -> Iqm:
    """Reads a file.

    Args:
        source: a path, the bytes of a file, or a file object in binary mode, which is read to its end.
        name: the file's name, for messages; that of the path or file object if empty.
        preserve: whether an unchanged file is written with all its bytes: the order of its sections, and gaps.

    Returns:
        The contents; it owns its arrays, which may be changed, and its ``warnings`` say what was unusual.

    Raises:
        IqmError: the file is not an IQM of version 2 or is damaged.
        OSError: the file cannot be read.
        TypeError: the source is none of these, or a file in text mode.
    """
    return parse_iqm(*read_source(source, name), preserve=preserve)


def parse_iqm(data: bytes | bytearray | memoryview, name: str = "", *, preserve: bool = False) -> Iqm:
    """The contents of the bytes of a file, of which ``name`` is the name for messages; see ``read_iqm``."""
    iqm = _Reader(bytearray(data), name).iqm()
    iqm.preserved = bytes(data) if preserve else None
    return iqm


class _Reader:
    def __init__(self, data: bytearray, path: str) -> None:
        self.data, self.path = data, path
        self.warnings: list[str] = []
        self.sections: list[tuple[int, int, str]] = []
        # Where each attribute of the result begins, and the bytes of each of its values.
        self.places: dict[str, tuple[int, int]] = {}
        self.names: dict[int, str] = {}

    def error(self, reason: str, offset: int, found: object, expected: object) -> IqmError:
        return IqmError(reason, path=self.path, offset=offset, found=str(found), expected=str(expected))

    def iqm(self) -> Iqm:
        self.head = head = self.header()
        self.text = self.table("text", _BYTE).tobytes()
        if self.text[:1] not in (b"", b"\0"):
            self.warnings.append("the text does not begin with an empty name")
        joints, poses = self.table("joints", _JOINT), self.table("poses", _POSE)
        self.place(joint_parents=("joints", 4, 48), joint_channels=("joints", 8, 4), pose_parents=("poses", 0, 88))
        self.place(pose_masks=("poses", 4, 88), pose_offsets=("poses", 8, 8), pose_scales=("poses", 48, 8))
        meshes = self.table("meshes", _MESH)
        animations = self.table("anims", _ANIMATION)
        self.place(meshes=("meshes", 0, 24), animations=("anims", 0, 20), frames=("frames", 0, 2))
        frames = self.table("frames", np.dtype("<u2"), head["num_frames"] * head["num_framechannels"])
        iqm = Iqm(
            meshes=[MeshRange(self.name(name), self.name(skin), *rest) for name, skin, *rest in meshes.tolist()],
            arrays=self.arrays(),
            triangles=self.table("triangles", _TRIANGLE),
            adjacency=self.table("adjacency", _TRIANGLE, head["num_triangles"] if head["ofs_adjacency"] else 0),
            joint_names=[self.name(name) for name in joints["name"].tolist()],
            joint_parents=np.maximum(joints["parent"], -1),
            joint_channels=joints["channels"].copy(),
            pose_parents=np.maximum(poses["parent"], -1),
            pose_masks=poses["mask"].copy(),
            pose_offsets=poses["offsets"].copy(),
            pose_scales=poses["scales"].copy(),
            frames=frames.reshape(head["num_frames"], head["num_framechannels"]),
            animations=[FrameRange(self.name(name), *rest) for name, *rest in animations.tolist()],
            bounds=self.table("bounds", _BOUNDS, head["num_frames"] if head["ofs_bounds"] else 0),
            comment=self.table("comment", _BYTE).tobytes(),
            flags=head["flags"],
            text=self.text or b"\0",
        )
        self.place(triangles=("triangles", 0, 4))
        extensions = self.extensions()
        # Only now is their size limited by that of the file.
        self.check_overlaps()
        iqm.extensions = [Extension(self.name(name), data.tobytes()) for name, data in extensions]
        for attribute, index, reason, found, expected in find_problems(iqm):
            start, size = self.places.get(attribute, (0, 0))
            raise self.error(reason, start + index * size, found, expected)
        self.warn(iqm)
        iqm.warnings = self.warnings
        return iqm

    def place(self, **places: tuple[str, int, int]) -> None:
        for attribute, (section, offset, size) in places.items():
            self.places[attribute] = (self.head[f"ofs_{section}"] + offset, size)

    def header(self) -> dict[str, int]:
        data = self.data
        if data[: len(MAGIC)] != MAGIC:
            raise self.error("the file is not an IQM", 0, repr(bytes(data[:16]))[1:], repr(MAGIC)[1:])
        if len(data) < _HEADER.size:
            found = counted(len(data), "bytes")
            raise self.error(f"{_INCOMPLETE}: it ends inside its header", len(data), found, _HEADER.size)
        head = dict(zip(_FIELDS, _HEADER.unpack_from(data)[1:], strict=True))
        if head["version"] != VERSION:
            reason = "unknown version of IQM"
            if head["version"] == 1:
                reason = "IQM of version 1, which games no longer read: convert it with `upgrade` of lsalzman/iqm"
            raise self.error(reason, 16, head["version"], VERSION)
        if head["filesize"] > len(data):
            raise self.error(_INCOMPLETE, 20, counted(len(data), "bytes"), head["filesize"])
        if head["filesize"] < len(data):
            self.warnings.append(f"filesize is {head['filesize']}, the file has {len(data)} bytes")
        return head

    def table(self, name: str, dtype: np.dtype[Any], count: int | None = None) -> NDArray[Any]:
        """The rows of a section that the header names."""
        return self.view(name, dtype, self.head[f"num_{name}"] if count is None else count, self.head[f"ofs_{name}"])

    def view(self, name: str, dtype: np.dtype[Any], count: int, offset: int) -> NDArray[Any]:
        """Rows in the file; the offset of none is not checked."""
        size = count * dtype.itemsize
        if not size:
            return np.zeros(0, dtype)
        if offset < _HEADER.size or offset + size > len(self.data):
            reason = f"{_INCOMPLETE}: {counted(count, 'rows')} of {name} do not fit"
            raise self.error(reason, offset, f"{len(self.data)} bytes", f"{offset + size}")
        self.sections.append((offset, offset + size, name))
        return np.frombuffer(self.data, dtype, count, offset)

    def arrays(self) -> list[VertexArray]:
        rows, count = self.table("vertexarrays", _ARRAY).tolist(), self.head["num_vertexes"]
        if count and not rows:
            raise self.error("there are vertices without arrays", 44, 0, "1 array or more")
        arrays = []
        for number, (kind, flags, code, size, offset) in enumerate(rows):
            place = self.head["ofs_vertexarrays"] + 20 * number
            if code >= len(FORMATS):
                raise self.error("a vertex array has an unknown format", place + 8, code, f"0 to {len(FORMATS) - 1}")
            if not size:
                raise self.error("a vertex array has no components", place + 12, 0, "1 or more")
            dtype = FORMATS[code]
            values = self.view(f"vertex array {number}", dtype, count * size, offset).reshape(count, size)
            self.places[f"arrays[{number}]"] = (offset, dtype.itemsize)
            is_custom = kind >= ArrayType.CUSTOM
            name = self.name(kind - ArrayType.CUSTOM) if is_custom else ""
            arrays.append(VertexArray(ArrayType.CUSTOM if is_custom else kind, values, flags, name))
        return arrays

    def name(self, offset: int) -> str:
        if offset not in self.names:
            if offset and offset >= len(self.text):
                reason = "a name is outside of the text"
                raise self.error(reason, self.head["ofs_text"] + offset, offset, f"an offset below {len(self.text)}")
            raw, end, _ = self.text[offset : offset + MAX_NAME + 1].partition(b"\0")
            if len(raw) > MAX_NAME:
                place = self.head["ofs_text"] + offset
                raise self.error("a name is too long", place, "no end", f"at most {MAX_NAME} bytes")
            if raw and not end:
                self.warnings.append("the last name has no terminator")
            self.names[offset] = raw.decode("utf-8", "surrogateescape")
        return self.names[offset]

    def extensions(self) -> list[tuple[int, NDArray[Any]]]:
        """The names and data of a linked list."""
        result: list[tuple[int, NDArray[Any]]] = []
        seen: set[int] = set()
        offset = self.head["ofs_extensions"]
        for number in range(self.head["num_extensions"]):
            if offset in seen:
                raise self.error("the list of extensions returns to itself", offset, offset, "another offset")
            seen.add(offset)
            self.view(f"extension {number}", np.dtype(("u1", _EXTENSION.size)), 1, offset)
            name, size, start, following = _EXTENSION.unpack_from(self.data, offset)
            result.append((name, self.view(f"the data of extension {number}", _BYTE, size, start)))
            offset = following
        return result

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
            if values is not None and values.size and not np.isfinite([values.min(), values.max()]).all():
                self.warnings.append(f"some values of the array {kind.name} are not finite")
        if not np.isfinite(iqm.bounds).all():
            self.warnings.append("some bounds are not finite")


def write_iqm(iqm: Iqm, target: Target) -> None:
    """Writes a file to a path, or to a file object in binary mode, which stays open.

    The file is opened after all bytes are made, so contents that cannot be written leave an existing file unchanged.

    Raises:
        IqmError: the contents cannot be expressed in IQM.
        OSError: the file cannot be written.
        TypeError: the target is neither.
    """
    try:
        data = format_iqm(iqm)
    except IqmError as error:
        error.path = target_name(target)
        raise
    write_target(data, target)


def format_iqm(iqm: Iqm) -> bytes:
    """The bytes of a file, in the order of the reference compiler; ``parse_iqm`` returns equal contents.

    Raises:
        IqmError: the contents are not valid; the message names the attribute.
    """
    validate_iqm(iqm)
    if iqm.preserved is not None and parse_iqm(iqm.preserved) == iqm:
        return iqm.preserved
    return _Writer(iqm).file()


class _Writer:
    def __init__(self, iqm: Iqm) -> None:
        self.iqm = iqm
        self.parts: list[bytes] = []
        self.size = _HEADER.size
        self.head = dict.fromkeys(_FIELDS, 0) | {"version": VERSION, "flags": iqm.flags}
        self.text = bytearray(iqm.text or b"\0")
        self.names: dict[bytes, int] = {}
        start = 0
        for name in bytes(self.text).split(b"\0")[:-1]:
            self.names.setdefault(name, start)
            start += len(name) + 1
        if start < len(self.text):
            self.text += b"\0"

    def name(self, text: str) -> int:
        raw = encode_name(text)
        if raw not in self.names:
            self.names[raw] = len(self.text)
            self.text += raw + b"\0"
        return self.names[raw]

    def add(self, data: bytes, alignment: int = 4) -> int:
        """The offset of a part of the file; 0 for nothing."""
        if not data:
            return 0
        self.parts += [bytes(-self.size % alignment), data]
        self.size += len(self.parts[-2]) + len(data)
        return self.size - len(data)

    def table(self, name: str, rows: NDArray[Any]) -> None:
        self.head[f"num_{name}"] = len(rows)
        self.head[f"ofs_{name}"] = self.add(rows.tobytes())

    def file(self) -> bytes:
        iqm, head = self.iqm, self.head
        joints = np.zeros(len(iqm.joint_names), _JOINT)
        meshes = [
            (self.name(one.name), self.name(one.material), one.first_vertex, one.vertex_count, one.first_triangle,
             one.triangle_count) for one in iqm.meshes
        ]  # fmt: skip
        joints["name"] = [self.name(name) for name in iqm.joint_names]
        joints["parent"], joints["channels"] = iqm.joint_parents, iqm.joint_channels
        poses = np.zeros(len(iqm.pose_parents), _POSE)
        poses["parent"], poses["mask"] = iqm.pose_parents, iqm.pose_masks
        poses["offsets"], poses["scales"] = iqm.pose_offsets, iqm.pose_scales
        animations = np.array(
            [(self.name(one.name), one.first_frame, one.frame_count, one.frame_rate, one.flags)
             for one in iqm.animations], _ANIMATION,
        )  # fmt: skip
        kinds = [self.name(one.name) + one.type if one.type == ArrayType.CUSTOM else one.type for one in iqm.arrays]
        names = [self.name(one.name) for one in iqm.extensions]
        self.text += bytes(-len(self.text) % 4)
        self.table("text", np.frombuffer(self.text, _BYTE))
        self.table("meshes", np.array(meshes, "<u4").reshape(-1, 6))
        self.arrays(kinds)
        self.table("triangles", iqm.triangles.astype("<i4"))
        head["ofs_adjacency"] = self.add(iqm.adjacency.astype("<i4").tobytes())
        self.table("joints", joints)
        self.table("poses", poses)
        self.table("anims", animations)
        self.table("frames", iqm.frames.astype("<u2"))
        head["num_framechannels"] = iqm.frames.shape[1]
        head["ofs_bounds"] = self.add(iqm.bounds.astype("<f4").tobytes())
        self.table("comment", np.frombuffer(iqm.comment, _BYTE))
        self.extensions(names)
        head["filesize"] = self.size
        if self.size >= 2**32:
            raise IqmError("the file would be too large", found=counted(self.size, "bytes"), expected="4 GB")
        return b"".join([_HEADER.pack(MAGIC, *head.values()), *self.parts])

    def arrays(self, kinds: list[int]) -> None:
        iqm, rows = self.iqm, np.zeros((len(kinds), 5), "<u4")
        self.table("vertexarrays", rows)
        self.head["num_vertexes"] = iqm.vertex_count
        place = len(self.parts) - 1
        for row, kind, array in zip(rows, kinds, iqm.arrays, strict=True):
            values = array.values
            offset = self.add(values.tobytes(), max(4, values.itemsize))
            row[:] = kind, array.flags, FORMATS.index(values.dtype), values.shape[1], offset
        if len(rows):
            self.parts[place] = rows.tobytes()

    def extensions(self, names: list[int]) -> None:
        """Each before its data, in a list."""
        self.head["num_extensions"] = len(names)
        following = self.size + -self.size % 4
        self.head["ofs_extensions"] = following if names else 0
        for number, (name, one) in enumerate(zip(names, self.iqm.extensions, strict=True)):
            start = following + _EXTENSION.size
            following = start + len(one.data) + -len(one.data) % 4
            is_last = number + 1 == len(names)
            head = _EXTENSION.pack(name, len(one.data), start if one.data else 0, 0 if is_last else following)
            self.add(head + one.data + bytes(-len(one.data) % 4))


def describe(source: Source | Iqm, game: str = "", name: str = "") -> Description:
    """Describes an .iqm file or its contents, with the findings for a game if it names one.

    Raises:
        IqmError: it cannot be understood, or the contents are not valid.
        OSError: it cannot be read.
    """
    iqm = source if isinstance(source, Iqm) else read_iqm(source, name)
    validate_iqm(iqm)
    points = iqm.array(ArrayType.POSITION)
    joints = len(iqm.joint_names) or len(iqm.pose_parents)
    counts = {"joints": joints, "vertices": iqm.vertex_count, "triangles": len(iqm.triangles)}
    facts: dict[str, Any] = {
        "kind": "iqm",
        **counts,
        "meshes": [asdict(one) for one in iqm.meshes],
        "arrays": [one.name or f"{one.type}" for one in iqm.arrays],
        "animations": [asdict(one) for one in iqm.animations],
        "extensions": [one.name for one in iqm.extensions],
        "box": box_of(np.zeros((0, 3)) if points is None else points[:, :3].astype(np.float64)),
        "warnings": list(dict.fromkeys([*iqm.warnings, *(str(finding) for finding in check_iqm(iqm))])),
    }
    lines = ["IQM model" if iqm.meshes else "IQM animations"]
    lines.append(", ".join(counted(count, what) for what, count in counts.items()))
    for mesh in iqm.meshes:
        sizes = f"{counted(mesh.vertex_count, 'vertices')}, {counted(mesh.triangle_count, 'triangles')}"
        lines.append(f"mesh {mesh.name!r}: {sizes}, material {mesh.material!r}")
    for one in iqm.animations:
        loops = ", loops" if one.is_loop else ""
        lines.append(f"animation {one.name!r}: {counted(one.frame_count, 'frames')} at {one.frame_rate:g}{loops}")
    lines += box_line(facts["box"])
    return describe_findings(facts, lines, game, check_iqm(iqm, game_named(game)) if game else None)
