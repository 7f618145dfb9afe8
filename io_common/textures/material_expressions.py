"""Expressions of Doom 3 materials, with the values that they have when an entity appears in the game.

From the published source of Doom 3 (`Material.cpp`, `RenderWorld.cpp`): `parm0` to `parm3` are 1, the other parameters,
`time` and `sound` are 0. Operators of the same priority take what follows first: `5 - 2 - 1` is 4.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable

from .mtr_tokens import Token

_LEXEME = re.compile(r"[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[<>=!]=|&&|\|\||\S")
_PARAMETER = re.compile(r"(?:parm|global)\d+\Z|time\Z|sound\Z|fragmentprograms\Z")
_ONES = ("parm0", "parm1", "parm2", "parm3", "fragmentprograms")
_PRIORITIES = (("*", "/", "%"), ("+", "-"), (">", ">=", "<", "<=", "==", "!="), ("&&", "||"))
_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul, "/": operator.truediv, "+": operator.add, "-": operator.sub,
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    "%": lambda a, b: math.fmod(int(a), int(b) or 1),
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip
_MAX_TERMS = 64
"""Terms of an expression; those of the games have fewer than ten."""
# Products of so many such factors are still finite.
_MAX_NUMBER = 1e4


class _Expression:
    def __init__(self, tokens: list[Token], index: int) -> None:
        self._tokens = tokens
        self._rest: list[str] = []
        self._terms = 0
        self.index = index

    @property
    def is_too_long(self) -> bool:
        return self._terms >= _MAX_TERMS

    def value(self, priority: int = len(_PRIORITIES)) -> float | None:
        if priority == 0:
            return self._term()
        first = self.value(priority - 1)
        symbol = self._peek()
        if symbol not in _PRIORITIES[priority - 1] or self.is_too_long:
            return first
        self._take()
        second = self.value(priority)
        if first is None or second is None or (symbol == "/" and second == 0.0):
            return None
        return float(_OPERATIONS[symbol](first, second))

    def _term(self) -> float | None:
        self._terms += 1
        word = self._peek().lower()
        if self.is_too_long or word in ("", "{", "}", ")", "]", ","):
            return None
        self._take()
        if word == "-":
            number = self._term()
            return -number if number is not None else None
        if word == "(":
            number = self.value()
            if self._peek() == ")":
                self._take()
            return number
        if self._peek() == "[":
            # The entries of a table are not known here.
            self._take()
            self.value()
            if self._peek() == "]":
                self._take()
            return None
        if _PARAMETER.match(word):
            return float(word in _ONES)
        return min(float(word), _MAX_NUMBER) if word[0] in ".0123456789" and word != "." else None

    def _peek(self) -> str:
        if self._rest:
            return self._rest[0]
        token = self._tokens[self.index] if self.index < len(self._tokens) else None
        return next(iter(_lexemes(token)), "") if token is not None else ""

    def _take(self) -> None:
        if not self._rest:
            self._rest = _lexemes(self._tokens[self.index])
            self.index += 1
        del self._rest[0]


def _lexemes(token: Token) -> list[str]:
    return _LEXEME.findall(token.text) if token.kind == "word" else [token.text]


def evaluate(tokens: list[Token], index: int) -> tuple[float | None, int]:
    """The value of an expression, None if it cannot be known, and the index of the token after it.

    The tokens are without comments; `index` is that of the first token of the expression.
    """
    expression = _Expression(tokens, index)
    value = expression.value()
    return (None if expression.is_too_long else value), expression.index
