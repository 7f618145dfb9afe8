"""What models are read from and written to. Only regular files are read: pipes may have no end, devices may change.

Files are written completely or not at all: to a temporary file in the same folder, which replaces the target once all
of it is on the disk. What a killed process leaves has a known prefix, and is removed by an export into the folder an
hour later. Temporary names are made here: on Windows, Python's `tempfile` takes a PermissionError for a name in use,
and tries 2,147,483,647 names where the user may not write.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Protocol, TypeAlias

_REASON = "this is not a regular file: folders, pipes and devices cannot be read"
# Without O_NONBLOCK, opening a pipe waits for a writer. Some systems lack some of these flags.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_PREFIX, _SUFFIX = ".io_idtech-", ".tmp"
_ABANDONED_AFTER = 3600.0  # seconds


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


def write_file(path: str | os.PathLike[str], data: bytes, *, remove_abandoned: bool = True) -> None:
    """Writes one file; see `write_files`."""
    write_files({Path(path): data}, remove_abandoned=remove_abandoned)


def write_files(files: Mapping[Path, bytes], *, remove_abandoned: bool = True) -> None:
    """Writes files, replacing none before all are on the disk; an OSError names the target, left intact."""
    # Permissions and links stay: the file that a link points to is written. `remove_abandoned` removes what killed
    # processes left in the folders. It lists them: who writes thousands of files should do it once in each folder.
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
        with file:
            write_target(data, file)
            os.fsync(file.fileno())
        with suppress(OSError):  # not all file systems have permissions
            temporary.chmod(permissions)
    except OSError as error:
        raise _for_target(error, target) from error
    return temporary


def _for_target(error: OSError, target: Path) -> OSError:
    return OSError(error.errno, error.strerror, os.fspath(target), getattr(error, "winerror", None))


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()


def _remove_abandoned(folder: Path) -> None:
    with suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            status = path.lstat()
            # What is no file was not made by an export, whatever its name.
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > _ABANDONED_AFTER:
                path.unlink()


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
    for _ in range(10):
        path = folder / f"{_PREFIX}{secrets.token_hex(4)}{_SUFFIX}"
        with suppress(FileExistsError):
            return path, open(path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(folder))
