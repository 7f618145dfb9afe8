"""Lines of numbers that are laid out alike, read column by column.

An exporter prints every line of a table with the same words and blanks between its numbers. Then nothing has to be
looked for but the ends of the lines: the numbers of a column are converted all at once, which tells where they end, and
behind each the same bytes must follow as in the first line. So every byte is either part of a number or compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..model import LARGEST, Floats
from .decimals import Flags, Offsets, Text

_PLAIN = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBER = re.compile(rb"(?<![^ \t()])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![^ \t\r\n()])")
_BLANKS = b" \t()"

MAX_GAP = 32
"""So many bytes are compared at most between two numbers: nobody indents further."""
# A number and what stands behind it take no more bytes, nor does looking for them.
_MAX_FIELD = 64 + MAX_GAP

# So many lines are converted at once: they stay in the processor's cache, and are small for the memory's allocator.
_CHUNK = 1 << 13
# Lines that are not laid out as the first one, for instance with an exponent, are read one by one, and those at the end
# of the text; of all lines no more than this part, and some.
_MAX_ODD_FRACTION, _MAX_ODD_LINES = 16, 64


@dataclass(frozen=True)
class Layout:
    """What stands between the numbers of a line.

    Attributes:
        lead: before the first, with the word that the line begins with.
        gaps: behind each; the last with the end of the line.
        word: that the line begins with, or nothing.
    """

    lead: bytes
    gaps: tuple[bytes, ...]
    word: bytes = b""

    @classmethod
    def of(cls, line: bytes, word: bytes = b"") -> Layout | None:
        """The layout of a line that begins with a word, then holds numbers, blanks and parentheses and ends.

        Returns:
            None if it holds anything else.
        """
        lead, *gaps = _PLAIN.split(line)
        begins = lead.strip(_BLANKS) == word and (not word or not lead.endswith(word))
        blank = all(gap and not gap.strip(_BLANKS) for gap in gaps[:-1])
        ends = bool(gaps) and gaps[-1].lstrip(_BLANKS + b"\r") == b"\n"
        short = max(map(len, (lead, *gaps))) <= MAX_GAP
        return cls(lead, tuple(gaps), word) if begins and blank and ends and short else None

    @property
    def width(self) -> int:
        """How many numbers a line has."""
        return len(self.gaps)

    def read(self, text: Text, starts: Offsets, ends: Offsets, integers: int = 0) -> Floats | None:
        """The numbers of some lines.

        Args:
            text: in which they are.
            starts: where each begins, (n,).
            ends: behind its end, (n,).
            integers: a bit for each column that should hold short whole numbers without sign; 1 for the first.

        Returns:
            The numbers (n, width), column by column in memory; None if more than a few lines are laid out in another
            way, or one of them is not made of word and numbers that are finite as 32-bit floats.
        """
        table = np.empty((self.width, len(starts))).T
        # What is laid out in another way may seem to go on beyond its line, but nothing may go on beyond the text.
        whole = int(np.searchsorted(ends, len(text) - self.width * _MAX_FIELD, side="right"))
        odd = list(range(whole, len(starts)))
        for first in range(0, whole, _CHUNK):
            piece = slice(first, min(first + _CHUNK, whole))
            alike = self._read(text, starts[piece], ends[piece], table[piece], integers)
            odd += (np.flatnonzero(~alike) + first).tolist()
            if len(odd) > _MAX_ODD_LINES + (first + len(alike)) // _MAX_ODD_FRACTION:
                return None
        for line in odd:
            numbers = self._numbers(text.line(int(starts[line]), int(ends[line])))
            # Those that are converted in bulk are never so large.
            if numbers is None or max(map(abs, numbers)) > LARGEST:
                return None
            table[line] = numbers
        return table

    def _read(self, text: Text, starts: Offsets, ends: Offsets, table: Floats, integers: int) -> Flags:
        """Fills a table, as far as lines are laid out like this; which are, (n,)."""
        alike = text.matches(starts, self.lead)
        places = starts + len(self.lead)
        for column, gap in enumerate(self.gaps):
            convert = text.integers if integers >> column & 1 else text.decimals
            table[:, column], right, places = convert(places)
            alike &= right
            alike &= text.matches(places, gap)
            places += len(gap)
        return alike & (places == ends)

    def _numbers(self, line: bytes) -> list[float] | None:
        """The numbers of a line, if it is made of the word and as many numbers."""
        numbers = _NUMBER.findall(line)
        between = _NUMBER.sub(b"", line).translate(None, _BLANKS + b"\r")
        if (
            len(numbers) != self.width
            or between != self.word + b"\n"
            or not line.strip().startswith(self.word)
        ):
            return None
        return [float(number) for number in numbers]
