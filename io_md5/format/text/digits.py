"""Numbers to text, in bulk: the inverse of `decimals`.

Eight digits are made at a time: a 64-bit integer is split into groups of four, then pairs, then digits, by
multiplications in place of divisions. Characters that are not printed, such as trailing zeros, are zero bytes in a
table of fixed width, and are removed at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..model import Floats
from .decimals import Eights, every_byte

Bytes = npt.NDArray[np.uint8]

_MAX_INTEGER, _MAX_DECIMAL = 10**8, 10**4
_DECIMALS = 10**10
_LAST_EIGHT = np.uint64(10**8)

_BYTE = np.uint64(8)
_ASCII_ZERO, _ASCII_MINUS, _ASCII_POINT = (np.uint64(ord(letter)) for letter in "0-.")
# Adding the first sets the highest bit of every byte that is not 0; the second masks those bits.
_LIFT, _HIGHEST = every_byte(0x7F), every_byte(0x80)


def integers(values: npt.NDArray[Any]) -> Bytes | None:
    """Integers as text, (…, 8) bytes; None unless all are from 0 to 99,999,999."""
    if values.size and (values.min() < 0 or values.max() >= _MAX_INTEGER):
        return None
    digits = _eight_digits(values.astype(np.uint64))
    # Leading zeros are left out, except for the last digit.
    printed = _filled(_smear_up(digits) | np.uint64(1 << 56))
    return _as_bytes(digits | printed * _ASCII_ZERO, values.shape)


def decimals(values: Floats) -> Bytes | None:
    """Numbers as the shortest decimals with up to ten digits after the point, (…, 16) bytes.

    None unless all absolute values are below 9,999.5.
    """
    size = np.abs(values)
    if values.size and not size.max() < _MAX_DECIMAL - 0.5:
        return None
    whole_part = np.floor(size)
    # Both differences are exact, so the digits are those of the number itself.
    fraction_part = np.rint((size - whole_part) * _DECIMALS)
    carried = fraction_part >= _DECIMALS
    whole_part += carried
    fraction_part -= carried * float(_DECIMALS)
    fraction = fraction_part.astype(np.uint64)
    first_two = fraction // _LAST_EIGHT
    last_eight = _eight_digits(fraction - first_two * _LAST_EIGHT)
    # Four digits before the point, two after it, and two zeros.
    middle = _eight_digits(whole_part.astype(np.uint64) * np.uint64(10**4) + first_two * np.uint64(100))

    before_point = middle & np.uint64(0xFFFFFFFF)
    before_point |= (
        _filled(_smear_up(before_point) & np.uint64(0xFFFFFFFF) | np.uint64(1 << 24)) * _ASCII_ZERO
    )
    after_point = middle >> np.uint64(32)
    printed = _filled(
        after_point | (after_point >> _BYTE) | (last_eight != 0) * np.uint64(0x0101)
    ) & np.uint64(0x0101)
    point = (printed & np.uint64(1)) * _ASCII_POINT
    after_point |= printed * _ASCII_ZERO
    negative = (values < 0.0) & ((whole_part > 0.0) | (fraction_part > 0.0))
    eights = np.empty((*values.shape, 2), dtype=np.uint64)
    eights[..., 0] = (
        negative * _ASCII_MINUS
        | before_point << _BYTE
        | point << np.uint64(40)
        | after_point << np.uint64(48)
    )
    eights[..., 1] = last_eight | _filled(_smear_down(last_eight)) * _ASCII_ZERO
    return _as_bytes(eights, values.shape)


def lines(parts: list[bytes | Bytes], count: int) -> str:
    """Lines assembled from constant text and numbers.

    Parts, from left to right, are bytes for every line, or the text of a number for each line, (count, width).
    """
    widths = [len(part) if isinstance(part, bytes) else part.shape[-1] for part in parts]
    template = b"".join(part if isinstance(part, bytes) else bytes(part.shape[-1]) for part in parts)
    table = np.empty((count, len(template)), dtype=np.uint8)
    table[:] = np.frombuffer(template, dtype=np.uint8)
    at = 0
    for part, width in zip(parts, widths, strict=True):
        if not isinstance(part, bytes):
            table[:, at : at + width] = part
        at += width
    return table.tobytes().translate(None, b"\0").decode("ascii")


def _eight_digits(values: Eights) -> Eights:
    """The eight digits of each number, the first in the lowest byte."""
    fours = values // np.uint64(10**4)
    digits = fours | (values - fours * np.uint64(10**4)) << np.uint64(32)
    pairs = digits * np.uint64(10486) >> np.uint64(20) & np.uint64(0x0000007F0000007F)
    digits = pairs | (digits - pairs * np.uint64(100)) << np.uint64(16)
    tens = digits * np.uint64(103) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    result: Eights = tens | (digits - tens * np.uint64(10)) << _BYTE
    return result


def _smear_up(digits: Eights) -> Eights:
    """Every byte combined (or) with all bytes before it."""
    digits = digits | digits << _BYTE
    digits |= digits << np.uint64(16)
    return digits | digits << np.uint64(32)


def _smear_down(digits: Eights) -> Eights:
    """Every byte combined (or) with all bytes after it."""
    digits = digits | digits >> _BYTE
    digits |= digits >> np.uint64(16)
    return digits | digits >> np.uint64(32)


def _filled(digits: Eights) -> Eights:
    """1 for every byte that is not 0; all bytes must be at most 15."""
    return (digits + _LIFT & _HIGHEST) >> np.uint64(7)


def _as_bytes(eights: Eights, shape: tuple[int, ...]) -> Bytes:
    return np.ascontiguousarray(eights.astype("<u8", copy=False)).view(np.uint8).reshape(*shape, -1)
