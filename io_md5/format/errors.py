"""The exception for invalid MD5 data."""

from __future__ import annotations


class Md5Error(ValueError):
    """An MD5 file that cannot be understood, or a model that cannot be written.

    The message names the file, the line, what was found and what was expected, as far as these are known.

    Args:
        reason: the problem, in words.
        path: the file.
        line: its line number, counted from 1.
        column: the character in that line, counted from 1.
        found: the offending text.
        expected: the expected text.
    """

    file_format = "MD5"

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        super().__init__(reason)

    @property
    def place(self) -> str:
        """The file, the line and the column, as far as they are known."""
        numbers = [
            f"{what} {number}"
            for what, number in (("line", self.line), ("column", self.column))
            if number is not None
        ]
        return ", ".join([*filter(None, [self.path]), *numbers])

    def __str__(self) -> str:
        """The problem, then the values, then the place."""
        text = self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return f"{text} ({self.place})" if self.place else text
