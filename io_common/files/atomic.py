"""Files that are either written as a whole or not at all.

What is written lies under a temporary name beside its place until all of it is on the disk; then it takes that place.
A process that is killed in between leaves its temporary file. It is known by its name, and by nobody holding a lock on
it any more: the next export into the same folder removes it.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path

from .regular_files import open_file

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = ".io_idtech-", ".tmp"
# Seconds. Where there are no locks, no export takes longer than the first; no file is without its lock for the second.
_LONG_AGO, _JUST_NOW = 3600.0, 5.0


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes one file; see `write_files`."""
    write_files({Path(path): data})


def write_files(files: Mapping[Path, bytes]) -> None:
    """Writes files that belong together: none takes its place before all of them are on the disk.

    An existing file keeps its content until then, and its permissions afterwards. Of a link, the file it leads to is
    written.

    Args:
        files: their content; their folders must exist.

    Raises:
        OSError: a file cannot be written, and is named; what stood in its place is intact, and nothing else is left.
    """
    with ExitStack() as temporaries:
        staged = [
            (_stage(target, data, temporaries), target)
            for target, data in ((_behind_link(path), data) for path, data in files.items())
        ]
        for temporary, target in staged:
            try:
                temporary.replace(target)
            except OSError as error:
                raise _about(error, target) from error


def _behind_link(path: Path) -> Path:
    """The file that is to be written: a link stays one."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _stage(target: Path, data: bytes, temporaries: ExitStack) -> Path:
    """Writes a temporary file beside a target; it is removed, where it is left, when `temporaries` are closed."""
    try:
        permissions = _permissions(target)
        _remove_abandoned(target.parent)
        handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=target.parent)
        temporary = Path(name)
        temporaries.callback(_remove, temporary)
        # What a buffer holds back would fail a second time when the file is closed, without its name.
        file = os.fdopen(handle, "wb", buffering=0)
        if fcntl is None:
            with file:
                _fill(file, data)
        else:
            # It stays open, and with it the lock, until it has taken its place.
            temporaries.enter_context(file)
            with suppress(OSError):  # not all disks know locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _fill(file, data)
        with suppress(OSError):  # not all disks know permissions
            temporary.chmod(permissions)
    except OSError as error:
        raise _about(error, target) from error
    return temporary


def _fill(file: FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _about(error: OSError, target: Path) -> OSError:
    """The error, about the file that was to be written: nobody knows the temporary name."""
    return OSError(error.errno, error.strerror, os.fspath(target), getattr(error, "winerror", None))


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()


def _remove_abandoned(folder: Path) -> None:
    """Removes what killed processes left."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            if _is_abandoned(path):
                path.unlink()


def _is_abandoned(path: Path) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        # Whatever bears such a name, no export made it.
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
    """Those of the file that is replaced, else those that a new file gets.

    Raises:
        OSError: it must not be replaced, though the folder would allow it.
    """
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
