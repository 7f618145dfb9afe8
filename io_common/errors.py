"""The exceptions for bad data."""

from __future__ import annotations


class FormatError(ValueError):
    """A file that cannot be understood, or a model that cannot be written; each family has a subclass.

    The message names the file, the place in it, what was found and what was expected, as far as these are known.

    Args:
        reason: the problem, in words.
        path: the file.
        line: its line number, counted from 1.
        column: the character in that line, counted from 1.
        offset: the byte in the file, counted from 0.
        found: the bad value.
        expected: what it should have been.
    """

    file_format = ""

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
        self.offset = offset
        self.found = found
        self.expected = expected
        super().__init__(reason)

    @property
    def place(self) -> str:
        """The file, and the line and column or the byte in it, as far as they are known."""
        numbers = (("line", self.line), ("column", self.column), ("byte", self.offset))
        known = [f"{what} {number}" for what, number in numbers if number is not None]
        return ", ".join([*filter(None, [self.path]), *known])

    def __str__(self) -> str:
        """The problem, then the values, then the place."""
        text = self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return f"{text} ({self.place})" if self.place else text
