"""Opens regular files and nothing else: to read from a pipe or a device may be without end, or change it.

This module is there three times, word for word: in `io_common` and in both `format` packages, which can be used alone.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader

_REASON = "this is no file; folders, pipes and devices are not read"
# Without O_NONBLOCK, opening a pipe waits for somebody who writes. Not every system has all of these.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a regular file, or a link to one, for reading.

    Raises:
        OSError: it is something else, or cannot be opened.
    """
    # Some devices act when they are opened, so this is asked first, and again of what was opened in the end.
    _check(os.stat(path), path)
    handle = os.open(path, _FLAGS)
    try:
        _check(os.fstat(handle), path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file, or of the one that a link leads to.

    Raises:
        OSError: it is something else, or cannot be read.
    """
    with open_file(path) as file:
        return file.read()


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENODEV, _REASON, os.fspath(path))
