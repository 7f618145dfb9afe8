"""Lines of numbers with the same layout, read column by column.

All numbers of a column are converted at once, which gives their end offsets, and each must be followed by the same
bytes as in the first line: every byte is either part of a number or compared. Digits are converted eight at a time in a
64-bit integer, in which neighboring digits, then pairs, then fours are combined by one multiplication each, as in fast
JSON parsers. A decimal is an integer divided by a power of ten; both are exact, so the quotient is the nearest float.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ....io_common.skeletal.model import LARGEST, Floats

Offsets = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Eights = npt.NDArray[np.uint64]  # eight bytes of text, the first in the lowest byte of the number

_EIGHT = 8
_MINUS, _POINT, _NEWLINE, _ZERO = b"-.\n0"

# All integers below this and these powers of ten are exact as floats. (An integer above it may be rounded down to it.)
_EXACT = float(1 << 53)
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(2 * _EIGHT + 1)])


_ONE = np.uint64(1)
_PADDING = 1 << 17
# A digit minus "0" is at most 9. With this added, it is just below the highest bit of its byte.
_ZEROS, _TO_HIGHEST_BIT, _HIGHEST_BITS = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x76, 0x80))
_HIGHEST_TO_LOWEST = np.uint64(7)
# The steps that combine two neighbors into one number, for digits, pairs and groups of four: the multiplier that
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
    """A text that is read at many offsets at once."""

    def __init__(self, data: bytes) -> None:
        # A line with another layout than expected may be read beyond the end.
        padded = data + bytes(_PADDING)
        self.data = data
        self._bytes = np.frombuffer(padded, dtype=np.uint8)
        self._eights: Eights = np.ndarray(len(padded) - _EIGHT + 1, dtype="<u8", buffer=padded, strides=(1,))

    def lines(self, start: int, end: int) -> tuple[Offsets, Offsets]:
        """The start and end offsets of the lines between two offsets; the last ends with a newline."""
        newlines = np.flatnonzero(self._bytes[start:end] == _NEWLINE)
        joined = np.append(start, newlines + (start + 1))
        return joined[:-1], joined[1:]

    def matches(self, offsets: Offsets, words: bytes) -> Flags:
        """Whether these words are at each offset, (n,)."""
        if len(words) == 1:
            return np.asarray(self._bytes[offsets] == words[0])
        found = np.ones(len(offsets), dtype=bool)
        for first in range(0, len(words), _EIGHT):
            part = words[first : first + _EIGHT]
            # Bytes after the part are shifted out.
            eights = self._eights[offsets + first] << np.uint64(8 * (_EIGHT - len(part)))
            found &= eights == np.uint64(int.from_bytes(part.rjust(_EIGHT, b"\0"), "little"))
        return found

    def integers(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """Unsigned integers (the first eight digits), whether each exists, and the offsets after them."""
        values, counts = _padded_digits(self._eights[offsets])
        values /= _POWERS[_EIGHT - counts]
        return values, counts > 0, offsets + counts

    def decimals(self, offsets: Offsets) -> tuple[Floats, Flags, Offsets]:
        """Plain decimals as floats, whether each exists and is exact, and the offsets after them."""
        # Exact are integers of up to eight digits, and decimals with up to seven digits before the point and up to
        # eight after it, or with more after it and 15 digits in all.
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
                is_number &= self._add_fractions(values, offsets, self._eights_where(offsets, has_point)) | ~has_point
        if negative.any():
            values *= 1.0 - 2.0 * negative
        return values, is_number, offsets

    def _add_fractions(self, values: Floats, offsets: Offsets, eights: Eights) -> Flags:
        """Adds digits after points to `values`, (n,), and advances `offsets`; returns where the sum is exact."""
        # `eights` are the bytes at the offsets, zeros where there is no point; they are overwritten.
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
    """The leading digits of eight bytes, which are overwritten: ``12`` and a blank gives 12000000 and 2."""
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


_PLAIN = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBER = re.compile(rb"(?<![^ \t()])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![^ \t\r\n()])")
_BLANKS = b" \t()"

MAX_GAP = 32  # the most bytes that are compared between two numbers: no exporter indents further
# The most bytes that a number and the gap after it take, or that are read while parsing them.
_MAX_FIELD = 64 + MAX_GAP

# Lines converted at once: few enough to stay in the processor's cache and to be allocated quickly.
LINES_AT_ONCE = 1 << 13
# Lines with another layout than the first, as with an exponent, are read one by one: a few, and one in this many.
_MAX_ODD_FRACTION, _MAX_ODD_LINES = 16, 64


@dataclass(frozen=True)
class Layout:
    """The bytes between the numbers of a line."""

    lead: bytes  # before the first number, with the word
    gaps: tuple[bytes, ...]  # after each number; the last has the end of the line
    word: bytes = b""  # that the line begins with; may be empty

    @classmethod
    def of(cls, line: bytes, word: bytes = b"") -> Layout | None:
        """The layout of a line of a word, numbers, blanks and parentheses; None if it has anything else."""
        # Lines differ in their numbers more than in their layout.
        return _layout(_PLAIN.sub(b"0", line), word)

    @property
    def width(self) -> int:
        """The number of values in a line."""
        return len(self.gaps)

    def read(self, text: Text, starts: Offsets, ends: Offsets, integers: int = 0) -> Floats | None:
        """The numbers of lines, (n, width), column by column in memory; None if too many have another layout."""
        # A few may have one if they are made of the word and numbers that are finite as 32-bit floats. Bit i of
        # `integers` is set where column i should hold short unsigned integers.
        table = np.empty((self.width, len(starts))).T
        odd_lines: list[int] = []
        for first in range(0, len(starts), LINES_AT_ONCE):
            piece = slice(first, min(first + LINES_AT_ONCE, len(starts)))
            is_regular = self._read(text, starts[piece], ends[piece], table[piece], integers)
            odd_lines += (np.flatnonzero(~is_regular) + first).tolist()
            if len(odd_lines) > _MAX_ODD_LINES + piece.stop // _MAX_ODD_FRACTION:
                return None
        for line in odd_lines:
            numbers = self._numbers(text.data[starts[line] : ends[line]])
            # Numbers converted in bulk are never that large.
            if numbers is None or max(map(abs, numbers), default=0.0) > LARGEST:
                return None
            table[line] = numbers
        return table

    def _read(self, text: Text, starts: Offsets, ends: Offsets, table: Floats, integers: int) -> Flags:
        """Fills a table with the lines of this layout; returns which lines have it, (n,)."""
        is_regular = text.matches(starts, self.lead)
        offsets = starts + len(self.lead)
        for column, gap in enumerate(self.gaps):
            convert = text.integers if integers >> column & 1 else text.decimals
            table[:, column], is_number, offsets = convert(offsets)
            is_regular &= is_number
            is_regular &= text.matches(offsets, gap)
            offsets += len(gap)
        is_regular &= offsets == ends
        return is_regular

    def _numbers(self, line: bytes) -> list[float] | None:
        """The numbers of a line; None unless it is made of the word and `width` numbers."""
        numbers = _NUMBER.findall(line)
        between = _NUMBER.sub(b"", line).translate(None, _BLANKS + b"\r")
        if len(numbers) != self.width or between != self.word + b"\n" or not line.strip().startswith(self.word):
            return None
        return [float(number) for number in numbers]


@lru_cache(16)
def _layout(line: bytes, word: bytes) -> Layout | None:
    """The layout of a line whose numbers are all 0; see `Layout.of`."""
    lead, *gaps = line.split(b"0")
    begins = lead.strip(_BLANKS) == word and (not word or not lead.endswith(word))
    blank = all(gap and not gap.strip(_BLANKS) for gap in gaps[:-1])
    ends = bool(gaps) and gaps[-1].lstrip(_BLANKS + b"\r") == b"\n"
    short = max(map(len, (lead, *gaps))) <= MAX_GAP and len(gaps) * _MAX_FIELD <= _PADDING
    return Layout(lead, tuple(gaps), word) if begins and blank and ends and short else None
