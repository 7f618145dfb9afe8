"""Files that are either written as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file under a temporary name beside its place and moves it there when all is written.

    An existing file keeps its content until then, and its permissions afterwards.

    Args:
        path: the file; its folder must exist.
        data: all of it.

    Raises:
        OSError: it cannot be written; what stood there before is intact, and nothing else is left.
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_permissions(target))
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, else those that a new file gets."""
    try:
        return target.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
