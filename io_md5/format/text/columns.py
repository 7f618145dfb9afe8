"""Lines of numbers with the same layout, read column by column.

An exporter prints every line of a table with the same words and blanks between its numbers. Then only the line ends
have to be searched for: all numbers of a column are converted at once, which gives their end offsets, and each must be
followed by the same bytes as in the first line. So every byte is either part of a number or compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..model import LARGEST, Floats
from .decimals import Flags, Offsets, Text

_PLAIN = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBER = re.compile(rb"(?<![^ \t()])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![^ \t\r\n()])")
_BLANKS = b" \t()"

MAX_GAP = 32
"""The most bytes that are compared between two numbers: no exporter indents further."""
# The most bytes that a number and the gap after it take, or that are read while parsing them.
_MAX_FIELD = 64 + MAX_GAP

LINES_AT_ONCE = 1 << 13
"""Lines converted at once: few enough to stay in the processor's cache and to be allocated quickly."""

# Lines with another layout than the first, for instance with an exponent, are read one by one, up to one in this many,
# plus a few.
_MAX_ODD_FRACTION, _MAX_ODD_LINES = 16, 64


@dataclass(frozen=True)
class Layout:
    """The bytes between the numbers of a line.

    Attributes:
        lead: before the first number, including the word that the line begins with.
        gaps: after each number; the last includes the end of the line.
        word: that the line begins with; may be empty.
    """

    lead: bytes
    gaps: tuple[bytes, ...]
    word: bytes = b""

    @classmethod
    def of(cls, line: bytes, word: bytes = b"") -> Layout | None:
        """The layout of a line of a word, then numbers, blanks and parentheses; None if it holds anything else."""
        # Lines differ in their numbers more than in their layout.
        return _layout(_PLAIN.sub(b"0", line), word)

    @property
    def width(self) -> int:
        """The number of values in a line."""
        return len(self.gaps)

    def read(self, text: Text, starts: Offsets, ends: Offsets, integers: int = 0) -> Floats | None:
        """The numbers of the lines from `starts` to `ends` in a text, (n, width), column by column in memory.

        None if more than a few lines have another layout, or if one of those is not made of the word and numbers that
        are finite as 32-bit floats. `integers` has a bit for each column that should hold short unsigned integers; bit
        0 is the first column.
        """
        table = np.empty((self.width, len(starts))).T
        # A line with another layout may be read beyond its end, but nothing may be read beyond the end of the text.
        room = self.width * _MAX_FIELD
        line_count = int(np.searchsorted(ends, len(text) - room, side="right"))
        pieces = [
            (slice(first, min(first + LINES_AT_ONCE, line_count)), text, 0)
            for first in range(0, line_count, LINES_AT_ONCE)
        ]
        if line_count < len(starts):
            before = int(starts[line_count])
            last = Text(text.line(before, len(text)) + bytes(room))
            pieces.append((slice(line_count, len(starts)), last, before))
        odd_lines: list[int] = []
        for piece, source, before in pieces:
            is_regular = self._read(
                source, starts[piece] - before, ends[piece] - before, table[piece], integers
            )
            odd_lines += (np.flatnonzero(~is_regular) + piece.start).tolist()
            if len(odd_lines) > _MAX_ODD_LINES + piece.stop // _MAX_ODD_FRACTION:
                return None
        for line in odd_lines:
            numbers = self._numbers(text.line(int(starts[line]), int(ends[line])))
            # Numbers converted in bulk are never that large.
            if numbers is None or max(map(abs, numbers)) > LARGEST:
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
        if (
            len(numbers) != self.width
            or between != self.word + b"\n"
            or not line.strip().startswith(self.word)
        ):
            return None
        return [float(number) for number in numbers]


@lru_cache(16)
def _layout(line: bytes, word: bytes) -> Layout | None:
    """The layout of a line whose numbers are all 0; see `Layout.of`."""
    lead, *gaps = line.split(b"0")
    begins = lead.strip(_BLANKS) == word and (not word or not lead.endswith(word))
    blank = all(gap and not gap.strip(_BLANKS) for gap in gaps[:-1])
    ends = bool(gaps) and gaps[-1].lstrip(_BLANKS + b"\r") == b"\n"
    short = max(map(len, (lead, *gaps))) <= MAX_GAP
    return Layout(lead, tuple(gaps), word) if begins and blank and ends and short else None
