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


def tiff(*tags):
    entries = b"".join(struct.pack("<2HIi", tag, kind, 1, value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries


def jpeg_2000(*boxes):
    made = (struct.pack(">I4s", 8 + len(content), kind) + content for kind, content in boxes)
    return b"\0\0\0\x0cjP  \r\n\x87\n" + b"".join(made)


def codestream(side):
    return b"\xff\x4f\xff\x51" + struct.pack(">2H4I", 47, 0, side, side, 0, 0)


@pytest.mark.parametrize(
    "data",
    [
        b"#?RADIANCE\n-Y 1 +X 1\nFORMAT=32-bit_rle_rgbe\n\n-Y 500 +X 500\n",
        b"#?RADIANCE\n-Y 1 +X 1\n-Y 500 +X 500\n",
        tiff((256, 4, 500), (256, 4, 1), (257, 4, 500), (257, 4, 1)),
        tiff((256, 4, 1), (256, 4, 500), (257, 4, 1), (257, 4, 500)),
        tiff((256, 9, 500), (257, 8, 500)),
        tiff((256, 3, 1), (257, 3, 1), (322, 4, 500), (323, 4, 500)),
        jpeg_2000((b"uuid", codestream(1)), (b"jp2c", codestream(500))),
        jpeg_2000((b"jp2h", b"\xff\x4f\xff\x51"), (b"jp2c", codestream(500))),
        codestream(500),
    ],
)
def test_a_header_cannot_hide_the_size(data):
    size = pixel_count(data)
    assert size is not None
    assert size >= 250_000
