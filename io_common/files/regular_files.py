"""Opening of regular files only: reading from a pipe or a device may never end, or may change it."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader

_REASON = "this is not a regular file: folders, pipes and devices cannot be read"
# Without O_NONBLOCK, opening a pipe waits for a writer. Some systems lack some of these flags.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a regular file, or a link to one, for reading.

    Raises OSError if it is not a regular file, or cannot be opened.
    """
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
    """The content of a regular file, or of the one that a link points to.

    Raises OSError if it is not a regular file, or cannot be read.
    """
    with open_file(path) as file:
        return file.read()


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENODEV, _REASON, os.fspath(path))
