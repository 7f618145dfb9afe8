"""The one exception for bad MD5 data."""

from __future__ import annotations


class Md5Error(ValueError):
    """An MD5 file that cannot be understood, or a model that cannot be written.

    The message names the file, the line, what was found and what was expected, as far as they are known.

    Args:
        reason: what is wrong, in words.
        path: the file.
        line: the line in it, counted from 1.
        found: the offending text.
        expected: what should have stood there.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        line: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.reason = reason
        self.path = path
        self.line = line
        self.found = found
        self.expected = expected
        super().__init__(reason)

    def __str__(self) -> str:
        place = self.path
        if self.line is not None:
            place = f"{place}, line {self.line}" if place else f"line {self.line}"
        text = f"{place}: {self.reason}" if place else self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return text
