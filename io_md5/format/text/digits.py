"""Numbers into text, in bulk: the reverse of `decimals`.

Eight digits are made at a time: a 64-bit number is split into fours, then pairs, then digits by multiplications that
stand for divisions. What is not printed, such as the zeros behind the last digit, is left as zero bytes in a table of
fixed width, which are then taken out of it.
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
# What lifts all but 0 into the highest bit of its byte, and these bits.
_LIFT, _HIGHEST = every_byte(0x7F), every_byte(0x80)


def integers(values: npt.NDArray[Any]) -> Bytes | None:
    """Whole numbers as text, (…, 8) bytes; None unless all are from 0 to 99,999,999."""
    if values.size and (values.min() < 0 or values.max() >= _MAX_INTEGER):
        return None
    digits = _eight_digits(values.astype(np.uint64))
    # All before the first digit that is not 0 is left out, but for the last digit.
    kept = _filled(_smear_up(digits) | np.uint64(1 << 56))
    return _as_bytes(digits | kept * _ASCII_ZERO, values.shape)


def decimals(values: Floats) -> Bytes | None:
    """Numbers as the shortest decimals with up to ten digits behind the point, (…, 16) bytes.

    None unless all are nearer to 0 than 9,999.5.
    """
    size = np.abs(values)
    if values.size and not size.max() < _MAX_DECIMAL - 0.5:
        return None
    above = np.floor(size)
    # Both differences are exact, so the digits are those of the number and not of a product.
    below = np.rint((size - above) * _DECIMALS)
    carried = below >= _DECIMALS
    above += carried
    below -= carried * float(_DECIMALS)
    fraction = below.astype(np.uint64)
    first_two = fraction // _LAST_EIGHT
    last_eight = _eight_digits(fraction - first_two * _LAST_EIGHT)
    # Four digits before the point, two behind it, and two zeros.
    middle = _eight_digits(above.astype(np.uint64) * np.uint64(10**4) + first_two * np.uint64(100))

    before = middle & np.uint64(0xFFFFFFFF)
    before |= _filled(_smear_up(before) & np.uint64(0xFFFFFFFF) | np.uint64(1 << 24)) * _ASCII_ZERO
    behind = middle >> np.uint64(32)
    kept = _filled(behind | (behind >> _BYTE) | (last_eight != 0) * np.uint64(0x0101)) & np.uint64(0x0101)
    point = (kept & np.uint64(1)) * _ASCII_POINT
    behind |= kept * _ASCII_ZERO
    negative = (values < 0.0) & ((above > 0.0) | (below > 0.0))
    eights = np.empty((*values.shape, 2), dtype=np.uint64)
    eights[..., 0] = (
        negative * _ASCII_MINUS | before << _BYTE | point << np.uint64(40) | behind << np.uint64(48)
    )
    eights[..., 1] = last_eight | _filled(_smear_down(last_eight)) * _ASCII_ZERO
    return _as_bytes(eights, values.shape)


def lines(parts: list[bytes | Bytes], count: int) -> str:
    """Lines put together of what they have in common and of numbers.

    Args:
        parts: from left to right: bytes that stand in every line, or a number for each, (count, width).
        count: how many lines.
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
    """The eight digits of numbers, the first in the lowest byte."""
    fours = values // np.uint64(10**4)
    digits = fours | (values - fours * np.uint64(10**4)) << np.uint64(32)
    pairs = digits * np.uint64(10486) >> np.uint64(20) & np.uint64(0x0000007F0000007F)
    digits = pairs | (digits - pairs * np.uint64(100)) << np.uint64(16)
    tens = digits * np.uint64(103) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    return tens | (digits - tens * np.uint64(10)) << _BYTE


def _smear_up(digits: Eights) -> Eights:
    """Every byte together with those before it."""
    digits = digits | digits << _BYTE
    digits |= digits << np.uint64(16)
    return digits | digits << np.uint64(32)


def _smear_down(digits: Eights) -> Eights:
    """Every byte together with those behind it."""
    digits = digits | digits >> _BYTE
    digits |= digits >> np.uint64(16)
    return digits | digits >> np.uint64(32)


def _filled(digits: Eights) -> Eights:
    """1 in every byte that is not 0; none is greater than 15."""
    return (digits + _LIFT & _HIGHEST) >> np.uint64(7)


def _as_bytes(eights: Eights, shape: tuple[int, ...]) -> Bytes:
    return np.ascontiguousarray(eights.astype("<u8", copy=False)).view(np.uint8).reshape(*shape, -1)
