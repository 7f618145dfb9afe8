"""Temporary files and folders with new names.

On Windows, Python's `tempfile` takes a PermissionError for a name in use, as a folder of that name causes one too.
Where the user may not write, it tries 2,147,483,647 names.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import TypeVar

_TRIES = 10
_T = TypeVar("_T")


def new_file(folder: Path, prefix: str, suffix: str) -> tuple[Path, FileIO]:
    """Creates a file that only this user may read. It has no buffer, which might fail on closing.

    Raises OSError if it cannot be created.
    """
    return _make(lambda path: open(path, "xb", buffering=0, opener=_open), folder, prefix, suffix)


def new_folder(folder: Path, prefix: str) -> Path:
    """Makes a folder that only this user may read; eight hexadecimal digits follow the prefix.

    Raises OSError if it cannot be made.
    """
    return _make(lambda path: path.mkdir(mode=0o700), folder, prefix)[0]


def _open(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _make(make: Callable[[Path], _T], folder: Path, prefix: str, suffix: str = "") -> tuple[Path, _T]:
    tries = 0
    while True:
        path = folder / f"{prefix}{secrets.token_hex(4)}{suffix}"
        try:
            return path, make(path)
        except FileExistsError:
            tries += 1
            if tries == _TRIES:
                raise
