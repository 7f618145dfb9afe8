"""What readers of declarations need of a game's files, loose or in archives."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Protocol

from ..textures.folders import Root
from ..textures.game_files import GameFile
from ..textures.names import fold


class GameFiles(Protocol):
    """The files of a game, by game path: forward slashes, without regard to case."""

    def find(self, path: str) -> GameFile | None:
        """The file with exactly this path; None if there is none."""

    def names(self, folder: str) -> Collection[str]:
        """The names of the files directly in a folder, as spelled; none if there is no such folder."""


class LooseFiles:
    """The files of a folder, without archives.

    Args:
        path: the folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._root = Root(path, archives=False)

    def find(self, path: str) -> GameFile | None:
        """The file with exactly this path; None if there is none."""
        folder, _, name = path.rpartition("/")
        listing = self._root.listing(folder)
        found = listing.files.get(fold(name)) if listing is not None else None
        return self._root.file(folder, found) if found is not None else None

    def names(self, folder: str) -> Collection[str]:
        """The names of the files directly in a folder, as spelled; none if there is no such folder."""
        listing = self._root.listing(folder)
        return sorted(listing.files.values(), key=fold) if listing is not None else ()
