"""The archives of game folders: zip files (`.pk4`, `.pk3`, `.pkz`, `.dpk`, `.zip`), and Quake's `.pak` files.

A `.pak` begins with `PACK` and the position and size of its directory (little-endian int32), whose entries have
64 bytes: 56 for the name, then position and size. Its files are not compressed. (`common.c` of Quake, `files.c` of
Quake II.)

Archives are read in the order of their names, and later ones override earlier ones. Doom 3 and Quake III compare names
as text; the numbers in names of `.pak` and `.pkz` files and the versions of Unvanquished's `.dpk` files are compared as
numbers (`pak10.pak` is later than `pak2.pak`), and only the last version of a `.dpk` is used. A folder `NAME.dpkdir` is
an archive that is not packed, which Unvanquished uses during development.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..files.regular_files import open_file
from .budget import Budget
from .game_files import MAX_FILE_SIZE, PAK_METHOD, FileReadError, GameFile, Member
from .listings import Listing
from .names import fold, fold_slashes, split_extension

ARCHIVE_EXTENSIONS = (".pk4", ".pk3", ".pkz", ".dpk", ".pak", ".zip")
FOLDER_EXTENSIONS = (".dpkdir",)
"""Extensions of folders that are archives that are not packed."""
MAX_MEMBERS = 200_000
"""Maximum number of members of an archive."""

_NUMBERED = (".pak", ".pkz", ".dpk", ".dpkdir")
_VERSIONED = (".dpk", ".dpkdir")

# More than the last record of an archive with the longest possible comment, in bytes.
_MAX_END_SIZE = 1 << 17

_PAK_ENTRY = struct.Struct("<56s2i")


def is_archive_name(name: str) -> bool:
    """Whether a file has the extension of an archive."""
    return split_extension(fold(name))[1] in ARCHIVE_EXTENSIONS


def search_order(names: Iterable[str]) -> list[str]:
    """The archives among the names in a folder, in the order in which they are searched: the last comes first."""
    found = [
        name for name in names if split_extension(fold(name))[1] in (*ARCHIVE_EXTENSIONS, *FOLDER_EXTENSIONS)
    ]
    ordered = sorted(found, key=_order_key, reverse=True)
    result, seen = [], set()
    for name in ordered:
        stem, extension = split_extension(fold(name))
        if extension in _VERSIONED:
            if stem.partition("_")[0] in seen:
                continue
            seen.add(stem.partition("_")[0])
        result.append(name)
    return result


def _order_key(name: str) -> tuple[tuple[int, int, str], ...]:
    stem, extension = split_extension(fold(name))
    if extension not in _NUMBERED:
        return ((1, 0, fold(name)),)
    # A number comes before text, so that `a_src` is later than any version of `a`.
    parts = re.findall(r"[0-9]+|[^0-9]+", stem)
    return tuple((0, int(part[:18]), "") if part[0] in "0123456789" else (1, 0, part) for part in parts)


def split_archive_path(path: str | os.PathLike[str]) -> tuple[Path, str] | None:
    """The archive that a path leads into, and the path inside it with forward slashes, empty for the archive itself.

    An example is `base/pak000.pk4/models/imp/imp.md5mesh`. Returns None if no part of it is an archive on disk.
    """
    whole = Path(os.path.abspath(path))
    parts = whole.parts
    for index in range(1, len(parts)):
        if is_archive_name(parts[index]):
            archive = Path(*parts[: index + 1])
            # `Path.is_file` raises for folders that cannot be read and for names that are too long.
            if os.path.isfile(archive):
                return archive, "/".join(parts[index + 1 :])
    return None


class _BudgetedFile:
    """A file whose reads count against the budget, as a directory may claim any size."""

    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        self._budget = budget
        self._read = stream.read
        self.seek = stream.seek
        self.tell = stream.tell
        self.seekable = stream.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes of the file. Raises FileReadError if they are more than the budget allows."""
        if size > self._budget.directories:
            raise FileReadError("the directories of the archives are too large")
        # `zipfile` reads without a size only at the end of the archive.
        data = self._read(size if size >= 0 else _MAX_END_SIZE)
        self._budget.take("directories", len(data))
        return data


@dataclass
class _Index:
    """The directory of an archive: members by the folded path of their folder and their folded base name."""

    folders: dict[str, dict[str, Member]] = field(default_factory=dict)
    below: dict[str, dict[str, str]] = field(default_factory=dict)
    """The folders in each folder, as spelled, by their folded name."""
    cost: int = 0
    """Bytes of the directory."""
    too_large: list[str] = field(default_factory=list)
    """The names of members that are not listed because of their size."""

    def add(self, member: Member) -> None:
        """Adds a member, unless its path leads out of the archive or is already taken."""
        parts = [part for part in fold_slashes(member.name).split("/") if part not in ("", ".")]
        if not parts or ".." in parts or ":" in parts[0] or member.name.startswith(("/", "\\")):
            return
        # `a/.` is a folder.
        if parts[-1] != member.base:
            return
        folder, base = fold("/".join(parts[:-1])), fold(parts[-1])
        if folder not in self.folders:
            self.folders[folder] = {}
            for count in range(len(parts) - 1):
                above = fold("/".join(parts[:count]))
                self.below.setdefault(above, {}).setdefault(fold(parts[count]), parts[count])
        self.folders[folder].setdefault(base, member)


