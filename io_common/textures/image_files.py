"""Image files: PCX and LMP, which Blender cannot read, as pixels, and what any image takes in memory once it is loaded.

PCX, Quake II's (ZSoft's technical reference, revision 5): a header of 128 bytes, little-endian: byte 0 is 10;
1 the version; 2 is 1 for run-length encoding, 0 for none; 3 the bits per pixel and plane; 4 four uint16, the window
(left, top, right, bottom, inclusive); 65 the number of planes; 66 the bytes per line and plane. Lines follow from the
top, each with its planes one after the other. In run-length encoding, a byte of 0xC0 and over is a count (its low six
bits) for the byte after it; any other byte is a value. An image of one plane has a palette of 256 colors in the last
768 bytes of the file, after a byte of 12. Quake II reads the last 768 bytes as the palette whether that byte is there
or not, and many of its skins lack it. It also ignores the padding of lines: if the data fits the width but not the
declared bytes per line, the width is used. It refuses pixels of fewer than 8 bits.

LMP, Quake's: int32 width, int32 height (little-endian), then a byte for each pixel from the top left corner, an index
into one palette for the whole game, `gfx/palette.lmp`: 256 colors of three bytes, red, green and blue (Quake `wad.h`,
`qpic_t`; `vid.h`, `host_basepal`). The palette is not part of this extension.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..texts import counted

PALETTE_PATH = "gfx/palette.lmp"  # where Quake's palette is in a game folder
_MAX_SIDE = 16384
_MAX_PIXELS = 1 << 25  # 32 Mi: 128 MiB as RGBA
_HEADER_SIZE = 128
_PALETTE_SIZE = 768
_PALETTE_MARKER = 12
_PLANES = (1, 3, 4)  # indices into a palette, RGB and RGBA
_PACKETS = re.compile(rb"[\x00-\xbf]+|[\xc0-\xff]([\x00-\xff])")  # plain bytes, or a count and a value

Bytes = npt.NDArray[np.uint8]


class ImageFileError(ValueError):
    """The data is not an image of the format or a palette, is damaged, or of an unsupported kind."""


def read_palette(data: bytes) -> Bytes:
    """The colors of a palette, (256, 3) as uint8 RGB. Raises ImageFileError if the data is too short."""
    if len(data) < _PALETTE_SIZE:
        raise ImageFileError(f"a palette of {len(data)} bytes; {_PALETTE_SIZE} expected")
    return np.frombuffer(data, dtype=np.uint8, count=_PALETTE_SIZE).reshape(256, 3).copy()


def decode_lmp(data: bytes, palette: Bytes) -> Bytes:
    """The pixels of an LMP image, (height, width, 4) uint8 RGBA, top row first; raises ImageFileError."""
    if len(data) < 8:
        raise ImageFileError(f"{len(data)} bytes are too few for an LMP image")
    width, height = struct.unpack_from("<ii", data)
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
        raise ImageFileError(f"{width} by {height} pixels: not an LMP image of a skin")
    if len(data) < 8 + width * height:
        raise ImageFileError(f"{len(data)} bytes are too few for {width} by {height} pixels")
    indices = np.frombuffer(data, dtype=np.uint8, count=width * height, offset=8)
    pixels = np.full((height, width, 4), 255, dtype=np.uint8)
    pixels[..., :3] = palette[indices.reshape(height, width)]
    return pixels


def decode_pcx(data: bytes) -> Bytes:
    """The pixels of a PCX image, (height, width, 4) RGBA uint8, top row first; ImageFileError if damaged."""
    if len(data) < _HEADER_SIZE:
        raise ImageFileError(f"{counted(len(data), 'bytes', 'are')} too few for the header of a PCX image")
    manufacturer, _version, encoding, bits = data[:4]
    left, top, right, bottom = struct.unpack_from("<4H", data, 4)
    planes = data[65]
    (stride,) = struct.unpack_from("<H", data, 66)
    if manufacturer != 10:
        raise ImageFileError(f"first byte is {manufacturer}, 10 expected: not a PCX image")
    if encoding not in (0, 1):
        raise ImageFileError(f"unknown encoding {encoding}")
    width, height = right - left + 1, bottom - top + 1
    if width < 1 or height < 1:
        raise ImageFileError(f"window ({left}, {top}) - ({right}, {bottom}) is empty")
    if width > _MAX_SIDE or height > _MAX_SIDE or width * height > _MAX_PIXELS:
        raise ImageFileError(f"{width} x {height} pixels are too many")
    if bits != 8 or planes not in _PLANES:
        raise ImageFileError(f"{bits} bits in {planes} planes are not supported")
    # Some writers leave the stride zero.
    lines, body_end = _lines(data, encoding == 1, height, planes, max(stride, width), width)
    image = np.full((height, width, 4), 255, np.uint8)
    if planes == 1:
        image[..., :3] = _palette(data, body_end)[lines[:, 0, :width]]
    else:
        image[..., :planes] = lines[:, :, :width].transpose(0, 2, 1)
    return image


def _lines(data: bytes, encoded: bool, height: int, planes: int, stride: int, width: int) -> tuple[Bytes, int]:
    """The bytes of the pixels (height, planes, at least `width`), and the offset of their end in `data`."""
    wanted = height * planes * stride
    least = height * planes * width
    # A count is at most 63. An image that the data cannot hold is refused before memory is allocated for it.
    available = len(data) - _HEADER_SIZE
    if least > (available * 63 if encoded else available):
        raise ImageFileError(
            f"{counted(available, 'bytes')} of data cannot hold {counted(height, 'lines')} of {planes} x {width} bytes"
        )
    body = data[_HEADER_SIZE:]
    pixels, consumed = _unpack(body, wanted) if encoded else (body[:wanted], min(wanted, available))
    if stride > width and (len(pixels) < wanted or consumed > available - _PALETTE_SIZE):
        # The lines may lack the padding that the header declares, so that the palette was read as pixels.
        unpadded, end = _unpack(body, least) if encoded else (body[:least], least)
        if len(unpadded) == least and available - end in (0, _PALETTE_SIZE, _PALETTE_SIZE + 1):
            pixels, consumed, wanted, stride = unpadded, end, least, width
    if len(pixels) < wanted:
        raise ImageFileError(f"data ends after {len(pixels)} of {wanted} bytes of pixels")
    return np.frombuffer(pixels, np.uint8).reshape(height, planes, stride), _HEADER_SIZE + consumed


def _unpack(body: bytes, wanted: int) -> tuple[bytes, int]:
    """The decoded bytes, at most `wanted`, and the number of bytes of `body` that were read."""
    pixels = bytearray()
    consumed = 0
    for packet in _PACKETS.finditer(body):
        if len(pixels) >= wanted:
            break
        value = packet[1]
        pixels += value * (packet[0][0] & 0x3F) if value else packet[0]
        # Of a run of plain bytes, some may be too many.
        consumed = packet.end() if value else packet.end() - max(len(pixels) - wanted, 0)
    return bytes(pixels[:wanted]), consumed


def _palette(data: bytes, body_end: int) -> Bytes:
    """The palette (256, 3): after its marker byte, or the last bytes, or a ramp of greys in a short file."""
    last = len(data) - _PALETTE_SIZE
    if last < body_end:
        return np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1)
    starts = (last, body_end + 1)
    marked = (at for at in starts if body_end < at <= last and data[at - 1] == _PALETTE_MARKER)
    return np.frombuffer(data, np.uint8, _PALETTE_SIZE, next(marked, last)).reshape(256, 3)


# --- What an image takes in memory, from its header. As in Blender, the first bytes of a file decide its type, not its
# extension. The offsets are those of the formats' specifications. EXR, HDR, JPEG 2000, PSD, Cineon and DPX images are
# of no known type: no game reads them, and Blender crashes on some.

_TGA_TYPES = (1, 2, 3, 9, 10, 11)
_TGA_DEPTHS = (8, 15, 16, 24, 32)
# The markers with the size, without those for Huffman tables, JPEG extensions and arithmetic coding.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_TYPES = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i"}
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
    """What an image takes in Blender: four channels of bytes, or floats beyond 8 bits; None if unknown."""
    try:
        size = next((read(data) for kinds, read in _READERS if data.startswith(kinds)), None)
    except (struct.error, IndexError, ValueError):
        return None
    if size is None:
        return None
    width, height, channels, bits = (*size, 4, 8)[:4]
    return abs(width * height) * max(channels, 4) * (1 if bits <= 8 else 4)


def _number(layout: str, data: bytes, at: int) -> int:
    return struct.unpack_from(layout, data, at)[0]


def _dds(data: bytes) -> _Size:
    height, width = struct.unpack_from("<2I", data, 12)
    depth, caps = _number("<I", data, 24), _number("<I", data, 112)
    code, bits = struct.unpack_from("<2I", data, 84)
    # The code of a format is text or, for values of 16 and 32 bits, a number.
    is_large = 0 < code < 256 or bits > 32
    if code == int.from_bytes(b"DX10", "little"):
        is_large = _number("<I", data, 128) not in _DDS_BYTES
    slices = (6 if caps & _DDS_CUBE else 1) * (max(depth, 1) if caps & _DDS_VOLUME else 1)
    return width * slices, height, 4, 32 if is_large else 8


def _tga(data: bytes) -> _Size | None:
    """TGA files have no magic number, but some fields have few valid values."""
    is_tga = data[1] in (0, 1) and data[2] in _TGA_TYPES and data[16] in _TGA_DEPTHS
    return struct.unpack_from("<2H", data, 12) if is_tga else None


def _jpeg(data: bytes) -> _Size | None:
    at = 2
    while (at := data.find(b"\xff", at)) >= 0:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        if marker in _JPEG_FRAMES:
            return struct.unpack_from(">2H", data, at + 4)
        at += 1
        if marker and marker not in _JPEG_WITHOUT_LENGTH:
            at += _number(">H", data, at)
    return None


def _tiff(data: bytes) -> _Size | None:
    order = "<" if data.startswith(b"II") else ">"
    directory = _number(order + "I", data, 4)
    if directory > len(data):
        return None
    # Without them, a pixel is a single bit.
    values = {_TIFF_BITS: 1, _TIFF_CHANNELS: 1}
    first = directory + 2
    for entry in range(first, first + 12 * _number(order + "H", data, directory), 12):
        tag, kind = struct.unpack_from(order + "2H", data, entry)
        if tag in _TIFF_TAGS and kind in _TIFF_TYPES:
            layout, at = order + _TIFF_TYPES[kind], entry + 8
            if tag == _TIFF_BITS and _number(order + "I", data, entry + 4) * struct.calcsize(layout) > 4:
                # One for each channel, all the same, elsewhere in the file.
                at = _number(order + "I", data, at)
            # A damaged file may have a tag several times.
            values[tag] = max(_number(layout, data, at), values.get(tag, 0))
    # Blender unpacks whole strips, which may be higher than the image; beyond 31 bits, a strip is the image.
    rows = values.get(_TIFF_ROWS, 0)
    strip = rows if rows < 1 << 31 else 0
    sizes = [(values[x], max(values[y], strip)) for x, y in _TIFF_SIDES if x in values and y in values]
    if not sizes:
        return None
    return (*max(sizes, key=lambda size: abs(math.prod(size))), values[_TIFF_CHANNELS], values[_TIFF_BITS])


def _webp(data: bytes) -> _Size | None:
    kind = data[12:16] if data[8:12] == b"WEBP" else b""
    if kind == b"VP8X":
        low, high, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        return (high << 16 | low) + 1, (high_height << 16 | low_height) + 1
    if kind == b"VP8L":
        bits = _number("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return tuple(side & 0x3FFF for side in struct.unpack_from("<2H", data, 26)) if kind == b"VP8 " else None


_READERS: tuple[tuple[tuple[bytes, ...], Callable[[bytes], _Size | None]], ...] = (
    ((b"\x89PNG\r\n\x1a\n",), lambda data: (*struct.unpack_from(">2I", data, 16), 4, data[24])),
    ((b"\xff\xd8",), _jpeg),
    ((b"BM",), lambda data: struct.unpack_from("<2H" if data[14] == 12 else "<2i", data, 18)),
    ((b"DDS ",), _dds),
    ((b"II*\0", b"MM\0*"), _tiff),
    ((b"RIFF",), _webp),
    ((b"\x01\xda",), lambda data: (*struct.unpack_from(">3H", data, 6), 8 * data[3])),
    ((b"",), _tga),
)
"""The first bytes of each format, and what finds the size."""
