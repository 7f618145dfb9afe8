"""CubeScript, the language of Sauerbraten's, Tesseract's and Red Eclipse's `.cfg` files.

From the published sources of Sauerbraten (`command.cpp`). A statement is a line, or ends with `;`. Its first word is a
command or an alias. A word is bare, a string in double quotes, a block in `[ ]`, which is the text in it and spans
lines, `( )` with a statement whose result it is, or `$NAME` for the value of an alias. A comment begins with `//`. A
string without a closing quote ends with its line. All values are texts.

What decides about a model is here: aliases, conditions, comparisons, arithmetic and loops. A command that is not known
does nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

MAX_STEPS = 10_000
"""Statements that a script may run, loops and files that it runs included."""
MAX_CHARACTERS = 8_000_000
"""Characters that a script may read and pass to commands: those of a loop count each time."""
MAX_DEPTH = 48
"""Blocks, calls and files within each other."""

# A bare word ends before these; a slash is part of it unless another follows. `++` and `*+` never go back, and need no
# memory for that.
_BARE = re.compile(r'(?:[^\s"/;()\[\]]|/(?!/))++')
_BLANK = re.compile(r"(?:[ \t\r]|//[^\n]*)++")
# A string ends at the end of its line without a quote.
_STRING = re.compile(r'"([^"^\n\r]*(?:\^.?[^"^\n\r]*)*+)"?', re.DOTALL)
_IN_BLOCK = re.compile(r'["\[\]]|//[^\n]*')
_ESCAPE = re.compile(r"\^(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "f": "\f"}
_NUMBER = re.compile(r"[ \t\n\v\f\r]*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
# Behind another @ the search would take quadratic time for many.
_SUBSTITUTION = re.compile(r"(?<!@)@+(?:\[([^\[\]]*)\]|\(([^()]*)\)|([\w.]+))")


class Block(str):
    """The text of a block, and the line that it begins on, counted from 1."""

    __slots__ = ("line",)
    line: int

    def __new__(cls, text: str, line: int) -> Block:
        """A block."""
        block = super().__new__(cls, text)
        block.line = line
        return block


class ScriptLimitError(ValueError):
    """A script runs too long or too deep."""


Command = Callable[[list[str], int], str | None]
"""What a command does with its arguments, on a line counted from 1; its result is a text."""


class Interpreter:
    """Runs scripts, with commands of the caller's.

    `fallback` runs for a command that is not in `commands`: it takes the name, the arguments and the line.
    """

    def __init__(
        self,
        commands: Mapping[str, Command],
        fallback: Callable[[str, list[str], int], None] | None = None,
    ) -> None:
        self._commands = dict(commands)
        self._fallback = fallback
        self._aliases: dict[str, str] = {}
        # Those of the alias that is running: arg1, arg2 … and numargs.
        self._arguments: dict[str, str] = {}
        self._steps = 0
        self._characters = 0
        self._depth = 0

    def run(self, text: str, line: int = 1) -> str:
        """Runs a script and returns the result of its last statement.

        `line` is the number of the first line. Raises ScriptLimitError if the script runs too long or too deep.
        """
        self.count_characters(len(text))
        with self.deeper():
            return _Reader(self, text, line).statements("")

    def count_characters(self, number: int) -> None:
        """Counts characters that are read or copied. Raises ScriptLimitError if there are too many."""
        self._characters += number
        if self._characters > MAX_CHARACTERS:
            raise ScriptLimitError("too much text, that of loops included")

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Counts a level of blocks, calls and files. Raises ScriptLimitError if there are too many."""
        if self._depth >= MAX_DEPTH:
            raise ScriptLimitError("too many blocks and files within each other")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def value(self, name: str) -> str:
        """The value of an alias; empty if there is none."""
        return self._arguments.get(name, self._aliases.get(name, ""))

    def block_text(self, text: str) -> str:
        """The text of a block with `@NAME` replaced by the value of the alias."""
        if "@" not in text:
            return text

        def replaced(match: re.Match[str]) -> str:
            _, expression, name = match.groups()
            if expression is not None:
                value = self.run(expression)
            else:
                value = self.value(name if name is not None else match[1])
            self.count_characters(len(value))
            return value

        return _SUBSTITUTION.sub(replaced, text)

    def call(self, words: list[str], line: int) -> str:
        """The result of a statement."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ScriptLimitError("too many statements")
        self.count_characters(sum(map(len, words)))
        name, arguments = words[0], words[1:]
        own = self._commands.get(name)
        if own is not None:
            return own(arguments, line) or ""
        builtin = _BUILTINS.get(name)
        if builtin is not None:
            return builtin(self, arguments)
        if name in self._aliases:
            return self._call_alias(name, arguments)
        if _NUMBER.fullmatch(name):
            return name
        if self._fallback is not None:
            self._fallback(name, arguments, line)
        return ""

    def set_alias(self, name: str, value: str) -> None:
        """Gives an alias a value."""
        (self._arguments if name in self._arguments else self._aliases)[name] = value

    def run_block(self, text: str) -> str:
        """Runs a block or a text."""
        return self.run(text, text.line if isinstance(text, Block) else 1)

    def _call_alias(self, name: str, arguments: list[str]) -> str:
        outer = self._arguments
        self._arguments = {f"arg{number}": argument for number, argument in enumerate(arguments, 1)}
        self._arguments["numargs"] = str(len(arguments))
        try:
            return self.run_block(self._aliases[name])
        finally:
            self._arguments = outer


class _Reader:
    """Reads and runs statements from where it is in a text."""

    def __init__(self, interpreter: Interpreter, text: str, line: int) -> None:
        self._run = interpreter
        self._text = text
        self._at = 0
        # Where lines were counted to, and the line there.
        self._counted = (0, line)

    def statements(self, end: str) -> str:
        """Runs statements up to the character `end`, which is skipped, or to the end of the text."""
        result = ""
        while True:
            self._skip_blanks()
            if self._at >= len(self._text):
                return result
            letter = self._text[self._at]
            if letter in "\n;":
                self._at += 1
            elif letter in "])":
                self._at += 1
                if letter == end:
                    return result
            else:
                result = self._statement()

    def _statement(self) -> str:
        line = self._line()
        words: list[str] = []
        while True:
            self._skip_blanks()
            if self._at >= len(self._text) or self._text[self._at] in "\n;])":
                break
            words.append(self._word())
        if len(words) > 1 and words[1] == "=":
            self._run.set_alias(words[0], words[2] if len(words) > 2 else "")
            return ""
        return self._run.call(words, line) if words else ""

    def _word(self) -> str:
        letter = self._text[self._at]
        if letter == '"':
            return self._string()
        if letter == "[":
            return self._block()
        if letter == "(":
            self._at += 1
            with self._run.deeper():
                return self.statements(")")
        match = _BARE.match(self._text, self._at)
        if match is None:
            # A single slash before a comment cannot happen; any other letter is skipped.
            self._at += 1
            return ""
        self._at = match.end()
        word = match[0]
        if word == "$" and self._at < len(self._text) and self._text[self._at] in '("[':
            return self._run.value(self._word())
        return self._run.value(word[1:]) if word.startswith("$") and len(word) > 1 else word

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), found[1])

    def _block(self) -> str:
        line = self._line()
        start = self._at = self._at + 1
        depth = 1
        while (found := _IN_BLOCK.search(self._text, self._at)) is not None:
            self._at = found.end()
            if found[0] == '"':
                self._at -= 1
                self._string()
                continue
            depth += {"[": 1, "]": -1}.get(found[0], 0)
            if not depth:
                return Block(self._run.block_text(self._text[start : self._at - 1]), line)
        self._at = len(self._text)
        return Block(self._run.block_text(self._text[start:]), line)

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _line(self) -> int:
        at, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", at, self._at))
        return self._counted[1]


def number(text: str) -> float:
    """The number that a text begins with; 0 if it begins with none."""
    match = _NUMBER.match(text)
    value = float(match[0]) if match is not None else 0.0
    return value if math.isfinite(value) else 0.0


def _text(value: float) -> str:
    return f"{value:.9g}"


def _is_true(text: str) -> bool:
    return text != "" and (not _NUMBER.fullmatch(text) or number(text) != 0.0)


def _argument(arguments: list[str], index: int) -> str:
    return arguments[index] if index < len(arguments) else ""


def _if(run: Interpreter, arguments: list[str]) -> str:
    return run.run_block(_argument(arguments, 1 if _is_true(_argument(arguments, 0)) else 2))


def _choose(run: Interpreter, arguments: list[str]) -> str:
    del run
    return _argument(arguments, 1 if _is_true(_argument(arguments, 0)) else 2)


def _alias(run: Interpreter, arguments: list[str]) -> str:
    if arguments:
        run.set_alias(arguments[0], _argument(arguments, 1))
    return ""


def _do(run: Interpreter, arguments: list[str]) -> str:
    return run.run_block(_argument(arguments, 0))


def _all(run: Interpreter, arguments: list[str]) -> str:
    return _text(all(_is_true(run.run_block(one)) for one in arguments))


def _any(run: Interpreter, arguments: list[str]) -> str:
    return _text(any(_is_true(run.run_block(one)) for one in arguments))


def _loop(run: Interpreter, arguments: list[str]) -> str:
    result = ""
    for index in range(min(int(number(_argument(arguments, 1))), MAX_STEPS + 1)):
        run.set_alias(_argument(arguments, 0), str(index))
        result = run.call(["do", _argument(arguments, 2)], 1)
    return result


def _loop_list(run: Interpreter, arguments: list[str]) -> str:
    result = ""
    for item in _argument(arguments, 1).split():
        run.set_alias(_argument(arguments, 0), item)
        result = run.call(["do", _argument(arguments, 2)], 1)
    return result


def _while(run: Interpreter, arguments: list[str]) -> str:
    result = ""
    while _is_true(run.call(["do", _argument(arguments, 0)], 1)):
        result = run.run_block(_argument(arguments, 1))
    return result


def _value_of(run: Interpreter, arguments: list[str]) -> str:
    return run.value(_argument(arguments, 0))


def _format(run: Interpreter, arguments: list[str]) -> str:
    def replaced(match: re.Match[str]) -> str:
        value = "%" if match[1] == "%" else _argument(arguments, int(match[1]))
        run.count_characters(len(value))
        return value

    return re.sub(r"%([1-9%])", replaced, _argument(arguments, 0))[:_LONGEST]


def _joined(separator: str) -> _Builtin:
    return lambda run, arguments: separator.join(arguments)[:_LONGEST]


def _compared(holds: Callable[[float, float], bool]) -> _Builtin:
    return lambda run, arguments: _text(
        holds(number(_argument(arguments, 0)), number(_argument(arguments, 1)))
    )


def _compared_texts(holds: Callable[[str, str], bool]) -> _Builtin:
    return lambda run, arguments: _text(holds(_argument(arguments, 0), _argument(arguments, 1)))


def _computed(compute: Callable[[float, float], float], neutral: float) -> _Builtin:
    """The result for any number of arguments: that of one is the argument itself, and of none the neutral value."""

    def run_it(run: Interpreter, arguments: list[str]) -> str:
        del run
        values = [number(argument) for argument in arguments] or [neutral]
        result = values[0]
        for value in values[1:]:
            result = compute(result, value)
        return _text(result if math.isfinite(result) else 0.0)

    return run_it


def _divided(one: float, other: float) -> float:
    quotient = one / other if other else 0.0
    return float(int(quotient)) if math.isfinite(quotient) else quotient


_difference = _computed(lambda one, other: one - other, 0.0)


def _subtracted(run: Interpreter, arguments: list[str]) -> str:
    # The negative of a single argument.
    return _difference(run, arguments if len(arguments) > 1 else ["0", *arguments])


_Builtin = Callable[[Interpreter, list[str]], str]

# An alias could double its own value in a loop.
_LONGEST = 1 << 16

_BUILTINS: dict[str, _Builtin] = {
    "if": _if,
    "?": _choose,
    "alias": _alias,
    "do": _do,
    "result": lambda run, arguments: _argument(arguments, 0),
    "getalias": _value_of,
    "&&": _all,
    "||": _any,
    "!": lambda run, arguments: _text(not _is_true(_argument(arguments, 0))),
    "loop": _loop,
    "looplist": _loop_list,
    "while": _while,
    "concat": _joined(" "),
    "concatword": _joined(""),
    "format": _format,
    "strstr": lambda run, arguments: _text(_argument(arguments, 0).find(_argument(arguments, 1))),
    "strlen": lambda run, arguments: _text(len(_argument(arguments, 0))),
    "strcmp": _compared_texts(lambda one, other: one == other),
    "=s": _compared_texts(lambda one, other: one == other),
    "!=s": _compared_texts(lambda one, other: one != other),
}
_BUILTINS |= {
    name + suffix: _compared(holds)
    for name, holds in (
        ("=", lambda one, other: one == other),
        ("!=", lambda one, other: one != other),
        ("<", lambda one, other: one < other),
        (">", lambda one, other: one > other),
        ("<=", lambda one, other: one <= other),
        (">=", lambda one, other: one >= other),
    )
    for suffix in ("", "f")
}
_BUILTINS |= {
    name + suffix: _computed(compute, neutral)
    for name, compute, neutral in (
        ("+", lambda one, other: one + other, 0.0),
        ("*", lambda one, other: one * other, 1.0),
    )
    for suffix in ("", "f")
}
_BUILTINS |= {
    "-": _subtracted,
    "-f": _subtracted,
    "div": _computed(_divided, 1.0),
    "divf": _computed(lambda one, other: one / other if other else 0.0, 1.0),
    "mod": _computed(lambda one, other: math.fmod(one, other) if other else 0.0, 1.0),
    "min": _computed(min, 0.0),
    "max": _computed(max, 0.0),
}
