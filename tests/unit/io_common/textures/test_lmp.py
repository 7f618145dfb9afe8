"""Quake's LMP images and its palette."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from md5_rerelease import lmp, palette

from io_idtech.io_common.textures.image_files import ImageFileError, decode_lmp, read_palette


def test_pixels_have_the_colors_of_the_palette_from_the_top_row():
    indices = np.arange(6).reshape(2, 3)
    colors = read_palette(palette() + b"more")
    pixels = decode_lmp(lmp(indices), colors)
    np.testing.assert_array_equal(pixels[..., :3], colors[indices])
    assert (pixels[..., 3] == 255).all()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        struct.pack("<ii", 0, 4),
        struct.pack("<ii", 4, -4) + bytes(64),
        struct.pack("<ii", 1 << 30, 1 << 30) + bytes(64),
        struct.pack("<ii", 4, 4) + bytes(15),
    ],
)
def test_damaged_images_are_refused(data):
    with pytest.raises(ImageFileError):
        decode_lmp(data, read_palette(palette()))


def test_a_palette_that_is_too_short_is_refused():
    with pytest.raises(ImageFileError, match="767 bytes"):
        read_palette(palette()[:767])
