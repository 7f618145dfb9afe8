"""Blocks of rows with a line each, as exporters write them, extracted before the rest of the text is scanned.

Lines such as ``vert 7 ( 0.5 0.25 ) 12 2`` are most of an .md5mesh file. Where all lines of a block have the same
layout, they are read in columns, and the remaining text has only the word of the block. Anything else (comments,
several rows on one line, damage) is left unchanged for the scanner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..model import Floats
from .columns import Layout
from .decimals import Text

# The number of values after each word, and a bit for each that is an integer.
_WIDTHS = {b"vert": 5, b"tri": 4, b"weight": 6}
_INTEGER_COLUMNS = {b"vert": 0b11001, b"tri": 0b1111, b"weight": 0b000011}

# The line before a block: ``numverts 24``, then optional empty lines and the first row's indentation.
_HEADER = re.compile(rb"num(vert|tri|weight)s[ \t]+\d+[ \t\r]*\n\s*")

# The most blanks between the last row and the text after it.
_TAIL = 64

MIN_LINES = 100
"""The scanner is faster with fewer lines."""


@dataclass(frozen=True, eq=False)
class ReducedText:
    """A text without the blocks that were extracted.

    Attributes:
        text: the remaining text, with a line that holds only a word for each block.
        size: of the original text, in bytes.
        rows: the numbers of each block, float64 (rows, width), by the offset of its word in `text`.
        lines: the number of lines removed after each word, by the offset of the word's end, in rising order.
    """

    text: bytes
    size: int
    rows: dict[int, Floats] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)


def extract_rows(data: bytes) -> ReducedText:
    """The text of an .md5mesh file without its blocks of rows."""
    text = Text(data)
    found = list(_candidate_blocks(data))
    blocks = []
    for word, width in _WIDTHS.items():
        alike = [(start, end) for found_word, start, end in found if found_word == word]
        layout = Layout.of(data[alike[0][0] : data.index(b"\n", alike[0][0]) + 1], word) if alike else None
        if layout is None or layout.width != width:
            continue
        lines = [text.lines(start, end) for start, end in alike]
        starts, ends = (np.concatenate(places) for places in zip(*lines, strict=True))
        rows = layout.read(text, starts, ends, _INTEGER_COLUMNS[word]) if len(starts) >= MIN_LINES else None
        if rows is not None:
            counts = [len(line_starts) for line_starts, _ in lines]
            parts = np.split(rows, np.cumsum(counts)[:-1])
            blocks += [
                ExtractedBlock(word, *place, len(part), part)
                for place, part in zip(alike, parts, strict=True)
            ]
    return extract(data, blocks)


@dataclass(frozen=True, eq=False)
class ExtractedBlock:
    """A block of lines that were read in columns.

    Attributes:
        word: that replaces it in the text.
        start: the offset of its first line.
        end: the offset after its last line.
        lines: the number of lines.
        rows: the numbers, float64 (rows, width).
    """

    word: bytes
    start: int
    end: int
    lines: int
    rows: Floats


def extract(data: bytes, blocks: list[ExtractedBlock]) -> ReducedText:
    """The text with the lines of blocks replaced by their words."""
    pieces: list[bytes] = []
    rows: dict[int, Floats] = {}
    lines: dict[int, int] = {}
    position = length = 0
    for block in sorted(blocks, key=lambda block: block.start):
        pieces += (data[position : block.start], block.word, b"\n")
        offset = length + block.start - position
        rows[offset] = block.rows
        length = offset + len(block.word)
        lines[length] = block.lines - 1
        length += 1
        position = block.end
    return ReducedText(b"".join([*pieces, data[position:]]), len(data), rows, lines)


def _candidate_blocks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The word, start and end of possible blocks of rows: from a header to the next one, or to a brace."""
    at = 0
    while (at := data.find(b"num", at)) >= 0:
        header = _HEADER.match(data, at)
        at += 3
        if header is None:
            continue
        start = data.rfind(b"\n", 0, header.end()) + 1
        # Headers begin with an n, which the words of rows do not contain; a brace is searched for up to there.
        limit = data.find(b"n", start)
        limit = limit if limit >= 0 else len(data)
        brace = data.find(b"}", start, limit)
        end = brace if brace >= 0 else limit
        tail = max(start, end - _TAIL)
        last = data.find(b"\n", tail + len(data[tail:end].rstrip()), end)
        # Any other word after the rows, such as "nan", would be part of them.
        if last >= 0 and (brace >= 0 or data.startswith(b"num", limit)):
            yield header[1], start, last + 1
            at = last + 1
