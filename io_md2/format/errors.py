"""The one exception for bad MD2 data."""

from __future__ import annotations


class Md2Error(ValueError):
    """An MD2 file that cannot be understood, or a model that cannot be written.

    The message has the file, the byte offset, the value found and the value expected, where known.

    Args:
        reason: what is wrong.
        path: the file.
        offset: the byte in it, counted from 0.
        found: the bad value.
        expected: what it should have been.
    """

    file_format = "MD2"

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        offset: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.reason = reason
        self.path = path
        self.offset = offset
        self.found = found
        self.expected = expected
        super().__init__(reason)

    @property
    def place(self) -> str:
        """The file and the byte, as far as they are known."""
        return ", ".join(
            [*filter(None, [self.path]), *([] if self.offset is None else [f"byte {self.offset}"])]
        )

    def __str__(self) -> str:
        """The problem, then the values, then the place."""
        text = self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return f"{text} ({self.place})" if self.place else text
