"""The number of pixels of an image from its header, before the image is decoded.

As in Blender, the first bytes of a file decide its type, not its extension. The offsets are those of the formats'
specifications.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

CRASHING_KINDS = (b"\x80\x2a\x5f\xd7", b"\xd7\x5f\x2a\x80", b"SDPX", b"XPDS")
"""The first bytes of Cineon and DPX files. Blender crashes on damaged ones; no game uses them."""

_FLOAT_FACTOR = 4
"""The memory of a float pixel relative to a pixel of bytes."""

_PNG = b"\x89PNG\r\n\x1a\n"
# HDR and OpenEXR, which Blender stores as floats.
_FLOAT_KINDS = (b"#?", b"v/1\x01")
_HDR_SIZE = re.compile(rb"(?<=\n)[-+][XY] (\d{1,9}) [-+][XY] (\d{1,9})\n")
_TGA_TYPES = (1, 2, 3, 9, 10, 11)
_TGA_DEPTHS = (8, 15, 16, 24, 32)
# The markers with the size, without those for Huffman tables, JPEG extensions and arithmetic coding.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_TYPES = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 16: "Q", 17: "q"}
_TIFF_SIDES = (256, 257), (322, 323)  # of the image, of a tile


def pixel_count(data: bytes) -> int | None:
    """The number of pixels of an image; float pixels count four times.

    Args:
        data: the file, or its start.

    Returns:
        None if Blender cannot read the image, or its size is not in `data`.
    """
    try:
        size = _size(data)
    except (struct.error, IndexError, ValueError):
        return None
    if size is None:
        return None
    width, height = (abs(side) for side in size)
    is_float = data.startswith(_FLOAT_KINDS) or (data.startswith(_PNG) and data[24:25] == b"\x10")
    return width * height * (_FLOAT_FACTOR if is_float else 1)


def _size(data: bytes) -> tuple[int, ...] | None:
    """Width and height, in any order; bottom-up images may have a negative height."""
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if data.startswith(b"v/1\x01"):
        return _exr(data)
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return _tiff(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    if data.startswith(b"#?"):
        return _largest((int(one[1]), int(one[2])) for one in _HDR_SIZE.finditer(data, 0, 1 << 16))
    if data.startswith(b"BM"):
        return struct.unpack_from("<2H" if data[14] == 12 else "<2i", data, 18)
    if data.startswith((b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")):
        return _jpeg2000(data)
    for magic, layout, offset in _FIXED_OFFSETS:
        if data.startswith(magic):
            return struct.unpack_from(layout, data, offset)
    return _tga(data)


# Magic number, layout and offset of the size.
_FIXED_OFFSETS = (
    (_PNG, ">2I", 16),
    (b"DDS ", "<2I", 12),
    (b"8BPS", ">2I", 14),
    (b"\x01\xda", ">2H", 6),
)


def _largest(sizes: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """The largest size where a damaged header has several; None if it has none."""
    return max(sizes, key=lambda size: abs(size[0] * size[1]), default=None)


def _jpeg2000(data: bytes) -> tuple[int, ...] | None:
    """The size in the codestream, which is in a box `jp2c` unless it is the whole file."""
    at = 0
    while not data.startswith(b"\xff\x4f\xff\x51", at):
        length, kind = struct.unpack_from(">I4s", data, at)
        head = 16 if length == 1 else 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, at + 8)
        if kind == b"jp2c":
            length = head
        elif length < head:
            return None
        at += length
    right, lower, left, upper = struct.unpack_from(">4I", data, at + 8)
    return right - left, lower - upper


def _tga(data: bytes) -> tuple[int, ...] | None:
    """TGA files have no magic number, but some fields have few valid values."""
    is_tga = data[1] in (0, 1) and data[2] in _TGA_TYPES and data[16] in _TGA_DEPTHS
    return struct.unpack_from("<2H", data, 12) if is_tga else None


def _jpeg(data: bytes) -> tuple[int, ...] | None:
    """The size in the first frame marker."""
    at = 2
    while (at := data.find(b"\xff", at)) >= 0:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        if marker in _JPEG_FRAMES:
            return struct.unpack_from(">2H", data, at + 4)
        at += 1
        if marker and marker not in _JPEG_WITHOUT_LENGTH:
            at += struct.unpack_from(">H", data, at)[0]
    return None


def _tiff(data: bytes) -> tuple[int, ...] | None:
    """The size in the first directory of a TIFF or BigTIFF."""
    order = "<" if data.startswith(b"II") else ">"
    is_big = b"+" in data[:4]
    (directory,) = struct.unpack_from(order + ("Q" if is_big else "I"), data, 8 if is_big else 4)
    if directory > len(data):
        return None
    (count,) = struct.unpack_from(order + ("Q" if is_big else "H"), data, directory)
    first, step, value = (directory + 8, 20, 12) if is_big else (directory + 2, 12, 8)
    sides: dict[int, int] = {}
    for entry in range(first, first + min(count, 1 << 16) * step, step):
        tag, kind = struct.unpack_from(order + "2H", data, entry)
        if tag in (*_TIFF_SIDES[0], *_TIFF_SIDES[1]) and kind in _TIFF_TYPES:
            (side,) = struct.unpack_from(order + _TIFF_TYPES[kind], data, entry + value)
            # A damaged file may have a tag several times.
            sides[tag] = max(side, sides.get(tag, 0))
    return _largest((sides[x], sides[y]) for x, y in _TIFF_SIDES if x in sides and y in sides)


def _exr(data: bytes) -> tuple[int, ...] | None:
    """The size of the largest data window of all parts."""
    (version,) = struct.unpack_from("<I", data, 4)
    has_parts = bool(version & 0x1000)
    largest: tuple[int, ...] | None = None
    at = 8
    while data[at] or largest is None:
        while data[at]:
            name_end = data.index(b"\0", at)
            kind_end = data.index(b"\0", name_end + 1)
            (size,) = struct.unpack_from("<i", data, kind_end + 1)
            if data[at:name_end] == b"dataWindow":
                left, upper, right, lower = struct.unpack_from("<4i", data, kind_end + 5)
                sides = (right - left + 1, lower - upper + 1)
                largest = max(largest or sides, sides, key=lambda one: abs(one[0] * one[1]))
            at = kind_end + 5 + max(size, 0)
        at += 1
        if not has_parts:
            break
    return largest


def _webp(data: bytes) -> tuple[int, ...] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        low, high, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        return (high << 16 | low) + 1, (high_height << 16 | low_height) + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return tuple(side & 0x3FFF for side in struct.unpack_from("<2H", data, 26)) if kind == b"VP8 " else None
