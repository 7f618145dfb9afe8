"""The one exception for bad MD2 data."""

from __future__ import annotations


class Md2Error(ValueError):
    """An MD2 file that cannot be understood, or a model that cannot be written.

    The message names the file, the byte, what was found and what was expected, as far as they are known.

    Args:
        reason: what is wrong, in words.
        path: the file.
        offset: the byte in it, counted from 0.
        found: the offending value.
        expected: what should have stood there.
    """

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

    def __str__(self) -> str:
        place = self.path
        if self.offset is not None:
            place = f"{place}, byte {self.offset}" if place else f"byte {self.offset}"
        text = f"{place}: {self.reason}" if place else self.reason
        if self.found is not None:
            text += f"; found {self.found}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        return text
