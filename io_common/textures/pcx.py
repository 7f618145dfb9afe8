"""PCX images, which Quake II uses for skins and Blender cannot read.

The format (ZSoft's technical reference, revision 5): a header of 128 bytes, little-endian: byte 0 is 10;
1 the version; 2 is 1 for run-length encoding, 0 for none; 3 the bits per pixel and plane; 4 four uint16, the window
(left, top, right, bottom, inclusive); 16 a palette of 16 colours; 65 the number of planes; 66 the bytes per line
and plane. Lines follow from the top, each with its planes one after the other. In run-length encoding, a byte of 0xC0
and over is a count (its low six bits) for the byte after it; any other byte is a value. An image of 8 bits and one
plane has a palette of 256 colours in the last 768 bytes of the file, after a byte of 12.

Quake II reads the last 768 bytes as the palette whether that byte is there or not, and many of its skins lack it. It
also ignores the padding of lines: if the data fits the width but not the declared bytes per line, the width is used.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ..counting import counted

_HEADER_SIZE = 128
_PALETTE_SIZE = 768
_PALETTE_MARKER = 12

MAX_SIDE = 16384
"""Maximum width and height, in pixels."""
MAX_PIXELS = 1 << 25
"""Maximum number of pixels (32 Mi: 128 MiB as RGBA)."""

Bytes = npt.NDArray[np.uint8]


class PcxError(ValueError):
    """The data is not a PCX image, or is damaged, or of an unsupported kind."""


def decode_pcx(data: bytes) -> Bytes:
    """Decodes a PCX image to pixels (height, width, 4), uint8 RGBA, top row first.

    Alpha is 255 except in images of four planes. The memory is limited by the number of pixels that `data` can hold,
    and by MAX_PIXELS. Raises PcxError if the data is invalid.
    """
    if len(data) < _HEADER_SIZE:
        raise PcxError(f"{counted(len(data), 'bytes', 'are')} too few for the header of a PCX image")
    manufacturer, _version, encoding, bits = data[:4]
    left, top, right, bottom = struct.unpack_from("<4H", data, 4)
    planes = data[65]
    (stride,) = struct.unpack_from("<H", data, 66)
    if manufacturer != 10:
        raise PcxError(f"first byte is {manufacturer}, 10 expected: not a PCX image")
    if encoding not in (0, 1):
        raise PcxError(f"unknown encoding {encoding}")
    width, height = right - left + 1, bottom - top + 1
    if width < 1 or height < 1:
        raise PcxError(f"window ({left}, {top}) - ({right}, {bottom}) is empty")
    if width > MAX_SIDE or height > MAX_SIDE or width * height > MAX_PIXELS:
        raise PcxError(f"{width} x {height} pixels are too many")
    if (bits, planes) not in _KINDS:
        raise PcxError(f"{bits} bits in {planes} planes are not supported")
    used = (width * bits + 7) // 8
    if stride < used:
        # Some writers leave the field zero.
        stride = used

    lines, body_end = _lines(data, encoding == 1, height, planes, stride, used)
    image = np.empty((height, width, 4), np.uint8)
    image[..., 3] = 255
    if bits == 8 and planes == 1:
        image[..., :3] = _palette256(data, body_end)[lines[:, 0, :width]]
    elif bits == 8:
        image[..., :planes] = lines[:, :, :width].transpose(0, 2, 1)
    else:
        indices = _indices(lines, bits, width)
        image[..., :3] = _palette16(data, bits * planes)[indices]
    return image


_KINDS = {(8, 1), (8, 3), (8, 4), (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (4, 1)}


def _lines(data: bytes, encoded: bool, height: int, planes: int, stride: int, used: int) -> tuple[Bytes, int]:
    """The bytes of the pixels (height, planes, at least `used`), and the offset of their end in `data`."""
    wanted = height * planes * stride
    least = height * planes * used
    # A count is at most 63. An image that the data cannot hold is refused before memory is allocated for it.
    available = len(data) - _HEADER_SIZE
    if least > (available * 63 if encoded else available):
        raise PcxError(
            f"{counted(available, 'bytes')} of data cannot hold {counted(height, 'lines')} of {planes} x {used} bytes"
        )
    body = np.frombuffer(data, np.uint8, offset=_HEADER_SIZE)
    if encoded:
        pixels, consumed = _unpack(body, wanted)
    else:
        pixels, consumed = body[:wanted], min(wanted, available)
    if stride > used and (len(pixels) < wanted or consumed > available - _PALETTE_SIZE):
        # The lines may lack the padding that the header declares, so that the palette was read as pixels.
        unpadded, end = _unpack(body, least) if encoded else (body[:least], least)
        if len(unpadded) == least and end in (
            available,
            available - _PALETTE_SIZE,
            available - _PALETTE_SIZE - 1,
        ):
            pixels, consumed, wanted, stride = unpadded, end, least, used
    if len(pixels) < wanted:
        raise PcxError(f"data ends after {len(pixels)} of {wanted} bytes of pixels")
    return pixels.reshape(height, planes, stride), _HEADER_SIZE + consumed


def _unpack(body: Bytes, wanted: int) -> tuple[Bytes, int]:
    """The decoded bytes, at most `wanted`, and the number of bytes of `body` that were read."""
    parts: list[Bytes] = []
    consumed = 0
    while wanted > 0 and consumed < len(body):
        pixels, taken = _unpack_block(body[consumed : consumed + _BLOCK], wanted)
        if not taken:
            break
        parts.append(pixels)
        wanted -= len(pixels)
        consumed += taken
    return (np.concatenate(parts) if parts else body[:0]), consumed


# Bytes decoded at once, which limits the temporary arrays to a few megabytes.
_BLOCK = 1 << 18


def _unpack_block(source: Bytes, wanted: int) -> tuple[Bytes, int]:
    """The decoded bytes of a block that starts with a packet, and the number of bytes of complete packets.

    Whether a byte of 0xC0 and over is a count or a value follows from its position in a run of such bytes: the byte
    before the run is below 0xC0 and thus not a count, so the run starts with a count, and counts and values alternate.
    This allows array operations.
    """
    high = source >= 0xC0
    index = np.arange(len(source), dtype=np.int32)
    starts = high.copy()
    starts[1:] &= ~high[:-1]
    run_start = np.maximum.accumulate(np.where(starts, index, 0))
    is_count = high & ((index - run_start) % 2 == 0)

    value_at = np.flatnonzero(~is_count)
    if not len(value_at):
        return source[:0], 0
    counts = np.ones(len(value_at), np.int64)
    counted = value_at > 0
    counted[counted] = is_count[value_at[counted] - 1]
    counts[counted] = source[value_at[counted] - 1] & 0x3F
    ends = np.cumsum(counts)
    enough = min(int(np.searchsorted(ends, wanted)) + 1, len(ends))
    pixels = np.repeat(source[value_at[:enough]], counts[:enough])[:wanted]
    return pixels, int(value_at[enough - 1]) + 1


def _palette256(data: bytes, body_end: int) -> Bytes:
    """The palette (256, 3): after its marker byte, at the end of the file or after the pixels; else the last bytes.

    If the file is too short for a palette, it is a ramp of greys.
    """
    last = len(data) - _PALETTE_SIZE
    starts = [
        start
        for start in (last, body_end + 1)
        if body_end < start <= last and data[start - 1] == _PALETTE_MARKER
    ]
    if not starts and body_end <= last:
        starts.append(last)
    if starts:
        return np.frombuffer(data, np.uint8, _PALETTE_SIZE, starts[0]).reshape(256, 3)
    ramp: Bytes = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    return ramp


def _palette16(data: bytes, depth: int) -> Bytes:
    """The palette (2 ** depth, 3): black and white for one bit, else that of the header."""
    if depth == 1:
        return np.array([[0, 0, 0], [255, 255, 255]], np.uint8)
    return np.frombuffer(data, np.uint8, 48, 16).reshape(16, 3)[: 1 << depth]


def _indices(lines: Bytes, bits: int, width: int) -> Bytes:
    """The palette indices (height, width), from packed pixels in one plane or from one bit per plane."""
    height, planes, stride = lines.shape
    if bits == 1:
        unpacked = np.unpackbits(lines, axis=2)[:, :, :width]
        weights = (1 << np.arange(planes, dtype=np.uint8))[None, :, None]
        total: Bytes = (unpacked * weights).sum(axis=1, dtype=np.uint8)
        return total
    per_byte = 8 // bits
    shifts = np.arange(per_byte - 1, -1, -1, dtype=np.uint8) * bits
    spread = (lines[:, 0, :, None] >> shifts) & np.uint8((1 << bits) - 1)
    return spread.reshape(height, stride * per_byte)[:, :width]
