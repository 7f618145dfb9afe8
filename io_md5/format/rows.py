"""Blocks of rows laid out line by line, as exporters write them, read before the text around them is taken apart.

Most of an .md5mesh file are lines such as ``vert 7 ( 0.5 0.25 ) 12 2``. Where every line of a block is the same word
and the same number of plain numbers, nothing has to be looked for: the block is converted as a whole, and in the text
only its word is left, followed by as many empty lines, so that every line keeps its number. Whatever is not laid out
so (comments, exponents, several rows on one line, anything damaged) is left as it is for the scanner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .decimals import plain_decimals, whole_numbers

Rows = npt.NDArray[Any]
"""Numbers (rows, width), int64 for triangles, else float64."""
RowBlocks = dict[int, Rows]
"""The numbers of each block by the offset of the word that is left of it."""

# How many numbers stand behind each word.
_WIDTHS = {b"vert": 5, b"tri": 4, b"weight": 6}

_PLAIN = b"0123456789.-"
_BLANKS = b" \t\r()"
_NEWLINE = 0x0A
_ONLY_NUMBERS = bytes(byte if byte in _PLAIN + b"\n" else 0x20 for byte in range(256))

# The line before a block: ``numverts 24``, then perhaps empty lines and the first row's indentation.
_HEADER = re.compile(rb"num(vert|tri|weight)s[ \t]+\d+[ \t\r]*\n\s*")

_LARGEST = float(np.finfo(np.float32).max)


def cut_rows(data: bytes) -> tuple[bytes, RowBlocks]:
    """Takes the blocks of rows out of the text of an .md5mesh file.

    Returns:
        The text that is left, and the blocks.
    """
    kept: list[bytes] = []
    view = memoryview(data)
    found: list[_Block] = []
    done = at = length = 0
    while (at := data.find(b"num", at)) >= 0:
        header = _HEADER.match(data, at)
        at += 3
        if header is None:
            continue
        word = header[1]
        start = data.rfind(b"\n", 0, header.end()) + 1
        end, count = _lines(data, start, word)
        if not count:
            continue
        kept += (data[done:start], word, b"\n" * count)
        offset = length + start - done
        found.append(_Block(offset, view[start:end], count, _WIDTHS[word], word == b"tri"))
        length = offset + len(word) + count
        done = at = end
    blocks: RowBlocks = {}
    for kind in (np.int64, np.float64):
        alike = [block for block in found if block.is_whole == (kind is np.int64)]
        if alike and not _convert(alike, kind, blocks):
            return data, {}
    return b"".join([*kept, data[done:]]), blocks


@dataclass(frozen=True)
class _Block:
    """A block of rows as text.

    Attributes:
        offset: of its word in the text that is left.
        text: its lines, still part of the whole text.
        count: how many they are.
        width: how many numbers a line has.
        is_whole: whether they are whole.
    """

    offset: int
    text: memoryview
    count: int
    width: int
    is_whole: bool


def _lines(data: bytes, start: int, word: bytes) -> tuple[int, int]:
    """Where the lines from an offset on to the next header or brace end, and how many; 0 unless each is as it must be.

    Each begins like the first with its indentation and the word, and goes on with plain numbers.
    """
    # Headers begin with an n; the words of rows have none. No further than there is looked for a brace.
    header = data.find(b"n", start)
    header = header if header >= 0 else len(data)
    brace = data.find(b"}", start, header)
    end = brace if brace >= 0 else header
    last = data.find(b"\n", start + len(data[start:end].rstrip()), end)
    # Behind the rows another word would belong to them, such as "nan".
    if last < 0 or (brace < 0 and not data.startswith(b"num", header)):
        return start, 0
    text = data[start : last + 1]
    words = text.translate(None, _PLAIN + _BLANKS)
    count = len(words) // (len(word) + 1)
    indentation = text.find(word)
    if words != (word + b"\n") * count or indentation < 0:
        return start, 0
    head = b"\n" + text[:indentation] + word + b" "
    return last + 1, count if (b"\n" + text).count(head) == count else 0


def _convert(alike: list[_Block], kind: type[np.int64 | np.float64], blocks: RowBlocks) -> bool:
    """Converts the numbers of some blocks into `blocks`; whether each line has as many as it must."""
    plain = b"".join([block.text for block in alike]).translate(_ONLY_NUMBERS)
    buffer = np.frombuffer(plain, dtype=np.uint8)
    filled = buffer > 0x20
    # A line begins with a word, so no number begins at offset 0.
    starts = np.flatnonzero(filled[1:] > filled[:-1]) + 1
    ends = np.cumsum([block.count * block.width for block in alike])
    if len(starts) != ends[-1]:
        return False
    line_ends = np.flatnonzero(buffer == _NEWLINE)
    line = 0
    for block, part in zip(alike, np.split(starts, ends[:-1]), strict=True):
        own_ends = line_ends[line : line + block.count]
        rows = part.reshape(block.count, block.width)
        if (rows[:, -1] > own_ends).any() or (rows[1:, 0] < own_ends[:-1]).any():
            return False
        line += block.count
    numbers: Rows | None
    if kind is np.int64:
        # Each sign has its number at once; every line, the last one too, ends with its end.
        numbers = None if b"- " in plain or b"-\n" in plain else whole_numbers(plain)
    else:
        numbers = plain_decimals(plain, starts, np.flatnonzero(filled[1:] < filled[:-1]) + 1)
    if numbers is None or len(numbers) != len(starts):
        return False
    largest = np.iinfo(np.int32).max if kind is np.int64 else _LARGEST
    if numbers.max() > largest or numbers.min() < -largest:
        return False
    for block, values in zip(alike, np.split(numbers, ends[:-1]), strict=True):
        blocks[block.offset] = values.reshape(block.count, block.width)
    return True
