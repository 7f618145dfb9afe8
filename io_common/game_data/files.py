"""The files of a game: those of its folders and archives as one tree that is only read.

Loose files override archives, later archives override earlier ones, and the first of several game folders overrides the
others. Names are compared without regard to case. Nothing is unpacked to disk unless `extract` is called.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..files import atomic
from ..textures.budget import Budget
from ..textures.folders import Root, Stamp, stamp_of
from ..textures.game_files import MAX_FILE_SIZE, FileReadError, GameFile
from ..textures.listings import Listing, merged
from ..textures.names import clean_name, fold, split_extension
from .places import place

_MAX_FOLDERS = 50_000
"""Folders that are listed in a search through everything."""
_MAX_DEPTH = 32


class GameFiles:
    """The files of a game.

    The folders may also be archives, or folders in archives; the one that overrides the others comes first. Without a
    budget, a new one is made.

    Attributes:
        folders: the game folders.
        budget: of the import.
        roots: the game folders as they are searched.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]], budget: Budget | None = None) -> None:
        self.folders = tuple(
            dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders if os.fspath(folder))
        )
        self.budget = budget if budget is not None else Budget()
        self.roots = [Root(folder, budget=self.budget) for folder in self.folders]
        self._texts: dict[str, Stamp] = {}
        self._listings: dict[str, Listing | None] = {}
        self._warnings: list[str] = []
        self._written_folders: set[Path] = set()

    @property
    def warnings(self) -> list[str]:
        """What could not be read, each once."""
        archives = [warning for root in self.roots for warning in root.warnings]
        return list(dict.fromkeys(archives + self._warnings))

    def find(self, path: str) -> GameFile | None:
        """The file with a game path; None if there is none, or the path leads out of the game."""
        clean = clean_name(path).path
        return self.listed(clean) if clean is not None else None

    def listed(self, path: str) -> GameFile | None:
        """The file with a game path as `walk` gives it, whatever characters are in it; None if there is none."""
        folder, _, base = path.rpartition("/")
        listing = self.listing(folder)
        if listing is None or fold(base) not in listing.files:
            return None
        return next((file for root in self.roots if (file := root.find_file(path)) is not None), None)

    def has(self, path: str) -> bool:
        """Whether there is a file with a game path."""
        clean = clean_name(path).path
        folder, _, base = (clean or "").rpartition("/")
        listing = self.listing(folder) if clean else None
        return listing is not None and fold(base) in listing.files

    def path(self, path: str) -> Path | None:
        """The path of a file for `readable` and the importers: on disk, or leading into an archive; None if missing."""
        file = self.find(path)
        return file.full_path if file is not None else None

    def read(self, path: str, limit: int = MAX_FILE_SIZE) -> bytes:
        """The content of the file with a game path, which counts against the budget.

        Raises FileReadError if there is no such file, it cannot be read, or it is too large.
        """
        return self._read(self._existing(path, self.find(path)), limit)

    def read_text(self, path: str) -> str:
        """The text of the file with a game path, which counts against the budget.

        Raises FileReadError if there is no such file, it cannot be read, or it is too large.
        """
        file = self._existing(path, self.find(path))
        if not self.budget.take("text", file.size()):
            raise FileReadError(f"{file}: skipped, as the declarations of the game are too large")
        self._texts[str(file.path)] = stamp_of(file.path)
        return file.read_text()

    def is_current(self) -> bool:
        """Whether the folders, archives and texts that were read are as they were, by their sizes and times."""
        stamps = dict(self._texts)
        for root in self.roots:
            stamps |= root.stamps
        return all(stamp_of(path) == stamp for path, stamp in stamps.items())

    def _read(self, file: GameFile, limit: int = MAX_FILE_SIZE) -> bytes:
        if not self.budget.take("data", file.size()):
            raise FileReadError(f"{file}: skipped, as the files of the game are too large")
        return file.read(limit)

    def _existing(self, path: str, file: GameFile | None) -> GameFile:
        if file is None:
            raise FileReadError(f"{path}: there is no such file in {', '.join(map(str, self.folders))}")
        return file

    def listing(self, folder: str = "") -> Listing | None:
        """The files and folders directly inside a folder, as spelled; None if there is no such folder."""
        key = fold(folder).strip("/")
        if key not in self._listings:
            self._listings[key] = merged(root.listing(key) for root in self.roots)
        return self._listings[key]

    def names(self, folder: str) -> list[str]:
        """The names of the files directly inside a folder, as spelled, in alphabetical order."""
        listing = self.listing(folder)
        return [listing.files[key] for key in sorted(listing.files)] if listing is not None else []

    def paths(self, folder: str, *extensions: str) -> list[str]:
        """The game paths of the files directly inside a folder, in alphabetical order.

        Extensions are in lower case, with the dot; without any, all files are included.
        """
        listing = self.listing(folder)
        if listing is None:
            return []
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        return [
            prefix + listing.files[key]
            for key in sorted(listing.files)
            if not extensions or split_extension(key)[1] in extensions
        ]

    def walk(self, folder: str = "", *extensions: str) -> Iterator[str]:
        """The game paths of all files inside a folder and below it, in alphabetical order.

        Extensions are in lower case, with the dot; without any, all files are included.
        """
        stack = [folder.strip("/")]
        count = 0
        while stack:
            current = stack.pop()
            count += 1
            if count > _MAX_FOLDERS or self.budget.is_over():
                self._warn(f"{', '.join(map(str, self.folders))}: too many folders; some were not searched")
                return
            yield from self.paths(current, *extensions)
            listing = self.listing(current)
            if listing is None or not listing.folders:
                continue
            if current.count("/") >= _MAX_DEPTH:
                self._warn(f"{current}: the folders in it were not searched, because they are too deep")
                continue
            prefix = f"{current}/" if current else ""
            # The first has to be taken from the stack first.
            stack += [prefix + listing.folders[key] for key in sorted(listing.folders, reverse=True)]

    def extract(self, paths: Iterable[str], target: Path) -> list[Path]:
        """Writes files into a folder on disk, below which they keep their game paths; returns what was written.

        The paths are as `walk` gives them. The folder is made if needed; files in it are replaced, each the one at its
        `place`. Raises FileReadError if a file does not exist or cannot be read, and OSError if one cannot be written.
        """
        written = []
        for path in paths:
            data = self._read(self._existing(path, self.listed(path)))
            file = place(target, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic.write_file(file, data, remove_abandoned=file.parent not in self._written_folders)
            self._written_folders.add(file.parent)
            written.append(file)
        return written

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)
