"""The files that a run reads, none of which it writes over, whatever it is allowed to otherwise.

Files are compared by their identity on the disk: links, other spellings and folders that lead to one another are seen
through. A file that is not there yet is compared by its place, without regard to case.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..io_common.family import Role
from .formats import role_of
from .settings import Settings, Task


class Sources:
    """Files that are read.

    Args:
        paths: the files.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._identities: set[tuple[int, int]] = set()
        self._keys: set[str] = set()
        for path in paths:
            self._keys.add(key(path))
            if (identity := _identity(path)) is not None:
                self._identities.add(identity)

    def __contains__(self, path: Path) -> bool:
        identity = _identity(path)
        return key(path) in self._keys or (identity is not None and identity in self._identities)

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"identities": sorted(self._identities), "keys": sorted(self._keys)}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Sources:
        """Back from `plain`."""
        sources = cls()
        sources._identities = {(device, number) for device, number in values["identities"]}
        sources._keys = set(values["keys"])
        return sources


def read_by(tasks: Iterable[Task], settings: Settings) -> Iterator[Path]:
    """The files that tasks read: what they convert, and the animations that go along."""
    folders: dict[Path, None] = {}
    for task in tasks:
        yield task.source
        folder = settings.animation_folder(task.source)
        if folder is not None and role_of(task.source.suffix) is Role.MODEL:
            folders[folder] = None
    for folder in folders:
        yield from animations_in(folder)


def animations_in(folder: Path) -> list[Path]:
    """The animations in a folder, in alphabetical order; none where it cannot be read."""
    try:
        return sorted(
            path for path in folder.iterdir() if role_of(path.suffix) is Role.ANIMATION and path.is_file()
        )
    except OSError:
        return []


def place(path: Path) -> str:
    """The path of a file without the links in its folders."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def key(path: Path) -> str:
    """The place of a file as disks see it that take names for one that differ in case, or in how accents are coded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", place(path)).casefold())


def _identity(path: Path) -> tuple[int, int] | None:
    """What a file is known by while it exists; that of a link is that of the file it leads to."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
