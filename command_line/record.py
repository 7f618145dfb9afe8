"""What was converted before, and how: the reason to leave a file alone, and to write over a result.

The folder of the results holds a folder `.idtech` with a small file for each result. A result is up to date if it is
there, and was made from the same files in the same way. Each result has a record of its own, so that several machines
may work on one folder.

Records may be damaged, or come from somebody else. So each says of what bytes its results are: a file of other bytes is
the user's, whatever record names it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..io_common.files import atomic
from ..io_common.files.regular_files import open_file
from .settings import Settings, Task
from .sources import Sources, animations_in

FOLDER = ".idtech"
_LARGEST = 1 << 24  # bytes; a record has a line for each file


class Records:
    """The records of a folder of results.

    Args:
        out: the folder.
        settings: how files are converted.
        version: of the extension; another one may give other results.
        sources: what the run reads.

    Attributes:
        out: the folder.
        settings: how files are converted.
        sources: what the run reads.
    """

    def __init__(self, out: Path, settings: Settings, version: str, sources: Sources | None = None) -> None:
        self.out = out
        self.settings = settings
        self.sources = sources or Sources()
        self._version = version

    def results(self) -> Iterator[Path]:
        """All files that earlier runs made."""
        for place in (self.out / FOLDER).glob("*.json"):
            yield from self._files(_read(place))

    def is_result(self, task: Task, path: Path) -> bool:
        """Whether a file is what a task made when it was done last, byte by byte.

        Raises:
            OSError: the file cannot be read.
        """
        digests = self._files(_read(self._place(task))).get(path, [])
        return bool(digests) and not path.is_symlink() and digest(path) in digests

    def is_current(self, task: Task) -> bool:
        """Whether a task need not be done."""
        known = _read(self._place(task))
        files = self._files(known)
        try:
            state = self._state(task)
        except OSError:
            # The source is gone, which will be told when it is read.
            return False
        return (
            all(known.get(key) == value for key, value in state.items())
            and bool(files)
            and all(file.exists() for file in files)
        )

    def claim(self, task: Task, digests: Mapping[Path, str]) -> None:
        """Says which files a task is about to make, so that it may make them again if it is killed meanwhile.

        Args:
            task: what is done.
            digests: what each file will be; until it is moved there, it may still be what it was.

        Raises:
            OSError: that cannot be written.
        """
        known = self._files(_read(self._place(task)))
        both = {path: [new, *known.get(path, ())] for path, new in digests.items()}
        self._write(task, {}, both)

    def keep(self, task: Task, digests: Mapping[Path, str]) -> None:
        """Remembers that a task was done.

        Args:
            task: what was done.
            digests: what each file is that was written.

        Raises:
            OSError: that cannot be written.
        """
        self._write(task, self._state(task), {path: [new] for path, new in digests.items()})

    def _write(self, task: Task, state: dict[str, Any], files: Mapping[Path, list[str]]) -> None:
        place = self._place(task)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or (place.exists() and not place.is_file()):
            # No record is one; what it leads to is somebody else's.
            place.unlink()
        names = {os.path.relpath(path, self.out): digests for path, digests in files.items()}
        atomic.write_file(place, json.dumps({**state, "files": names}, indent=1).encode())

    def _files(self, known: dict[str, Any]) -> dict[Path, list[str]]:
        """The files of a record with what they may be; those that lie in the folder of the results."""
        names = known.get("files")
        return {
            self.out / name: [one for one in digests if isinstance(one, str)]
            for name, digests in (names.items() if isinstance(names, dict) else ())
            if _is_inside(name) and isinstance(digests, list)
        }

    def _place(self, task: Task) -> Path:
        # Names of results may be as long as the disk takes them.
        relative = os.path.relpath(task.target, self.out).replace(os.sep, "/")
        digest = hashlib.sha256(os.fsencode(relative)).hexdigest()
        return self.out / FOLDER / f"{digest[:32]}.json"

    def _state(self, task: Task) -> dict[str, Any]:
        """What the result depends on; textures are not looked at."""
        sources = [task.source]
        folder = self.settings.animation_folder(task.source)
        if folder is not None:
            sources += animations_in(folder)
        return {
            "version": self._version,
            "settings": self.settings.plain(),
            "prefix": task.prefix,
            "sources": {self._seen_from_out(path): _stamp(path) for path in sources},
        }

    def _seen_from_out(self, path: Path) -> str:
        """The way to a source: the same on all machines that have both on one disk."""
        try:
            return os.path.relpath(path, self.out)
        except ValueError:
            # On another drive of Windows.
            return os.path.abspath(path)


def digest(path: Path) -> str:
    """What the bytes of a file are known by.

    Raises:
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(place: Path) -> dict[str, Any]:
    """A record; an empty one if there is none, or it is damaged."""
    with suppress(OSError, ValueError, RecursionError), open_file(place) as file:
        known = json.loads(file.read(_LARGEST))
        return known if isinstance(known, dict) else {}
    return {}


def _is_inside(name: str) -> bool:
    """Whether a name is that of a file below a folder."""
    normal = os.path.normpath(name)
    return "\0" not in name and not os.path.isabs(normal) and normal.split(os.sep)[0] not in ("", ".", "..")


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
