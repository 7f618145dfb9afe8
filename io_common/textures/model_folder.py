"""The folder of a model and the folders around it, where images and configuration files are looked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from .folders import Root
from .game_files import GameFile
from .names import fold
from .search_paths import SearchPaths

_MAX_DEPTH = 2
_MAX_FOLDERS = 200

Finder = Callable[[str], GameFile | None]
"""Finds the image with a relative path."""


class ModelFolder:
    """The folder of a model."""

    def __init__(self, paths: SearchPaths) -> None:
        self._paths = paths

    def find_image(self, base: str) -> GameFile | None:
        """The image with a base name in the model's folder, below it, or in the folder above inside a game folder."""
        own = self._paths.own
        for folder in self._tree:
            listing = own.listing(folder)
            name = listing.image(base) if listing is not None else None
            if name is not None:
                return own.file(folder, name)
        return self.find_image_above(base)

    def find_image_above(self, base: str) -> GameFile | None:
        """The image with a base name in the folder above the model's, if that is inside a game folder."""
        for root, folder in self._parents():
            listing = root.listing(folder)
            name = listing.image(base) if listing is not None else None
            if name is not None:
                return root.file(folder, name)
        return None

    def text_files(self, file_name: str) -> list[tuple[GameFile, str]]:
        """The files with a name in the model's folder and in the one above, each with the relative path: "" or ".."."""
        candidates = [(self._paths.own, "", "")] + [(root, folder, "..") for root, folder in self._parents()]
        found = []
        for root, folder, relative in candidates:
            listing = root.listing(folder)
            name = listing.files.get(fold(file_name)) if listing is not None else None
            if name is not None:
                found.append((root.file(folder, name), relative))
        return found

    def finder_for(self, file: GameFile) -> Finder:
        """The function that finds images by paths relative to the same folder as those of a file found here."""
        for root in (self._paths.own, *self._paths.roots):
            if root.find_file(file.relative) == file:
                return root.find_image
        return self._paths.find_image

    @cached_property
    def _tree(self) -> list[str]:
        """The model's folder and those below it, the nearest first, limited in depth and number."""
        tree = [""]
        level = [""]
        for _ in range(_MAX_DEPTH):
            below = []
            for folder in level:
                listing = self._paths.own.listing(folder)
                for name in sorted(listing.folders.values(), key=fold) if listing is not None else ():
                    below.append(f"{folder}/{name}" if folder else name)
            level = below[: _MAX_FOLDERS - len(tree)]
            tree += level
        return tree

    def _parents(self) -> list[tuple[Root, str]]:
        """The folder above the model's, if it is inside a game folder and not the game folder itself."""
        return [
            (root, folder.rpartition("/")[0])
            for root, folder in self._paths.own_folders()
            if folder.count("/") > 0
        ]
