"""The declarations in Doom 3's text files, such as `def/*.def` and `skins/*.skin`, before their contents are read.

From the published sources of Doom 3 (`DeclManager.cpp`, `Lexer.cpp`):

- A file holds `TYPE NAME { … }`. Types are compared without case. Without a type, a declaration has the type of its
  folder: `entityDef` in `def`, `skin` in `skins`. What has an unknown type is skipped.
- Names are compared without case and extension, and backslashes are slashes.
- The files of a folder are read in alphabetical order; **a later declaration of a name is ignored**.
- Comments are `//` and `/* */`. Strings have no escapes and end with their line; `"a" \\ "b"` is one string.
- Braces are counted to find the end, whatever is between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..game_tree.files import MAX_TOKENS
from ..game_tree.names import short
from ..textures.mtr import TYPES, canonical_name
from ..textures.mtr_tokens import Token, scan

__all__ = [
    "ENTITY",
    "MODEL",
    "SKIN",
    "DeclarationFile",
    "RawDeclaration",
    "canonical_name",
    "parse_declarations",
]

MODEL, ENTITY, SKIN = "model", "entitydef", "skin"
"""The types of declarations that characters are made of."""

_PLACE = re.compile(r"(.*?):([0-9]+): ")
MAX_WARNINGS = 1000
"""Warnings about the declarations of a game."""
_MAX_WARNINGS = 50  # of a file


@dataclass(frozen=True)
class RawDeclaration:
    """A declaration whose contents are still tokens.

    Attributes:
        type: in lower case.
        name: as written.
        source: the game path of the file.
        line: of the name, counted from 1.
        tokens: those between the braces, without comments.
    """

    type: str
    name: str
    source: str
    line: int
    tokens: tuple[Token, ...]

    def holds(self, warning: str) -> bool:
        """Whether a warning that begins with file and line is about this declaration."""
        place = _PLACE.match(warning)
        last = max([self.line, *(token.line for token in self.tokens[-1:])])
        return place is not None and place[1] == self.source and self.line <= int(place[2]) <= last

    def at(self, token: Token | None = None) -> str:
        """The place of a token, or of the declaration, for messages."""
        return f"{self.source}:{token.line if token is not None else self.line}"


@dataclass
class DeclarationFile:
    """The declarations of a file.

    Attributes:
        declarations: in the order of the file, those of unknown types left out.
        warnings: each with file and line.
        token_count: how many tokens were read.
    """

    declarations: list[RawDeclaration] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    token_count: int = 0

    def warn(self, warning: str) -> None:
        """Adds a warning, unless there are many already."""
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(warning)


def parse_declarations(
    text: str, source: str, default_type: str, max_tokens: int = MAX_TOKENS
) -> DeclarationFile:
    """Finds the declarations of a file. Invalid text raises no error: it is skipped, with a warning.

    `source` is the game path of the file. `default_type` is that of declarations without a type.
    """
    result = DeclarationFile()
    tokens: list[Token] = []
    for token in _joined(scan(text)):
        if result.token_count == max_tokens:
            result.warn(f"{source}:{token.line}: too many declarations; the rest of the file is skipped")
            break
        result.token_count += 1
        if token.kind != "comment":
            tokens.append(token)
    prefix: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind != "punctuation":
            prefix.append(token)
        elif token.text == "{":
            end, is_closed = _body_end(tokens, index)
            _add(result, prefix, tokens[index:end], source, default_type, token)
            if not is_closed:
                result.warn(f"{source}:{token.line}: the opening brace is never closed")
            prefix = []
            index = end + 1
        else:
            result.warn(f"{source}:{token.line}: unexpected '{token.text}' outside of a declaration")
            prefix = []
    if prefix:
        result.warn(f"{source}:{prefix[0].line}: '{short(prefix[0].text)}' is not part of a declaration")
    return result


def _add(
    result: DeclarationFile,
    prefix: list[Token],
    body: list[Token],
    source: str,
    default_type: str,
    brace: Token,
) -> None:
    if not prefix:
        result.warn(f"{source}:{brace.line}: a declaration without a name")
        return
    name = prefix[-1]
    kind = default_type
    strays = prefix[:-1]
    if strays and strays[-1].text.lower() in TYPES:
        kind = strays.pop().text.lower()
    elif strays:
        # An unknown type, as mods have them.
        return
    if not strays and len(prefix) == 1 and name.text.lower() in TYPES and name.kind == "word":
        result.warn(f"{source}:{name.line}: '{name.text}' has no name")
        return
    for stray in strays[:1]:
        result.warn(f"{source}:{stray.line}: '{short(stray.text)}' is not part of a declaration")
    result.declarations.append(RawDeclaration(kind, name.text, source, name.line, tuple(body)))


def _body_end(tokens: list[Token], index: int) -> tuple[int, bool]:
    """The index of the closing brace of the body that starts at `index`, and whether there is one."""
    depth = 1
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "punctuation":
            depth += (token.text == "{") - (token.text == "}")
            if depth == 0:
                return index, True
        index += 1
    return index, False


def _joined(tokens: Iterator[Token]) -> Iterator[Token]:
    """The tokens, with strings that a backslash joins as one."""
    held: Token | None = None
    is_joining = False
    for token in tokens:
        if held is not None and token.kind == "word" and token.text == "\\":
            is_joining = True
            continue
        if held is not None and is_joining and token.kind == "string":
            held = held._replace(text=held.text + token.text)
            is_joining = False
            continue
        is_joining = False
        if held is not None:
            yield held
            held = None
        if token.kind == "string":
            held = token
        else:
            yield token
    if held is not None:
        yield held


def add_warning(warnings: list[str], warning: str) -> None:
    """Adds a warning, unless there are many already."""
    if len(warnings) < MAX_WARNINGS:
        warnings.append(warning)