_CACHE_SIZE = 32
# Listings of archives that do not change, such as those of a game: by path, time of the last change, and size.
_cache: OrderedDict[tuple[str, int, int], _Index] = OrderedDict()


def forget() -> None:
    """Forgets the listings of archives, so that the next access reads them again."""
    _cache.clear()


class Archive:
    """An archive; its directory and its members are read on demand.

    Paths are relative to `inside`, a folder in the archive; empty for the archive itself.
    """

    def __init__(self, path: Path, budget: Budget | None = None, inside: str = "") -> None:
        self.path = path
        self.warnings: list[str] = []
        self._budget = budget if budget is not None else Budget()
        self._prefix = f"{fold(inside)}/" if inside else ""
        self._index: _Index | None = None
        self._listings: dict[str, Listing] = {}

    def files(self, folder: str) -> dict[str, Member]:
        """The files directly inside a directory of the archive, by folded base name."""
        return self._load().folders.get(self._full(folder), {})

    def listing(self, folder: str = "") -> Listing | None:
        """The listing of a directory; None if there is no such directory."""
        listing = self._listings.get(folder)
        if listing is None:
            listing = self._list(self._full(folder))
            # Most archives have few of the many folders that they are asked for.
            if listing is not None:
                self._listings[folder] = listing
        return listing

    def _list(self, full: str) -> Listing | None:
        index = self._load()
        if full and full not in index.folders and full not in index.below:
            return None
        return Listing(
            {key: member.base for key, member in index.folders.get(full, {}).items()},
            dict(index.below.get(full, {})),
        )

    def file(self, folder: str, name: str) -> GameFile | None:
        """The file with a name in a directory; None if there is none."""
        member = self.files(folder).get(fold(name))
        return self._game_file(member) if member is not None else None

    def _game_file(self, member: Member) -> GameFile:
        return GameFile(self.path, member, fold_slashes(member.name)[len(self._prefix) :])

    def _full(self, folder: str) -> str:
        return (self._prefix + fold(folder)).strip("/")

    def _load(self) -> _Index:
        if self._index is None:
            try:
                self._index = self._cached()
            except (
                OSError,
                zipfile.BadZipFile,
                NotImplementedError,
                ValueError,
                EOFError,
                struct.error,
            ) as error:
                self.warnings.append(f"{self.path}: not a readable archive ({error})")
                self._index = _Index()
            if self._index.too_large:
                self.warnings.append(
                    f"{self.path}: files over {MAX_FILE_SIZE >> 20} MB are left out, such as {self._index.too_large[0]}"
                )
        return self._index

    def _cached(self) -> _Index:
        """The directory, read again only if the archive has changed; it always counts against the budget.

        Raises OSError, ValueError, zipfile.BadZipFile, NotImplementedError, EOFError or struct.error if it cannot be
        read.
        """
        status = self.path.stat()
        key = (str(self.path), status.st_mtime_ns, status.st_size)
        index = _cache.pop(key, None)
        if index is None:
            before = self._budget.directories
            index = self._read()
            index.cost = before - self._budget.directories
        elif not self._budget.take("directories", index.cost):
            raise FileReadError("the directories of the archives are too large")
        _cache[key] = index
        while len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
        return index

    def _read(self) -> _Index:
        index = _Index()
        with open_file(self.path) as stream:
            is_pak = stream.read(4) == b"PACK"
            stream.seek(0)
            budgeted = _BudgetedFile(stream, self._budget)
            members = _pak_members(budgeted, self.path) if is_pak else _zip_members(budgeted)
        if len(members) > MAX_MEMBERS:
            raise FileReadError(f"{len(members)} members are too many")
        for member in members:
            # The names of folders end with a slash.
            if member.name.endswith(("/", "\\")):
                continue
            if member.size <= MAX_FILE_SIZE:
                index.add(member)
            else:
                index.too_large.append(member.name)
        return index


def _zip_members(stream: _BudgetedFile) -> list[Member]:
    # Opening the archive reads only its directory.
    with zipfile.ZipFile(cast("IO[bytes]", stream)) as archive:
        return [
            Member(
                info.filename,
                info.header_offset,
                info.compress_size,
                info.file_size,
                info.CRC,
                info.compress_type,
                bool(info.flag_bits & 1),
            )
            for info in archive.infolist()
        ]


def _pak_members(stream: _BudgetedFile, path: Path) -> list[Member]:
    header = stream.read(12)
    if len(header) < 12:
        raise ValueError("it ends within its header")
    _, start, size = struct.unpack("<4s2i", header)
    length = path.stat().st_size
    if start < 0 or size < 0 or start + size > length:
        raise ValueError("its directory lies outside of it")
    if size > MAX_MEMBERS * _PAK_ENTRY.size:
        raise ValueError("it has too many members")
    stream.seek(start)
    directory = stream.read(size - size % _PAK_ENTRY.size)
    members = []
    for raw, offset, count in _PAK_ENTRY.iter_unpack(directory):
        if offset >= 0 and count >= 0 and offset + count <= length:
            name = raw.partition(b"\0")[0].decode("latin-1")
            members.append(Member(name, offset, count, count, 0, PAK_METHOD, False))
    return members
