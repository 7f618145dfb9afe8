"""Decimals into floats, in bulk.

Numbers at known offsets, such as the same column of many lines, are converted in place, eight digits at a time: the
digits are held in one 64-bit integer, in which neighbouring digits, then pairs, then groups of four are combined by one
multiplication each, as in fast JSON parsers. A decimal is then an integer divided by a power of ten. Both are exact, so
the quotient is the float nearest to the decimal.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from ..model import Floats

Offsets = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Eights = npt.NDArray[np.uint64]
"""Eight bytes of text, the first in the lowest byte of the number."""

_EIGHT = 8
_CHUNK = 1 << 16
_MINUS, _POINT, _NEWLINE, _ZERO = b"-.\n0"

# All integers below this and these powers of ten are exact as floats. (An integer above it may be rounded down to it.)
_EXACT = float(1 << 53)
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(2 * _EIGHT + 1)])


def every_byte(byte: int) -> np.uint64:
    """A byte repeated eight times."""
    return np.uint64(int.from_bytes(bytes([byte] * _EIGHT), "little"))


# A digit minus "0" is at most 9, so the upper half of its byte is empty, even with 6 added.
_ZEROS, _SIXES, _UPPER_HALVES = every_byte(0x30), every_byte(0x06), every_byte(0xF0)
# By digit count: the left shift that removes all bytes after the digits.
_BITS_BEHIND = np.array([8 * (_EIGHT - count) for count in range(_EIGHT + 1)], dtype=np.uint64)
# The steps that combine two neighbours into one number, for digits, pairs and groups of four: a mask, the multiplier
# that weights the first and adds the second, and the right shift of the result.
_NEIGHBOURS = tuple(
    (np.uint64(mask), np.uint64(1 + (weight << shift)), np.uint64(shift))
    for mask, weight, shift in (
        (0x0F0F0F0F0F0F0F0F, 10, 8),
        (0x00FF00FF00FF00FF, 100, 16),
        (0x0000FFFF0000FFFF, 10000, 32),
    )
)
# The exponent of a power of two as a float, minus the exponent bias, is the index of a bit; divided by 8, of a byte.
_TO_BYTE, _ZERO_BYTE = 52 + 3, 1023 // 8
# The bits that flag bytes other than digits are in the upper halves of the bytes.
_FIRST_BYTE = _ZERO_BYTE + 1


def floats(text: bytes) -> Floats | None:
    """The numbers of a text that holds only numbers and white space, (n,); None if it holds anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


