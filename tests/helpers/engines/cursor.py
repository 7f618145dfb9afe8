"""Tokens one after the other, as each engine's lexer cuts them."""

from __future__ import annotations

import re

import numpy as np

from .posing import Refused

# Each pattern finds whole tokens; comments are found to be left out. All take the bytes of the file as Latin-1.
_COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"

# Doom 3 `idLexer`: strings end with their line; a minus is a token of its own before a number; what is no letter,
# digit or punctuation of ASCII is white space.
DOOM3 = re.compile(rf'{_COMMENT}|"[^"\n]*"|-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|[A-Za-z_][\w/\\:.]*|[!-~]', re.ASCII)
# Quake `COM_Parse`: a few letters stand for themselves, the rest goes on to white space or one of them.
QUAKE = re.compile(rf"{_COMMENT}|\"[^\"]*\"|[{{}}()':]|[^\x00-\x20{{}}()':]+")
# Quake II `COM_Parse`: everything goes on to white space.
QUAKE2 = re.compile(rf'{_COMMENT}|"[^"]*"|[^\x00-\x20]+')
# Daemon `COM_ParseExt2`: numbers, names and single punctuation.
DAEMON = re.compile(rf'{_COMMENT}|"[^"]*"|-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z_][\w/\\.]*|[!-~]|\n', re.ASCII)

_NUMBER_STARTS = frozenset("-.0123456789")


class Cursor:
    """Where a parser is in the tokens of a file."""

    def __init__(self, data: bytes, pattern: re.Pattern, *, longest: int = 0) -> None:
        text = data.decode("latin-1")
        self.tokens = [t for t in pattern.findall(text) if not t.startswith(("//", "/*"))]
        self.at = 0
        self.longest = longest

    def skip_lines(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at] == "\n":
            self.at += 1

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise Refused("the file ends early")
        token = self.tokens[self.at]
        self.at += 1
        if self.longest and len(token.strip('"')) > self.longest:
            raise Refused(f"a token of {len(token)} bytes")
        return token

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def word(self) -> str:
        """The next token as a value, without its quotes."""
        token = self.next()
        return token[1:-1] if token.startswith('"') else token

    def expect(self, *words: str) -> None:
        for word in words:
            found = self.next()
            if found != word:
                raise Refused(f"expected {word!r}, found {found!r}")

    def check(self, word: str) -> bool:
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def number(self) -> float:
        token = self.next()
        if token[0] not in _NUMBER_STARTS:
            raise Refused(f"expected a number, found {token!r}")
        try:
            return float(token)
        except ValueError:
            raise Refused(f"expected a number, found {token!r}") from None

    def integer(self) -> int:
        """A number without what is behind its point, as `atoi` and Doom 3's `ParseInt` have it."""
        return int(self.number())

    def within(self, low: int, high: int) -> int:
        """A whole number in a range, as q2pro's `MD5_ParseUint` has it."""
        token = self.next()
        if not re.fullmatch(r"-?\d+", token) or not low <= int(token) <= high:
            raise Refused(f"{token} is not from {low} to {high}")
        return int(token)

    def vector(self, size: int) -> list[float]:
        self.expect("(")
        values = [self.number() for _ in range(size)]
        self.expect(")")
        return values

    def numbers(self, count: int) -> np.ndarray:
        """Many numbers at once."""
        chunk = self.tokens[self.at : self.at + count]
        if len(chunk) < count or any(token[0] not in _NUMBER_STARTS for token in chunk):
            raise Refused("expected numbers")
        self.at += count
        return np.array(chunk, dtype=np.float64)

    def table(self, count: int, pattern: str) -> np.ndarray:
        """Rows that are all cut alike: words and parentheses must be those of the pattern, `#` stands for a number."""
        shape = pattern.split()
        chunk = self.tokens[self.at : self.at + count * len(shape)]
        if len(chunk) < count * len(shape):
            raise Refused("the file ends early")
        columns = []
        for place, word in enumerate(shape):
            column = chunk[place :: len(shape)]
            if word == "#":
                if any(token[0] not in _NUMBER_STARTS for token in column):
                    raise Refused("expected a number")
                columns.append(np.array(column, dtype=np.float64))
            elif any(token != word for token in column):
                raise Refused(f"expected {word!r}")
        self.at += count * len(shape)
        return np.stack(columns, axis=1) if columns else np.empty((count, 0))
