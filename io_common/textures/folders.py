"""Folders that may be searched: listings without regard to case, and nothing outside the folder.

A directory is listed once, when it is first needed, and names are compared with the listing. A folder of ten thousand
files therefore costs one listing, a game folder of a hundred thousand only the directories on the path, and no name
from a model ever reaches the operating system.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .archives import ARCHIVE_EXTENSIONS, Archive
from .budget import Budget
from .game_files import GameFile
from .names import extension_rank, fold, is_image, split_extension


@dataclass
class Listing:
    """The names of the files and folders in a directory, by their folded form."""

    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    _stems: dict[str, list[str]] | None = None

    def images(self) -> list[str]:
        """The names of the images, in alphabetical order."""
        return sorted((name for name in self.files.values() if is_image(name)), key=fold)

    def image(self, name: str) -> str | None:
        """The image with this name, else with the name but another image extension; None if there is none.

        The extension may also be missing from `name`.
        """
        exact = self.files.get(fold(name))
        if exact is not None and is_image(exact):
            return exact
        stems = self._image_stems()
        folded = fold(name)
        candidates = stems.get(folded, [])
        if not candidates and is_image(name):
            candidates = stems.get(split_extension(folded)[0], [])
        return candidates[0] if candidates else None

    def _image_stems(self) -> dict[str, list[str]]:
        if self._stems is None:
            self._stems = {}
            for name in sorted(self.files.values(), key=lambda name: (extension_rank(name), name)):
                if is_image(name):
                    self._stems.setdefault(split_extension(fold(name))[0], []).append(name)
        return self._stems


class Root:
    """A directory that may be searched with everything below it, but nothing outside."""

    def __init__(
        self, path: str | os.PathLike[str], archives: bool = True, budget: Budget | None = None
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self._budget = budget if budget is not None else Budget()
        self._real = os.path.realpath(self.path)
        self._inside = os.path.join(self._real, "")
        self._listings: dict[str, Listing | None] = {}
        self._with_archives = archives
        self._archives: list[Archive] | None = None

    def listing(self, folder: str = "") -> Listing | None:
        """The listing of a directory (relative, forward slashes, any case); None if there is no such directory."""
        key = fold(folder)
        if key not in self._listings:
            self._listings[key] = self._list(key)
        return self._listings[key]

    def real_folder(self, folder: str) -> str | None:
        """The relative path of a directory as spelled on disk; None if there is no such directory."""
        parts: list[str] = []
        for part in fold(folder).split("/") if folder else ():
            parent = self.listing("/".join(parts))
            if parent is None or part not in parent.folders:
                return None
            parts.append(parent.folders[part])
        return "/".join(parts)

    def _list(self, folder: str) -> Listing | None:
        real = self.real_folder(folder)
        if real is None:
            return None
        directory = os.path.join(self.path, *real.split("/")) if real else str(self.path)
        listing = Listing()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    self._add(listing, entry)
        except OSError:
            return None
        return listing

    def _add(self, listing: Listing, entry: os.DirEntry[str]) -> None:
        try:
            if _is_link(entry) and not os.path.realpath(entry.path).startswith(self._inside):
                return
            # Of names that differ only in case, the alphabetically first is used, so that all machines agree.
            if entry.is_dir():
                other = listing.folders.get(fold(entry.name))
                if other is None or entry.name < other:
                    listing.folders[fold(entry.name)] = entry.name
            elif entry.is_file():
                other = listing.files.get(fold(entry.name))
                if other is None or entry.name < other:
                    listing.files[fold(entry.name)] = entry.name
        except OSError:
            # A broken link, or a file that has been removed in the meantime.
            return

    def file(self, folder: str, name: str) -> GameFile:
        """The loose file with this name in a directory that has been listed."""
        real = self.real_folder(folder)
        relative = f"{real}/{name}" if real else name
        return GameFile(self.path.joinpath(*relative.split("/")), None, relative)

    def archives(self) -> list[Archive]:
        """The archives directly inside the folder, in the order in which they are searched."""
        if self._archives is None:
            self._archives = []
            top = self.listing() if self._with_archives else None
            names = top.files.values() if top is not None else ()
            for name in sorted(names, key=fold, reverse=True):
                if split_extension(name)[1].lower() in ARCHIVE_EXTENSIONS:
                    self._archives.append(Archive(self.path / name, self._budget))
        return self._archives

    def find_image(self, path: str) -> GameFile | None:
        """The image with this path relative to the folder: loose, in `dds/`, or in an archive; any image extension."""
        sources: list[Root | Archive] = [self, *self.archives()]
        for source in sources:
            found = source.find_plain(path)
            # Doom 3 itself loads the .tga, else its compressed copy in `dds/`; artists may add other types.
            if found is not None and (
                found.extension == ".tga" or fold(found.name) == fold(path).rpartition("/")[2]
            ):
                return found
            found = source.find_plain("dds/" + path) or found
            if found is not None:
                return found
        return None

    def find_plain(self, path: str) -> GameFile | None:
        """The loose image with exactly this path, with any image extension."""
        folder, _, base = path.rpartition("/")
        listing = self.listing(folder)
        name = listing.image(base) if listing is not None else None
        return self.file(folder, name) if name is not None else None

    def texts(self, folder: str, extension: str) -> dict[str, GameFile]:
        """Files with this extension (lower case, with the dot) directly inside a directory, by folded name.

        Loose files hide those with the same name in archives; archives hide those in archives searched later.
        """
        found: dict[str, GameFile] = {}
        listing = self.listing(folder)
        if listing is not None:
            for key, name in listing.files.items():
                if key.endswith(extension):
                    found.setdefault(key, self.file(folder, name))
        for archive in self.archives():
            for key, member in archive.files(folder).items():
                if key.endswith(extension):
                    found.setdefault(key, archive.file(member))
        return found

    @property
    def warnings(self) -> list[str]:
        """Warnings of the archives that were opened."""
        return [warning for archive in self._archives or () for warning in archive.warnings]


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a symbolic link, or on Windows any reparse point such as a junction."""
    if entry.is_symlink():
        return True
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) if os.name == "nt" else 0
    return bool(attributes & _REPARSE_POINT)


_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT
