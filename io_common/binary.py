"""Binary files: sections are checked against the size of the file before they are read; and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrays import NAME_ENCODING
from .errors import FormatError
from .files import Target, target_name, write_target
from .texts import counted

INCOMPLETE = "the file is incomplete (cut off or only partly downloaded)"

_Contents = TypeVar("_Contents")


class BinaryReader:
    """The bytes of a file, and what was unusual in them."""

    ERROR: ClassVar[type[FormatError]]  # that of the format

    def __init__(self, data: bytes | bytearray, path: str) -> None:
        self.data, self.path = data, path
        self.warnings: list[str] = []

    def error(self, reason: str, offset: int, found: object, expected: object) -> FormatError:
        """What is wrong at a place in the file."""
        return self.ERROR(reason, path=self.path, offset=offset, found=str(found), expected=str(expected))

    def check_start(self, magic: bytes, size: int, kind: str) -> None:
        """Raises unless the file begins as its kind does, and has as many bytes as its header."""
        found = bytes(self.data[: len(magic)])
        if not magic.startswith(found):
            raise self.error(f"the file is not {kind}", 0, repr(found)[1:], repr(magic)[1:])
        if len(self.data) < size:
            found_size = counted(len(self.data), "bytes")
            raise self.error(f"{INCOMPLETE}: it ends inside its header", len(self.data), found_size, size)

    def rows(
        self, name: str, dtype: np.dtype[Any], count: int, offset: int, start: int = 0, end: int | None = None
    ) -> NDArray[Any]:
        """The rows of a section, which has to be between two places; the offset of an empty one is not checked."""
        size, end = count * dtype.itemsize, len(self.data) if end is None else end
        if not size:
            return np.zeros(0, dtype)
        if not start <= offset <= end - size:
            reason = f"{INCOMPLETE}: {counted(count, 'rows')} of {name} do not fit"
            found = f"{counted(size, 'bytes')} from {offset} on"
            raise self.error(reason, offset, found, f"a range within {start} to {end}")
        return np.frombuffer(self.data, dtype, count, offset)

    def names_in(self, fields: Iterable[bytes], what: str) -> list[str]:
        """The names in fields up to their first NUL, with a warning of those that have none."""
        parts = [field.partition(b"\0") for field in fields]
        unterminated = sum(not end for _, end, _ in parts)
        if unterminated:
            self.warnings.append(f"{counted(unterminated, what, 'have')} no terminator")
        return [name.decode(NAME_ENCODING) for name, _, _ in parts]


def write_contents(contents: _Contents, target: Target, format_contents: Callable[[_Contents], bytes]) -> None:
    """Writes the bytes that a function makes of the contents of a file, after all are made; errors get its name."""
    try:
        data = format_contents(contents)
    except FormatError as error:
        error.path = target_name(target)
        raise
    write_target(data, target)
