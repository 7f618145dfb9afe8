"""Folders and archives that images and materials are looked for in, and the walls around them.

A game folder holds `models/...`, `textures/...`, `materials/*.mtr` ..., loose or inside `.pk4` and `.pk3` archives,
which are zip files. Loose files come before archives, and of archives the alphabetically last first, as in the
games: patches have higher numbers.

A directory is listed when it is first asked for, once, and names are compared with that listing without regard to
case. So a folder of ten thousand files costs one listing, a game folder with a hundred thousand costs only the
directories on the way, and no name out of a model ever reaches the operating system.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..files.regular_files import open_file
from .budget import Budget
from .names import (
    IMAGE_EXTENSIONS,
    AssetName,
    clean_name,
    extension_rank,
    fold,
    fold_slashes,
    is_image,
    split_extension,
)

ARCHIVE_EXTENSIONS = (".pk4", ".pk3")
MAX_FILE_SIZE = 256 << 20
"""Greatest size of an image that is read, in bytes: loose, or unpacked from an archive."""
MAX_TEXT_SIZE = 16 << 20
"""Greatest size of a text (.mtr, .cfg, .skin) that is read, in bytes."""
MAX_MEMBERS = 200_000
"""Greatest number of members of an archive that is read."""

_TOP_FOLDERS = ("packages", "models", "players", "progs", "textures", "sprites", "mapobjects")
_GAME_SIGNS = frozenset(
    ("materials", "scripts", "textures", "sound", "sounds", "maps", "def", "env", "gfx", "data")
)


class FileReadError(ValueError):
    """A file that was found cannot be read: too large, damaged, gone, or locked."""


@dataclass(frozen=True)
class Member:
    """Where a file lies inside an archive."""

    name: str
    offset: int
    packed_size: int
    size: int
    crc: int
    method: int
    encrypted: bool


@dataclass(frozen=True)
class GameFile:
    """A file that was found.

    path: the file itself, or the archive it is in. member: where inside the archive, None for a loose file. relative:
    its path relative to the game folder (or the model's own folder, if that lies in none) with forward slashes.
    """

    path: Path
    member: Member | None = None
    relative: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Base name with extension."""
        return (
            fold_slashes(self.member.name).rpartition("/")[2] if self.member is not None else self.path.name
        )

    @property
    def extension(self) -> str:
        """Extension in lower case, with its dot."""
        return split_extension(self.name)[1].lower()

    def __str__(self) -> str:
        return f"{self.path}/{self.member.name}" if self.member is not None else str(self.path)

    def read(self, limit: int = MAX_FILE_SIZE) -> bytes:
        """The file's bytes. Raises FileReadError, also for files of more than `limit` bytes."""
        try:
            if self.member is not None:
                return _read_member(self.path, self.member, limit)
            if self.size() > limit:
                raise FileReadError(f"{self}: larger than {limit} bytes")
            with open_file(self.path) as stream:
                data = stream.read(limit + 1)
        except (OSError, ValueError, struct.error, zlib.error) as error:
            raise FileReadError(f"{self}: {error}") from error
        if len(data) > limit:
            raise FileReadError(f"{self}: larger than {limit} bytes")
        return data

    def size(self) -> int:
        """The number of bytes, as the archive declares it or the disk has it. Raises FileReadError."""
        if self.member is not None:
            return self.member.size
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise FileReadError(f"{self}: {error}") from error

    def read_text(self, limit: int = MAX_TEXT_SIZE) -> str:
        """The file as text: UTF-8, else Latin-1, as old files have any encoding. Raises FileReadError."""
        data = self.read(limit)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("latin-1")


def _read_member(path: Path, member: Member, limit: int) -> bytes:
    """Read one member of a zip file without reading the archive's directory again; ValueError for bad data."""
    if member.size > limit or member.packed_size > limit:
        raise ValueError(f"larger than {limit} bytes")
    if member.encrypted or member.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("encrypted, or packed by a method that is not read")
    with open_file(path) as stream:
        stream.seek(member.offset)
        header = stream.read(30)
        if header[:4] != b"PK\x03\x04":
            raise ValueError("damaged archive")
        name_size, extra_size = struct.unpack_from("<2H", header, 26)
        stream.seek(name_size + extra_size, os.SEEK_CUR)
        data = stream.read(member.packed_size)
    if member.method == zipfile.ZIP_DEFLATED:
        # Never more than was declared, whatever the data would unpack to.
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(member.size, 1))
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise ValueError("damaged archive member")
    return data


