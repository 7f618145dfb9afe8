"""What an image takes once it is loaded, by its header."""

from __future__ import annotations

import struct

import pytest
from hostile_images import IMAGES
from targets import TARGETS

from io_idtech.io_common.textures.image_files import loaded_bytes


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_size_is_known_from_the_header(seed):
    assert loaded_bytes(seed) == 64 * 32 * 4


@pytest.mark.parametrize("seed", TARGETS["dimensions"].seeds, ids=lambda seed: repr(seed[:6]))
def test_the_header_of_a_cut_image_raises_nothing(seed):
    for length in range(len(seed)):
        assert loaded_bytes(seed[:length]) in (None, loaded_bytes(seed), 0)


@pytest.mark.parametrize("name", IMAGES)
def test_all_channels_count_and_beyond_8_bits_each_is_a_float(name):
    channels = 60 if "60" in name else 4
    is_float = any(word in name for word in ("16 bits", "32 bits", "float"))
    assert loaded_bytes(IMAGES[name](64, 48)) == 64 * 48 * channels * (4 if is_float else 1)


@pytest.mark.parametrize(("caps", "depth", "sides"), [(0x200, 0, 6), (0x200000, 50, 50), (0, 50, 1)])
def test_all_sides_and_slices_of_a_dds_count(caps, depth, sides):
    data = bytearray(IMAGES["DDS, 8 bits"](64, 48))
    data[24:28], data[112:116] = struct.pack("<I", depth), struct.pack("<I", caps)
    assert loaded_bytes(bytes(data)) == 64 * 48 * 4 * sides


def test_a_jpeg_size_is_found_by_following_its_markers():
    comment = b"\xff\xfe" + struct.pack(">H", 9) + b"\xff\xc0\0\0\0\0\0"
    size = b"\xff\xff\xc2" + struct.pack(">HB2H", 17, 8, 5000, 3000)
    assert loaded_bytes(b"\xff\xd8" + comment + size) == 60_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0" * 100, b"GIF89a", b"text", b"II+\0" + b"\xff" * 60, b"v/1\x01" + b"\0" * 60, b"8BPS" + b"\1" * 60,
        b"#?RADIANCE\n-Y 500 +X 500\n", b"SDPX" + b"\1" * 60, b"\x80\x2a\x5f\xd7" + b"\1" * 60,
        b"\0\0\0\x0cjP  \r\n\x87\n" + b"\1" * 60, b"\xff\x4f\xff\x51" + b"\1" * 60,
    ],
)  # fmt: skip
def test_only_images_of_known_formats_have_a_size(data):
    assert loaded_bytes(data) is None


def tiff(*tags):
    entries = b"".join(struct.pack("<2HIi", tag, kind, 1, value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries


SIDES = (256, 4, 500), (257, 4, 500)


@pytest.mark.parametrize(
    ("data", "bytes_per_pixel"),
    [
        (tiff((256, 4, 500), (256, 4, 1), (257, 4, 500), (257, 4, 1)), 4),
        (tiff((256, 4, 1), (256, 4, 500), (257, 4, 1), (257, 4, 500)), 4),
        (tiff((256, 9, 500), (257, 8, 500)), 4),
        (tiff((256, 3, 1), (257, 3, 1), (322, 4, 500), (323, 4, 500)), 4),
        (tiff(*SIDES, (258, 3, 16), (258, 3, 8)), 16),
        (tiff(*SIDES, (278, 4, 500_000)), 4_000),
        (tiff(*SIDES, (278, 4, -1)), 4),
        (tiff(*SIDES, (277, 3, 90), (277, 3, 1)), 90),
    ],
)
def test_a_header_cannot_hide_the_size(data, bytes_per_pixel):
    assert loaded_bytes(data) == 250_000 * bytes_per_pixel
