r"""Files of declarations: Doom 3's materials, models, entities and skins (`DeclManager.cpp`, `Lexer.cpp`).

- A file holds any number of `TYPE NAME { … }`, with types in any case. A declaration without a type has that of its
  folder; one of an unknown type is skipped.
- Names are compared without case and extension; backslashes are slashes.
- The files of a folder are read in alphabetical order; **a later declaration of a name is ignored**.
- Comments are `//` and `/* */`. Strings have no escapes and end with their line; `"a" \ "b"` is one string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..game_tree.files import MAX_TOKENS
from ..names import fold, short, split_extension

MATERIAL, MODEL, ENTITY, SKIN = "material", "model", "entitydef", "skin"  # the types of declarations that are read
_TYPES = {
    MATERIAL, MODEL, ENTITY, SKIN, "table", "sound", "mapdef", "fx", "particle", "articulatedfigure", "af", "pda",
    "email", "video", "audio", "export", "camera", "modelview", "playermodel", "guide", "effect", "playback", "lipsync",
    "materialtype", "xdata", "tdm_matinfo",
}  # fmt: skip
MAX_WARNINGS = 50  # warnings about a file, and about each of its declarations
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
    """A word, a string without its quotes, a punctuation mark or a comment."""

    text: str
    kind: str  # 'word', 'string', 'punctuation' or 'comment'
    line: int  # from 1
    is_first: bool  # of its line

    def is_mark(self, marks: str) -> bool:
        """Whether it is one of these punctuation marks."""
        return self.kind == "punctuation" and self.text in marks


def scan(text: str) -> Iterator[Token]:
    """The tokens of a text. Comments are included, so that the caller can limit the time that they take."""
    line, position, last_line = 1, 0, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        kind = match.lastgroup or ""
        yield Token(match[kind], kind, line, line != last_line)
        if kind != "comment":
            last_line = line


def canonical_name(name: str) -> str:
    """The form in which names of declarations are compared: folded, without extension."""
    return split_extension(fold(name))[0]


@dataclass
class Declaration:
    """A declaration whose contents are still tokens."""

    type: str  # in lower case
    name: str
    source: str
    line: int  # of the name, from 1
    tokens: list[Token]  # those between the braces, without comments
    warnings: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The canonical name."""
        return canonical_name(self.name)

    def warn(self, text: str, token: Token | None = None) -> None:
        """Adds a warning about a token, or about the whole, unless there are many already."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(f"{self.source}:{token.line if token is not None else self.line}: {text}")


@dataclass
class DeclarationFile:
    """The declarations of a file in its order, warnings about what is outside of them, and the number of tokens."""

    source: str
    declarations: list[Declaration] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    token_count: int = 0

    def warn(self, text: str, token: Token) -> None:
        """Adds a warning about a token, unless there are many already."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(f"{self.source}:{token.line}: {text}")


def parse_declarations(text: str, source: str, default_type: str, max_tokens: int = MAX_TOKENS) -> DeclarationFile:
    """Finds the declarations of a file; what is invalid is skipped with a warning."""
    result = DeclarationFile(source)
    tokens = _read_tokens(text, max_tokens, result)
    prefix: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind != "punctuation":
            prefix.append(token)
            continue
        if token.text == "}":
            result.warn("unexpected '}' outside of a declaration", token)
        elif token.text == "{":
            end, is_closed = _find_end(tokens, index, default_type)
            if not prefix:
                result.warn("a declaration without a name", token)
            else:
                _add_declaration(result, prefix, tokens[index:end], default_type, is_closed)
            index = end + is_closed
        prefix = []
    if prefix:
        result.warn(f"'{short(prefix[0].text)}' is not part of a declaration", prefix[0])
    return result


def _read_tokens(text: str, max_tokens: int, result: DeclarationFile) -> list[Token]:
    """The tokens without comments; strings with a backslash between them are one."""
    tokens: list[Token] = []
    for token in scan(text):
        if result.token_count == max_tokens:
            result.warn("too many declarations; the rest of the file is skipped", token)
            break
        result.token_count += 1
        if token.kind == "comment":
            continue
        kinds = [one.kind for one in tokens[-2:]]
        if token.kind == "string" and kinds == ["string", "word"] and tokens[-1].text == "\\":
            token = token._replace(text=tokens[-2].text + token.text)
            del tokens[-2:]
        tokens.append(token)
    return tokens


def _add_declaration(
    result: DeclarationFile, prefix: list[Token], body: list[Token], default_type: str, is_closed: bool
) -> None:
    """Adds a declaration; `prefix` is what stands before its opening brace."""
    *strays, name = prefix
    kind = default_type
    if strays and strays[-1].text.lower() in _TYPES:
        kind = strays.pop().text.lower()
    elif strays and strays[-1].line == name.line:
        # An unknown type, as mods have them.
        return
    elif not strays and name.text.lower() in _TYPES and name.kind == "word":
        result.warn(f"'{name.text}' has no name", name)
        return
    if strays:
        result.warn(f"'{short(strays[0].text)}' is not part of a declaration", strays[0])
    declaration = Declaration(kind, name.text, result.source, name.line, body)
    result.declarations.append(declaration)
    if not is_closed:
        declaration.warn("the opening brace is never closed")


def _find_end(tokens: list[Token], index: int, default_type: str) -> tuple[int, bool]:
    """The index of the closing brace of the body at `index`, and True; False if there is none."""
    # Braces in real material files are not always balanced: the body of a material then ends where the next declaration
    # clearly starts, at a path alone on its line (or after `material`) before a brace, or at a brace inside a stage.
    depth = 1
    for position in range(index, len(tokens)):
        token = tokens[position]
        if token.is_mark("}"):
            depth -= 1
            if depth == 0:
                return position, True
        elif token.is_mark("{"):
            name, before = tokens[position - 1], tokens[max(position - 2, 0)]
            is_typed = before.text.lower() == MATERIAL and before.is_first
            if (
                default_type == MATERIAL
                and name.kind != "punctuation"
                and (is_typed or (name.is_first and (depth > 1 or "/" in name.text)))
            ):
                return position - 1 - is_typed, False
            depth += 1
    return len(tokens), False


class TokenReader:
    """The tokens of a declaration, one after the other."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self._waiting = declaration.tokens[::-1]

    def peek(self) -> Token | None:
        """The next token, which stays; None at the end."""
        return self._waiting[-1] if self._waiting else None

    def next(self) -> Token | None:
        """The next token, which is passed; None at the end."""
        return self._waiting.pop() if self._waiting else None

    def accept(self, mark: str) -> bool:
        """Passes the next token if it is this punctuation mark; else returns False."""
        found = bool(self._waiting) and self._waiting[-1].is_mark(mark)
        if found:
            self._waiting.pop()
        return found

    def word(self, line: int | None = None) -> Token | None:
        """Passes the next token if it is a word or a string, in this line if one is given; else returns None."""
        token = self.peek()
        if token is None or token.kind == "punctuation" or line not in (None, token.line):
            return None
        return self._waiting.pop()

    def rest_of_line(self, line: int) -> list[Token]:
        """Passes the rest of a line, up to a brace."""
        words = []
        while (token := self.peek()) is not None and token.line == line and not token.is_mark("{}"):
            words.append(self._waiting.pop())
        return words

    def skip_block(self) -> None:
        """Passes everything up to the brace that closes a block whose opening brace was passed."""
        depth = 1
        while depth and (token := self.next()) is not None:
            depth += token.is_mark("{") - token.is_mark("}")
