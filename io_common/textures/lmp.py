"""LMP images, which Quake uses for skins: indices into one palette for the whole game.

An image is int32 width, int32 height (little-endian), then a byte for each pixel from the top left corner. The palette
is the game's `gfx/palette.lmp`: 256 colours of three bytes, red, green and blue (Quake `wad.h`, `qpic_t`; `vid.h`,
`host_basepal`). It is not part of this extension.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

PALETTE_PATH = "gfx/palette.lmp"
"""Where the palette is in a game folder."""

_HEADER = struct.Struct("<ii")
_COLOURS = 256
_MAX_SIDE = 16384

Bytes = npt.NDArray[np.uint8]


class LmpError(ValueError):
    """The data is not an LMP image or palette, or is damaged."""


def read_palette(data: bytes) -> Bytes:
    """The colours of a palette, (256, 3) as uint8 RGB. Raises LmpError if the data is too short."""
    if len(data) < 3 * _COLOURS:
        raise LmpError(f"a palette of {len(data)} bytes; {3 * _COLOURS} expected")
    return np.frombuffer(data, dtype=np.uint8, count=3 * _COLOURS).reshape(_COLOURS, 3).copy()


def decode_lmp(data: bytes, palette: Bytes) -> Bytes:
    """Decodes an LMP image to pixels (height, width, 4), uint8 RGBA, top row first; alpha is 255.

    The palette is (256, 3). Raises LmpError if the data is invalid.
    """
    if len(data) < _HEADER.size:
        raise LmpError(f"{len(data)} bytes are too few for an LMP image")
    width, height = _HEADER.unpack_from(data)
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
        raise LmpError(f"{width} by {height} pixels: not an LMP image of a skin")
    if len(data) < _HEADER.size + width * height:
        raise LmpError(f"{len(data)} bytes are too few for {width} by {height} pixels")
    indices = np.frombuffer(data, dtype=np.uint8, count=width * height, offset=_HEADER.size)
    pixels = np.full((height, width, 4), 255, dtype=np.uint8)
    pixels[..., :3] = palette[indices.reshape(height, width)]
    return pixels