class Text:
    """A text that is read at many offsets at once.

    Args:
        data: the text. A few bytes must follow every offset that is read.
    """

    def __init__(self, data: bytes) -> None:
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        count = max(0, len(data) - _EIGHT + 1)
        self._eights: Eights = np.ndarray(count, dtype="<u8", buffer=data, strides=(1,))

    def __len__(self) -> int:
        return len(self._bytes)

    def line(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        return self._bytes[start:end].tobytes()

    def lines(self, start: int, end: int) -> tuple[Offsets, Offsets]:
        """The start and end offsets, each (n,), of the lines between two offsets; the last line ends with a newline."""
        # In chunks, because allocating large arrays takes longer than filling them.
        parts = [
            _find(_NEWLINE, self._bytes[first : min(first + _CHUNK, end)]) + (first + 1)
            for first in range(start, end, _CHUNK)
        ]
        ends = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        starts = np.empty_like(ends)
        starts[:1] = start
        starts[1:] = ends[:-1]
        return starts, ends

    def matches(self, offsets: Offsets, words: bytes) -> Flags:
        """Whether these words are at each offset, (n,)."""
        if len(words) == 1:
            found: Flags = self._bytes[offsets] == words[0]
            return found
        found = self._matches_eight(offsets, words[:_EIGHT])
        for first in range(_EIGHT, len(words), _EIGHT):
            found &= self._matches_eight(offsets + first, words[first : first + _EIGHT])
        return found

    def _matches_eight(self, offsets: Offsets, words: bytes) -> Flags:
        """The same for up to eight bytes; no bytes match everywhere."""
        # Bytes after the words are shifted out.
        eights = self._eights[offsets] << np.uint64(8 * (_EIGHT - len(words)))
        found: Flags = eights == np.uint64(int.from_bytes(words.rjust(_EIGHT, b"\0"), "little"))
        return found

    def integers(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The unsigned integers at some offsets; only the first eight digits of longer ones.

        Returns:
            Their values, float64 (n,); whether there is one at each offset, (n,); and the offsets after them, (n,).
        """
        values, counts = _digits(self._eights[offsets])
        return values, counts > 0, offsets + counts

    def decimals(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The plain decimals at some offsets: an optional minus, digits, and optionally a point with digits.

        Returns:
            The nearest floats, (n,); whether there is a decimal at each offset that is converted exactly, (n,); and the
            offsets after them, (n,). Decimals with up to eight digits before the point and 15 in all are exact.
        """
        negative = self._bytes[offsets] == _MINUS
        offsets = offsets + negative
        if (self._bytes[offsets + 1] == _POINT).all():
            # One digit before the point, as in quaternions and texture coordinates.
            digits = self._bytes[offsets] - np.uint8(_ZERO)
            values, counts = digits.astype(np.float64), (digits < 10).astype(np.int64)
        else:
            values, counts = _digits(self._eights[offsets])
        is_number = counts > 0
        offsets += counts
        has_point = self._bytes[offsets] == _POINT
        if has_point.any():
            offsets += has_point
            is_number &= self._add_fractions(values, offsets, has_point)
        if negative.any():
            values *= 1.0 - 2.0 * negative
        return values, is_number, offsets

    def _add_fractions(self, values: Floats, offsets: Offsets, has_point: Flags) -> Flags:
        """Adds the digits after the points to `values` and advances `offsets`; returns where that is exact, (n,)."""
        fractions, counts = _digits(self._eights_where(offsets, has_point))
        offsets += counts
        is_full = counts == _EIGHT
        if is_full.any():
            more, more_counts = _digits(self._eights_where(offsets, is_full))
            offsets += more_counts
            fractions *= _POWERS[more_counts]
            fractions += more
            counts += more_counts
        scales = _POWERS[counts]
        values *= scales
        values += fractions
        # A point without digits is not a plain decimal; the scanner reads it.
        exact: Flags = (values < _EXACT) & ((counts > 0) | ~has_point)
        values /= scales
        return exact

    def _eights_where(self, offsets: Offsets, where: Flags) -> Eights:
        """The eight bytes at each offset, zeros where `where` is false."""
        eights = self._eights[offsets]
        if not where.all():
            eights *= where
        return eights


def _find(byte: int, text: npt.NDArray[np.uint8]) -> Offsets:
    """The offsets of a byte in a text, (n,)."""
    found = text == byte
    eights = found[: len(found) // _EIGHT * _EIGHT].view("<u8")
    some = np.flatnonzero(eights != 0)
    if len(some) != np.count_nonzero(found):
        return np.flatnonzero(found)
    # Eight bytes at a time; no group holds the byte twice.
    exponents = eights[some].astype(np.float64).view(np.int64) >> _TO_BYTE
    offsets: Offsets = some * _EIGHT + (exponents - _ZERO_BYTE)
    return offsets


def _digits(eights: Eights) -> tuple[Floats, Offsets]:
    """The integers that eight bytes begin with, float64 (n,), and their digit counts, 0 to 8, (n,).

    `eights` is overwritten.
    """
    eights ^= _ZEROS
    non_digits = eights + _SIXES
    non_digits |= eights
    non_digits &= _UPPER_HALVES
    # The lowest set bit is in the first byte that is not a digit. (Carries only reach bytes after such a byte.)
    non_digits &= np.negative(non_digits)
    counts = non_digits.astype(np.float64).view(np.int64) >> _TO_BYTE
    counts ^= _FIRST_BYTE
    # Without such a byte no bit is set, and the float is 0.
    np.minimum(counts, _EIGHT, out=counts)
    # Shifted so that zero bytes come before the digits.
    eights <<= _BITS_BEHIND[counts]
    for mask, weight, shift in _NEIGHBOURS:
        eights &= mask
        eights *= weight
        # An in-place shift is slower in numpy 1.24.
        eights = eights >> shift
    return eights.astype(np.float64), counts
