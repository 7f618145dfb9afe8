"""Lines of numbers as exporters write them, extracted before the rest of the text is scanned.

Where all lines of a block, or all frames, have the same layout, they are read in columns, and the remaining text has
only a word for them. Anything else (comments, several rows on one line, damage) is left to the scanner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ....io_common.skeletal.model import LARGEST, Floats
from .columns import LINES_AT_ONCE, MAX_GAP, Layout, Offsets, Text, floats

# The number of values after each word, and a bit for each that is an integer.
_WIDTHS = {b"vert": 5, b"tri": 4, b"weight": 6}
_INTEGER_COLUMNS = {b"vert": 0b11001, b"tri": 0b1111, b"weight": 0b000011}

# The line before a block: ``numverts 24``, then optional empty lines and the first row's indentation.
_HEADER = re.compile(rb"num(vert|tri|weight)s[ \t]+\d+[ \t\r]*\n\s*")

_TAIL = 64  # the most blanks between the last row and the text after it
_SHORT = 1 << 16  # frames that are shorter, in bytes, are converted at once
MIN_LINES = 100  # the scanner is faster with fewer lines
_SMALL = 1 << 16  # bytes of a file that may have fewer


@dataclass(frozen=True, eq=False)
class ReducedText:
    """A text with a word and empty lines for each block that was extracted, so that lines keep their numbers."""

    text: bytes
    size: int  # of the original text, in bytes
    rows: dict[int, Floats] = field(default_factory=dict)  # (rows, width) of each block, by its word's offset


def extract_rows(data: bytes) -> ReducedText:
    """The text of an .md5mesh file without its blocks of rows."""
    if len(data) < _SMALL and data.count(b"\n") < MIN_LINES:
        return ReducedText(data, len(data))
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
            blocks += [ExtractedBlock(word, *place, part) for place, part in zip(alike, parts, strict=True)]
    return extract(data, blocks)


@dataclass(frozen=True, eq=False)
class ExtractedBlock:
    """A block of lines that were read in columns."""

    word: bytes  # that replaces it in the text
    start: int  # offset of its first line
    end: int  # offset after its last line
    rows: Floats  # (rows, width)


def extract(data: bytes, blocks: list[ExtractedBlock]) -> ReducedText:
    """The text with the lines of blocks replaced by their words and empty lines."""
    pieces: list[bytes] = []
    rows: dict[int, Floats] = {}
    position = length = 0
    for block in sorted(blocks, key=lambda block: block.start):
        rows[length + block.start - position] = block.rows
        lines = data.count(b"\n", block.start, block.end)
        pieces += (data[position : block.start], block.word, b"\n" * lines)
        length += block.start - position + len(block.word) + lines
        position = block.end
    return ReducedText(b"".join([*pieces, data[position:]]), len(data), rows)


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


_FRAME = re.compile(rb"(frame[ \t]+)\d+([ \t]*\{[ \t\r]*\n)")
_NEXT_FRAME = re.compile(rb"\}\s*frame[ \t]+(\d+)[ \t]*\{")
_FRAME_MARK = 1e308  # stands for the word of a frame; no file may hold a number as large
_PLACEHOLDER = b"frame{}"
_BLANKS = b" \t\r\n"


def extract_frames(data: bytes) -> ReducedText:
    """The text of an .md5anim file with one block of frames (number, components), if all have one layout."""
    with_newline = data if data.endswith(b"\n") else data + b"\n"
    first, head = _first_frame(with_newline)
    block = None
    if head is not None and len(data) - first < _SHORT:
        block = _short_frames(with_newline, first)
    if head is not None and block is None:
        block = _frames_in_columns(with_newline, first, head)
    if block is None:
        return ReducedText(data, len(data))
    reduced = extract(with_newline, [block])
    return reduced if with_newline is data else replace(reduced, text=reduced.text[:-1], size=len(data))


def _first_frame(data: bytes) -> tuple[int, Layout | None]:
    """The offset and layout of the line that opens the first frame; None if it has no layout for columns."""
    at = 0
    while (at := data.find(b"frame", at)) >= 0:
        if match := _FRAME.match(data, at):
            start = data.rfind(b"\n", 0, at) + 1
            head = Layout(data[start:at] + match[1], (match[2],))
            fits_in = head.lead.strip(_BLANKS) == b"frame" and max(len(head.lead), len(match[2])) <= MAX_GAP
            return start, head if fits_in else None
        at += len(b"frame")
    return 0, None


def _short_frames(data: bytes, first: int) -> ExtractedBlock | None:
    """All frames, if nothing follows them, they have one size, and their numbers are finite."""
    # One conversion of all numbers is faster than columns as long as there are few.
    opening, *parts = _NEXT_FRAME.split(b"}" + data[first:].rstrip(_BLANKS))
    numbers, bodies = parts[::2], parts[1::2]
    if opening or not bodies or not bodies[-1].endswith(b"}"):
        return None
    bodies[-1] = bodies[-1][:-1]
    mark = b" %r " % _FRAME_MARK
    values = floats(mark + mark.join(bodies))
    if values is None or len(values) % len(bodies):
        return None
    rows = values.reshape(len(bodies), -1)
    if not (rows[:, 0] == _FRAME_MARK).all():
        return None
    rows[:, 0] = [float(number) for number in numbers]
    if not (np.abs(rows) <= LARGEST).all():
        return None
    return ExtractedBlock(_PLACEHOLDER, first, len(data), rows)


def _frames_in_columns(data: bytes, first: int, head: Layout) -> ExtractedBlock | None:
    """All frames, if each has the lines of the first."""
    text = Text(data)
    starts, ends = text.lines(first, len(data))
    frames = np.flatnonzero(text.matches(starts, head.lead))
    step = int(frames[1]) if len(frames) > 1 else 0
    if not step or not np.array_equal(frames, np.arange(len(frames)) * step):
        return None
    lines = [data[start:end] for start, end in zip(starts[:step], ends[:step], strict=True)]
    size = next((line + 1 for line in range(step) if lines[line].strip(_BLANKS) == b"}"), 0)
    if not size or frames[-1] + size > len(starts):
        return None
    rows = _read_frames(text, starts, ends, frames, head, lines, size)
    if rows is None:
        return None
    return ExtractedBlock(_PLACEHOLDER, first, int(ends[frames[-1] + size - 1]), rows)


def _read_frames(
    text: Text, starts: Offsets, ends: Offsets, firsts: Offsets, head: Layout, lines: list[bytes], size: int
) -> Floats | None:
    """The numbers of all frames, (F, n); None if frames differ, or are so few that the scanner is faster."""
    # `firsts` (F,) are the lines that open a frame; `lines` are those up to the second one, the first `size` its own.
    tables: dict[tuple[Layout, bool], list[int]] = {(head, True): [0]}
    widths = [head.width] + [0] * (size - 1)
    for line, content in enumerate(lines[1:], 1):
        layout = Layout.of(content) if line < size else None
        if layout is not None:
            widths[line] = layout.width
        elif len(content) <= MAX_GAP and content.strip(_BLANKS) == (b"}" if line == size - 1 else b""):
            layout = Layout(content, ())
        else:
            return None
        tables.setdefault((layout, line < size), []).append(line)
    columns = np.cumsum([0, *widths])
    if len(firsts) * columns[-1] < MIN_LINES * sum(layout.width for layout, _ in tables):
        return None
    table = np.empty((len(firsts), columns[-1]))
    step = max(1, LINES_AT_ONCE // size)
    for (layout, is_inside), members in tables.items():
        # The lines after the last frame may differ from those between frames.
        count = len(table) if is_inside else len(table) - 1
        places: slice | Offsets = (columns[members][:, None] + np.arange(layout.width)).ravel()
        if members[-1] - members[0] + 1 == len(members):
            places = slice(int(columns[members[0]]), int(columns[members[-1]]) + layout.width)
        for begin in range(0, count, step):
            piece = slice(begin, min(begin + step, count))
            rows = (firsts[piece, None] + members).ravel()
            numbers = layout.read(text, starts[rows], ends[rows], integers=int(layout is head))
            if numbers is None:
                return None
            table[piece, places] = numbers.reshape(piece.stop - begin, len(members) * layout.width)
    return table
