"""Records of earlier conversions: which results are up to date, and which files may be replaced.

The output folder's `.idtech` has a small JSON file for each task, so that several machines can work on the folder. A
result is up to date if it was made from the same files with the same settings and version of the extension. A record
may be damaged or come from somebody else: it holds the hash of each result; a file with another hash is the user's.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..io_blender.options import Settings
from ..io_common.files.reading import open_file
from ..io_common.game_tree.archives import FilesByName, stamp
from ..io_common.game_tree.files import FileReadError
from .tasks import FileSet, Task, files_read, resolved_path, stamp_or_none

FOLDER = ".idtech"
_MAX_SIZE = 1 << 24  # bytes; a record has a line for each file
_LONGEST_NAME = 4096  # as long as a path may be


class Records:
    """The records of an output folder; what another version of the extension wrote is not up to date."""

    def __init__(self, out: Path, settings: Settings, version: str, *, force: bool = False) -> None:
        self.settings = settings
        self.force = force  # replace files that are not results of earlier runs
        self.sources = FileSet()  # the input files of the run
        self.out = out
        self._version = version
        self._listed = FilesByName()
        self._results: dict[str, set[str]] = {}
        with suppress(OSError):
            for path in (out / FOLDER).glob("*.json"):
                for file, digests in self._files(_read(path)).items():
                    self._results.setdefault(resolved_path(file), set()).update(digests)

    def is_earlier_result(self, path: str) -> bool:
        """Whether a file, by its resolved path, was there as it is before this run, as the result of any task."""
        return path in self._results and _is_unchanged(Path(path), self._results[path])

    def is_result(self, task: Task, path: Path) -> bool:
        """Whether a file is byte for byte what the last run of a task wrote, or a run that was killed."""
        digests = [one for record in self._paths(task) for one in self._files(_read(record)).get(path, [])]
        return _is_unchanged(path, digests)

    def is_up_to_date(self, task: Task) -> bool:
        """Whether a task can be skipped."""
        path, begun = self._paths(task)
        record = _read(path)
        files, others = self._files(record), record.get("others")
        is_whole = bool(files) and all(map(os.path.exists, files)) and not os.path.lexists(begun)
        if not is_whole or not isinstance(others, dict):
            return False
        state = self.state(task)
        return (
            state is not None
            and all(record.get(key) == value for key, value in state.items())
            and all(stamp_or_none(self.out / name) == stamped for name, stamped in others.items())
        )

    def state(self, task: Task) -> dict[str, Any] | None:
        """What a task's result depends on; taken before its files are read, so that later changes count."""
        try:
            sources, missing = files_read(task, self.settings, self._listed)
            stamps = {self._relative_path(path): stamp(path) for path in sources}
        except (FileReadError, OSError):
            # It is reported when the task tries to read it.
            return None
        # As JSON, which has no tuples.
        settings = json.loads(json.dumps(asdict(self.settings)))
        what = {"version": self._version, "settings": settings, "prefix": task.prefix}
        return {**what, "sources": stamps, "missing": missing}

    @contextmanager
    def storing(
        self, task: Task, state: dict[str, Any] | None, digests: Mapping[Path, str], others: list[Path]
    ) -> Iterator[None]:
        """Stores a task as done after a block; if Blender is killed in it, results may be replaced."""
        # `state` is that before the files were read, `others` what the scene refers to, such as images.
        record, begun = self._paths(task)
        content = {
            **(state or {}),
            "others": {self._relative_path(path): stamp_or_none(path) for path in others},
            "files": {os.path.relpath(file, self.out): [one] for file, one in digests.items()},
        }
        if os.path.lexists(record.parent) and not record.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(record.parent))
        record.parent.mkdir(parents=True, exist_ok=True)
        try:
            begun.unlink(missing_ok=True)
            with open(begun, "xb") as file:
                file.write(json.dumps(content, indent=1).encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(begun)) from error
        yield
        begun.replace(record)

    def _paths(self, task: Task) -> tuple[Path, Path]:
        """The record of a task, and the one that is there while its results are moved, or if that was interrupted."""
        # A hash, as the name of a result may already be as long as the file system allows.
        relative = os.path.relpath(task.target, self.out).replace(os.sep, "/")
        name = hashlib.sha256(os.fsencode(relative)).hexdigest()[:32]
        return self.out / FOLDER / f"{name}.json", self.out / FOLDER / f"{name}-begun.json"

    def _files(self, record: dict[str, Any]) -> dict[Path, list[str]]:
        """The files in a record that lie in the output folder, each with its possible hashes."""
        names = record.get("files")
        return {
            self.out / name: [one for one in digests if isinstance(one, str)]
            for name, digests in (names.items() if isinstance(names, dict) else ())
            if _is_inside(name) and isinstance(digests, list)
        }

    def _relative_path(self, path: Path) -> str:
        """The path of a source relative to the output folder, which is the same on all machines that share a disk."""
        try:
            return os.path.relpath(path, self.out)
        except ValueError:
            # It is on another drive of Windows.
            return os.path.abspath(path)


def digest(path: Path) -> str:
    """The hash of a file."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_unchanged(path: Path, digests: Collection[str]) -> bool:
    with suppress(OSError):
        return bool(digests) and not path.is_symlink() and digest(path) in digests
    return False


def _read(path: Path) -> dict[str, Any]:
    """A record; empty if it does not exist or is damaged."""
    with suppress(OSError, ValueError, RecursionError), open_file(path) as file:
        record = json.loads(file.read(_MAX_SIZE))
        return record if isinstance(record, dict) else {}
    return {}


def _is_inside(name: str) -> bool:
    """Whether a relative path stays below its folder, and can be the name of a file."""
    if len(name) > _LONGEST_NAME:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    normal = os.path.normpath(name)
    return "\0" not in name and not os.path.isabs(normal) and normal.split(os.sep)[0] not in ("", ".", "..")
