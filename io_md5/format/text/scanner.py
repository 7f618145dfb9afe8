"""The numbers and tokens of an MD5 file: words, strings and braces, each with the count of numbers before it.

The rules of Doom 3's lexer: bytes up to the space and, outside strings, from 0x80 on are white space (so a byte order
mark and trailing NULs are ignored); ``//`` and ``/* */`` are comments; a string is in double quotes, has no newline,
and a backslash in it is literal. Parentheses only separate numbers: the count of values tells whether a vector is
complete. Also accepted: a leading ``+``, ``1E-5``, and the ``nan``, ``inf`` and ``1.#IND`` that broken exporters write
(read as 0, with a warning).
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from functools import cached_property

import numpy as np

from ....io_common.files import Source, open_file, read_source
from ....io_common.skeletal.model import LARGEST, Floats
from ....io_common.texts import counted
from ..model import Md5Error
from .columns import Offsets, floats
from .rows import ReducedText

_HEAD_CHUNK = 1 << 16


def read_head(source: Source, block: str, name: str) -> tuple[bytes, int, str]:
    """The bytes of a file up to a brace after the opening of a block, or more, its end (0 for none), and the name."""
    # The brace may be in a string or comment: whoever cannot read the head reads the whole. Only a path is read in
    # parts; without the block the bytes are all. Raises OSError if the file is no regular file, or cannot be read.
    opening = re.compile(rb"%b\s*+\{" % block.encode(), re.IGNORECASE)

    def end_in(data: bytes) -> int:
        found = opening.search(data)
        return data.find(b"}", found.end()) + 1 if found is not None else 0

    if not isinstance(source, str | os.PathLike):
        data, name = read_source(source, name)
        return data, end_in(data), name
    data, end = b"", 0
    with open_file(source) as file:
        # Doubled, so that a long file without the block is searched in time in proportion to its length.
        while not end and (chunk := file.read(max(_HEAD_CHUNK, len(data)))):
            data += chunk
            end = end_in(data)
    return data, end, name or os.fspath(source)


def whole_file(source: Source, data: bytes) -> bytes:
    """All bytes of a file; `data` is what `read_head` has read of it: all, unless the source is a path."""
    return read_source(source)[0] if isinstance(source, str | os.PathLike) else data


_QUOTE, _OPEN, CLOSE = b'"{}'
_SYMBOLS = {code: chr(code) for code in (_QUOTE, _OPEN, CLOSE)}

# Blanks of the lexer but the ends of lines, where strings and comments end.
_BLANKED = bytes(
    0x20 if (byte < 0x20 and byte not in b"\r\n") or byte >= 0x80 or byte in b"()" else byte for byte in range(256)
)
_BODY = rb'(?:[^ \r\n"{}/]|/(?![/*]))'
_NUMBERS, _WORD, _BRACE, _STRING, _COMMENT = range(1, 6)
# Numbers and the blanks after them: plain ones as a whole, others one by one, but never a whole file of numbers.
_PLAIN = rb"[-+.0-9](?:[-+.0-9 \r\n]{1,8192}+|(?<=[0-9.])[eE](?=[-+0-9])){0,8}+(?:(?<![ \r\n])[-+.0-9eE]*+)?+"
_ODD = rb"(?:(?:[-+.0-9]%(body)b*+|(?i:nan|inf(?:inity)?)(?!%(body)b))[ \r\n]*+){1,4096}+"
# An unclosed string ends with its line, an unclosed comment with the file; both are reported where they matter. Where
# rows were extracted, many empty lines follow a word or brace.
_TOKEN = re.compile(
    (rb"(" + _PLAIN + rb"(?:(?<=[ \r\n])|(?!%(body)b))|" + _ODD + rb")|(?:(%(body)b++)|([{}]))\n*+") % {b"body": _BODY}
    + rb'|("[^"\r\n]*+"?)|(//[^\r\n]*+|/\*[\s\S]*?(?:\*/|\Z))'
)
_WORDS = re.compile(rb"[^ \r\n]+")
_STRING_TEXT = re.compile(rb'"[^"\r\n]*"?')
_NUMBER = re.compile(rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_NOT_FINITE = re.compile(rb"[-+]?(?:\d*\.#\w+|nan|inf(?:inity)?)", re.IGNORECASE)
# Newer Microsoft libraries print -nan(ind), whose word would be separate.
_NAN_PAYLOAD = re.compile(rb"(?<=nan)\(\w*\)", re.IGNORECASE)

_CHUNK = 1 << 15  # numbers are converted when their text has this many bytes
# The limit on words, strings and braces, which take more memory than numbers: one for this many bytes (an empty frame
# has three in fifteen). Quotes and braces are counted beforehand.
_BYTES_PER_TOKEN, _BYTES_PER_DELIMITER, _MIN_TOKENS = 5, 3, 1 << 14
_LINES_APART = 1 << 12

# The comment that exporters for Sauerbraten write in each mesh block: ``// meshes: NAME``.
_MESH_COMMENT = re.compile(rb"//[ \t]*meshes:[ \t]*([^\r\n]*)")


class Scan:
    """The numbers and tokens of a file, or of what remains after blocks were extracted."""

    # Tokens are words, strings and braces. Raises Md5Error for a word before the last brace that is half a number.

    def __init__(self, source: bytes | ReducedText, path: str = "") -> None:
        self._source = source if isinstance(source, ReducedText) else ReducedText(source, len(source))
        self.data = self._source.text
        self.is_reduced = bool(self._source.rows)  # whether blocks were extracted
        self.path = path
        self.file_size = self._source.size  # in bytes
        self.warnings: list[str] = []
        self._check_token_count(sum(map(self.data.count, (b'"', b"{", b"}"))), _BYTES_PER_DELIMITER, 0)
        text = self.data
        if b"an(" in text or b"aN(" in text or b"AN(" in text:
            text = _NAN_PAYLOAD.sub(lambda payload: b" " * len(payload[0]), text)
        self._text = text.translate(_BLANKED)
        # Their offsets; a hostile file may have one in every line.
        self._mesh_comments = array("q")
        self._open_comment: int | None = None
        # Offsets of a string that is not closed, and of a number that is none.
        self._open_string = self._no_number = len(text)
        self._not_finite, self._first_not_finite = 0, 0
        # Of each token: its offset; the count of numbers before it, at last of all, (T + 1,); and what is the same for
        # equal words, the byte for braces and quotes. The elements of Python's arrays are read faster one at a time.
        self.token_offsets, self._firsts, self._codes = array("q"), array("q"), array("q")
        numbers = array("d")
        last_brace = self._scan(numbers)
        self.numbers: Floats = np.array(numbers)  # (N,), finite
        self.token_first_numbers: Offsets = np.array(self._firsts)
        self.token_codes: Offsets = np.array(self._codes)
        if self._open_string < last_brace:
            # Its other half would be read as words and numbers.
            self._check_commandline(self._open_string)
            raise self._string_error(self._open_string)
        if self._no_number < last_brace:
            self._check_commandline(self._no_number)
            found = self._text[self._no_number : self._no_number + 40].split()[0].decode("latin-1")
            raise self.error_on(self.line(self._no_number), "not a number", repr(found), "a number")
        if self._not_finite:
            line = self.number_line(self._first_not_finite)
            self.warnings.append(f"{counted(self._not_finite, 'numbers', 'are')} not finite (line {line}); read as 0")

    def _check_commandline(self, offset: int) -> None:
        """Raises if what is wrong at a byte is due to quotes inside of the commandline."""
        before = self._text[self._text.rfind(b"\n", 0, offset) + 1 : offset]
        if before.split(b'"')[0].strip().lower() == b"commandline" and b'"' in before:
            reason = "the commandline has quotes inside, where games end it: remove those quotes"
            raise self.error_on(self.line(offset), reason)

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.token_offsets)

    def text(self, token: int) -> str:
        """The word or brace; ``"`` for a string."""
        if token >= len(self):
            return ""
        symbol = _SYMBOLS.get(self._codes[token])
        if symbol:
            return symbol
        match = _TOKEN.match(self._text, self.token_offsets[token])
        assert match is not None
        return match[match.lastindex or 0].decode("latin-1")

    def key(self, token: int) -> str:
        """The word in lower case: old files write ``nummeshes`` where newer ones write ``numMeshes``."""
        return self.text(token).lower()

    def is_string(self, token: int) -> bool:
        """Whether the token is a quoted string."""
        return token < len(self) and self._codes[token] == _QUOTE

    def name(self, token: int) -> str:
        """The value of a string that ends on its line; an unquoted word is its own, as in Doom 3's lexer."""
        if not self.is_string(token):
            return self.text(token)
        offset = self.token_offsets[token]
        string = _STRING_TEXT.match(self.data, offset)
        assert string is not None
        written = string[0]
        if len(written) == 1 or written[-1] != _QUOTE:
            raise self._string_error(offset)
        return written[1:-1].decode("utf-8", "surrogateescape")

    def _string_error(self, offset: int) -> Md5Error:
        string = _STRING_TEXT.match(self.data, offset)
        assert string is not None
        found = repr(string[0][1:].decode("utf-8", "surrogateescape"))
        return self.error_on(self.line(offset), "a string is not closed", found, '" before the end of the line')

    def values(self, token: int) -> Floats:
        """The numbers between this token and the next, float64 (n,)."""
        return self.numbers[self._firsts[token] : self._firsts[token + 1]]

    def value(self, token: int) -> float:
        """The number after a key such as ``numJoints 33``; raises Md5Error if none follows."""
        values = self.values(token)
        if len(values) == 0:
            raise self.error(f"no number after {self.text(token)}", token + 1, expected="a number")
        return float(values[0])

    def rows(self, token: int) -> Floats | None:
        """The numbers of the extracted block after this token, (rows, width); None if there is none."""
        return self._source.rows.get(self.token_offsets[token])

    def mesh_comment(self, opening: int, closing: int) -> str:
        """The name in the last ``// meshes: NAME`` between two tokens, as in Sauerbraten; empty if none."""
        last = bisect_left(self._mesh_comments, self.token_offsets[closing]) - 1
        if last < 0 or self._mesh_comments[last] < self.token_offsets[opening]:
            return ""
        comment = _MESH_COMMENT.match(self.data, self._mesh_comments[last])
        return comment[1].rstrip().decode("utf-8", "surrogateescape") if comment else ""

    def run_end(self, token: int) -> int:
        """The token after the run of equal tokens that contains this one."""
        code = self._codes[token]
        return next((other for other in range(token, len(self)) if self._codes[other] != code), len(self))

    def block_end(self, opening: int) -> int:
        """The closing brace of a block; raises Md5Error if the file ends or another block opens first."""
        try:
            end = self._codes.index(CLOSE, opening + 1)
        except ValueError:
            end = len(self)
        inner = self._codes[opening + 1 : end]
        if _OPEN in inner:
            raise self.error("a block is not closed", opening + 1 + inner.index(_OPEN), expected="}")
        if end == len(self) and self._open_comment is not None:
            raise self.error_on(self.line(self._open_comment), "a comment is not closed", "/*", "*/")
        if end == len(self):
            raise self.error(
                "the file is incomplete (cut off or only partly downloaded): "
                f"line {self.token_line(opening)} opens a block that never ends", end, expected="}",
            )  # fmt: skip
        return end

    def line(self, offset: int) -> int:
        """The line of a byte, counted from 1."""
        steps = min(offset // _LINES_APART, len(self._lines_before) - 1)
        return int(self._lines_before[steps]) + self.data.count(b"\n", steps * _LINES_APART, offset) + 1

    @cached_property
    def _lines_before(self) -> Offsets:
        """The count of newlines before every few thousand bytes, so that line numbers are found quickly."""
        offsets = range(0, len(self.data), _LINES_APART)
        counts = [self.data.count(b"\n", offset, offset + _LINES_APART) for offset in offsets]
        return np.cumsum([0, *counts])

    def token_line(self, token: int) -> int:
        """The line of a token, counted from 1; that of the last byte for the token after the last."""
        return self.line(self.token_offsets[token] if token < len(self) else len(self.data))

    def number_line(self, number: int) -> int:
        """The line of the number with this index in `numbers`, counted from 1."""
        token = int(np.searchsorted(self.token_first_numbers, number, side="right")) - 1
        at = left = 0
        if token >= 0:
            match = _TOKEN.match(self._text, self.token_offsets[token])
            at = match.end() if match is not None else 0
            left = int(self.token_first_numbers[token])
        # Comments may lie between the numbers.
        for run in _TOKEN.finditer(self._text, at):
            if run.lastindex == _NUMBERS:
                words = list(_WORDS.finditer(run[0]))
                if number - left < len(words):
                    return self.line(run.start() + words[number - left].start())
                left += len(words)
        return self.line(len(self.data))

    def error(self, reason: str, token: int, *, found: str | None = None, expected: str | None = None) -> Md5Error:
        """An error at a token; `found` defaults to the token itself."""
        if found is None:
            found = repr(self.name(token)) if token < len(self) else "the end of the file"
        return self.error_on(self.token_line(token), reason, found, expected)

    def error_on(self, line: int, reason: str, found: str | None = None, expected: str | None = None) -> Md5Error:
        """An error on a line."""
        return Md5Error(reason, path=self.path, line=line, found=found, expected=expected)

    def _check_token_count(self, count: int, bytes_for_each: int, offset: int) -> None:
        """Raises Md5Error if there are many more tokens than in real files."""
        if count > _MIN_TOKENS + self.file_size // bytes_for_each:
            raise self.error_on(
                self.line(offset), "words, strings and braces are out of proportion",
                f"{count} in {self.file_size} bytes", f"at most one for every {_BYTES_PER_TOKEN} bytes",
            )  # fmt: skip

    def _scan(self, numbers: array[float]) -> int:
        """Fills the arrays; returns the offset of the last closing brace, -1 for none."""
        offsets, first_numbers, codes = self.token_offsets, self._firsts, self._codes
        last_brace, count, size = -1, 0, 0
        most = _MIN_TOKENS + self.file_size // _BYTES_PER_TOKEN
        runs: list[tuple[int, bytes]] = []
        for match in _TOKEN.finditer(self._text):
            kind, start = match.lastindex or 0, match.start()
            text = match[kind]
            if kind == _NUMBERS:
                runs.append((start, text))
                count += len(text.split())
                size += len(text)
                if size > _CHUNK:
                    self._convert(runs, count - len(numbers), numbers)
                    runs, size = [], 0
                continue
            if kind == _COMMENT:
                if _MESH_COMMENT.match(text):
                    self._mesh_comments.append(start)
                elif text.startswith(b"/*") and not (len(text) > 3 and text.endswith(b"*/")):
                    self._open_comment = start
                    self.warnings.append(f"the comment that begins at line {self.line(start)} is not closed")
                continue
            if kind == _WORD:
                code = hash(text)
            else:
                code = text[0]
                if code == CLOSE:
                    last_brace = start
                elif code == _QUOTE and (len(text) == 1 or text[-1] != _QUOTE):
                    self._open_string = min(self._open_string, start)
            offsets.append(start)
            first_numbers.append(count)
            codes.append(code)
            if len(offsets) > most:
                self._check_token_count(len(offsets), _BYTES_PER_TOKEN, start)
        self._convert(runs, count - len(numbers), numbers)
        first_numbers.append(count)
        return last_brace

    def _convert(self, runs: list[tuple[int, bytes]], count: int, numbers: array[float]) -> None:
        """Adds the `count` numbers of some texts; those that are not finite become 0."""
        values = floats(b" ".join(text for _, text in runs))
        if values is None or len(values) != count:
            words = [(start + word.start(), word[0]) for start, text in runs for word in _WORDS.finditer(text)]
            values = np.array([self._number(*word) for word in words])
        is_bad = ~(np.abs(values) <= LARGEST)
        if np.count_nonzero(is_bad):
            if not self._not_finite:
                self._first_not_finite = len(numbers) + int(is_bad.argmax())
            self._not_finite += int(is_bad.sum())
            values[is_bad] = 0.0
        numbers.frombytes(values.tobytes())

    def _number(self, offset: int, text: bytes) -> float:
        """A number; 0 for what is none, as text after the last brace need not be valid."""
        if _NUMBER.fullmatch(text):
            return float(text)
        if _NOT_FINITE.fullmatch(text):
            return float("nan")
        self._no_number = min(self._no_number, offset)
        return 0.0
