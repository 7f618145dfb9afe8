"""Blocks of rows laid out line by line, as exporters write them, read before the text around them is taken apart.

Most of an .md5mesh file are lines such as ``vert 7 ( 0.5 0.25 ) 12 2``. Where they are all laid out alike they are read
in columns, and in the text only the word of a block is left. Whatever is laid out in another way (comments, several
rows on one line, anything damaged) is left as it is for the scanner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..model import Floats
from .columns import Layout
from .decimals import Text

# How many numbers stand behind each word, and which of them are whole: a bit each.
_WIDTHS = {b"vert": 5, b"tri": 4, b"weight": 6}
_INTEGER_COLUMNS = {b"vert": 0b11001, b"tri": 0b1111, b"weight": 0b000011}

# The line before a block: ``numverts 24``, then perhaps empty lines and the first row's indentation.
_HEADER = re.compile(rb"num(vert|tri|weight)s[ \t]+\d+[ \t\r]*\n\s*")

# Between the last row and what follows it are no more than so many blanks.
_TAIL = 64

MIN_LINES = 500
"""Fewer lines are read sooner by the scanner."""


@dataclass(frozen=True, eq=False)
class ReducedText:
    """A text of which blocks were taken out.

    Attributes:
        text: what is left: a word, alone on its line, for each block.
        size: of the whole text.
        rows: the numbers of each block, float64 (rows, width), by the offset of its word.
        lines: how many lines are missing behind each word, in the order of the text, by the offset of its end.
    """

    text: bytes
    size: int
    rows: dict[int, Floats] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)


def extract_rows(data: bytes) -> ReducedText:
    """Takes the blocks of rows out of the text of an .md5mesh file."""
    text = Text(data)
    found = list(_candidate_blocks(data))
    blocks = []
    for word, width in _WIDTHS.items():
        alike = [(start, end) for of, start, end in found if of == word]
        layout = Layout.of(data[alike[0][0] : data.index(b"\n", alike[0][0]) + 1], word) if alike else None
        if layout is None or layout.width != width:
            continue
        lines = [text.lines(start, end) for start, end in alike]
        starts, ends = (np.concatenate(places) for places in zip(*lines, strict=True))
        rows = layout.read(text, starts, ends, _INTEGER_COLUMNS[word]) if len(starts) >= MIN_LINES else None
        if rows is not None:
            counts = [len(own) for own, _ in lines]
            parts = np.split(rows, np.cumsum(counts)[:-1])
            blocks += [
                ExtractedBlock(word, *place, len(part), part)
                for place, part in zip(alike, parts, strict=True)
            ]
    return extract(data, blocks)


@dataclass(frozen=True, eq=False)
class ExtractedBlock:
    """A block of lines that was read.

    Attributes:
        word: what is left of it in the text.
        start: the offset of its first line.
        end: the offset behind its last line.
        lines: how many there are.
        rows: their numbers, float64 (rows, width).
    """

    word: bytes
    start: int
    end: int
    lines: int
    rows: Floats


def extract(data: bytes, blocks: list[ExtractedBlock]) -> ReducedText:
    """Leaves the words of blocks in the place of their lines."""
    kept: list[bytes] = []
    rows: dict[int, Floats] = {}
    lines: dict[int, int] = {}
    done = length = 0
    for block in sorted(blocks, key=lambda block: block.start):
        kept += (data[done : block.start], block.word, b"\n")
        offset = length + block.start - done
        rows[offset] = block.rows
        length = offset + len(block.word)
        lines[length] = block.lines - 1
        length += 1
        done = block.end
    return ReducedText(b"".join([*kept, data[done:]]), len(data), rows, lines)


def _candidate_blocks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """What may be blocks of rows: the word, and the lines from a header to the next one, or to a brace."""
    at = 0
    while (at := data.find(b"num", at)) >= 0:
        header = _HEADER.match(data, at)
        at += 3
        if header is None:
            continue
        start = data.rfind(b"\n", 0, header.end()) + 1
        # Headers begin with an n; the words of rows have none. No further than there is looked for a brace.
        limit = data.find(b"n", start)
        limit = limit if limit >= 0 else len(data)
        brace = data.find(b"}", start, limit)
        end = brace if brace >= 0 else limit
        tail = max(start, end - _TAIL)
        last = data.find(b"\n", tail + len(data[tail:end].rstrip()), end)
        # Behind the rows another word would belong to them, such as "nan".
        if last >= 0 and (brace >= 0 or data.startswith(b"num", limit)):
            yield header[1], start, last + 1
            at = last + 1
