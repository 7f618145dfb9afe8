"""How many pixels an image has, by its header: known before any of them is unpacked.

Blender goes by the first bytes of a file, whatever its name ends with, and so does this. The places are those of the
formats' specifications.
"""

from __future__ import annotations

import re
import struct

_FLOATS = 4
"""A pixel of floats takes as much room as so many others."""

_PNG = b"\x89PNG\r\n\x1a\n"
# HDR, OpenEXR, Cineon and DPX, as Blender keeps them.
_FLOAT_KINDS = (b"#?", b"v/1\x01", b"\x80\x2a\x5f\xd7", b"\xd7\x5f\x2a\x80", b"SDPX", b"XPDS")
_HDR_SIZE = re.compile(rb"\n[-+][XY] (\d{1,9}) [-+][XY] (\d{1,9})\n")
_TGA_TYPES = (1, 2, 3, 9, 10, 11)
_TGA_DEPTHS = (8, 15, 16, 24, 32)
# Those that hold the size, but not the tables of Huffman codes, JPEG extensions and arithmetic coding.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_SIZES = {1: "B", 3: "H", 4: "I", 16: "Q"}


def pixel_count(data: bytes) -> int | None:
    """The number of pixels of an image; those of floats count fourfold.

    Args:
        data: the file, or its beginning.

    Returns:
        None if this is no image that Blender reads, or what says it lies further back.
    """
    try:
        sides = _sides(data)
    except (struct.error, IndexError, ValueError):
        return None
    if sides is None:
        return None
    width, height = (abs(side) for side in sides)
    is_float = data.startswith(_FLOAT_KINDS) or (data.startswith(_PNG) and data[24:25] == b"\x10")
    return width * height * (_FLOATS if is_float else 1)


def _sides(data: bytes) -> tuple[int, ...] | None:
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
    for magic, form, place in _PLAIN:
        if data.startswith(magic):
            return struct.unpack_from(form, data, place)
    return _tga(data)


# What the file begins with, and where two sides stand.
_PLAIN = (
    (_PNG, ">2I", 16),
    (b"DDS ", "<2I", 12),
    (b"8BPS", ">2I", 14),
    (b"\x01\xda", ">2H", 6),
    (b"\x80\x2a\x5f\xd7", ">2I", 200),
    (b"\xd7\x5f\x2a\x80", "<2I", 200),
    (b"SDPX", ">2I", 772),
    (b"XPDS", "<2I", 772),
)


def _tga(data: bytes) -> tuple[int, ...] | None:
    """TGA begins with nothing of its own."""
    is_tga = data[1] in (0, 1) and data[2] in _TGA_TYPES and data[16] in _TGA_DEPTHS
    return struct.unpack_from("<2H", data, 12) if is_tga else None


def _jpeg(data: bytes) -> tuple[int, ...] | None:
    """From marker to marker, up to the one that holds the size."""
    at = 2
    while (at := data.find(b"\xff", at)) >= 0:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        if marker in _JPEG_FRAMES:
            return struct.unpack_from(">2H", data, at + 4)
        at += 1
        if marker and marker not in _JPEG_BARE:
            at += struct.unpack_from(">H", data, at)[0]
    return None


def _tiff(data: bytes) -> tuple[int, ...] | None:
    """The first directory's width and height, also of BigTIFF."""
    order = "<" if data.startswith(b"II") else ">"
    is_big = b"+" in data[:4]
    (place,) = struct.unpack_from(order + ("Q" if is_big else "I"), data, 8 if is_big else 4)
    if place > len(data):
        return None
    (count,) = struct.unpack_from(order + ("Q" if is_big else "H"), data, place)
    first, step, value = (place + 8, 20, 12) if is_big else (place + 2, 12, 8)
    sides = {}
    for entry in range(first, first + min(count, 1 << 12) * step, step):
        tag, kind = struct.unpack_from(order + "2H", data, entry)
        if tag in (256, 257) and kind in _TIFF_SIZES:
            (sides[tag],) = struct.unpack_from(order + _TIFF_SIZES[kind], data, entry + value)
    return tuple(sides.values()) if len(sides) == 2 else None


def _exr(data: bytes) -> tuple[int, ...] | None:
    """The largest data window of all parts."""
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
