"""Results take their places when they are whole, and never that of a file that is not theirs.

They are written into a folder of their own beside their places. What a killed Blender leaves of it is hidden, is no
source of another run, and is removed by a later one.

A result of an earlier run may be replaced as long as it is what that run made. With force, so may other files, but
never one that this run reads, nor what is no file.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .record import Records
from .settings import Task

_PREFIX = ".idtech-"
_ABANDONED = re.compile(r"\.idtech-[a-z0-9_]{8}")  # what `tempfile` makes of it
_LONG_AGO = 86400.0  # seconds; no file takes a day


class TakenError(ValueError):
    """In the place of a result is something that must not be replaced."""


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A folder to work in, in the folder where results go; it is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as name:
        yield Path(name)


def find_places(made: Sequence[Path], task: Task, records: Records) -> dict[Path, Path]:
    """Where files belong, the target last: whoever sees it finds the others.

    Args:
        made: files in a workplace.
        task: whose they are.
        records: of earlier results, and of what is read.

    Raises:
        TakenError: something is there that must not be replaced.
        OSError: what is there cannot be looked at.
    """
    places = {
        path: _place_of(path, task) for path in sorted(made, key=lambda path: path.name == task.target.name)
    }
    for path in places.values():
        _check_free(path, task, records)
    return places


def _check_free(path: Path, task: Task, records: Records) -> None:
    if path in records.sources:
        raise TakenError(f"{path} is a source of this run: use another folder")
    if not os.path.lexists(path):
        return
    if not path.exists():
        raise TakenError(f"{path} is a link that leads nowhere: remove it, or use another folder")
    if not path.is_file():
        raise TakenError(f"{path} is there already, and no file: use another folder")
    if not task.is_forced and not records.is_result(task, path):
        raise TakenError(
            f"{path} is there already, and not as an earlier run made it: use another folder, or --force"
        )


def move(places: Mapping[Path, Path]) -> None:
    """Moves files to their places.

    Raises:
        OSError: a file cannot be moved.
    """
    for source, path in places.items():
        source.replace(path)


def without_workplace(error: OSError, task: Task) -> OSError:
    """An error about a file in a workplace as one about its place: nobody knows the other name."""
    name = error.filename
    if error.filename2 is not None or not isinstance(name, str) or _PREFIX not in name:
        return error
    return OSError(error.errno, error.strerror, str(_place_of(Path(name), task)))


def _place_of(path: Path, task: Task) -> Path:
    if path.name == task.target.name:
        return task.target
    return task.target.with_name(f"{task.prefix}{path.name}")


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if _ABANDONED.fullmatch(path.name) and time.time() - path.lstat().st_mtime > _LONG_AGO:
                shutil.rmtree(path)