@dataclass
class Listing:
    """One directory: the names of its files and folders by their folded form."""

    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    _stems: dict[str, list[str]] | None = None

    def images(self) -> list[str]:
        """Names of the images, in alphabetical order."""
        return sorted((name for name in self.files.values() if is_image(name)), key=fold)

    def image(self, name: str) -> str | None:
        """The image of this name: exactly, else with another extension or where `name` has none."""
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
    """A directory that may be read, with everything below it and nothing else."""

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
        """Listing of a directory (relative, forward slashes, any case), None where there is none."""
        key = fold(folder)
        if key not in self._listings:
            self._listings[key] = self._list(key)
        return self._listings[key]

    def real_folder(self, folder: str) -> str | None:
        """The directory's path as it is written on disk, relative, None where there is none."""
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
            # Of names that differ in case only, the first in the alphabet is taken, on every machine the same.
            if entry.is_dir():
                kept = listing.folders.get(fold(entry.name))
                if kept is None or entry.name < kept:
                    listing.folders[fold(entry.name)] = entry.name
            elif entry.is_file():
                kept = listing.files.get(fold(entry.name))
                if kept is None or entry.name < kept:
                    listing.files[fold(entry.name)] = entry.name
        except OSError:
            # A link that leads nowhere, or a file that went away meanwhile.
            return

    def file(self, folder: str, name: str) -> GameFile:
        """The loose file of this name in a directory that was listed."""
        real = self.real_folder(folder)
        relative = f"{real}/{name}" if real else name
        return GameFile(self.path.joinpath(*relative.split("/")), None, relative)

    def archives(self) -> list[Archive]:
        """The archives right inside the folder, the one that is asked first at the front."""
        if self._archives is None:
            self._archives = []
            top = self.listing() if self._with_archives else None
            names = top.files.values() if top is not None else ()
            for name in sorted(names, key=fold, reverse=True):
                if split_extension(name)[1].lower() in ARCHIVE_EXTENSIONS:
                    self._archives.append(Archive(self.path / name, self._budget))
        return self._archives

    def find_image(self, path: str) -> GameFile | None:
        """The image of this path relative to the folder: loose, in `dds/`, or in an archive; any image extension."""
        sources: list[Root | Archive] = [self, *self.archives()]
        for source in sources:
            found = source.find_plain(path)
            # What Doom 3 itself would show is the .tga, else its packed copy; other types are of artists' making.
            if found is not None and (
                found.extension == ".tga" or fold(found.name) == fold(path).rpartition("/")[2]
            ):
                return found
            found = source.find_plain("dds/" + path) or found
            if found is not None:
                return found
        return None

    def find_plain(self, path: str) -> GameFile | None:
        """The loose image of exactly this path, with any image extension."""
        folder, _, base = path.rpartition("/")
        listing = self.listing(folder)
        name = listing.image(base) if listing is not None else None
        return self.file(folder, name) if name is not None else None

    def texts(self, folder: str, extension: str) -> dict[str, GameFile]:
        """Files with this extension (lower case, with dot) right inside a directory, by folded name.

        Loose files hide those of the same name in archives, archives those of lower rank.
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
    """Whether the entry leads elsewhere: a symbolic link, or on Windows any reparse point such as a junction."""
    if entry.is_symlink():
        return True
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) if os.name == "nt" else 0
    return bool(attributes & _REPARSE_POINT)


_REPARSE_POINT = 0x400


# The last record of an archive, and the longest comment in it.
_LONGEST_END = 1 << 17


class _Measured:
    """A file of which no more is read than the budget allows; a directory may claim any size."""

    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        self._budget = budget
        self._read = stream.read
        self.seek = stream.seek
        self.tell = stream.tell
        self.seekable = stream.seekable

    def read(self, size: int = -1) -> bytes:
        """Reads so many bytes. Raises FileReadError where that is too much."""
        if size > self._budget.directories:
            raise FileReadError("the directories of the archives are larger than is read")
        # Without a size, what is behind the directory is meant.
        data = self._read(size if size >= 0 else _LONGEST_END)
        self._budget.take("directories", len(data))
        return data


class Archive:
    """A `.pk4` or `.pk3` archive; its directory is read when it is first asked for, its members on demand."""

    def __init__(self, path: Path, budget: Budget | None = None) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._budget = budget if budget is not None else Budget()
        self._folders: dict[str, dict[str, Member]] | None = None

    def files(self, folder: str) -> dict[str, Member]:
        """The files right inside a directory of the archive, by folded base name."""
        if self._folders is None:
            self._folders = self._index()
        return self._folders.get(fold(folder), {})

    def _index(self) -> dict[str, dict[str, Member]]:
        folders: dict[str, dict[str, Member]] = {}
        try:
            with open_file(self.path) as stream:
                # It stands for the file: what is read is the directory alone.
                within = cast("IO[bytes]", _Measured(stream, self._budget))
                with zipfile.ZipFile(within) as archive:
                    members = archive.infolist()
        except (
            OSError,
            zipfile.BadZipFile,
            NotImplementedError,
            ValueError,
            EOFError,
            struct.error,
        ) as error:
            self.warnings.append(f"{self.path}: not a readable archive ({error})")
            return folders
        if len(members) > MAX_MEMBERS:
            self.warnings.append(f"{self.path}: {len(members)} members are more than is read")
            return folders
        for info in members:
            folder, _, base = fold(info.filename).rpartition("/")
            # A folder's name ends with a slash. What claims to be larger than any image is refused unseen.
            if base and info.file_size <= MAX_FILE_SIZE:
                member = Member(
                    info.filename,
                    info.header_offset,
                    info.compress_size,
                    info.file_size,
                    info.CRC,
                    info.compress_type,
                    bool(info.flag_bits & 1),
                )
                folders.setdefault(folder, {}).setdefault(base, member)
        return folders

    def file(self, member: Member) -> GameFile:
        """The file that a member is."""
        return GameFile(self.path, member, fold_slashes(member.name))

    def find_plain(self, path: str) -> GameFile | None:
        """The image of this path inside the archive, with any image extension."""
        folder, _, base = fold(path).rpartition("/")
        files = self.files(folder)
        if not files:
            return None
        names = [base, *(base + extension for extension in IMAGE_EXTENSIONS)]
        if is_image(base):
            names += [split_extension(base)[0] + extension for extension in IMAGE_EXTENSIONS]
        for name in names:
            member = files.get(name)
            if member is not None and is_image(name):
                return self.file(member)
        return None


def guess_game_folder(model_path: str | os.PathLike[str], names: Iterable[AssetName] = ()) -> Path | None:
    """The game folder of a model: the ancestor that makes its own `models/...` or `players/...` path right.

    names: the skins or shaders of the model; the ancestor under which most of their folders agree with the model's is
    preferred, then one that looks like a game folder (archives, `materials`, ... in it), then the deepest. The root of
    a drive and the user's home are never taken. None where the path has none of the usual folders in it.
    """
    folder = Path(os.path.abspath(model_path)).parent
    parts = [fold(part) for part in folder.parts]
    folders = [fold(name.folder).split("/") for name in names if name.folder]
    best: tuple[tuple[int, bool, int], Path] | None = None
    for index in range(1, len(parts)):
        if parts[index] not in _TOP_FOLDERS or (parts[index] == "models" and parts[index - 1] == "packages"):
            continue
        root = Path(*folder.parts[:index])
        if root == Path(root.anchor) or root in (_home(), _home().parent):
            continue
        agreement = max((_common(own, parts[index:]) for own in folders), default=0)
        rank = (agreement, _looks_like_game(root), index)
        if best is None or rank > best[0]:
            best = (rank, root)
    return best[1] if best is not None else None


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _common(own: list[str], other: list[str]) -> int:
    count = 0
    for a, b in zip(own, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _looks_like_game(root: Path) -> bool:
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                name = fold(entry.name)
                if name in _GAME_SIGNS or split_extension(name)[1] in (*ARCHIVE_EXTENSIONS, ".pak"):
                    return True
    except OSError:
        pass
    return False


class Place:
    """All that may be read for one model: its game folders in order, and its own folder tree. See Library.place."""

    def __init__(self, model_path: Path, own: Root, roots: list[Root]) -> None:
        self.model_path = model_path
        self.own = own
        self.roots = roots

    def find_image(self, path: str) -> GameFile | None:
        """The image of this path relative to one of the game folders."""
        for root in self.roots:
            found = root.find_image(path)
            if found is not None:
                return found
        return None

    def own_folders(self) -> Iterator[tuple[Root, str]]:
        """The game folders that the model lies in, each with the model's folder relative to it (never "")."""
        for root in self.roots:
            relative = _relative(self.model_path.parent, root.path)
            if relative:
                yield root, relative

    def relative(self, path: str | os.PathLike[str]) -> str | None:
        """Path relative to the innermost game folder it lies in, forward slashes; None where it lies in none."""
        absolute = Path(os.path.abspath(path))
        found = [relative for root in self.roots if (relative := _relative(absolute, root.path))]
        return min(found, key=len) if found else None


