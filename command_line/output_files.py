"""Output files: written to a temporary folder, then moved to their targets when they are complete.

The temporary folder lies next to the targets. If Blender is killed, it stays behind; its name starts with a dot, so
that no run reads files from it, and a later run removes it.

A target that exists is replaced only if it is byte for byte what an earlier run wrote. With ``--force``, other files
are replaced too, but never an input file of this run, a broken link, or anything that is not a regular file.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..io_common.files.atomic import new_folder
from .formats import FAMILY_FORMATS
from .records import Records, listed
from .settings import Settings, Task

_PREFIX = ".idtech-converting-"
# How `new_folder` completes the prefix; those of workers have the worker in between.
_ABANDONED = re.compile(r"\.idtech-converting-([a-z0-9_]{8}-\d+-\d+-)?[0-9a-f]{8}")
# Bytes. Blender's limit is 1,023, and its exporters add to the name of the file while they write it.
_LONGEST_PATH = 1000
REPLIES = "replies"
"""How the name of a worker's file of outcomes begins, in a temporary folder; then come two numbers."""
_ABANDONED_AFTER = 86400.0  # seconds; no file takes a day to convert


# Those of this process that exist.
_temporary_folders: list[Path] = []
# The worker that this process is.
_worker = ""


class TargetError(ValueError):
    """The target of an output file must not be replaced."""


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder inside an output folder, which is made if needed; removed at the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    path = new_folder(folder, _PREFIX + _worker)
    _temporary_folders.append(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _temporary_folders.remove(path)


def remove_temporary_folders() -> None:
    """Removes the temporary folders of this process, which is about to end."""
    for path in _temporary_folders:
        shutil.rmtree(path, ignore_errors=True)


def become_worker(replies: Path) -> None:
    """Marks the temporary folders of this process as those of a worker, which is known by its file of outcomes."""
    global _worker
    _worker = _name_of_worker(replies)


def remove_folders_of_worker(replies: Path, folder: Path) -> None:
    """Removes the temporary folders of a worker that was killed or has crashed from an output folder."""
    for path in listed(folder):
        if path.name.startswith(_PREFIX + _name_of_worker(replies)):
            shutil.rmtree(path, ignore_errors=True)


def _name_of_worker(replies: Path) -> str:
    return f"{replies.parent.name[-8:]}-{replies.name.removeprefix(REPLIES)}-"


def require_short_path(path: Path, task: Task, settings: Settings) -> None:
    """Checks that Blender can write a file: it cuts long paths off, and would write another file.

    `path` is that of the result in the temporary folder. Raises TargetError if it is too long.
    """
    if settings.format not in FAMILY_FORMATS and len(os.fsencode(os.path.abspath(path))) > _LONGEST_PATH:
        raise TargetError(
            f"{task.target}: Blender cannot write a path that long: choose another output folder"
        )


def find_targets(written: Sequence[Path], task: Task, records: Records) -> dict[Path, Path]:
    """The target of each file, in the order to move them: the task's own target last, as it marks the task as done.

    `written` are the files that the task wrote to a temporary folder. Raises TargetError if a target exists and must
    not be replaced.
    """
    targets = {
        path: _target_of(path, task)
        for path in sorted(written, key=lambda path: path.name == task.target.name)
    }
    for path in targets.values():
        _check_replaceable(path, task, records)
    return targets


def _check_replaceable(path: Path, task: Task, records: Records) -> None:
    if path in records.sources:
        raise TargetError(f"{path} is an input file of this run: choose another output folder")
    if not os.path.lexists(path):
        return
    if not os.path.exists(path):
        raise TargetError(f"{path} is a broken link: remove it, or choose another output folder")
    if not os.path.isfile(path):
        raise TargetError(f"{path} exists and is not a regular file: choose another output folder")
    if path.is_symlink():
        raise TargetError(f"{path} is a link: choose another output folder")
    if not os.access(path, os.W_OK):
        raise TargetError(f"{path} is write-protected: choose another output folder, or make it writable")
    if not task.is_forced and not records.is_result(task, path):
        raise TargetError(
            f"{path} exists and was not written by an earlier run, or was changed since: choose another output folder, "
            "or use --force"
        )


def move(targets: Mapping[Path, Path]) -> None:
    """Moves files to their targets."""
    for source, path in targets.items():
        source.replace(path)


def with_target_name(error: OSError, task: Task) -> OSError:
    """An error about a file in a temporary folder as one about its target, the path that the user knows."""
    name = error.filename
    if error.filename2 is not None or not isinstance(name, str) or _PREFIX not in name:
        return error
    if Path(name).name.startswith(_PREFIX):
        # The temporary folder itself.
        return OSError(error.errno, error.strerror, os.path.dirname(name))
    return OSError(error.errno, error.strerror, str(_target_of(Path(name), task)))


def _target_of(path: Path, task: Task) -> Path:
    # Games look for an animation with the name of its model.
    prefix = "" if path.stem == task.target.stem else task.prefix
    return task.target.with_name(f"{prefix}{path.name}")


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Removes the temporary folders that killed runs left in output folders, some of which may not exist."""
    for folder in folders:
        for path in listed(folder):
            with suppress(OSError):
                if _ABANDONED.fullmatch(path.name) and time.time() - path.lstat().st_mtime > _ABANDONED_AFTER:
                    shutil.rmtree(path)
