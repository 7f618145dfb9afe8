"""Atomic writing: files are written completely or not at all.

Data is written to a temporary file in the same folder, which replaces the target once all of it is on the disk. What a
killed process leaves is removed by the next export into the folder: it has a known prefix, and no process locks it.

Temporary names are made here: on Windows, Python's `tempfile` takes a PermissionError for a name in use, and tries
2,147,483,647 names where the user may not write.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path

from .reading import open_file

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = ".io_idtech-", ".tmp"
# Seconds. Without locks, older files than the first are abandoned; younger ones than the second may not be locked yet.
_LONG_AGO, _JUST_NOW = 3600.0, 5.0
_TRIES = 10


def write_file(path: str | os.PathLike[str], data: bytes, *, remove_abandoned: bool = True) -> None:
    """Writes one file; see `write_files`."""
    write_files({Path(path): data}, remove_abandoned=remove_abandoned)


def write_files(files: Mapping[Path, bytes], *, remove_abandoned: bool = True) -> None:
    """Writes files, replacing none before all are on the disk; an OSError names the target, left intact.

    Permissions stay, and of a link the file that it points to is written. `remove_abandoned` removes what killed
    processes left in the folders. It lists them: who writes thousands of files should do it once in each folder.
    """
    # A link stays a link.
    targets = {Path(os.path.realpath(path)) if path.is_symlink() else path: data for path, data in files.items()}
    for folder in {target.parent for target in targets} if remove_abandoned else ():
        _remove_abandoned(folder)
    with ExitStack() as temporaries:
        staged = [(_stage(target, data, temporaries), target) for target, data in targets.items()]
        for temporary, target in staged:
            try:
                temporary.replace(target)
            except OSError as error:
                raise _for_target(error, target) from error


def _stage(target: Path, data: bytes, temporaries: ExitStack) -> Path:
    """Writes a temporary file beside a target; it is removed when `temporaries` are closed."""
    try:
        permissions = _permissions(target)
        temporary, file = new_file(target.parent)
        temporaries.callback(_remove, temporary)
        if fcntl is None:
            with file:
                _write_all(file, data)
        else:
            # The file stays open, and so locked, until it has replaced the target.
            temporaries.enter_context(file)
            with suppress(OSError):  # not all file systems have locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write_all(file, data)
        with suppress(OSError):  # not all file systems have permissions
            temporary.chmod(permissions)
    except OSError as error:
        raise _for_target(error, target) from error
    return temporary


def _write_all(file: FileIO, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]
    os.fsync(file.fileno())


def _for_target(error: OSError, target: Path) -> OSError:
    return OSError(error.errno, error.strerror, os.fspath(target), getattr(error, "winerror", None))


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()


def _remove_abandoned(folder: Path) -> None:
    with suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with suppress(OSError):
                if _is_abandoned(path):
                    path.unlink()


def _is_abandoned(path: Path) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        # Not made by an export, whatever its name.
        return False
    age = time.time() - status.st_mtime
    if fcntl is None or age < _JUST_NOW:
        return age > _LONG_AGO
    with open_file(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _permissions(target: Path) -> int:
    """Those of the replaced file or a new one; OSError if the file itself must not be written."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode) or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(mode)


def new_file(folder: Path) -> tuple[Path, FileIO]:
    """Creates a file that only this user may read. It has no buffer, which might fail on closing."""
    tries = 0
    while True:
        path = folder / f"{_PREFIX}{secrets.token_hex(4)}{_SUFFIX}"
        try:
            return path, open(path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))
        except FileExistsError:
            tries += 1
            if tries == _TRIES:
                raise