def _relative(path: Path, folder: Path) -> str:
    """Path relative to a folder with forward slashes, "" for the folder itself and where it lies elsewhere."""
    return path.relative_to(folder).as_posix() if path != folder and path.is_relative_to(folder) else ""


class Library:
    """The folders of one import, each listed once however many models and materials ask.

    Make one when an import begins and drop it at its end: what changes on disk meanwhile is not noticed.
    """

    def __init__(self, game_folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        """game_folders: the folders that the user gave, in order; empty ones are left out."""
        self.budget = Budget()
        self._given = [Path(os.path.abspath(path)) for path in game_folders if os.fspath(path)]
        self._roots: dict[tuple[Path, bool], Root] = {}

    def place(self, model_path: str | os.PathLike[str], names: Iterable[str] = ()) -> Place:
        """What may be read for a model.

        names: the model's skins or shaders, which help to find its game folder. The folder that is guessed from the
        model's path (see guess_game_folder) comes before the given ones, unless the model lies in one of those.
        """
        path = Path(os.path.abspath(model_path))
        folders = list(self._given)
        if not any(path.is_relative_to(folder) for folder in folders):
            guessed = guess_game_folder(path, [clean_name(name) for name in names])
            if guessed is not None:
                folders.insert(0, guessed)
        roots = [self._root(folder, True) for folder in dict.fromkeys(folders)]
        return Place(path, self._root(path.parent, False), roots)

    def _root(self, path: Path, archives: bool) -> Root:
        if (path, archives) not in self._roots:
            self._roots[path, archives] = Root(path, archives, self.budget)
        return self._roots[path, archives]

    @property
    def warnings(self) -> list[str]:
        """What was odd about folders and archives so far."""
        return [warning for root in self._roots.values() for warning in root.warnings]
