"""The input files of a run, which it never overwrites, not even with ``--force``.

Files are compared by device and inode, so that links and other spellings of a path make no difference. A file that
does not exist yet is compared by its path, ignoring case.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..families import FAMILIES
from ..io_common.family import Role, family_of
from ..io_common.game_tree.archives import FilesByName, files_in, split_archive_path
from .formats import role_of
from .settings import Settings, Task


class Sources:
    """A set of input files."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._identities: set[tuple[int, int]] = set()
        self._keys: set[str] = set()
        for path in paths:
            self._keys.add(path_key(path))
            if (identity := _identity(path)) is not None:
                self._identities.add(identity)

    def __contains__(self, path: Path) -> bool:
        identity = _identity(path)
        return path_key(path) in self._keys or (identity is not None and identity in self._identities)

    def to_json(self) -> dict[str, Any]:
        """The values that `from_json` takes, as JSON can hold them."""
        return {"identities": sorted(self._identities), "keys": sorted(self._keys)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Sources:
        """The set that `to_json` was called on."""
        sources = cls()
        sources._identities = {(device, number) for device, number in values["identities"]}
        sources._keys = set(values["keys"])
        return sources


def source_files(tasks: Iterable[Task], settings: Settings, results: Container[str] = ()) -> Iterator[Path]:
    """The files that tasks read, except textures: their sources, the animations of models, and what is beside these.

    `results` holds the resolved paths of what earlier runs wrote, which may be replaced although it is read.
    """
    listed = FilesByName()
    for path in _chosen_files(tasks, settings):
        yield path
        yield from (beside for beside in files_beside(path, listed) if resolved_path(beside) not in results)


def files_beside(path: Path, listed: FilesByName) -> list[Path]:
    """The files beside a file of any kind that an import reads with it; `listed` keeps the folders already listed."""
    family = family_of(FAMILIES, path.suffix)
    return family.files_beside(path, listed) if family is not None else []


def _chosen_files(tasks: Iterable[Task], settings: Settings) -> Iterator[Path]:
    folders: dict[Path, None] = {}
    for task in tasks:
        yield task.source
        folder = settings.animation_folder(task.source)
        if folder is not None and role_of(task.source.suffix) is Role.MODEL:
            folders[folder] = None
    for folder in folders:
        yield from animations_in(folder)


def animations_in(folder: Path) -> list[Path]:
    """The animations in a folder on disk or in an archive, in alphabetical order; none if the folder cannot be read."""
    try:
        is_real = split_archive_path(folder) is None
        return [
            path
            for path in files_in(folder)
            # Unlike `Path.is_file`, it raises no error for a link that cannot be followed.
            if role_of(path.suffix) is Role.ANIMATION and (not is_real or os.path.isfile(path))
        ]
    except OSError:
        return []


def with_single_root(text: str) -> str:
    """A path without a second slash at its start, which Blender takes for the folder of the .blend file."""
    return f"/{text.lstrip('/')}" if os.name == "posix" and text.startswith("//") else text


def resolved_path(path: Path) -> str:
    """The absolute path of a file, with links in its folders resolved but not the file itself."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def path_key(path: Path) -> str:
    """The resolved path, equal for paths that differ only in case or in how accents are encoded.

    Some file systems treat such paths as one file.
    """
    return _folded(resolved_path(path))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


Listings = dict[Path, frozenset[str]]
"""The names in folders that were listed already."""


def as_listed(path: Path, listings: Listings) -> Path:
    """A path with names in the case in which their folders list them, as far as it exists.

    So one file has one path on a file system that ignores case, however the user spells it. New listings of folders are
    added to `listings`.
    """
    result = Path(with_single_root(path.anchor))
    for name in path.parts[len(result.parts) :]:
        result = result / _listed_name(result, name, listings)
    return result


def _listed_name(folder: Path, name: str, listings: Listings) -> str:
    if name == os.pardir or not os.path.lexists(folder / name):
        return name
    if folder not in listings:
        try:
            listings[folder] = frozenset(os.listdir(folder))
        except OSError:
            return name
    names = listings[folder]
    if name in names:
        return name
    alike = [other for other in names if _folded(other) == _folded(name)]
    return alike[0] if len(alike) == 1 else name


def unlinked(folder: Path) -> Path:
    """The same folder; the one that is meant if there are links in its path, so that `..` leads out of that one."""
    real = os.path.realpath(folder)
    return folder if real == os.path.abspath(folder) else Path(real)


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file, those of its target for a link; None if it does not exist."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
