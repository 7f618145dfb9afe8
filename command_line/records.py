"""Records of earlier conversions: which results are up to date, and which files may be replaced.

The output folder holds a folder `.idtech` with a small JSON file for each task, so that several machines can work on
the same output folder. A result is up to date if it exists and was made from the same files, with the same settings
and the same version of the extension.

A record may be damaged or come from somebody else. It therefore holds the hash of each result: a file with another
hash belongs to the user, whatever a record says.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..io_common.files import atomic
from ..io_common.files.regular_files import open_file
from ..io_common.game_tree.archives import FilesByName, stamp
from . import characters
from .settings import Settings, Task
from .source_files import Sources, animations_in, files_beside, path_key, resolved_path

FOLDER = ".idtech"
_MAX_SIZE = 1 << 24  # bytes; a record has a line for each file
_LONGEST_NAME = 4096  # as long as a path may be


class Results:
    """A set of the files that earlier runs wrote and that were not changed since, by resolved path.

    It is made of the files that records name, each with its possible hashes.
    """

    def __init__(self, files: Iterable[tuple[Path, list[str]]] = ()) -> None:
        self._digests: dict[str, set[str]] = {}
        self._known: dict[str, bool] = {}
        for path, digests in files:
            self._digests.setdefault(resolved_path(path), set()).update(digests)

    def __contains__(self, path: str) -> bool:
        # A file is read only if it is asked for, which few are.
        if path not in self._known:
            self._known[path] = path in self._digests and self._is_unchanged(path)
        return self._known[path]

    def _is_unchanged(self, path: str) -> bool:
        with suppress(OSError):
            return not os.path.islink(path) and digest(Path(path)) in self._digests[path]
        return False


class Records:
    """The records of an output folder; what another version of the extension wrote is not up to date.

    Attributes:
        out: the output folder.
        settings: how files are converted.
        sources: the input files of the run.
    """

    def __init__(self, out: Path, settings: Settings, version: str, sources: Sources | None = None) -> None:
        self.out = out
        self.settings = settings
        self.sources = sources or Sources()
        self._version = version
        self._listed = FilesByName()

    def results(self) -> Results:
        """All files that earlier runs wrote."""
        records = (path for path in listed(self.out / FOLDER) if path.suffix == ".json")
        return Results(item for path in records for item in self._files(_read(path)).items())

    def is_result(self, task: Task, path: Path) -> bool:
        """Whether a file is byte for byte what the last run of a task wrote."""
        digests = self._files(_read(self._path(task))).get(path, [])
        return bool(digests) and not path.is_symlink() and digest(path) in digests

    def is_up_to_date(self, task: Task) -> bool:
        """Whether a task can be skipped."""
        record = _read(self._path(task))
        files = self._files(record)
        if not files or not all(os.path.exists(file) for file in files):
            return False
        state = self.state(task)
        others = record.get("others", {})
        return (
            state is not None
            and all(record.get(key) == value for key, value in state.items())
            and (
                isinstance(others, dict)
                and all(_stamp_or_none(self.out / name) == stamped for name, stamped in others.items())
            )
        )

    def state(self, task: Task) -> dict[str, Any] | None:
        """What the result of a task depends on, except the files that its scene refers to; None if a file is missing.

        To be taken before the files are read, so that later changes of them count.
        """
        missing: list[str] = []
        try:
            if task.character:
                sources, missing = characters.state(task, self.settings)
            else:
                sources = self._read_files(task)
            stamps = {self._relative_path(path): stamp(path) for path in sources}
        except OSError:
            # It is reported when the task tries to read it.
            return None
        return {
            "version": self._version,
            "settings": self.settings.to_json(),
            "prefix": task.prefix,
            "sources": stamps,
            "missing": missing,
        }

    def store_before_moving(
        self, task: Task, state: dict[str, Any] | None, digests: Mapping[Path, str], others: Iterable[Path]
    ) -> bool:
        """Stores which files a task is about to write, so that a later run may replace them if this one is killed.

        `state` is that of the task before its files were read. `digests` holds the hash of each new file; until it is
        moved, the target may still have its old one. `others` are what the scene referred to, such as images; missing
        files too.

        Returns whether the record is final, because no target and no record existed: until all files have been moved,
        the task is not up to date, as some are missing. Otherwise `store_done` must be called afterwards.
        """
        if not any(os.path.lexists(path) for path in digests) and self._create(task, state, digests, others):
            return True
        old = self._files(_read(self._path(task)))
        both = {path: [new, *old.get(path, ())] for path, new in digests.items()}
        self._replace(task, self._content({}, both))
        return False

    def store_done(
        self, task: Task, state: dict[str, Any] | None, digests: Mapping[Path, str], others: Iterable[Path]
    ) -> None:
        """Stores that a task is done; for `state` and `others` see `store_before_moving`.

        `digests` holds the hash of each file that the task wrote.
        """
        self._replace(task, self._final_content(state, digests, others))

    def _create(
        self, task: Task, state: dict[str, Any] | None, digests: Mapping[Path, str], others: Iterable[Path]
    ) -> bool:
        """Writes the final record of a task; False if there is a record, or anything else in its place.

        If Blender is killed, the record may be cut off. That does no harm as long as its files do not exist.
        """
        path = self._path(task)
        content = self._final_content(state, digests, others)
        self._make_folder()
        try:
            file = open(path, "xb")  # noqa: SIM115 # only errors of writing remove the file
        except FileExistsError:
            return False
        try:
            with file:
                file.write(content)
        except OSError as error:
            with suppress(OSError):
                path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from error
        return True

    def _make_folder(self) -> None:
        folder = self.out / FOLDER
        if os.path.lexists(folder) and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        folder.mkdir(parents=True, exist_ok=True)

    def _replace(self, task: Task, content: bytes) -> None:
        path = self._path(task)
        self._make_folder()
        if path.is_symlink() or (path.exists() and not path.is_file()):
            # Records are regular files; the target of a link belongs to somebody else.
            path.unlink()
        atomic.write_file(path, content)

    def _final_content(
        self, state: dict[str, Any] | None, digests: Mapping[Path, str], others: Iterable[Path]
    ) -> bytes:
        stamps = {self._relative_path(path): _stamp_or_none(path) for path in others}
        return self._content(
            {**(state or {}), "others": stamps}, {path: [new] for path, new in digests.items()}
        )

    def _content(self, state: dict[str, Any], files: Mapping[Path, list[str]]) -> bytes:
        names = {os.path.relpath(file, self.out): digests for file, digests in files.items()}
        return json.dumps({**state, "files": names}, indent=1).encode()

    def _files(self, record: dict[str, Any]) -> dict[Path, list[str]]:
        """The files in a record that lie in the output folder, each with its possible hashes."""
        names = record.get("files")
        return {
            self.out / name: [one for one in digests if isinstance(one, str)]
            for name, digests in (names.items() if isinstance(names, dict) else ())
            if _is_inside(name) and isinstance(digests, list)
        }

    def _path(self, task: Task) -> Path:
        # A hash, as the name of a result may already be as long as the file system allows.
        relative = os.path.relpath(task.target, self.out).replace(os.sep, "/")
        digest = hashlib.sha256(os.fsencode(relative)).hexdigest()
        return self.out / FOLDER / f"{digest[:32]}.json"

    def _read_files(self, task: Task) -> list[Path]:
        """The files that a task reads, except textures and its own result."""
        sources = [task.source]
        folder = self.settings.animation_folder(task.source)
        if folder is not None:
            sources += animations_in(folder)
        beside = [path for source in sources for path in files_beside(source, self._listed)]
        own = path_key(task.target)
        return sources + [
            path for path in beside if path_key(path) != own and _stamp_or_none(path) is not None
        ]

    def _relative_path(self, path: Path) -> str:
        """The path of a source relative to the output folder, which is the same on all machines that share a disk."""
        try:
            return os.path.relpath(path, self.out)
        except ValueError:
            # It is on another drive of Windows.
            return os.path.abspath(path)


def _stamp_or_none(path: Path) -> list[int] | None:
    """The stamp of a file; None if it is missing."""
    try:
        return stamp(path)
    except (OSError, ValueError):
        return None


def listed(folder: Path) -> list[Path]:
    """The entries of a folder; none if it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def digest(path: Path) -> str:
    """The hash of a file."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
