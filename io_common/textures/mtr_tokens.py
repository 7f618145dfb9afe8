"""Tokens of Doom 3 material files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A word ends at white space, brackets, commas, quotes and comments. `++` never goes back, and needs no memory for that.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | "(?P<string>[^"\n]*)"?
      | (?P<punctuation>[{}(),\[\]])
      | (?P<word>(?:[^\s{}(),"/\[\]]|/(?![/*]))++)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A token.

    Attributes:
        text: the token, a string without its quotes.
        kind: 'string', 'punctuation', 'word' or 'comment'.
        line: the line number, from 1.
        is_first: whether it is the first token of its line.
    """

    text: str
    kind: str
    line: int
    is_first: bool


def scan(text: str) -> Iterator[Token]:
    """The tokens of a text. Comments are included, so that the caller can limit the time that they take."""
    line, position, last_line = 1, 0, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        line += text.count("\n", position, start)
        position = start
        kind = match.lastgroup or ""
        yield Token(match[kind], kind, line, line != last_line)
        if kind != "comment":
            last_line = line
