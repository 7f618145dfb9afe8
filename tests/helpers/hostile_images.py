"""Images of any size in small files, in every format that Blender opens: all black, encoded as tightly as may be."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

Make = Callable[[int, int], bytes]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(bits: int, color: int = 6) -> Make:
    def make(width: int, height: int) -> bytes:
        row = bytes(1 + width * {0: 1, 2: 3, 6: 4}[color] * bits // 8)
        head = struct.pack(">2I5B", width, height, bits, color, 0, 0, 0)
        rows = _compressed(row, height)
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")

    return make


def _compressed(row: bytes, count: int) -> bytes:
    packer = zlib.compressobj(6)
    return b"".join(packer.compress(row) for _ in range(count)) + packer.flush()


def tga(width: int, height: int) -> bytes:
    """Run-length encoded, 32 bits."""
    packets, rest = divmod(width * height, 128)
    body = b"\xff\0\0\0\0" * packets + (bytes([127 + rest]) + b"\0\0\0\0" if rest else b"")
    return struct.pack("<3B5x4H2B", 0, 0, 10, 0, 0, width, height, 32, 8) + body


def bmp(width: int, height: int) -> bytes:
    row = (width + 3) // 4 * 4
    head = struct.pack("<I2i2H6I", 40, width, height, 1, 8, 0, row * height, 0, 0, 256, 0)
    return b"BM" + struct.pack("<3I", 1078 + row * height, 0, 1078) + head + bytes(1024 + row * height)


def tiff(bits: int, samples: int = 4) -> Make:
    """One strip, deflated; 32 bits are floats."""

    def make(width: int, height: int) -> bytes:
        strip = _compressed(bytes(width * samples * bits // 8), height)
        depths, formats = struct.pack(f"<{samples}H", *[bits] * samples), [3 if bits == 32 else 1] * samples
        extras = max(samples - 3, 0)
        arrays = (depths, struct.pack(f"<{samples}H", *formats), bytes(2 * extras))
        offsets = [8, 8 + len(arrays[0]), 8 + len(arrays[0]) + len(arrays[1])]
        strip_at = 8 + sum(map(len, arrays))
        tags = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, samples, offsets[0] if samples > 2 else bits),
            (259, 3, 1, 8), (262, 3, 1, 2 if samples > 2 else 1), (273, 4, 1, strip_at), (277, 3, 1, samples),
            (278, 4, 1, height), (279, 4, 1, len(strip)), (284, 3, 1, 1),
            (338, 3, extras, 0 if extras < 3 else offsets[2]),
            (339, 3, samples, offsets[1] if samples > 2 else formats[0]),
        ]  # fmt: skip
        if not extras:
            tags = [tag for tag in tags if tag[0] != 338]
        entries = b"".join(struct.pack("<2H2I", *tag) for tag in tags)
        directory = struct.pack("<H", len(tags)) + entries + bytes(4)
        return b"II*\0" + struct.pack("<I", strip_at + len(strip)) + b"".join(arrays) + strip + directory

    return make


def dds(bits: int) -> Make:
    """4 channels of floats of 16 or 32 bits, or of bytes, or (4) the compressed floats of BC6H."""

    def make(width: int, height: int) -> bytes:
        code = {8: b"\0\0\0\0", 16: struct.pack("<I", 113), 32: struct.pack("<I", 116), 4: b"DX10"}[bits]
        flags, masks = (0x41, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)) if bits == 8 else (4, (0, 0, 0, 0))
        sizes = struct.pack("<7I44x", 124, 0x1007, height, width, 0, 0, 1)
        pixel_format = struct.pack("<2I4s5I", 32, flags, code, 4 * bits if bits == 8 else 0, *masks)
        extra = struct.pack("<5I", 95, 3, 0, 1, 0) if bits == 4 else b""
        area = width * height // 16 * 16 if bits == 4 else width * height * 4 * bits // 8
        return b"DDS " + sizes + pixel_format + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + extra + bytes(area)

    return make


def sgi(size: int) -> Make:
    """4 channels of so many bytes, with the rows encoded."""

    def make(width: int, height: int) -> bytes:
        kind = "B" if size == 1 else "H"
        runs = [part for left in range(width, 0, -127) for part in (min(left, 127), 0)] + [0]
        row, rows = struct.pack(f">{len(runs)}{kind}", *runs), 4 * height
        starts = [512 + 8 * rows + len(row) * index for index in range(rows)]
        tables = struct.pack(f">{rows}I", *starts) + struct.pack(">I", len(row)) * rows
        head = struct.pack(">H2B4H2I", 474, 1, size, 3, width, height, 4, 0, 255).ljust(512, b"\0")
        return head + tables + row * rows

    return make


def webp(width: int, height: int) -> bytes:
    """Lossless, with codes of one symbol each, which take no bits."""
    # Sizes, no alpha, version 0; no transforms, color cache or groups; five codes of one symbol of one bit.
    bits = (width - 1) | (height - 1) << 14
    for code in range(5):
        bits |= 1 << (32 + 3 + 4 * code)
    body = b"\x2f" + bits.to_bytes(8, "little") + bytes(5)
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBPVP8L" + struct.pack("<I", len(body)) + body


IMAGES: dict[str, Make] = {
    "PNG, 8 bits": png(8),
    "PNG, 16 bits": png(16),
    "PNG, gray, 16 bits": png(16, 0),
    "TGA": tga,
    "BMP": bmp,
    "TIFF, 8 bits": tiff(8),
    "TIFF, 16 bits": tiff(16),
    "TIFF, 32 bits": tiff(32),
    "TIFF, 1 channel of 16 bits": tiff(16, 1),
    "TIFF, 60 channels of 8 bits": tiff(8, 60),
    "DDS, 8 bits": dds(8),
    "DDS, 16 bits": dds(16),
    "DDS, 32 bits": dds(32),
    "DDS, compressed floats": dds(4),
    "SGI, 8 bits": sgi(1),
    "SGI, 16 bits": sgi(2),
    "WebP": webp,
}
"""Functions that make an image of a width and a height, by what it is."""


def extension(name: str) -> str:
    """The extension of a kind of image."""
    word = name.split(",")[0].lower()
    return "." + {"tiff": "tif"}.get(word, word)
