"""The numbers of an MD5 file, converted in bulk, and the tokens between them.

An MD5 file is nearly all numbers. They are found and converted in a few passes over the text; the words, quoted
strings and braces that give them meaning become a list of tokens, each with the count of numbers before it.
``vert 7 ( 0.5 0.25 ) 12 2`` is the token ``vert`` followed by five numbers.

The rules of Doom 3's lexer: bytes up to the space and, outside strings, from 0x80 on are white space (so a byte order
mark and trailing NULs are ignored); ``//`` and ``/* */`` are comments; a string is in double quotes, has no newline,
and a backslash in it is literal. Parentheses only separate numbers: the count of values tells whether a vector is
complete. Also accepted: a leading ``+``, ``1E-5``, and the ``nan``, ``inf`` and ``1.#IND`` that broken exporters write
(read as 0, with a warning).

The passes work on one chunk of the text at a time, so that they need little memory besides their result, which is less
than twelve times the size of the text.
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

from ..counting import counted
from ..errors import Md5Error
from ..model import LARGEST
from .decimals import floats
from .rows import ReducedText

IntArray = npt.NDArray[np.signedinteger[Any]]
FloatArray = npt.NDArray[np.float64]

_QUOTE, _OPEN, _CLOSE = b'"{}'
_BLANK_CLASS, _BODY_CLASS, _OPEN_CLASS, _CLOSE_CLASS, _STRING_CLASS = range(5)

# A placeholder for a whole string during the scan; it cannot occur otherwise, because all control bytes outside strings
# are blanked first.
_STRING_BYTE = 1

# An unclosed string ends with its line, an unclosed comment with the file; both are reported where they matter.
_STRING_OR_COMMENT = re.compile(rb'"[^"\r\n]*"?|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)')
_NUMBER = re.compile(rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_NOT_FINITE = re.compile(rb"[-+]?(?:\d*\.#\w+|nan|inf(?:inity)?)", re.IGNORECASE)
_NOT_FINITE_WORDS = (b"nan", b"inf", b"infinity")
# Newer Microsoft libraries print -nan(ind), whose word would be separate once parentheses are blanked.
_NAN_PAYLOAD = re.compile(rb"(?<=nan)\(\w*\)", re.IGNORECASE)

# A chunk ends at the first place between two words or numbers after this many bytes.
_CHUNK = 1 << 15
_BETWEEN_TOKENS = re.compile(rb"[^\x21-\x7f]|[(){}]")
# The limit on words, strings and braces, which take more memory than numbers: one for this many bytes (an empty frame
# has three in fifteen). Quotes and braces are counted beforehand.
_BYTES_PER_TOKEN, _BYTES_PER_DELIMITER, _MIN_TOKENS = 5, 3, 1 << 14

# Offsets in files have 32 bits up to this size.
_SHORT_OFFSETS = np.iinfo(np.int32).max
_LINES_APART = 1 << 12

# The comment that exporters for Sauerbraten write in each mesh block: ``// meshes: NAME``.
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
    table[_STRING_BYTE] = _STRING_CLASS
    return bytes(table)


def _number_start_table() -> npt.NDArray[np.bool_]:
    table = np.zeros(256, dtype=bool)
    table[list(b"0123456789+-.")] = True
    return table


_CLASSES = _class_table()
_NUMBER_STARTS = _number_start_table()
_ONLY_BODY = bytes(byte if _CLASSES[byte] == _BODY_CLASS else 0x20 for byte in range(256))
# Control bytes outside strings are blanked before placeholders of strings are inserted.
_NO_CONTROLS = bytes(byte if byte >= 0x20 else 0x20 for byte in range(256))


class Scan:
    """The numbers and tokens of one text.

    A token is a word, a string or a brace; their indices count from 0 in the order of the file.

    Args:
        source: the bytes of the file, or what remains of them after blocks were extracted.
        path: its name, for messages.

    Attributes:
        file_size: of the file, in bytes.
        numbers: all numbers of the text in order, float64 (N,); finite.
        warnings: what was odd, in words.

    Raises:
        Md5Error: a word begins like a number but is none, before the last brace.
    """

    def __init__(self, source: bytes | ReducedText, path: str = "") -> None:
        self._source = source if isinstance(source, ReducedText) else ReducedText(source, len(source))
        self.data = self._source.text
        self.path = path
        self.file_size = self._source.size
        self.warnings: list[str] = []
        # Their offsets; a hostile file may have one in every line.
        self._mesh_comments = array("q")
        self._open_comment: int | None = None
        self._open_string: int | None = None
        self._check_token_count(sum(map(self.data.count, (b'"', b"{", b"}"))), _BYTES_PER_DELIMITER, 0)

        text = self._without_strings_and_comments()
        self._last_brace = text.rfind(b"}")
        if self._open_string is not None and self._open_string < self._last_brace:
            # Its other half would be read as words and numbers.
            raise self._string_error(self._open_string)
        offset: npt.DTypeLike = np.int32 if len(text) < _SHORT_OFFSETS else np.int64
        self._result = _ScanResult(
            *(_GrowingArray(kind) for kind in (np.float64, offset, offset, offset, offset, np.uint64))
        )
        self._may_be_not_finite = self._may_hold_words(self.data, b"nan", b"inf")
        start = 0
        while start < len(text):
            gap = _BETWEEN_TOKENS.search(text, min(start + _CHUNK, len(text)))
            end = gap.start() if gap else len(text)
            self._scan_piece(bytearray(text[start:end]), start)
            self._check_token_count(len(self._result.offsets), _BYTES_PER_TOKEN, start)
            start = end
        del text
        found = self._result
        self.numbers: FloatArray = found.numbers.finish()
        self.number_offsets: IntArray = found.number_offsets.finish()
        found.numbers_before.add(np.array([len(self.numbers)]))
        self.token_offsets: IntArray = found.offsets.finish()
        self._token_ends: IntArray = found.ends.finish()
        self.token_first_numbers: IntArray = found.numbers_before.finish()
        self.token_codes: npt.NDArray[np.uint64] = found.codes.finish()
        self._warn_of_not_finite()

    # The interface for parsers

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.token_offsets)

    def text(self, token: int) -> str:
        """The word or brace; ``"`` for a string."""
        if token >= len(self):
            return ""
        if self.is_string(token):
            return '"'
        start, end = self.token_offsets[token], self._token_ends[token]
        return self.data[start:end].decode("latin-1")

    def key(self, token: int) -> str:
        """The word in lower case: old files write ``nummeshes`` where newer ones write ``numMeshes``."""
        return self.text(token).lower()

    def is_string(self, token: int) -> bool:
        """Whether the token is a quoted string."""
        return token < len(self) and self.token_codes[token] == _QUOTE

    def name(self, token: int) -> str:
        """The value of a string; an unquoted word is its own value, as in Doom 3's lexer.

        Raises:
            Md5Error: the string is not closed on its line.
        """
        if not self.is_string(token):
            return self.text(token)
        offset = int(self.token_offsets[token])
        string = _STRING_OR_COMMENT.match(self.data, offset)
        assert string is not None
        written = string[0]
        if len(written) == 1 or written[-1] != _QUOTE:
            raise self._string_error(offset)
        return written[1:-1].decode("utf-8", "surrogateescape")

    def _string_error(self, offset: int) -> Md5Error:
        """The error for a string that does not end on its line."""
        string = _STRING_OR_COMMENT.match(self.data, offset)
        assert string is not None
        return Md5Error(
            "a string is not closed", path=self.path, line=self.line(offset),
            found=repr(string[0][1:].decode("utf-8", "surrogateescape")), expected='" before the end of the line',
        )  # fmt: skip

    def values(self, token: int) -> FloatArray:
        """The numbers between this token and the next, float64 (n,)."""
        return self.numbers[self.token_first_numbers[token] : self.token_first_numbers[token + 1]]

    def counts(self, first: int, last: int) -> IntArray:
        """The count of numbers after each of the tokens first … last - 1, (last - first,)."""
        return np.diff(self.token_first_numbers[first : last + 1])

    def rows(self, token: int) -> FloatArray | None:
        """The numbers of the extracted block after this token, (rows, width); None if there is none."""
        return self._source.rows.get(int(self.token_offsets[token]))

    def mesh_comment(self, opening: int, closing: int) -> str:
        """The name in the last comment ``// meshes: NAME`` between two tokens, as in Sauerbraten; empty if none."""
        last = bisect_left(self._mesh_comments, int(self.token_offsets[closing])) - 1
        if last < 0 or self._mesh_comments[last] < self.token_offsets[opening]:
            return ""
        comment = _MESH_COMMENT.match(self.data, self._mesh_comments[last])
        return comment[1].rstrip().decode("utf-8", "surrogateescape") if comment else ""

    def run_end(self, token: int) -> int:
        """The token after the run of equal tokens that contains this one."""
        return int(self._run_ends[np.searchsorted(self._run_ends, token, side="right")])

    @cached_property
    def closing_braces(self) -> IntArray:
        """The indices of closing braces."""
        return np.flatnonzero(self.token_codes == _CLOSE)

    def block_end(self, opening: int) -> int:
        """The closing brace of a block that contains no other block.

        Raises:
            Md5Error: the file ends, or another block opens, before this one is closed.
        """
        at = np.searchsorted(self.closing_braces, opening)
        end = int(self.closing_braces[at]) if at < len(self.closing_braces) else len(self)
        inner = np.flatnonzero(self.token_codes[opening + 1 : end] == _OPEN)
        if len(inner):
            raise self.error("a block is not closed", opening + 1 + int(inner[0]), expected="}")
        if end == len(self) and self._open_comment is not None:
            raise Md5Error(
                "a comment is not closed", path=self.path, line=self.line(self._open_comment),
                found="/*", expected="*/",
            )  # fmt: skip
        if end == len(self):
            raise Md5Error(
                "the file is incomplete (cut off or only partly downloaded): "
                f"line {self.line(int(self.token_offsets[opening]))} opens a block that never ends",
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
        """The count of newlines before every few thousand bytes, so that many line numbers are found quickly."""
        offsets = range(0, len(self.data), _LINES_APART)
        counts = [self.data.count(b"\n", offset, offset + _LINES_APART) for offset in offsets]
        return np.cumsum([0, *counts])

    @cached_property
    def _missing_lines(self) -> tuple[IntArray, IntArray]:
        """The ends of the words after which lines were extracted, (n,), and the sums of these lines, (n + 1,)."""
        lines = self._source.lines
        return np.array(list(lines), dtype=np.int64), np.cumsum([0, *lines.values()])

    def token_line(self, token: int) -> int:
        """The line of a token, counted from 1; that of the last byte for the token after the last."""
        return self.line(int(self.token_offsets[token]) if token < len(self) else len(self.data))

    def number_line(self, number: int) -> int:
        """The line of the number with this index in `numbers`, counted from 1."""
        return self.line(int(self.number_offsets[number]))

    def error(
        self, reason: str, token: int, *, found: str | None = None, expected: str | None = None
    ) -> Md5Error:
        """An error at a token; `found` defaults to the token itself."""
        if found is None:
            found = repr(self.name(token)) if token < len(self) else "the end of the file"
        return Md5Error(reason, path=self.path, line=self.token_line(token), found=found, expected=expected)

    def number_error(self, reason: str, number: int, expected: str) -> Md5Error:
        """An error at the number with this index in `numbers`."""
        found = f"{self.numbers[number]:.10g}"
        return Md5Error(reason, path=self.path, line=self.number_line(number), found=found, expected=expected)

    @cached_property
    def _run_ends(self) -> IntArray:
        """The token after each run of equal tokens."""
        changes = np.flatnonzero(self.token_codes[1:] != self.token_codes[:-1]) + 1
        return np.append(changes, len(self))

    # The scan

    def _check_token_count(self, count: int, bytes_for_each: int, offset: int) -> None:
        """The check that there are not many more tokens than in real files.

        Raises:
            Md5Error: there are too many.
        """
        if count > _MIN_TOKENS + self.file_size // bytes_for_each:
            raise Md5Error(
                "words, strings and braces are out of proportion", path=self.path, line=self.line(offset),
                found=f"{count} in {self.file_size} bytes",
                expected=f"at most one for every {_BYTES_PER_TOKEN} bytes",
            )  # fmt: skip

    def _without_strings_and_comments(self) -> bytearray:
        """The text with comments blanked and every string replaced by a placeholder."""
        text = bytearray(self.data)
        # Control bytes must only occur as placeholders, which are inserted below.
        for start in range(0, len(text), _CHUNK):
            text[start : start + _CHUNK] = text[start : start + _CHUNK].translate(_NO_CONTROLS)
        for start, end in self._strings_and_comments():
            text[start:end] = b" " * (end - start)
            if self.data[start] == _QUOTE:
                text[start] = _STRING_BYTE
                if self._open_string is None and (end - start == 1 or self.data[end - 1] != _QUOTE):
                    self._open_string = start
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
        """The start and end offset of each."""
        # Most of an animation is numbers after the last of them.
        last = max(self.data.rfind(b'"'), self.data.rfind(b"/"))
        at = 0
        while at <= last and (match := _STRING_OR_COMMENT.search(self.data, at)):
            yield match.span()
            at = match.end()

    @staticmethod
    def _may_hold_words(text: bytes | bytearray, *words: bytes) -> bool:
        """Whether a text may contain one of some words; False is certain."""
        # Without the characters of numbers, little text remains.
        letters = text.translate(None, b"0123456789.-+() \t\r\n").lower()
        return any(word in letters for word in words)

    def _scan_piece(self, text: bytearray, offset: int) -> None:
        """Stores the numbers and tokens of a chunk of the text, which is overwritten.

        Args:
            text: the chunk.
            offset: its offset.
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
            for index in np.flatnonzero(~is_number):
                if bytes(lower[starts[index] : ends[index]]) in _NOT_FINITE_WORDS:
                    is_number[index] = True
        number_starts = starts[is_number]
        word_indices = np.flatnonzero(~is_number)
        word_starts, word_ends = starts[word_indices], ends[word_indices]
        numbers_before = word_indices - np.arange(len(word_indices))
        codes = self._codes(buffer, word_starts, word_ends, offset)
        numbers = self._convert(
            text, buffer, (word_starts, word_ends), (number_starts, ends[is_number]), offset
        )
        self._store_tokens(classes, (word_starts, word_ends, numbers_before, codes), number_starts, offset)
        self._result.numbers.add(numbers)
        self._result.number_offsets.add(number_starts + offset)

    @staticmethod
    def _codes(
        buffer: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray, offset: int
    ) -> npt.NDArray[np.uint64]:
        """A number for each word that equals its neighbour's exactly if the words are equal (W,).

        The first eight bytes; a longer word gets a number made of its offset, which equals no other.
        """
        columns = np.arange(8)
        letters = buffer[starts[:, None] + columns]
        letters[columns >= (ends - starts)[:, None]] = 0
        codes = np.ascontiguousarray(letters).view(np.uint64).ravel()
        long = ends - starts > 8
        codes[long] = (starts[long] + offset).astype(np.uint64) + (1 << 63)
        return codes

    def _convert(
        self,
        text: bytearray,
        buffer: npt.NDArray[np.uint8],
        words: tuple[IntArray, IntArray],
        numbers: tuple[IntArray, IntArray],
        offset: int,
    ) -> FloatArray:
        """All numbers of a chunk of the text, float64 (N,); its words are blanked."""
        word_starts, word_ends = words
        lengths = word_ends - word_starts
        for column in range(min(_SHORT_WORD, int(lengths.max(initial=0)))):
            buffer[word_starts[lengths > column] + column] = 0x20
        for word in np.flatnonzero(lengths > _SHORT_WORD):
            buffer[word_starts[word] : word_ends[word]] = 0x20
        values = floats(bytes(text.translate(_ONLY_BODY)))
        if values is None or len(values) != len(numbers[0]):
            values = self._convert_one_by_one(*numbers, offset)
        return values

    def _convert_one_by_one(self, starts: IntArray, ends: IntArray, offset: int) -> FloatArray:
        """The same, one number at a time; text after the last brace need not be valid."""
        numbers = np.zeros(len(starts))
        pairs = zip((starts + offset).tolist(), (ends + offset).tolist(), strict=True)
        for index, (start, end) in enumerate(pairs):
            text = self.data[start:end]
            if _NUMBER.fullmatch(text):
                numbers[index] = float(text)
            elif _NOT_FINITE.fullmatch(text):
                numbers[index] = np.nan
            elif start < self._last_brace:
                found = text[:40].decode("latin-1")
                raise Md5Error(
                    "not a number",
                    path=self.path,
                    line=self.line(start),
                    found=repr(found),
                    expected="a number",
                )
        return numbers

    def _warn_of_not_finite(self) -> None:
        """Replaces numbers that are not finite by 0, with a warning."""
        first, count = 0, 0
        for start in range(0, len(self.numbers), _CHUNK):
            piece = self.numbers[start : start + _CHUNK]
            bad = ~(np.abs(piece) <= LARGEST)
            if bad.any():
                first = first if count else start + int(np.argmax(bad))
                count += int(bad.sum())
                piece[bad] = 0.0
        if count:
            self.warnings.append(
                f"{counted(count, 'numbers', 'are')} not finite (line {self.number_line(first)}); read as 0"
            )

    def _store_tokens(
        self,
        classes: npt.NDArray[np.uint8],
        words: tuple[IntArray, IntArray, IntArray, npt.NDArray[np.uint64]],
        number_starts: IntArray,
        offset: int,
    ) -> None:
        """Stores the words, strings and braces of a chunk of the text in the order of the file.

        Args:
            classes: of the bytes.
            words: their start and end offsets, the count of numbers before each, and their codes.
            number_starts: start offsets of numbers.
            offset: the offset of the chunk.
        """
        word_starts, word_ends, numbers_before, codes = words
        singles = np.flatnonzero(classes > _BODY_CLASS)
        single_codes = np.array([0, 0, _OPEN, _CLOSE, _QUOTE], dtype=np.uint64)[classes[singles]]
        offsets = np.concatenate([word_starts, singles])
        order = np.argsort(offsets, kind="stable")
        numbers_before = np.concatenate([numbers_before, np.searchsorted(number_starts, singles)])
        found = self._result
        found.numbers_before.add(numbers_before[order] + len(found.numbers))
        found.offsets.add(offsets[order] + offset)
        found.ends.add(np.concatenate([word_ends, singles + 1])[order] + offset)
        found.codes.add(np.concatenate([codes, single_codes])[order])


class _GrowingArray:
    """An array that grows at its end."""

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._values: npt.NDArray[Any] = np.empty(0, dtype=kind)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, values: npt.NDArray[Any]) -> None:
        """Adds values at its end."""
        end = self._count + len(values)
        if end > len(self._values):
            # In place, because two copies may not fit into memory.
            self._values.resize(end + (end >> 3), refcheck=False)
        self._values[self._count : end] = values
        self._count = end

    def finish(self) -> npt.NDArray[Any]:
        """The finished array."""
        self._values.resize(self._count, refcheck=False)
        return self._values


@dataclass(frozen=True, eq=False)
class _ScanResult:
    """The numbers and tokens found so far, with their offsets.

    Attributes:
        numbers: float64.
        number_offsets: their start offsets.
        offsets: start offsets of tokens.
        ends: end offsets of tokens.
        numbers_before: the count of numbers before each token.
        codes: see `Scan._codes`.
    """

    numbers: _GrowingArray
    number_offsets: _GrowingArray
    offsets: _GrowingArray
    ends: _GrowingArray
    numbers_before: _GrowingArray
    codes: _GrowingArray
