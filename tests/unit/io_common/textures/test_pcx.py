from __future__ import annotations

import contextlib
import struct
import tracemalloc

import numpy as np
import pytest

from io_idtech.io_common.textures.image_files import ImageFileError, decode_pcx


def header(width: int, height: int, bits: int = 8, planes: int = 1, stride: int | None = None, rle: int = 1) -> bytes:
    if stride is None:
        stride = (width * bits + 7) // 8
        stride += stride % 2
    head = struct.pack("<4B4H2H", 10, 5, rle, bits, 0, 0, width - 1, height - 1, 72, 72)
    palette16 = bytes(range(48))
    return (head + palette16 + struct.pack("<2B2H", 0, planes, stride, 1)).ljust(128, b"\0")


def encode(line: bytes) -> bytes:
    """Run-length encode one line as the specification has it."""
    out, at = bytearray(), 0
    while at < len(line):
        count = 1
        while count < 63 and at + count < len(line) and line[at + count] == line[at]:
            count += 1
        if count > 1 or line[at] >= 0xC0:
            out.append(0xC0 | count)
        out.append(line[at])
        at += count
    return bytes(out)


def write_pcx(indices: np.ndarray, palette: np.ndarray, rle: int = 1, stride: int | None = None) -> bytes:
    height, width = indices.shape
    stride = stride if stride is not None else width + width % 2
    lines = [bytes(row).ljust(stride, b"\0") for row in indices.astype(np.uint8)]
    body = b"".join(map(encode, lines)) if rle else b"".join(lines)
    return header(width, height, stride=stride, rle=rle) + body + b"\x0c" + palette.astype(np.uint8).tobytes()


@pytest.fixture
def palette() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (256, 3), dtype=np.uint8)


@pytest.mark.parametrize("rle", [0, 1])
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 5), (64, 64), (255, 31)])
def test_paletted_pixels_come_out_top_row_first(size: tuple[int, int], rle: int, palette: np.ndarray) -> None:
    indices = np.random.default_rng(2).integers(0, 256, size[::-1], dtype=np.uint8)
    image = decode_pcx(write_pcx(indices, palette, rle))
    assert image.dtype == np.uint8
    assert image.shape == (size[1], size[0], 4)
    assert np.array_equal(image[..., :3], palette[indices])
    assert (image[..., 3] == 255).all()


def test_counts_and_values_in_rows_of_high_bytes_are_distinguished(palette: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    indices = rng.choice(np.array([0x10, 0xBF, 0xC0, 0xC1, 0xFF], np.uint8), (200, 200))
    assert np.array_equal(decode_pcx(write_pcx(indices, palette))[..., :3], palette[indices])


@pytest.mark.slow
def test_images_larger_than_one_step_of_the_decoder(palette: np.ndarray) -> None:
    indices = np.random.default_rng(4).integers(0, 256, (800, 1000), dtype=np.uint8)
    assert np.array_equal(decode_pcx(write_pcx(indices, palette))[..., :3], palette[indices])


def test_runs_may_cross_the_ends_of_lines(palette: np.ndarray) -> None:
    data = header(4, 4) + bytes([0xC0 | 16, 7]) + b"\x0c" + palette.tobytes()
    assert (decode_pcx(data)[..., :3] == palette[7]).all()


def test_lines_without_the_padding_that_the_header_claims(palette: np.ndarray) -> None:
    indices = np.random.default_rng(5).integers(0, 256, (9, 5), dtype=np.uint8)
    body = b"".join(encode(bytes(row)) for row in indices)
    data = header(5, 9, stride=6) + body + b"\x0c" + palette.tobytes()
    assert np.array_equal(decode_pcx(data)[..., :3], palette[indices])


def test_three_planes_are_red_green_blue() -> None:
    pixels = np.random.default_rng(6).integers(0, 256, (6, 10, 3), dtype=np.uint8)
    body = b"".join(encode(bytes(row[:, plane])) for row in pixels for plane in range(3))
    assert np.array_equal(decode_pcx(header(10, 6, planes=3) + body)[..., :3], pixels)


@pytest.mark.parametrize(("bits", "planes"), [(1, 1), (1, 4), (2, 1), (4, 1), (8, 2)])
def test_pixels_of_fewer_bits_are_refused(bits: int, planes: int) -> None:
    with pytest.raises(ImageFileError, match=f"{bits} bits in {planes} planes are not supported"):
        decode_pcx(header(11, 4, bits, planes) + bytes(200))


def test_a_palette_without_its_mark_is_the_end_of_the_file(palette: np.ndarray) -> None:
    indices = np.random.default_rng(10).integers(0, 256, (9, 8), dtype=np.uint8)
    data = write_pcx(indices, palette)
    assert data[-769] == 12
    assert np.array_equal(decode_pcx(data[:-769] + data[-768:])[..., :3], palette[indices])


def test_a_palette_with_something_behind_it_is_found_by_its_mark(palette: np.ndarray) -> None:
    indices = np.random.default_rng(11).integers(0, 256, (9, 8), dtype=np.uint8)
    assert np.array_equal(decode_pcx(write_pcx(indices, palette) + b"xyz")[..., :3], palette[indices])


def test_without_a_palette_the_indices_are_grey() -> None:
    assert decode_pcx(header(2, 1) + bytes([5, 9]))[0, :, 0].tolist() == [5, 9]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x0a" * 100,
        b"\x89PNG".ljust(500, b"\0"),
        header(8, 8),
        header(8, 8) + b"\x01" * 20,
        header(8, 8, bits=5) + b"\x01" * 200,
        header(8, 8, planes=7) + b"\x01" * 900,
        header(8, 8, rle=2) + b"\x01" * 900,
        header(8, 8)[:4] + b"\x09" + header(8, 8)[5:] + b"\x01" * 900,
        header(8, 8) + b"\xff\x01\xff",
    ],
)
def test_bad_data_raises_pcx_error(data: bytes) -> None:
    with pytest.raises(ImageFileError):
        decode_pcx(data)


def test_a_truncated_file_is_decoded_or_refused(palette: np.ndarray) -> None:
    data = write_pcx(np.random.default_rng(8).integers(0, 256, (9, 9), dtype=np.uint8), palette)
    for end in range(len(data)):
        with contextlib.suppress(ImageFileError):
            assert decode_pcx(data[:end]).shape == (9, 9, 4)


@pytest.mark.parametrize("side", [4000, 16384, 65535])
def test_a_small_file_that_claims_to_be_huge_costs_no_memory(side: int) -> None:
    data = header(side, side, stride=min(side + side % 2, 65535)) + b"\xff\x01" * 500
    tracemalloc.start()
    with pytest.raises(ImageFileError):
        decode_pcx(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
