"""What files are read from and written to: paths, bytes, and binary file objects such as entries of zip files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol, runtime_checkable

from .regular_files import read_file


@runtime_checkable
class Readable(Protocol):
    """A binary file object that is open for reading."""

    def read(self) -> bytes:
        """All that is left of it."""


@runtime_checkable
class Writable(Protocol):
    """A binary file object that is open for writing."""

    def write(self, data: bytes, /) -> int | None:
        """Writes bytes, and returns how many were written."""


Source = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable
"""What a file is read from: a path, its bytes, or a binary file object, which is read to its end and left open."""

Target = str | os.PathLike[str] | Writable
"""What a file is written to: a path, or a binary file object, which is left open."""


def read_source(source: Source) -> tuple[bytes, str]:
    """The bytes of a file, and its name for messages; empty if it has none.

    Raises:
        OSError: it cannot be opened or read.
        TypeError: it is something else, such as a file that was opened as text.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), ""
    if isinstance(source, str | os.PathLike):
        return read_file(source), os.fspath(source)
    name = getattr(source, "name", "")
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("the file must be opened in binary mode")
    return data, name if isinstance(name, str) else ""


def write_target(data: bytes, target: Target) -> None:
    """Writes bytes to a path or file object.

    Raises:
        OSError: the file cannot be written.
    """
    if isinstance(target, str | os.PathLike):
        Path(target).write_bytes(data)
    else:
        rest = memoryview(data)
        while rest:
            # An unbuffered file may take only a part.
            count = target.write(bytes(rest))
            rest = rest[len(rest) if count is None else count :]
