"""Damaged copies of files, as downloads, editors and spite make them; the same ones in every run."""

from __future__ import annotations

import random
import re
import struct

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBERS = [b"-1", b"0", b"1", b"63", b"255", b"999999999", b"2147483647", b"-2147483648", b"4294967296", b"1e9",
            b"3e38", b"-3e38", b"1e400", b"nan", b"inf", b"-nan(ind)", b"1.#IND", b"0.5", b"x", b"{", b"}", b'"',
            b""]  # fmt: skip
_INTEGERS = [0, 1, -1, 4, 39, 67, 68, 255, 256, 0x7FFF, 0xFFFF, 999_999_999, 0x7FFFFFFF, -(2**31)]
_FLOATS = [b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f", b"\x01\0\x80\x7f"]
_NOISE = [b"\0", b"\xff\xfe", b"\xc3\x28", b'"', b"{", b"}", b"//", b"/*", b"\r", b"\n", b"\t", b"\xf0\x9f\x92\xa9"]


SEEDS = (1, 2, 3, 4)
"""What the counts of docs/robustness-figures.md were made with."""


def mutant(data: bytes, number: int, is_text: bool, seed: int = 0) -> bytes:
    """A damaged copy; the same one for the same number and seed."""
    rng = random.Random(f"{seed} {number}")
    kinds = _TEXT if is_text else _BINARY
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(kinds)(data, rng)
    return data


def cut(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def lose_a_piece(data, rng):
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.randrange(1, 400) :]


def repeat_a_piece(data, rng):
    place = rng.randrange(len(data) + 1)
    piece = data[place : place + rng.randrange(1, 400)]
    return data[:place] + piece * rng.randrange(1, 4) + data[place:]


def flip_bytes(data, rng):
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def insert_noise(data, rng):
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_NOISE) * rng.randrange(1, 5) + data[place:]


def replace_a_number(data, rng):
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    start, end = rng.choice(found[: 60 if rng.random() < 0.5 else None]).span()
    return data[:start] + rng.choice(_NUMBERS) + data[end:]


def swap_lines(data, rng):
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def lose_or_repeat_a_block(data, rng):
    blocks = data.split(b"}")
    index = rng.randrange(len(blocks))
    blocks[index : index + 1] = [blocks[index]] * rng.choice((0, 2, 3))
    return b"}".join(blocks)


def poke_the_header(data, rng):
    if len(data) < 68:
        return data
    changed = bytearray(data)
    place = 4 * rng.randrange(2, 17)
    value = rng.choice([*_INTEGERS, len(data), struct.unpack_from("<i", data, place)[0] + rng.choice((-1, 1))])
    struct.pack_into("<i", changed, place, max(min(value, 2**31 - 1), -(2**31)))
    return bytes(changed)


def poke_a_float(data, rng):
    place = 68 + 4 * rng.randrange(max(1, (len(data) - 68) // 4))
    return data[:place] + rng.choice(_FLOATS) + data[place + 4 :]


_COMMON = [cut, lose_a_piece, repeat_a_piece, flip_bytes]
_TEXT = [*_COMMON, insert_noise, replace_a_number, replace_a_number, swap_lines, lose_or_repeat_a_block]
_BINARY = [*_COMMON, poke_the_header, poke_the_header, poke_a_float]
