"""Splits the text of an MD5 file into numbers, in bulk, and the marks that stand between them.

An MD5 file is nearly all numbers. They are found and converted by a few passes over the whole file;
what gives them meaning (words, quoted strings, braces) is kept as a list of marks, each knowing how many
numbers precede it. ``vert 7 ( 0.5 0.25 ) 12 2`` is the mark ``vert`` followed by five numbers.

Facts of the text, as Doom 3's lexer has them: bytes up to the space and, outside strings, from 0x80 on are
white space (so a byte order mark and trailing NULs vanish); ``//`` and ``/* */`` are comments; a string stands
in double quotes, holds no newline, and a backslash in it is literal. Parentheses only separate: the number of
values says whether a vector is complete. More liberal than that lexer: a leading ``+``, ``1E-5``, and the
``nan``, ``inf`` and ``1.#IND`` that broken exporters write (read as 0, with a warning).

The passes go over a piece of the text after the other, so that they need little room besides what they find; that, and
with it all that is needed at once, is less than twelve times the size of the text.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import Md5Error
from ..model import LARGEST
from .decimals import floats
from .rows import Cut

IntArray = npt.NDArray[np.signedinteger[Any]]
FloatArray = npt.NDArray[np.float64]

_QUOTE, _OPEN, _CLOSE = b'"{}'
_BLANK_CLASS, _BODY_CLASS, _OPEN_CLASS, _CLOSE_CLASS, _STRING_CLASS = range(5)

# Stands for one whole string while the text is taken apart; a control byte cannot occur otherwise, since
# every byte below the space is blanked where it is found outside strings.
_STRING_MARK = 1

# A string that is not closed ends with its line, a comment with the file; both are complained of where they matter.
_STRING_OR_COMMENT = re.compile(rb'"[^"\r\n]*"?|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)')
_NUMBER = re.compile(rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_NOT_FINITE = re.compile(rb"[-+]?(?:\d*\.#\w+|nan|inf(?:inity)?)", re.IGNORECASE)
_NOT_FINITE_WORDS = (b"nan", b"inf", b"infinity")
# Newer Microsoft libraries print -nan(ind), whose word would stand by itself once parentheses are blank.
_NAN_PAYLOAD = re.compile(rb"(?<=nan)\(\w*\)", re.IGNORECASE)

# The text is cut where no word or number is torn apart, at the first place behind so many bytes.
_PIECE = 1 << 15
_BETWEEN_TOKENS = re.compile(rb"[^\x21-\x7f]|[(){}]")
# No file has more words, strings and braces than one for so many bytes (of ten thousand empty frames, each has three
# in fifteen); they take more room than numbers. What may begin or end one is counted before.
_BYTES_PER_MARK, _BYTES_PER_MARKING, _FEW_MARKS = 5, 3, 1 << 14

# Places in files are counted by these while they are large enough.
_SHORT_OFFSETS = np.iinfo(np.int32).max
_LINES_APART = 1 << 12

# What exporters for Sauerbraten note in each mesh block: ``// meshes: NAME``.
_MESH_COMMENT = re.compile(rb"//[ \t]*meshes:[ \t]*([^\r\n]*)")

# Words up to this length are blanked a column at a time, longer ones one by one.
_SHORT_WORD = 16


def _class_table() -> bytes:
    table = bytearray([_BLANK_CLASS] * 256)
    for byte in range(0x21, 0x80):
        table[byte] = _BODY_CLASS
    for byte in b"()":
        table[byte] = _BLANK_CLASS
    table[_OPEN] = _OPEN_CLASS
    table[_CLOSE] = _CLOSE_CLASS
    table[_STRING_MARK] = _STRING_CLASS
    return bytes(table)


def _number_start_table() -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=bool)
    table[list(b"0123456789+-.")] = True
    return table


_CLASSES = _class_table()
_NUMBER_STARTS = _number_start_table()
_ONLY_BODY = bytes(byte if _CLASSES[byte] == _BODY_CLASS else 0x20 for byte in range(256))
# Control bytes outside strings are blanked before a string's mark is put in.
_NO_CONTROLS = bytes(byte if byte >= 0x20 else 0x20 for byte in range(256))


class Scan:
    """The numbers and marks of one text.

    A mark is a word, a string or a brace; marks are counted from 0 in the order of the file.

    Args:
        source: the bytes of the file, or what is left of them.
        path: its name, for messages.

    Attributes:
        file_size: of the whole file, in bytes.
        numbers: every number of the text in order, float64 (N,); finite.
        warnings: what was odd, in words.

    Raises:
        Md5Error: a token begins like a number and is none, before the last brace.
    """

    def __init__(self, source: bytes | Cut, path: str = "") -> None:
        self._cut = source if isinstance(source, Cut) else Cut(source, len(source))
        self.data = self._cut.text
        self.path = path
        self.file_size = self._cut.size
        self.warnings: list[str] = []
        # Where they begin; a hostile file may have as many as lines.
        self._mesh_comments = array("q")
        self._open_comment: int | None = None
        self._check_marks(sum(map(self.data.count, (b'"', b"{", b"}"))), _BYTES_PER_MARKING, 0)

        text = self._without_strings_and_comments()
        self._last_brace = text.rfind(b"}")
        offset: npt.DTypeLike = np.int32 if len(text) < _SHORT_OFFSETS else np.int64
        self._found = _Found(
            *(_Growing(kind) for kind in (np.float64, offset, offset, offset, offset, np.uint64))
        )
        self._may_be_not_finite = self._may_hold_words(self.data, b"nan", b"inf")
        start = 0
        while start < len(text):
            gap = _BETWEEN_TOKENS.search(text, min(start + _PIECE, len(text)))
            end = gap.start() if gap else len(text)
            self._take(bytearray(text[start:end]), start)
            self._check_marks(len(self._found.offsets), _BYTES_PER_MARK, start)
            start = end
        del text
        found = self._found
        self.numbers: FloatArray = found.numbers.done()
        self.number_offsets: IntArray = found.number_offsets.done()
        found.numbers_before.add(np.array([len(self.numbers)]))
        self.mark_offsets: IntArray = found.offsets.done()
        self._mark_ends: IntArray = found.ends.done()
        self.mark_numbers: IntArray = found.numbers_before.done()
        self.mark_codes: npt.NDArray[np.uint64] = found.codes.done()
        self._warn_of_not_finite()

    # What the parsers ask

    def __len__(self) -> int:
        """The number of marks."""
        return len(self.mark_offsets)

    def text(self, mark: int) -> str:
        """The word, the brace, or ``"`` for a string."""
        if mark >= len(self):
            return ""
        if self.is_string(mark):
            return '"'
        start, end = self.mark_offsets[mark], self._mark_ends[mark]
        return self.data[start:end].decode("latin-1")

    def key(self, mark: int) -> str:
        """The word in lower case: old files write ``nummeshes`` where newer ones write ``numMeshes``."""
        return self.text(mark).lower()

    def is_string(self, mark: int) -> bool:
        """Whether the mark is a quoted string."""
        return mark < len(self) and self.mark_codes[mark] == _QUOTE

    def name(self, mark: int) -> str:
        """The value of a string; an unquoted word stands for itself, as in Doom 3's lexer.

        Raises:
            Md5Error: the string is not closed on its line.
        """
        if not self.is_string(mark):
            return self.text(mark)
        offset = int(self.mark_offsets[mark])
        string = _STRING_OR_COMMENT.match(self.data, offset)
        assert string is not None
        written = string[0]
        is_closed = len(written) > 1 and written[-1] == _QUOTE
        value = written[1 : len(written) - is_closed].decode("utf-8", "surrogateescape")
        if not is_closed:
            raise Md5Error(
                "a string is not closed", path=self.path, line=self.line(offset),
                found=repr(value), expected='" before the end of the line',
            )  # fmt: skip
        return value

    def values(self, mark: int) -> FloatArray:
        """The numbers between this mark and the next, float64 (n,)."""
        return self.numbers[self.mark_numbers[mark] : self.mark_numbers[mark + 1]]

    def counts(self, first: int, last: int) -> IntArray:
        """How many numbers follow each of the marks first … last - 1, (last - first,)."""
        return np.diff(self.mark_numbers[first : last + 1])

    def rows(self, mark: int) -> FloatArray | None:
        """The numbers of the block of rows that was taken out behind this mark, (rows, width), if one was."""
        return self._cut.rows.get(int(self.mark_offsets[mark]))

    def mesh_comment(self, opening: int, closing: int) -> str:
        """The name in the last comment ``// meshes: NAME`` between two marks, as Sauerbraten takes it; or nothing."""
        last = bisect_left(self._mesh_comments, int(self.mark_offsets[closing])) - 1
        if last < 0 or self._mesh_comments[last] < self.mark_offsets[opening]:
            return ""
        comment = _MESH_COMMENT.match(self.data, self._mesh_comments[last])
        return comment[1].rstrip().decode("utf-8", "surrogateescape") if comment else ""

    def run_end(self, mark: int) -> int:
        """The mark after the run of equal marks that this one stands in."""
        return int(self._run_ends[np.searchsorted(self._run_ends, mark, side="right")])

    @cached_property
    def closings(self) -> IntArray:
        """The marks that are closing braces."""
        return np.flatnonzero(self.mark_codes == _CLOSE)

    def block_end(self, opening: int) -> int:
        """The closing brace of a block without inner braces.

        Raises:
            Md5Error: the file ends, or another block opens, before this one is closed.
        """
        at = np.searchsorted(self.closings, opening)
        end = int(self.closings[at]) if at < len(self.closings) else len(self)
        inner = np.flatnonzero(self.mark_codes[opening + 1 : end] == _OPEN)
        if len(inner):
            raise self.error("a block is not closed", opening + 1 + int(inner[0]), expected="}")
        if end == len(self) and self._open_comment is not None:
            raise Md5Error(
                "a comment is not closed", path=self.path, line=self.line(self._open_comment),
                found="/*", expected="*/",
            )  # fmt: skip
        if end == len(self):
            raise Md5Error(
                f"the block opened at line {self.line(int(self.mark_offsets[opening]))} is not closed",
                path=self.path, line=self.line(len(self.data)), found="the end of the file", expected="}",
            )  # fmt: skip
        return end

    def line(self, offset: int) -> int:
        """The line of a byte, counted from 1."""
        words, missing = self._missing_lines
        steps = min(offset // _LINES_APART, len(self._lines_before) - 1)
        lines = self._lines_before[steps] + self.data.count(b"\n", steps * _LINES_APART, offset)
        return int(lines + missing[np.searchsorted(words, offset, side="right")]) + 1

    @cached_property
    def _lines_before(self) -> IntArray:
        """How many newlines stand before each of some places; a hostile file has many places to complain of."""
        places = range(0, len(self.data), _LINES_APART)
        counts = [self.data.count(b"\n", place, place + _LINES_APART) for place in places]
        return np.cumsum([0, *counts])

    @cached_property
    def _missing_lines(self) -> tuple[IntArray, IntArray]:
        """The ends of the words behind which lines are missing, (n,), and how many up to each of them, (n + 1,)."""
        lines = self._cut.lines
        return np.array(list(lines), dtype=np.int64), np.cumsum([0, *lines.values()])

    def mark_line(self, mark: int) -> int:
        """The line of a mark, counted from 1; that of the last byte for the mark after the last."""
        return self.line(int(self.mark_offsets[mark]) if mark < len(self) else len(self.data))

    def number_line(self, number: int) -> int:
        """The line of the number with this index in `numbers`, counted from 1."""
        return self.line(int(self.number_offsets[number]))

    def error(
        self, reason: str, mark: int, *, found: str | None = None, expected: str | None = None
    ) -> Md5Error:
        """An error at a mark; `found` is the mark itself unless told."""
        if found is None:
            found = repr(self.name(mark)) if mark < len(self) else "the end of the file"
        return Md5Error(reason, path=self.path, line=self.mark_line(mark), found=found, expected=expected)

    def number_error(self, reason: str, number: int, expected: str) -> Md5Error:
        """An error at the number with this index in `numbers`."""
        found = f"{self.numbers[number]:.10g}"
        return Md5Error(reason, path=self.path, line=self.number_line(number), found=found, expected=expected)

    @cached_property
    def _run_ends(self) -> IntArray:
        """The marks behind runs of equal marks."""
        changes = np.flatnonzero(self.mark_codes[1:] != self.mark_codes[:-1]) + 1
        return np.append(changes, len(self))

    # How the text is taken apart

    def _check_marks(self, count: int, bytes_for_each: int, offset: int) -> None:
        """Checks that there are not more marks than any file has.

        Raises:
            Md5Error: there are.
        """
        if count > _FEW_MARKS + self.file_size // bytes_for_each:
            raise Md5Error(
                "words, strings and braces are out of proportion", path=self.path, line=self.line(offset),
                found=f"{count} in {self.file_size} bytes",
                expected=f"at most one for every {_BYTES_PER_MARK} bytes",
            )  # fmt: skip

    def _without_strings_and_comments(self) -> bytearray:
        """The text with comments blanked and every string replaced by a mark."""
        text = bytearray(self.data)
        # Control bytes may be marks only where they are put in below.
        for start in range(0, len(text), _PIECE):
            text[start : start + _PIECE] = text[start : start + _PIECE].translate(_NO_CONTROLS)
        for start, end in self._strings_and_comments():
            text[start:end] = b" " * (end - start)
            if self.data[start] == _QUOTE:
                text[start] = _STRING_MARK
            elif _MESH_COMMENT.match(self.data, start):
                self._mesh_comments.append(start)
            elif self.data.startswith(b"/*", start) and not self.data.endswith(b"*/", start + 2, end):
                self._open_comment = start
                self.warnings.append(f"the comment that begins at line {self.line(start)} is not closed")
        if self._may_hold_words(self.data, b"nan"):
            for payload in _NAN_PAYLOAD.finditer(text):
                text[payload.start() : payload.end()] = b" " * len(payload[0])
        return text

    def _strings_and_comments(self) -> Iterator[tuple[int, int]]:
        """Where each begins and ends."""
        # Most of an animation is numbers, behind the last of them.
        last = max(self.data.rfind(b'"'), self.data.rfind(b"/"))
        at = 0
        while at <= last and (match := _STRING_OR_COMMENT.search(self.data, at)):
            yield match.span()
            at = match.end()

    @staticmethod
    def _may_hold_words(text: bytes | bytearray, *words: bytes) -> bool:
        """Whether one of some words of letters may be in a text; if not, it is not."""
        # Without what numbers are made of, little is left.
        letters = text.translate(None, b"0123456789.-+() \t\r\n").lower()
        return any(word in letters for word in words)

    def _take(self, text: bytearray, place: int) -> None:
        """Takes the numbers and marks of a piece of the text, which is changed.

        Args:
            text: the piece.
            place: its offset.
        """
        text += b" " * 8
        classes = np.frombuffer(text.translate(_CLASSES), dtype=np.uint8)
        body = classes == _BODY_CLASS
        edges = np.flatnonzero(body[1:] != body[:-1])
        edges += 1
        if body[0]:
            edges = np.concatenate(([0], edges))
        starts, ends = edges[0::2], edges[1::2]

        buffer = np.frombuffer(text, dtype=np.uint8)
        is_number = _NUMBER_STARTS[buffer[starts]]
        if self._may_be_not_finite and self._may_hold_words(text, b"nan", b"inf"):
            lower = text.lower()
            for token in np.flatnonzero(~is_number):
                if bytes(lower[starts[token] : ends[token]]) in _NOT_FINITE_WORDS:
                    is_number[token] = True
        number_starts = starts[is_number]
        word_tokens = np.flatnonzero(~is_number)
        word_starts, word_ends = starts[word_tokens], ends[word_tokens]
        numbers_before = word_tokens - np.arange(len(word_tokens))
        codes = self._codes(buffer, word_starts, word_ends, place)
        numbers = self._convert(
            text, buffer, (word_starts, word_ends), (number_starts, ends[is_number]), place
        )
        self._take_marks(classes, (word_starts, word_ends, numbers_before, codes), number_starts, place)
        self._found.numbers.add(numbers)
        self._found.number_offsets.add(number_starts + place)

    @staticmethod
    def _codes(
        buffer: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray, place: int
    ) -> npt.NDArray[np.uint64]:
        """A number for each word that equals its neighbour's exactly if the words are equal (W,).

        The first eight bytes, so it says nothing of longer words: those get the number of their offset.
        """
        columns = np.arange(8)
        letters = buffer[starts[:, None] + columns]
        letters[columns >= (ends - starts)[:, None]] = 0
        codes = np.ascontiguousarray(letters).view(np.uint64).ravel()
        long = ends - starts > 8
        codes[long] = (starts[long] + place).astype(np.uint64) + (1 << 63)
        return codes

    def _convert(
        self,
        text: bytearray,
        buffer: npt.NDArray[np.uint8],
        words: tuple[IntArray, IntArray],
        numbers: tuple[IntArray, IntArray],
        place: int,
    ) -> FloatArray:
        """All numbers of a piece of the text, float64 (N,); words are blanked in it."""
        word_starts, word_ends = words
        lengths = word_ends - word_starts
        for column in range(min(_SHORT_WORD, int(lengths.max(initial=0)))):
            buffer[word_starts[lengths > column] + column] = 0x20
        for word in np.flatnonzero(lengths > _SHORT_WORD):
            buffer[word_starts[word] : word_ends[word]] = 0x20
        values = floats(bytes(text.translate(_ONLY_BODY)))
        if values is None or len(values) != len(numbers[0]):
            values = self._convert_one_by_one(*numbers, place)
        return values

    def _convert_one_by_one(self, starts: IntArray, ends: IntArray, place: int) -> FloatArray:
        """The same, a token at a time; what is left over after the last brace need not make sense."""
        numbers = np.zeros(len(starts))
        pairs = zip((starts + place).tolist(), (ends + place).tolist(), strict=True)
        for index, (start, end) in enumerate(pairs):
            token = self.data[start:end]
            if _NUMBER.fullmatch(token):
                numbers[index] = float(token)
            elif _NOT_FINITE.fullmatch(token):
                numbers[index] = np.nan
            elif start < self._last_brace:
                found = token[:40].decode("latin-1")
                raise Md5Error(
                    "not a number",
                    path=self.path,
                    line=self.line(start),
                    found=repr(found),
                    expected="a number",
                )
        return numbers

    def _warn_of_not_finite(self) -> None:
        """Makes 0 of the numbers that are not finite."""
        first, count = 0, 0
        for start in range(0, len(self.numbers), _PIECE):
            piece = self.numbers[start : start + _PIECE]
            bad = ~(np.abs(piece) <= LARGEST)
            if bad.any():
                first = first if count else start + int(np.argmax(bad))
                count += int(bad.sum())
                piece[bad] = 0.0
        if count:
            self.warnings.append(
                f"{count} numbers are not finite (the first at line {self.number_line(first)}); read as 0"
            )

    def _take_marks(
        self,
        classes: npt.NDArray[np.uint8],
        words: tuple[IntArray, IntArray, IntArray, npt.NDArray[np.uint64]],
        number_starts: IntArray,
        place: int,
    ) -> None:
        """Merges words, strings and braces of a piece of the text into one list in the order of the file.

        Args:
            classes: of the bytes.
            words: where words begin and end, how many numbers stand before each, and their codes.
            number_starts: where numbers begin.
            place: the offset of the piece.
        """
        word_starts, word_ends, numbers_before, codes = words
        singles = np.flatnonzero(classes > _BODY_CLASS)
        single_codes = np.array([0, 0, _OPEN, _CLOSE, _QUOTE], dtype=np.uint64)[classes[singles]]
        offsets = np.concatenate([word_starts, singles])
        order = np.argsort(offsets, kind="stable")
        numbers_before = np.concatenate([numbers_before, np.searchsorted(number_starts, singles)])
        found = self._found
        found.numbers_before.add(numbers_before[order] + len(found.numbers))
        found.offsets.add(offsets[order] + place)
        found.ends.add(np.concatenate([word_ends, singles + 1])[order] + place)
        found.codes.add(np.concatenate([codes, single_codes])[order])


class _Growing:
    """An array that becomes longer."""

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._values: npt.NDArray[Any] = np.empty(0, dtype=kind)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, values: npt.NDArray[Any]) -> None:
        """Adds values at its end."""
        end = self._count + len(values)
        if end > len(self._values):
            # In place, as two of them may not fit into memory.
            self._values.resize(end + (end >> 3), refcheck=False)
        self._values[self._count : end] = values
        self._count = end

    def done(self) -> npt.NDArray[Any]:
        """What was added."""
        self._values.resize(self._count, refcheck=False)
        return self._values


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found so far: numbers with their offsets, and marks with theirs.

    Attributes:
        numbers: float64.
        number_offsets: where they begin.
        offsets: where marks begin.
        ends: and end.
        numbers_before: how many numbers stand before each mark.
        codes: see `Scan._codes`.
    """

    numbers: _Growing
    number_offsets: _Growing
    offsets: _Growing
    ends: _Growing
    numbers_before: _Growing
    codes: _Growing
