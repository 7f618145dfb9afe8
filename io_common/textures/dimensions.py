"""The number of pixels of an image from its header, before the image is decoded.

As in Blender, the first bytes of a file decide its type, not its extension. The offsets are those of the formats'
specifications.
"""

from __future__ import annotations

import re
import struct

CRASHING_KINDS = (b"\x80\x2a\x5f\xd7", b"\xd7\x5f\x2a\x80", b"SDPX", b"XPDS")
"""The first bytes of Cineon and DPX files. Blender crashes on damaged ones; no game uses them."""

_FLOAT_FACTOR = 4
"""The memory of a float pixel relative to a pixel of bytes."""

_PNG = b"\x89PNG\r\n\x1a\n"
# HDR and OpenEXR, which Blender stores as floats.
_FLOAT_KINDS = (b"#?", b"v/1\x01")
_HDR_SIZE = re.compile(rb"\n[-+][XY] (\d{1,9}) [-+][XY] (\d{1,9})\n")
_TGA_TYPES = (1, 2, 3, 9, 10, 11)
_TGA_DEPTHS = (8, 15, 16, 24, 32)
# The markers with the size, without those for Huffman tables, JPEG extensions and arithmetic coding.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_TYPES = {1: "B", 3: "H", 4: "I", 16: "Q"}


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
        found = _HDR_SIZE.search(data, 0, 1 << 16)
        return (int(found[1]), int(found[2])) if found else None
    if data.startswith(b"BM"):
        return struct.unpack_from("<2H" if data[14] == 12 else "<2i", data, 18)
    if data.startswith((b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")):
        at = data.find(b"\xff\x4f\xff\x51")
        right, lower, left, upper = struct.unpack_from(">4I", data, at + 8) if at >= 0 else (0, 0, 0, 0)
        return (right - left, lower - upper) if at >= 0 else None
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
    size = {}
    for entry in range(first, first + min(count, 1 << 12) * step, step):
        tag, kind = struct.unpack_from(order + "2H", data, entry)
        if tag in (256, 257) and kind in _TIFF_TYPES:
            (size[tag],) = struct.unpack_from(order + _TIFF_TYPES[kind], data, entry + value)
    return tuple(size.values()) if len(size) == 2 else None


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
