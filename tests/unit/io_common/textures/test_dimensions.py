"""The number of pixels of an image, by its header."""

from __future__ import annotations

import struct

import pytest
from targets import TARGETS

from io_common.textures.dimensions import pixel_count


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_number_of_pixels_is_known_from_the_header(seed):
    is_float = seed.startswith((b"#?", b"v/1"))
    assert pixel_count(seed) == 64 * 32 * (4 if is_float else 1)


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_header_of_a_cut_image_raises_nothing(seed):
    for length in range(len(seed)):
        assert pixel_count(seed[:length]) in (None, pixel_count(seed), 0)


def test_a_jpeg_size_is_found_by_following_its_markers():
    comment = b"\xff\xfe" + struct.pack(">H", 9) + b"\xff\xc0\0\0\0\0\0"
    size = b"\xff\xff\xc2" + struct.pack(">HB2H", 17, 8, 5000, 3000)
    assert pixel_count(b"\xff\xd8" + comment + size) == 15_000_000


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"GIF89a", b"text", b"II+\0" + b"\xff" * 60, b"v/1\x01" + b"\0" * 60]
)
def test_only_images_have_a_size(data):
    assert pixel_count(data) is None
