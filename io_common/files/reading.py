"""What models are read from and written to; only regular files, as pipes may have no end, and devices may change."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Protocol, TypeAlias

_REASON = "this is not a regular file: folders, pipes and devices cannot be read"
# Without O_NONBLOCK, opening a pipe waits for a writer. Some systems lack some of these flags.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a regular file, or a link to one; OSError if it is something else."""
    # Opening some devices has side effects, so the path is checked first, and again what was opened in the end.
    _check(os.stat(path), path)
    handle = os.open(path, _FLAGS)
    try:
        _check(os.fstat(handle), path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file, or of the one that a link points to; OSError if it is something else."""
    with open_file(path) as file:
        return file.read()


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENODEV, _REASON, os.fspath(path))


class Readable(Protocol):
    """An object with ``read`` that returns bytes: a file opened in binary mode, or an entry of an archive."""

    def read(self) -> bytes:
        """All that is left in it."""


class Writable(Protocol):
    """An object with ``write`` that takes bytes: a file opened in binary mode, or a new entry of an archive."""

    def write(self, data: bytes, /) -> int | None:
        """Writes bytes and returns how many were written."""


Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable
Target: TypeAlias = str | os.PathLike[str] | Writable


def read_source(source: Source, name: str = "") -> tuple[bytes, str]:
    """The bytes of a source, and its name; a file object is read on to its end, and stays open."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), name
    if isinstance(source, str | os.PathLike):
        return read_file(source), name or os.fspath(source)
    if not callable(getattr(source, "read", None)):
        raise TypeError(f"expected a path, bytes or a binary file object, not {type(source).__name__}")
    data = source.read()
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError("the file is open in text mode: open it in binary mode")
    return bytes(data), name or target_name(source)


def write_target(data: bytes, target: Target) -> None:
    """Writes bytes to a path, or to a file object, which stays open; raises TypeError if the target is neither."""
    if isinstance(target, str | os.PathLike):
        Path(target).write_bytes(data)
        return
    if not callable(getattr(target, "write", None)):
        raise TypeError(f"expected a path or a binary file object, not {type(target).__name__}")
    left = memoryview(data)
    while left:
        # Unbuffered files may take a part only.
        written = target.write(bytes(left))
        left = left[len(left) if written is None else written :]


def target_name(source: object) -> str:
    """The name of a path or file object for messages; empty if it has none."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", "")
    return name if isinstance(name, str) else ""
