"""The files of a game: those of its folders and archives as one tree that is only read.

Loose files override archives, later archives override earlier ones, and the first of several game folders overrides the
others. Names are compared without case. A folder is listed once, when it is first needed, and names are compared with
the listing, so no name from a model ever reaches the operating system.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ..files import write_file
from ..names import clean_name, fold, path_on_disk, split_extension
from .archives import Archive, Stamp, is_unpacked_archive_name, search_order, split_archive_path, stamp_of
from .files import Budget, FileReadError, GameFile, Listing

_MAX_FOLDERS = 50_000  # folders that are listed in a search through everything
_MAX_DEPTH = 32
_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT


class LooseFiles:
    """The files in a folder on disk and below it, but nothing that links lead to outside of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamps: dict[str, Stamp | None] = {}  # of the folders that were listed, as they were before
        self.warnings: list[str] = []
        self._inside = os.path.join(os.path.realpath(path), "")
        self._listings: dict[str, Listing] = {}

    def listing(self, folder: str) -> Listing:
        """The listing of a folder, whose path is folded."""
        if folder not in self._listings:
            self._listings[folder] = self._list(folder)
        return self._listings[folder]

    def spelled(self, folder: str) -> str | None:
        """The path of a folder as spelled on disk, given a folded path; None if there is no such folder."""
        parts: list[str] = []
        known = ""
        for part in folder.split("/") if folder else ():
            folders = self.listing(known).folders
            if part not in folders:
                return None
            parts.append(folders[part])
            known = f"{known}/{part}" if known else part
        return "/".join(parts)

    def _list(self, folder: str) -> Listing:
        spelled = self.spelled(folder)
        if spelled is None:
            return Listing()
        directory = self.path / spelled
        self.stamps[str(directory)] = stamp_of(directory)
        files: dict[str, str] = {}
        folders: dict[str, str] = {}
        try:
            with os.scandir(str(directory)) as entries:
                for entry in entries:
                    self._add(entry, files, folders)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.warnings.append(f"{directory}: the folder cannot be read ({error.strerror})")
            return Listing()
        return Listing({key: GameFile(directory, name, spelled) for key, name in files.items()}, folders)

    def _add(self, entry: os.DirEntry[str], files: dict[str, str], folders: dict[str, str]) -> None:
        try:
            if _is_link(entry) and not self._may_follow(entry.path):
                return
            names = folders if entry.is_dir() else files if entry.is_file() else {}
        except OSError:
            # A broken link, or a file that has been removed in the meantime.
            return
        # Of names that differ only in case, the alphabetically first is used, so that all machines agree.
        key = fold(entry.name)
        names[key] = min(entry.name, names.get(key, entry.name))

    def _may_follow(self, link: str) -> bool:
        """Whether a link stays inside the folder, and does not lead to a folder that it is in."""
        target, parent = os.path.realpath(link), os.path.realpath(os.path.dirname(link))
        return target.startswith(self._inside) and not f"{parent}{os.sep}".startswith(f"{target}{os.sep}")


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a symbolic link, or on Windows any reparse point such as a junction."""
    if entry.is_symlink():
        return True
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) if os.name == "nt" else 0
    return bool(attributes & _REPARSE_POINT)


def existing_paths(target: Path, paths: Iterable[str]) -> dict[str, Path]:
    """The paths on disk of files written below a folder, as spelled there: games ignore case."""
    loose = LooseFiles(target)
    found: dict[str, Path] = {}
    for path in paths:
        spelled = target
        for part in path.split("/"):
            if not os.path.lexists(spelled / part):
                listing = loose.listing(fold(spelled.relative_to(target).as_posix().removeprefix(".")))
                file = listing.files.get(fold(part))
                part = file.name if file is not None else listing.folders.get(fold(part), part)
            spelled /= part
        found[path] = spelled
    return found


Layer = LooseFiles | Archive


def _layers_of(path: Path, budget: Budget) -> list[Layer]:
    archive = split_archive_path(path)
    if archive is not None:
        # What listing a file as a folder raises differs between systems.
        return [Archive(archive[0], budget, archive[1])]
    loose = LooseFiles(path)
    layers: list[Layer] = [loose]
    top = loose.listing("")
    for name in search_order([*(file.name for file in top.files.values()), *top.folders.values()]):
        is_folder = is_unpacked_archive_name(name)
        if is_folder == (fold(name) in top.folders):
            layers.append(LooseFiles(path / name) if is_folder else Archive(path / name, budget))
    return layers


class GameTree:
    """The files of a game; of its folders or archives, the one that overrides the others comes first."""

    def __init__(
        self,
        folders: Iterable[str | os.PathLike[str]],
        budget: Budget | None = None,
        known: dict[Path, list[Layer]] | None = None,
        *,
        with_archives: bool = True,
    ) -> None:
        self.folders = tuple(dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders if os.fspath(folder)))
        self.budget = budget if budget is not None else Budget()
        self.known = known if known is not None else {}
        self._roots = self.folders
        self._with_archives = with_archives  # those directly in the folders
        self._prefix = ""
        self._trees: dict[tuple[Path, ...], GameTree] = {}
        self._holding: dict[tuple[str, ...], list[tuple[Listing, ...]]] = {}
        self._merged: dict[str, Listing] = {}
        self._images: dict[tuple[str, str], GameFile | None] = {}
        self._texts: dict[str, Stamp | None] = {}

    def of(self, *folders: Path) -> GameTree:
        """The tree of other folders in the same import; each folder is listed once for all of these trees."""
        if folders not in self._trees:
            self._trees[folders] = GameTree(folders, self.budget, self.known)
            self._trees[folders]._trees = self._trees
        return self._trees[folders]

    def below(self, folder: str) -> GameTree:
        """The tree of a folder in this one, which shares its listings."""
        tree = copy.copy(self)
        tree.folders = tuple(path.joinpath(*folder.split("/")) for path in self.folders)
        tree._prefix = self._full(folder)
        return tree

    def find(self, path: str) -> GameFile | None:
        """The file with a game path as a declaration spells it; None if there is none, or it leads out of the game."""
        clean = clean_name(path).path
        return self.get(clean) if clean is not None else None

    def get(self, path: str) -> GameFile | None:
        """The file with a game path as `walk` gives it, whatever characters are in it; None if there is none."""
        folder, _, base = path.rpartition("/")
        file = self.listing(folder).files.get(fold(base))
        return self._relative(file, folder) if file is not None else None

    def has(self, path: str) -> bool:
        """Whether there is a file with a game path."""
        return self.find(path) is not None

    def find_image(self, path: str) -> GameFile | None:
        """The image with a relative path without `..`: loose, in `dds/`, or in an archive; with any image extension."""
        # Many models share images, and each has dozens of names for its other maps.
        key = self._prefix, path
        if key not in self._images:
            self._images[key] = self._find_image(path)
        return self._images[key]

    def _find_image(self, path: str) -> GameFile | None:
        folder, _, base = path.rpartition("/")
        compressed_folder = f"dds/{folder}".rstrip("/")
        for plain, compressed in self._layers_with(folder, compressed_folder):
            found = plain.image(base)
            # Doom 3 itself loads the .tga, else its compressed copy in `dds/`; artists may add other types.
            if found is not None and (found.extension == ".tga" or fold(found.name) == fold(base)):
                return self._relative(found, folder)
            copied = compressed.image(base) if compressed else None
            if copied is not None:
                return self._relative(copied, compressed_folder)
            if found is not None:
                return self._relative(found, folder)
        return None

    def image_path(self, path: str) -> str | None:
        """The path of the image that `find_image` finds: as given if only the case differs, else as spelled."""
        found = self.find_image(path)
        if found is None:
            return None
        return path if fold(found.relative) == fold(path) else found.relative

    def image_in(self, folder: str, name: str) -> GameFile | None:
        """The image with a name directly inside a folder, whatever layer it is in, with any image extension."""
        found = self.listing(folder).image(name)
        return self._relative(found, folder) if found is not None else None

    def path(self, path: str) -> Path | None:
        """The path of a file for `readable` and the importers: on disk, or leading into an archive; None if missing."""
        file = self.find(path)
        return file.full_path if file is not None else None

    def listing(self, folder: str = "") -> Listing:
        """The files and folders directly inside a folder, as spelled."""
        key = fold(self._full(folder.strip("/")))
        if key not in self._merged:
            found = [one for layer in self._layers() if (one := layer.listing(key))]
            if len(found) > 1:
                whole = Listing()
                for listing in reversed(found):
                    whole.files |= listing.files
                    whole.folders |= listing.folders
                found = [whole]
            self._merged[key] = found[0] if found else Listing()
        return self._merged[key]

    def has_folder(self, folder: str) -> bool:
        """Whether the game folder has a folder spelled like this, not behind a link to the outside."""
        full = self._full(folder)
        loose = next(self._layers())
        if isinstance(loose, LooseFiles) and os.path.isdir(loose.path / full):
            return loose.spelled(fold(full)) == full
        return bool(self.listing(folder))

    def files(self, folder: str, *extensions: str) -> dict[str, GameFile]:
        """The files directly inside a folder, sorted, by folded name; extensions as in `.tga`."""
        return {
            key: self._relative(file, folder)
            for key, file in sorted(self.listing(folder).files.items())
            if not extensions or split_extension(key)[1] in extensions
        }

    def paths(self, folder: str, *extensions: str) -> list[str]:
        """The game paths of the files directly inside a folder; see `files`."""
        prefix = f"{folder.strip('/')}/".lstrip("/")
        return [prefix + file.name for file in self.files(folder, *extensions).values()]

    def walk(self, folder: str = "", *extensions: str) -> Iterator[str]:
        """The game paths of all files inside a folder and below it, in alphabetical order; see `files`."""
        stack = [folder.strip("/")]
        count = 0
        while stack:
            current = stack.pop()
            count += 1
            if count > _MAX_FOLDERS or self.budget.is_over():
                self.budget.warn(f"{', '.join(map(str, self.folders))}: too many folders; some were not searched")
                return
            yield from self.paths(current, *extensions)
            folders = self.listing(current).folders
            if not folders:
                continue
            if current.count("/") >= _MAX_DEPTH:
                self.budget.warn(f"{current}: the folders in it were not searched, because they are too deep")
                continue
            prefix = f"{current}/" if current else ""
            # The first has to be taken from the stack first.
            stack += [prefix + folders[key] for key in sorted(folders, reverse=True)]

    def read(self, path: str) -> bytes:
        """The content of a file, which counts against the budget. Raises FileReadError."""
        return self._read(path, self.find(path))

    def read_text(self, path: str) -> str:
        """The text of a file, which counts against the budget. Raises FileReadError."""
        file = self._existing(path, self.find(path))
        if not self.budget.take("text", file.size()):
            raise FileReadError(f"{file}: skipped, as the declarations of the game are too large")
        self._texts[str(file.path)] = stamp_of(file.path)
        return file.read_text()

    def extract(self, paths: Iterable[str], target: Path) -> list[Path]:
        """Writes files below a folder on disk, as `walk` names them; raises FileReadError or OSError."""
        written = []
        for path in paths:
            data = self._read(path, self.get(path))
            file = path_on_disk(target, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, data, remove_abandoned=False)
            written.append(file)
        return written

    def _read(self, path: str, found: GameFile | None) -> bytes:
        file = self._existing(path, found)
        if not self.budget.take("data", file.size()):
            raise FileReadError(f"{file}: skipped, as the files of the game are too large")
        return file.read()

    def _existing(self, path: str, file: GameFile | None) -> GameFile:
        if file is None:
            raise FileReadError(f"{path}: there is no such file in {', '.join(map(str, self.folders))}")
        return file

    @property
    def warnings(self) -> list[str]:
        """What could not be read so far, each once, also in other trees of the same import."""
        texts = [text for layer in chain.from_iterable(self.known.values()) for text in layer.warnings]
        return list(dict.fromkeys([*texts, *self.budget.warnings]))

    def is_current(self) -> bool:
        """Whether the folders, archives and texts that were read are as they were, by their sizes and times."""
        stamps = [self._texts, *(layer.stamps for layer in chain.from_iterable(self.known.values()))]
        return all(stamp_of(path) == stamp for one in stamps for path, stamp in one.items())

    def _layers(self) -> Iterator[Layer]:
        for root in self._roots:
            if root not in self.known:
                self.known[root] = _layers_of(root, self.budget)
            yield from self.known[root] if self._with_archives else self.known[root][:1]

    def _layers_with(self, *folders: str) -> list[tuple[Listing, ...]]:
        """The listings of folders in each layer that has one: most of the many archives of a game have none."""
        keys = tuple(fold(self._full(folder)) for folder in folders)
        if keys not in self._holding:
            listings = [tuple(map(layer.listing, keys)) for layer in self._layers()]
            self._holding[keys] = [one for one in listings if any(one)]
        return self._holding[keys]

    def _full(self, folder: str) -> str:
        return f"{self._prefix}/{folder}".strip("/") if self._prefix else folder

    def _relative(self, file: GameFile, folder: str) -> GameFile:
        """A file in a folder of the tree with its path relative to the tree, as its layer may be a larger one."""
        parts = file.folder.split("/") if file.folder else []
        depth = folder.strip("/").count("/") + 1 if folder else 0
        return file if depth == len(parts) else file._replace(folder="/".join(parts[len(parts) - depth :]))
