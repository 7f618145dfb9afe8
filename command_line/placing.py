"""Results take their places when they are whole, and never that of a file that is not theirs.

They are written into a folder of their own beside their places. What a killed Blender leaves of it is hidden, is no
source of another run, and is removed by a later one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .settings import Task

_PREFIX = ".idtech-"
_LONG_AGO = 86400.0  # seconds; no file takes a day


class TakenError(ValueError):
    """In the place of a result is a file that is not the result of an earlier run."""


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A folder to work in, in the folder where results go; it is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as name:
        yield Path(name)


def find_places(made: Sequence[Path], task: Task) -> dict[Path, Path]:
    """Where files belong, the target last: whoever sees it finds the others.

    Args:
        made: files in a workplace.
        task: whose they are.

    Raises:
        TakenError: a file is there that must not be written over.
    """
    places = {
        path: _place_of(path, task) for path in sorted(made, key=lambda path: path.name == task.target.name)
    }
    if task.replaceable is not None:
        own = {os.path.abspath(path) for path in task.replaceable}
        for path in places.values():
            if path.exists() and os.path.abspath(path) not in own:
                raise TakenError(
                    f"{path} is there already, and no result of this task: use another folder, or --force"
                )
    return places


def move(places: Mapping[Path, Path]) -> None:
    """Moves files to their places.

    Raises:
        OSError: a file cannot be moved.
    """
    for source, path in places.items():
        source.replace(path)


def _place_of(path: Path, task: Task) -> Path:
    if path.name == task.target.name:
        return task.target
    return task.target.with_name(f"{task.prefix}{path.name}")


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _LONG_AGO:
                shutil.rmtree(path)
