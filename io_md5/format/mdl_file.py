"""The .mdl file of Quake, little-endian; only names of frames and number and size of skins are read.

    header    IDPO, version 6, scale, origin, radius, eyes: 48 bytes
              numbers of skins, width, height, numbers of vertices, triangles and frames, sync, flags, size: 36 bytes
    skins     int32 kind; 0: width × height bytes; else int32 count, count × float32, count × width × height bytes
    corners   12 bytes for each vertex
    triangles 16 bytes each
    frames    int32 kind; 0: a pose; else int32 count, 8 bytes, count × float32, count × pose
    pose      8 bytes, the name in 16 bytes, 4 bytes for each vertex

The poses of a group count as frames of the model that replaces it (`Mod_LoadAliasModel` of Quake and Ironwail).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from ...io_common.files import Source, read_source
from .model import Md5Error

MDL_SUFFIX = ".mdl"

_HEADER = struct.Struct("<4si10f8if")
_INT = struct.Struct("<i")
_MAGIC, _VERSION = b"IDPO", 6
_POSE_HEAD, _NAME_AT, _NAME = 24, 8, 16
# Far more than Quake takes; fewer than a damaged number would have us loop over.
_MAX_COUNT = 65536


class OtherMdlError(Md5Error):
    """A file of another format that has the same suffix, such as that of Half-Life."""


@dataclass(eq=False)
class Mdl:
    """What is read of an .mdl file.

    Attributes:
        frames: the name of each pose, those of groups in a row.
        skin_count: how many skins there are; a group of skins is one.
        skin_size: width and height in pixels.
        groups: the first pose and the number of poses of each group of frames.
    """

    frames: list[str] = field(default_factory=list)
    skin_count: int = 0
    skin_size: tuple[int, int] = (0, 0)
    groups: list[tuple[int, int]] = field(default_factory=list)


def read_mdl(source: Source, name: str = "") -> Mdl:
    """Frame names and skins of an .mdl file; for the source and its name see `read_mesh`.

    Raises OtherMdlError if it is no MDL of Quake, Md5Error if it cannot be understood, OSError if it cannot be opened.
    """
    return parse_mdl(*read_source(source, name))


def parse_mdl(data: bytes | bytearray | memoryview, name: str = "") -> Mdl:
    """Frame names and skins of the bytes of an .mdl file; raises OtherMdlError or Md5Error as `read_mdl` does."""
    data = bytes(data)
    at = 0

    def skip(count: int) -> int:
        """Passes some bytes of the file; returns where they begin."""
        nonlocal at
        begin, at = at, at + count
        if at > len(data):
            found, expected = f"{len(data)} bytes", f"at least {at}"
            raise Md5Error("the file ends too early", path=name, found=found, expected=expected)
        return begin

    def checked(count: int, what: str, least: int = 0) -> int:
        if not least <= count <= _MAX_COUNT:
            expected = f"{least} to {_MAX_COUNT}"
            raise Md5Error(f"invalid number of {what}", path=name, found=str(count), expected=expected)
        return count

    def group_size() -> int:
        """How many members the next skin or frame has; 0 if it is no group."""
        (kind,) = _INT.unpack_from(data, skip(_INT.size))
        if kind == 0:
            return 0
        begin = skip(_INT.size)
        return checked(_INT.unpack_from(data, begin)[0], f"members of a group at byte {begin}", 1)

    magic, version, *rest = _HEADER.unpack_from(data, skip(_HEADER.size))
    if magic != _MAGIC or version != _VERSION:
        raise OtherMdlError(
            "not an MDL file of Quake", path=name, found=f"{magic!r}, version {version}",
            expected=f"{_MAGIC!r}, version {_VERSION}",
        )  # fmt: skip
    kinds = ("skins", "texels in width", "texels in height", "vertices", "triangles", "frames")
    skins, width, height, vertices, triangles, frames = map(checked, rest[10:16], kinds)
    result = Mdl(skin_count=skins, skin_size=(width, height))
    for _ in range(skins):
        members = group_size()
        skip(4 * members + (members or 1) * width * height)
    skip(12 * vertices + 16 * triangles)
    for _ in range(frames):
        members = group_size()
        if members:
            result.groups.append((len(result.frames), members))
            skip(8 + 4 * members)
        for _ in range(members or 1):
            begin = skip(_POSE_HEAD + 4 * vertices) + _NAME_AT
            result.frames.append(data[begin : begin + _NAME].split(b"\0", 1)[0].decode("latin-1"))
            checked(len(result.frames), "frames")
    return result
