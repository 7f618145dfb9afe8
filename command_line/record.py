"""What was converted before, and how: the reason to leave a file alone, and to write over a result.

The folder of the results holds a folder `.idtech` with a small file for each result. A result is up to date if it is
there, and was made from the same files in the same way. Each result has a record of its own, so that several machines
may work on one folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..io_common import atomic
from .plan import ANIMATION
from .settings import Settings, Task

FOLDER = ".idtech"


class Records:
    """The records of a folder of results.

    Args:
        out: the folder.
        settings: how files are converted.
        version: of the extension; another one may give other results.

    Attributes:
        out: the folder.
        settings: how files are converted.
    """

    def __init__(self, out: Path, settings: Settings, version: str) -> None:
        self.out = out
        self.settings = settings
        self._version = version

    def results(self) -> Iterator[Path]:
        """All files that earlier runs made."""
        for place in (self.out / FOLDER).glob("*.json"):
            yield from self._files(_read(place))

    def files(self, task: Task) -> list[Path]:
        """What a task made when it was done last."""
        return self._files(_read(self._place(task)))

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

    def claim(self, task: Task, files: Iterable[Path]) -> None:
        """Says which files a task is about to make, so that it may make them again if it is killed meanwhile.

        Raises:
            OSError: that cannot be written.
        """
        self._write(task, {}, files)

    def keep(self, task: Task, files: Iterable[Path]) -> None:
        """Remembers that a task was done.

        Args:
            task: that was done.
            files: what was written.

        Raises:
            OSError: that cannot be written.
        """
        self._write(task, self._state(task), files)

    def _write(self, task: Task, state: dict[str, Any], files: Iterable[Path]) -> None:
        place = self._place(task)
        place.parent.mkdir(parents=True, exist_ok=True)
        names = [os.path.relpath(file, self.out) for file in files]
        atomic.write_file(place, json.dumps({**state, "files": names}, indent=1).encode())

    def _files(self, known: dict[str, Any]) -> list[Path]:
        names = known.get("files")
        return [self.out / str(name) for name in names] if isinstance(names, list) else []

    def _place(self, task: Task) -> Path:
        # Names of results may be as long as the disk takes them.
        relative = os.path.relpath(task.target, self.out).replace(os.sep, "/")
        digest = hashlib.sha256(os.fsencode(relative)).hexdigest()
        return self.out / FOLDER / f"{digest[:32]}.json"

    def _state(self, task: Task) -> dict[str, Any]:
        """What the result depends on; textures are not looked at."""
        sources = [task.source]
        folder = self.settings.animation_folder(task.source)
        if folder is not None and folder.is_dir():
            sources += sorted(path for path in folder.iterdir() if path.suffix.lower() == ANIMATION)
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


def _read(place: Path) -> dict[str, Any]:
    """A record; an empty one if there is none, or it is damaged."""
    try:
        known = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
