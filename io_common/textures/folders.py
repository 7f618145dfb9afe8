"""Folders that may be searched: loose files and archives in one listing, without regard to case, and nothing outside.

A directory is listed once, when it is first needed, and names are compared with the listing. A folder of ten thousand
files therefore costs one listing, a game folder of a hundred thousand only the directories on the path, and no name
from a model ever reaches the operating system.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from .archives import FOLDER_EXTENSIONS, Archive, search_order, split_archive_path
from .budget import Budget
from .game_files import GameFile
from .listings import Listing, merged
from .names import fold, split_extension

Stamp = tuple[int, int] | None
"""The size in bytes and the time of the last change in nanoseconds of a file or folder; None if there is none."""


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """The stamp of a file or folder on disk."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


class Source(Protocol):
    """One layer of a game folder: the loose files, or an archive."""

    @property
    def warnings(self) -> list[str]:
        """Why it could not be read."""

    def listing(self, folder: str = "") -> Listing | None:
        """The listing of a directory; None if there is no such directory."""

    def file(self, folder: str, name: str) -> GameFile | None:
        """The file with a name in a directory; None if there is none."""


class LooseFiles:
    """The files in a directory on disk and below it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._real = os.path.realpath(path)
        self._inside = os.path.join(self._real, "")
        self.stamps: dict[str, Stamp] = {}
        """Of the directories that were listed, as they were before."""
        self._listings: dict[str, Listing | None] = {}

    def listing(self, folder: str = "") -> Listing | None:
        """The listing of a directory (relative, forward slashes, any case); None if there is no such directory."""
        key = fold(folder)
        if key not in self._listings:
            self._listings[key] = self._list(key)
        return self._listings[key]

    def file(self, folder: str, name: str) -> GameFile | None:
        """The file with a name in a directory; None if there is none."""
        listing = self.listing(folder)
        spelled = listing.files.get(fold(name)) if listing is not None else None
        real = self.real_folder(folder) if spelled is not None else None
        if spelled is None or real is None:
            return None
        relative = f"{real}/{spelled}" if real else spelled
        return GameFile(self.path.joinpath(*relative.split("/")), None, relative)

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
        self.stamps[directory] = stamp_of(directory)
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    self._add(listing, entry)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.warnings.append(f"{directory}: the folder cannot be read ({error.strerror})")
            return None
        return listing

    def _add(self, listing: Listing, entry: os.DirEntry[str]) -> None:
        try:
            if _is_link(entry) and not self._may_follow(entry.path):
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

    def _may_follow(self, link: str) -> bool:
        """Whether a link stays inside the folder, and does not lead to a folder that it is in, without end."""
        target, parent = os.path.realpath(link), os.path.realpath(os.path.dirname(link))
        return target.startswith(self._inside) and not f"{parent}{os.sep}".startswith(f"{target}{os.sep}")


@dataclass
class _Holders:
    """The layers that are known to have a directory, and those that were not asked yet."""

    others: Iterator[Source]
    found: list[tuple[Source, tuple[Listing | None, ...]]]


class _Layers:
    """The layers of a game folder: its loose files, then its archives, the last one first."""

    def __init__(self, path: Path, archives: bool, budget: Budget) -> None:
        self._budget = budget
        self._with_archives = archives
        inside = split_archive_path(path)
        self.loose = LooseFiles(path)
        self._stamps: dict[str, Stamp] = {str(inside[0]): stamp_of(inside[0])} if inside is not None else {}
        # A path into an archive has no other layer.
        self._archives: list[Source] | None = (
            [Archive(inside[0], budget, inside[1])] if inside is not None else None
        )
        self._holders: dict[tuple[str, ...], _Holders] = {}
        self._is_on_disk = inside is None

    def __iter__(self) -> Iterator[Source]:
        # What listing a file as a folder raises differs between systems.
        if self._is_on_disk:
            yield self.loose
        yield from self.archives

    def holding(self, *folders: str) -> Iterator[tuple[Source, tuple[Listing | None, ...]]]:
        """The layers that have at least one of these directories, each with the listings of them.

        An archive is only opened when all layers before it were taken, but no layer is asked twice: most of the many
        archives of a game have none of the directories of a model.
        """
        if folders not in self._holders:
            self._holders[folders] = _Holders(iter(self), [])
        holders = self._holders[folders]
        yield from holders.found
        for source in holders.others:
            listings = tuple(source.listing(folder) for folder in folders)
            if any(listing is not None for listing in listings):
                holders.found.append((source, listings))
                yield source, listings

    @property
    def archives(self) -> list[Source]:
        if self._archives is None:
            self._archives = []
            top = self.loose.listing() if self._with_archives else None
            names = [*top.files.values(), *top.folders.values()] if top is not None else []
            for name in search_order(names):
                path = self.loose.path / name
                is_folder = split_extension(fold(name))[1] in FOLDER_EXTENSIONS
                if is_folder == (fold(name) in top.folders if top is not None else False):
                    self._stamps[str(path)] = stamp_of(path)
                    self._archives.append(LooseFiles(path) if is_folder else Archive(path, self._budget))
        return self._archives

    @property
    def warnings(self) -> list[str]:
        sources = [self.loose, *(self._archives or ())]
        return [warning for source in sources for warning in source.warnings]

    @property
    def stamps(self) -> dict[str, Stamp]:
        stamps = self._stamps | self.loose.stamps
        for source in self._archives or ():
            stamps |= source.stamps if isinstance(source, LooseFiles) else {}
        return stamps


class Root:
    """A directory that may be searched with everything below it, but nothing outside.

    `path` may also be an archive, or a folder inside one. Without `archives`, the archives directly inside it do not
    belong to it. `within` is another directory that contains it, whose loose files and archives are used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        archives: bool = True,
        budget: Budget | None = None,
        within: Root | None = None,
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self._listings: dict[str, Listing | None] = {}
        if within is None:
            self._layers = _Layers(self.path, archives, budget if budget is not None else Budget())
            self._prefix = ""
        else:
            self._layers = within._layers
            self._prefix = within._full(self.path.relative_to(within.path).as_posix())

    def has_folder(self, folder: str) -> bool:
        """Whether a directory, spelled like this, can be searched: on disk, or in an archive and not on disk."""
        if os.path.isdir(self.path.joinpath(*folder.split("/"))):
            full = self._full(folder)
            return self._layers.loose.listing(full) is not None and (
                self._layers.loose.real_folder(full) == full
            )
        return self.listing(folder) is not None

    def listing(self, folder: str = "") -> Listing | None:
        """The listing of a directory (relative, forward slashes, any case); None if there is no such directory."""
        key = fold(folder)
        if key not in self._listings:
            self._listings[key] = merged(listing for _, (listing,) in self._layers.holding(self._full(key)))
        return self._listings[key]

    def file(self, folder: str, name: str) -> GameFile:
        """The file with a name in a directory that has been listed, from the first layer that has it."""
        full = self._full(folder)
        for source, _ in self._layers.holding(full):
            found = source.file(full, name)
            if found is not None:
                return self._relative_to_self(found)
        relative = f"{folder}/{name}" if folder else name
        return GameFile(self.path.joinpath(*relative.split("/")), None, relative)

    def find_file(self, path: str) -> GameFile | None:
        """The file with this relative path; None if there is none."""
        folder, _, base = path.rpartition("/")
        full = self._full(folder)
        for source, _ in self._layers.holding(full):
            found = source.file(full, base)
            if found is not None:
                return self._relative_to_self(found)
        return None

    def find_image(self, path: str) -> GameFile | None:
        """The image with this path relative to the folder: loose, in `dds/`, or in an archive; any image extension."""
        folder, _, base = path.rpartition("/")
        plain, compressed = self._full(folder), self._full(f"dds/{folder}".rstrip("/"))
        for source, listings in self._layers.holding(plain, compressed):
            found = _image(source, plain, listings[0], base)
            # Doom 3 itself loads the .tga, else its compressed copy in `dds/`; artists may add other types.
            if found is not None and (found.extension == ".tga" or fold(found.name) == fold(base)):
                return self._relative_to_self(found)
            found = _image(source, compressed, listings[1], base) or found
            if found is not None:
                return self._relative_to_self(found)
        return None

    def texts(self, folder: str, extension: str) -> dict[str, GameFile]:
        """Files with this extension (lower case, with the dot) directly inside a directory, by folded name.

        Loose files hide those with the same name in archives; archives hide those in archives searched later.
        """
        found: dict[str, GameFile] = {}
        full = self._full(folder)
        for source, (listing,) in self._layers.holding(full):
            for key, name in listing.files.items() if listing is not None else ():
                if key.endswith(extension) and key not in found:
                    file = source.file(full, name)
                    if file is not None:
                        found[key] = self._relative_to_self(file)
        return found

    def _relative_to_self(self, file: GameFile) -> GameFile:
        """A file of a layer with the path relative to this directory."""
        return replace(file, relative=file.relative[len(self._prefix) + 1 :]) if self._prefix else file

    def _full(self, path: str) -> str:
        return f"{self._prefix}/{path}".strip("/") if self._prefix else path

    @property
    def warnings(self) -> list[str]:
        """Warnings of the folders that were listed and the archives that were opened."""
        return self._layers.warnings

    @property
    def stamps(self) -> dict[str, Stamp]:
        """The stamps of the directories that were listed and the archives, by path, as they were before."""
        return self._layers.stamps


def _image(source: Source, folder: str, listing: Listing | None, base: str) -> GameFile | None:
    """The image in a directory with exactly this base name, with any image extension."""
    name = listing.image(base) if listing is not None else None
    return source.file(folder, name) if name is not None else None


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a symbolic link, or on Windows any reparse point such as a junction."""
    if entry.is_symlink():
        return True
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) if os.name == "nt" else 0
    return bool(attributes & _REPARSE_POINT)


_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT
