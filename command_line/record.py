"""What was converted before, and how: the reason to leave a file alone.

The folder of the results holds a folder `.idtech` with a small file for each result. A result is up to date if it is
there, and was made from the same files in the same way. Each result has a record of its own, so that several machines
may work on one folder.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..io_common import atomic
from .settings import Settings, Task

FOLDER = ".idtech"


class Records:
    """The records of a folder of results.

    Args:
        out: the folder.
        settings: how files are converted.
        version: of the extension; another one may give other results.
    """

    def __init__(self, out: Path, settings: Settings, version: str) -> None:
        self._out = out
        self._settings = settings
        self._version = version

    def is_current(self, task: Task) -> bool:
        """Whether a task need not be done."""
        try:
            known = json.loads(self._place(task).read_text(encoding="utf-8"))
            files = [self._out / name for name in known.pop("files")]
            state = self._state(task)
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            # There is no record, or it is damaged; or the source is gone, which will be told when it is read.
            return False
        return bool(known == state and files and all(file.exists() for file in files))

    def keep(self, task: Task, files: list[str]) -> None:
        """Remembers that a task was done.

        Args:
            task: that was done.
            files: what was written.
        """
        place = self._place(task)
        place.parent.mkdir(parents=True, exist_ok=True)
        names = [os.path.relpath(file, self._out) for file in files]
        data = {**self._state(task), "files": names}
        atomic.write_file(place, json.dumps(data, indent=1).encode())

    def _place(self, task: Task) -> Path:
        relative = task.target.relative_to(self._out)
        return self._out / FOLDER / relative.with_name(f"{relative.name}.json")

    def _state(self, task: Task) -> dict[str, Any]:
        """What the result depends on; textures are not looked at."""
        sources = [task.source]
        folder = self._settings.animation_folder(task.source)
        if folder is not None and folder.is_dir():
            sources += sorted(path for path in folder.iterdir() if path.suffix.lower() == ".md5anim")
        return {
            "version": self._version,
            "settings": self._settings.plain(),
            "sources": {path.name: _stamp(path) for path in sources},
        }


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
