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


_ONE = np.uint64(1)
# A digit minus "0" is at most 9. With this added, it is just below the highest bit of its byte.
_ZEROS, _TO_HIGHEST_BIT, _HIGHEST_BITS = every_byte(0x30), every_byte(0x76), every_byte(0x80)
_HIGHEST_TO_LOWEST = np.uint64(7)
# The steps that combine two neighbours into one number, for digits, pairs and groups of four: the multiplier that
# weights the first and adds the second, and the right shift and the mask of the result.
_NEIGHBOURS = tuple(
    (np.uint64(1 + (weight << shift)), np.uint64(shift), np.uint64(mask))
    for weight, shift, mask in (
        (10, 8, 0x00FF00FF00FF00FF),
        (100, 16, 0x0000FFFF0000FFFF),
        (10000, 32, 0x00000000FFFFFFFF),
    )
)
# The exponent of a power of two as a float, minus the exponent bias, is the index of a bit; divided by 8, of a byte.
_TO_BYTE, _ZERO_BYTE = 52 + 3, 1023 // 8
# The bits that flag bytes other than digits are the highest of the bytes.
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

    A few bytes must follow every offset that is read.
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
        places = [np.array([start], dtype=np.int64)]
        for first in range(start, end, _CHUNK):
            newlines = np.flatnonzero(self._bytes[first : min(first + _CHUNK, end)] == _NEWLINE)
            newlines += first + 1
            places.append(newlines)
        joined = np.concatenate(places)
        return joined[:-1], joined[1:]

    def matches(self, offsets: Offsets, words: bytes) -> Flags:
        """Whether these words are at each offset, (n,)."""
        if len(words) == 1:
            found: Flags = self._bytes[offsets] == words[0]
            return found
        found = self._matches_eight(offsets, words[:_EIGHT])
        for first in range(_EIGHT, len(words), _EIGHT):
            found &= self._matches_eight(offsets + first, words[first : first + _EIGHT])
        return found

    def beginning_with(self, starts: Offsets, words: bytes) -> Offsets:
        """The indices of the lines (n,) that begin with these words, rising."""
        lines = np.arange(np.searchsorted(starts, len(self) - len(words), side="right"))
        for place, byte in enumerate(words):
            lines = lines[self._bytes[starts[lines] + place] == byte]
        return lines

    def all_equal(self, starts: Offsets, ends: Offsets, line: bytes) -> bool:
        """Whether the lines between some offsets are all the same as a short one."""
        if not (ends - starts == len(line)).all():
            return False
        return all(bool((self._bytes[starts + place] == byte).all()) for place, byte in enumerate(line))

    def _matches_eight(self, offsets: Offsets, words: bytes) -> Flags:
        """The same for up to eight bytes; no bytes match everywhere."""
        # Bytes after the words are shifted out.
        eights = self._eights[offsets] << np.uint64(8 * (_EIGHT - len(words)))
        found: Flags = eights == np.uint64(int.from_bytes(words.rjust(_EIGHT, b"\0"), "little"))
        return found

    def integers(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The unsigned integers at some offsets; only the first eight digits of longer ones.

        Returns their values, float64 (n,); whether there is one at each offset, (n,); and the offsets after them, (n,).
        """
        values, counts = _padded_digits(self._eights[offsets])
        values /= _POWERS[_EIGHT - counts]
        return values, counts > 0, offsets + counts

    def decimals(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The plain decimals at some offsets: an optional minus, digits, and optionally a point with digits.

        Returns the nearest floats, (n,); whether there is a decimal at each offset that is converted exactly, (n,); and
        the offsets after them, (n,). Exact are integers of up to eight digits, and decimals with up to seven digits
        before the point and up to eight after it, or with more after it and 15 digits in all.
        """
        negative = self._bytes[offsets] == _MINUS
        offsets = offsets + negative
        if (self._bytes[offsets + 1] == _POINT).all():
            # One digit before the point, as in quaternions and texture coordinates.
            digits = self._bytes[offsets] - np.uint8(_ZERO)
            values, is_number = digits.astype(np.float64), digits < 10
            offsets += 2
            is_number &= self._add_fractions(values, offsets, self._eights[offsets])
        else:
            values, is_number, offsets = self.integers(offsets)
            has_point = self._bytes[offsets] == _POINT
            if has_point.any():
                offsets += has_point
                is_number &= (
                    self._add_fractions(values, offsets, self._eights_where(offsets, has_point)) | ~has_point
                )
        if negative.any():
            values *= 1.0 - 2.0 * negative
        return values, is_number, offsets

    def _add_fractions(self, values: Floats, offsets: Offsets, eights: Eights) -> Flags:
        """Adds the digits after points to the integers before them, `values` (n,), and advances `offsets`, (n,).

        The offsets are those after the points. `eights` are the bytes there, (n,), which are overwritten; zeros where
        there is no point. Returns where there are digits and the sum is exact, (n,).
        """
        fractions, counts = _padded_digits(eights)
        offsets += counts
        scales: Floats | float = _POWERS[_EIGHT]
        is_full = counts == _EIGHT
        if is_full.any():
            more, more_counts = _padded_digits(self._eights_where(offsets, is_full))
            offsets += more_counts
            powers = _POWERS[more_counts]
            fractions *= powers
            more /= _POWERS[_EIGHT - more_counts]
            fractions += more
            scales = scales * powers
        values *= scales
        values += fractions
        # A point without digits is not a plain decimal; the scanner reads it.
        exact: Flags = (values < _EXACT) & (counts > 0)
        values /= scales
        return exact

    def _eights_where(self, offsets: Offsets, where: Flags) -> Eights:
        """The eight bytes at each offset, zeros where `where` is false."""
        eights = self._eights[offsets]
        if not where.all():
            eights *= where
        return eights


def _padded_digits(eights: Eights) -> tuple[Floats, Offsets]:
    """The digits that eight bytes begin with, as integers of eight digits, and their counts, 0 to 8, (n,).

    Missing digits are zeros at the end: ``12`` followed by a blank gives 12000000.

    `eights` is overwritten.
    """
    eights ^= _ZEROS
    non_digits = eights + _TO_HIGHEST_BIT
    non_digits |= eights
    non_digits &= _HIGHEST_BITS
    # The lowest set bit is in the first byte that is not a digit. (Carries only reach bytes after such a byte.)
    non_digits &= np.negative(non_digits)
    counts = non_digits.astype(np.float64).view(np.int64) >> _TO_BYTE
    counts ^= _FIRST_BYTE
    # Without such a byte no bit is set, and the float is 0.
    np.minimum(counts, _EIGHT, out=counts)
    # All bits before that byte; all bits if there is none, because 0 - 1 is the largest number.
    non_digits = non_digits >> _HIGHEST_TO_LOWEST
    non_digits -= _ONE
    eights &= non_digits
    for weight, shift, mask in _NEIGHBOURS:
        eights *= weight
        # An in-place shift is slower in numpy 1.24.
        eights = eights >> shift
        eights &= mask
    return eights.astype(np.float64), counts
