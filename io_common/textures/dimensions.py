"""What an image takes in memory once it is loaded, from its header, before it is decoded.

As in Blender, the first bytes of a file decide its type, not its extension. The offsets are those of the formats'
specifications.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

_EXR = b"v/1\x01"
_JPEG_2000 = (b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

CRASHING_KINDS = (b"\x80\x2a\x5f\xd7", b"\xd7\x5f\x2a\x80", b"SDPX", b"XPDS")
"""The first bytes of Cineon and DPX files. Blender crashes on damaged ones; no game uses them."""

KINDS_BY_NAME = {".exr": (_EXR,), ".hdr": (b"#?",), ".jp2": _JPEG_2000, ".psd": (b"8BPS",)}
"""The first bytes of files that no game reads, by the extension with which a material has to name them."""

_EXR_PARTS = 0x1000
_HDR_SIZE = re.compile(rb"(?<=\n)[-+][XY] (\d{1,9}) [-+][XY] (\d{1,9})\n")
_TGA_TYPES = (1, 2, 3, 9, 10, 11)
_TGA_DEPTHS = (8, 15, 16, 24, 32)
# The markers with the size, without those for Huffman tables, JPEG extensions and arithmetic coding.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_TYPES = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 16: "Q", 17: "q"}
_TIFF_SIDES = (256, 257), (322, 323)  # of the image, of a tile
_TIFF_BITS, _TIFF_CHANNELS, _TIFF_ROWS = 258, 277, 278
_TIFF_TAGS = frozenset((*_TIFF_SIDES[0], *_TIFF_SIDES[1], _TIFF_BITS, _TIFF_CHANNELS, _TIFF_ROWS))
# The flags with which a DDS has six sides or slices, and the formats (DXGI) whose values are bytes.
_DDS_CUBE, _DDS_VOLUME = 0x200, 0x200000
_DDS_BYTES = frozenset((*range(27, 33), *range(48, 53), *range(60, 94), *range(97, 100)))

_Size = tuple[int, ...]
"""Width and height, in any order; bottom-up images may have a negative height. Then, if it is not four bytes, the
number of channels and the bits of each."""


def loaded_bytes(data: bytes) -> int | None:
    """What an image takes in memory: Blender makes at least four channels of bytes, or of floats beyond 8 bits.

    The start of the file is enough. Returns None if Blender cannot read the image, or its size is not in `data`.
    """
    try:
        size = next((read(data) for kinds, read in _READERS if data.startswith(kinds)), None)
    except (struct.error, IndexError, ValueError):
        return None
    if size is None:
        return None
    width, height, channels, bits = (*size, 4, 8)[:4]
    return abs(width * height) * max(channels, 4) * (1 if bits <= 8 else 4)


def _png(data: bytes) -> _Size:
    return (*struct.unpack_from(">2I", data, 16), 4, data[24])


def _bmp(data: bytes) -> _Size:
    return struct.unpack_from("<2H" if data[14] == 12 else "<2i", data, 18)


def _hdr(data: bytes) -> _Size | None:
    size = _largest((int(one[1]), int(one[2])) for one in _HDR_SIZE.finditer(data, 0, 1 << 16))
    return (*size, 4, 32) if size is not None else None


def _psd(data: bytes) -> _Size:
    channels, height, width, bits = struct.unpack_from(">H2IH", data, 12)
    return width, height, channels, bits


def _sgi(data: bytes) -> _Size:
    return (*struct.unpack_from(">3H", data, 6), 8 * data[3])


def _dds(data: bytes) -> _Size:
    height, width = struct.unpack_from("<2I", data, 12)
    (depth,) = struct.unpack_from("<I", data, 24)
    code, bits = struct.unpack_from("<2I", data, 84)
    (caps,) = struct.unpack_from("<I", data, 112)
    # The code of a format is text or, for values of 16 and 32 bits, a number.
    is_large = 0 < code < 256 or bits > 32
    if code == int.from_bytes(b"DX10", "little"):
        is_large = struct.unpack_from("<I", data, 128)[0] not in _DDS_BYTES
    slices = (6 if caps & _DDS_CUBE else 1) * (max(depth, 1) if caps & _DDS_VOLUME else 1)
    return width * slices, height, 4, 32 if is_large else 8


def _largest(sizes: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """The largest size where a damaged header has several; None if it has none."""
    return max(sizes, key=lambda size: abs(size[0] * size[1]), default=None)


def _jpeg2000(data: bytes) -> _Size | None:
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
    # While it is decoded, each value has 32 bits, whatever the file says.
    return right - left, lower - upper, struct.unpack_from(">H", data, at + 40)[0], 32


def _tga(data: bytes) -> _Size | None:
    """TGA files have no magic number, but some fields have few valid values."""
    is_tga = data[1] in (0, 1) and data[2] in _TGA_TYPES and data[16] in _TGA_DEPTHS
    return struct.unpack_from("<2H", data, 12) if is_tga else None


def _jpeg(data: bytes) -> _Size | None:
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


def _tiff(data: bytes) -> _Size | None:
    """The size in the first directory of a TIFF or BigTIFF."""
    order = "<" if data.startswith(b"II") else ">"
    is_big = b"+" in data[:4]
    (directory,) = struct.unpack_from(order + ("Q" if is_big else "I"), data, 8 if is_big else 4)
    if directory > len(data):
        return None
    (count,) = struct.unpack_from(order + ("Q" if is_big else "H"), data, directory)
    first, step, value = (directory + 8, 20, 12) if is_big else (directory + 2, 12, 8)
    # Without them, a pixel is a single bit.
    values = {_TIFF_BITS: 1, _TIFF_CHANNELS: 1}
    for entry in range(first, first + min(count, 1 << 16) * step, step):
        tag, kind = struct.unpack_from(order + "2H", data, entry)
        if tag in _TIFF_TAGS and kind in _TIFF_TYPES:
            layout, at = order + _TIFF_TYPES[kind], entry + value
            (length,) = struct.unpack_from(order + ("Q" if is_big else "I"), data, entry + 4)
            if tag == _TIFF_BITS and length * struct.calcsize(layout) > step - value:
                # One for each channel, all the same, elsewhere in the file.
                (at,) = struct.unpack_from(order + ("Q" if is_big else "I"), data, at)
            # A damaged file may have a tag several times.
            values[tag] = max(struct.unpack_from(layout, data, at)[0], values.get(tag, 0))
    # Blender unpacks whole strips, which may be higher than the image; beyond 31 bits, a strip is the image.
    rows = values.get(_TIFF_ROWS, 0)
    strip = rows if rows < 1 << 31 else 0
    size = _largest((values[x], max(values[y], strip)) for x, y in _TIFF_SIDES if x in values and y in values)
    return (*size, values[_TIFF_CHANNELS], values[_TIFF_BITS]) if size is not None else None


def _exr(data: bytes) -> _Size | None:
    """The size of the largest data window, and the channels; None with layers or parts.

    Blender shows no pixels of an image with layers, and crashes on damaged ones.
    """
    (version,) = struct.unpack_from("<I", data, 4)
    if version & _EXR_PARTS:
        return None
    largest: tuple[int, int] | None = None
    channels = 0
    at = 8
    while data[at]:
        name_end = data.index(b"\0", at)
        kind_end = data.index(b"\0", name_end + 1)
        (size,) = struct.unpack_from("<i", data, kind_end + 1)
        name, at = data[at:name_end], kind_end + 5
        if name == b"dataWindow":
            left, upper, right, lower = struct.unpack_from("<4i", data, at)
            sides = (right - left + 1, lower - upper + 1)
            largest = _largest([largest or sides, sides])
        elif name == b"channels":
            channel = at
            while data[channel]:
                end = data.index(b"\0", channel)
                if b"." in data[channel:end]:
                    return None
                # After the name come type and sampling.
                channel = end + 17
                channels += 1
        at += max(size, 0)
    return (*largest, channels, 32) if largest is not None else None


def _webp(data: bytes) -> _Size | None:
    kind = data[12:16] if data[8:12] == b"WEBP" else b""
    if kind == b"VP8X":
        low, high, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        return (high << 16 | low) + 1, (high_height << 16 | low_height) + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return tuple(side & 0x3FFF for side in struct.unpack_from("<2H", data, 26)) if kind == b"VP8 " else None


_READERS = (
    ((b"\x89PNG\r\n\x1a\n",), _png),
    ((b"\xff\xd8",), _jpeg),
    ((b"BM",), _bmp),
    ((b"DDS ",), _dds),
    (_TIFF, _tiff),
    ((b"RIFF",), _webp),
    ((b"\x01\xda",), _sgi),
    ((_EXR,), _exr),
    ((b"#?",), _hdr),
    (_JPEG_2000, _jpeg2000),
    ((b"8BPS",), _psd),
    ((b"",), _tga),
)
"""The first bytes of each format, and what finds the size."""
