"""Decimals into floats, in bulk.

Where numbers stand in known places, as the same column of many lines does, they are converted there, eight digits of
each at a time: as one 64-bit number in which neighbouring digits, then pairs, then fours are put together by a
multiplication each, as fast parsers of JSON do it. A decimal is then a whole number divided by a power of ten. Both are
exact, so the quotient is the very float that the decimal stands for.
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
_MINUS, _POINT, _NEWLINE = b"-.\n"

# Every whole number below this is a float (one above it may be rounded down to it), and so are these powers of ten.
_EXACT = float(1 << 53)
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(2 * _EIGHT + 1)])


def every_byte(byte: int) -> np.uint64:
    """Eight bytes that are all the same."""
    return np.uint64(int.from_bytes(bytes([byte] * _EIGHT), "little"))


# A digit less the digit zero is at most 9 and leaves the upper half of its byte empty, also with 6 added.
_ZEROS, _SIXES, _UPPER_HALVES = every_byte(0x30), every_byte(0x06), every_byte(0xF0)
# How far eight bytes that begin with so many digits are shifted so that nothing follows these.
_BITS_BEHIND = np.array([8 * (_EIGHT - count) for count in range(_EIGHT + 1)], dtype=np.uint64)
# What makes one number of two neighbours: the mask of what counts, what weighs the former and adds the latter, and how
# far that is to be shifted down. For digits, for pairs of them, and for fours.
_NEIGHBOURS = tuple(
    (np.uint64(mask), np.uint64(1 + (weight << shift)), np.uint64(shift))
    for mask, weight, shift in (
        (0x0F0F0F0F0F0F0F0F, 10, 8),
        (0x00FF00FF00FF00FF, 100, 16),
        (0x0000FFFF0000FFFF, 10000, 32),
    )
)
# The exponent of a power of two as a float, less what is added to every exponent, is the number of a bit; an eighth of
# it that of a byte.
_TO_BYTE, _ZERO_BYTE = 52 + 3, 1023 // 8
# The bits that stand for bytes which are no digits are in the upper halves of these.
_FIRST_BYTE = _ZERO_BYTE + 1


def floats(text: bytes) -> Floats | None:
    """The numbers of a text that holds nothing else, (n,); None where it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


class Text:
    """A text in which things are looked up at many places at once.

    Args:
        data: the text; places in it are offsets. Some bytes behind them must still be in it.
    """

    def __init__(self, data: bytes) -> None:
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        count = max(0, len(data) - _EIGHT + 1)
        self._eights: Eights = np.ndarray(count, dtype="<u8", buffer=data, strides=(1,))

    def __len__(self) -> int:
        return len(self._bytes)

    def line(self, start: int, end: int) -> bytes:
        """What stands between two places."""
        return self._bytes[start:end].tobytes()

    def lines(self, start: int, end: int) -> tuple[Offsets, Offsets]:
        """Where the lines between two places begin, (n,), and behind their ends, (n,); the last ends with a newline."""
        # In pieces, as the memory for large arrays takes longer to get than to fill.
        parts = [
            _find(_NEWLINE, self._bytes[first : min(first + _CHUNK, end)]) + (first + 1)
            for first in range(start, end, _CHUNK)
        ]
        ends = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        starts = np.empty_like(ends)
        starts[:1] = start
        starts[1:] = ends[:-1]
        return starts, ends

    def matches(self, places: Offsets, words: bytes) -> Flags:
        """At which of some places these words stand, (n,)."""
        if len(words) == 1:
            return self._bytes[places] == words[0]
        found = self._matches_eight(places, words[:_EIGHT])
        for first in range(_EIGHT, len(words), _EIGHT):
            found &= self._matches_eight(places + first, words[first : first + _EIGHT])
        return found

    def _matches_eight(self, places: Offsets, words: bytes) -> Flags:
        """The same for up to eight bytes; none stand everywhere."""
        # What follows the words is shifted out.
        eights = self._eights[places] << np.uint64(8 * (_EIGHT - len(words)))
        return eights == np.uint64(int.from_bytes(words.rjust(_EIGHT, b"\0"), "little"))

    def integers(self, places: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The whole numbers that stand at some places; of more than eight digits, their beginning.

        Returns:
            Their values, float64 (n,), at which places there is one, (n,), and the places behind them, (n,).
        """
        values, counts = _digits(self._eights[places])
        return values, counts > 0, places + counts

    def decimals(self, places: Offsets) -> tuple[Floats, Flags, Offsets]:
        """The plain decimals that stand at some places: a minus or none, digits, and a point with digits or neither.

        Returns:
            The floats that are nearest to them, (n,), at which places there is one that is converted exactly, (n,),
            and the places behind them, (n,). Exact are those of up to eight digits before the point and 15 in all.
        """
        negative = self._bytes[places] == _MINUS
        places = places + negative
        values, counts = _digits(self._eights[places])
        right = counts > 0
        places += counts
        pointed = self._bytes[places] == _POINT
        if pointed.any():
            places += pointed
            right &= self._add_fractions(values, places, pointed)
        if negative.any():
            values *= 1.0 - 2.0 * negative
        return values, right, places

    def _add_fractions(self, values: Floats, places: Offsets, pointed: Flags) -> Flags:
        """Adds what stands behind the points to `values`, and moves `places` behind it; where that is exact, (n,)."""
        fractions, counts = _digits(self._eights_where(places, pointed))
        places += counts
        full = counts == _EIGHT
        if full.any():
            more, more_counts = _digits(self._eights_where(places, full))
            places += more_counts
            fractions *= _POWERS[more_counts]
            fractions += more
            counts += more_counts
        scales = _POWERS[counts]
        values *= scales
        values += fractions
        # A point without digits is left to whoever reads more than plain decimals.
        exact: Flags = (values < _EXACT) & ((counts > 0) | ~pointed)
        values /= scales
        return exact

    def _eights_where(self, places: Offsets, where: Flags) -> Eights:
        """The eight bytes at places, and zeros where they do not matter."""
        eights = self._eights[places]
        if not where.all():
            eights *= where
        return eights


def _find(byte: int, text: npt.NDArray[np.uint8]) -> Offsets:
    """Where a byte stands in a text, (n,)."""
    found = text == byte
    eights = found[: len(found) // _EIGHT * _EIGHT].view("<u8")
    some = np.flatnonzero(eights != 0)
    if len(some) != np.count_nonzero(found):
        return np.flatnonzero(found)
    # Eight places at a time, with one in each that has any.
    exponents = eights[some].astype(np.float64).view(np.int64) >> _TO_BYTE
    return some * _EIGHT + (exponents - _ZERO_BYTE)


def _digits(eights: Eights) -> tuple[Floats, Offsets]:
    """The whole numbers that eight bytes begin with, float64 (n,), and how many digits they have, 0 to 8, (n,).

    `eights` is used up.
    """
    eights ^= _ZEROS
    others = eights + _SIXES
    others |= eights
    others &= _UPPER_HALVES
    # The lowest bit that is set is in the first byte that is no digit. (A carry only reaches bytes behind such a one.)
    others &= np.negative(others)
    counts = others.astype(np.float64).view(np.int64) >> _TO_BYTE
    counts ^= _FIRST_BYTE
    # Without such a byte there is no bit, and the float is 0.
    np.minimum(counts, _EIGHT, out=counts)
    # Zeros come before the digits.
    eights <<= _BITS_BEHIND[counts]
    for mask, weight, shift in _NEIGHBOURS:
        eights &= mask
        eights *= weight
        # In place this is slower in numpy 1.24.
        eights = eights >> shift
    return eights.astype(np.float64), counts
