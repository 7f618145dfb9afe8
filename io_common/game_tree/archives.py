"""The archives of game folders, and paths that lead into them, such as `base/pak000.pk4/models/imp/imp.md5mesh`.

Archives are zip files (`.pk4`, `.pk3`, `.pkz`, `.dpk`, `.zip`), and Quake's `.pak` files (`common.c` of Quake,
`files.c` of Quake II): `PACK`, position and size of the directory (little-endian int32), whose entries have 64 bytes:
56 for the name, then position and size of the file, which is not compressed.

Archives are read in the order of their names, and later ones override earlier ones. Doom 3 and Quake III compare names
as text; numbers in names of `.pak` and `.pkz` files and versions of Unvanquished's `.dpk` files are compared as
numbers, and only the last version of a `.dpk` is used. A folder `NAME.dpkdir` is an archive that is not packed.
"""

from __future__ import annotations

import errno
import io
import os
import re
import struct
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from ..files import open_file
from ..names import fold, fold_slashes, split_extension
from . import files as limits
from .files import PAK_METHOD, UNSUPPORTED_METHOD, Budget, FileReadError, GameFile, Listing, Member

ARCHIVE_EXTENSIONS = (".pk4", ".pk3", ".pkz", ".dpk", ".pak", ".zip")
FOLDER_EXTENSIONS = (".dpkdir",)  # extensions of folders that are archives that are not packed
MAX_MEMBERS = 200_000

_NUMBERED = (".pak", ".pkz", ".dpk", ".dpkdir")
_VERSIONED = (".dpk", ".dpkdir")
_PAK_ENTRY = struct.Struct("<56s2i")
_UNREADABLE = (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error)
# The number of errors whose text is the reason: with that of a system error, the user would be told of that.
_OTHER_REASON = 0
Stamp = list[int]  # the size in bytes and the time of the last change in nanoseconds of a file or folder


def is_archive_name(name: str) -> bool:
    """Whether a file has the extension of an archive."""
    return split_extension(fold(name))[1] in ARCHIVE_EXTENSIONS


def is_unpacked_archive_name(name: str) -> bool:
    """Whether a folder has the extension of an archive that is not packed."""
    return split_extension(fold(name))[1] in FOLDER_EXTENSIONS


def search_order(names: Iterable[str]) -> list[str]:
    """The archives among the names in a folder, in the order in which they are searched: the last comes first."""
    found = [name for name in names if is_archive_name(name) or is_unpacked_archive_name(name)]
    result, seen = [], set()
    for name in sorted(found, key=_order_key, reverse=True):
        stem, extension = split_extension(fold(name))
        if extension in _VERSIONED:
            package = stem.partition("_")[0]
            if package in seen:
                continue
            seen.add(package)
        result.append(name)
    return result


def _order_key(name: str) -> tuple[tuple[int, int, str], ...]:
    stem, extension = split_extension(fold(name))
    if extension not in _NUMBERED:
        return ((1, 0, fold(name)),)
    # A number comes before text, so that `a_src` is later than any version of `a`.
    parts = re.findall(r"[0-9]+|[^0-9]+", stem)
    return tuple((0, int(part[:18]), "") if part[0] in "0123456789" else (1, 0, part) for part in parts)


class Archive:
    """The files of an archive, or of the folder `inside` it. Its directory is read when first needed."""

    def __init__(self, path: Path, budget: Budget | None = None, inside: str = "") -> None:
        self.path = path
        self.stamps = {str(path): stamp_of(path)}
        self.warnings: list[str] = []
        self._budget = budget if budget is not None else Budget()
        self._prefix = f"{fold(inside)}/" if inside else ""

    def listing(self, folder: str) -> Listing:
        """The listing of a folder, whose path is folded."""
        return self._listings.get((self._prefix + folder).rstrip("/")) or Listing()

    @cached_property
    def _listings(self) -> dict[str, Listing]:
        """The listings of all folders; the directory counts against the budget even if it was read before."""
        try:
            directory = read_directory(self.path, *(stamp_of(self.path) or (0, 0)))
            if not self._budget.take("directories", directory.cost):
                raise FileReadError("the directories of the archives are too large")
        except _UNREADABLE as error:
            self.warnings.append(f"{self.path}: not a readable archive ({error})")
            return Directory().listings
        if directory.too_large:
            self.warnings.append(
                f"{self.path}: files over {limits.MAX_FILE_SIZE >> 20} MB are left out, such as {directory.too_large}"
            )
        return directory.listings


@dataclass
class Directory:
    """The directory of an archive."""

    cost: int = 0  # its size in bytes
    too_large: str = ""  # name of a file that is left out; empty if there is none
    # Of all folders, by their folded paths.
    listings: dict[str, Listing] = field(default_factory=lambda: {"": Listing()})

    def add_folder(self, name: str) -> tuple[str, Listing] | None:
        """The clean path and the listing of a folder in the archive; None if its path leads out of the archive."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or (parts and ":" in parts[0]):
            return None
        above = self.listings[""]
        for count, part in enumerate(parts, 1):
            above.folders.setdefault(fold(part), part)
            above = self.listings.setdefault(fold("/".join(parts[:count])), Listing())
        return "/".join(parts), above


@lru_cache(maxsize=64)
def read_directory(path: Path, size: int, changed: int) -> Directory:
    """The directory of an archive, read again only if its size or time have changed. Raises _UNREADABLE."""
    del changed
    with open_file(path) as stream:
        is_pak = stream.peek(4)[:4] == b"PACK"
        members, cost = _pak_members(stream, size) if is_pak else _zip_members(stream, size)
    directory = Directory(cost)
    if len(members) > MAX_MEMBERS:
        raise FileReadError(f"{len(members)} members are too many")
    folders: dict[str, tuple[str, Listing] | None] = {}
    for member in members:
        folder, slash, base = member.path.rpartition("/")
        # The names of folders end with a slash, or with one and a dot.
        if base in ("", ".", ".."):
            continue
        if max(member.size, member.packed_size) > limits.MAX_FILE_SIZE:
            directory.too_large = directory.too_large or member.path
            continue
        key = folder + slash
        if key not in folders:
            folders[key] = directory.add_folder(key)
        found = folders[key]
        if found is not None and (found[0] or ":" not in base):
            clean, listing = found
            listing.files.setdefault(fold(base), GameFile(path, base, clean, member))
    return directory


def _zip_members(stream: io.BufferedReader, length: int) -> tuple[list[Member], int]:
    """The members of an archive, and the size of its directory."""
    # Opening the archive reads only its directory.
    with zipfile.ZipFile(stream) as archive:
        members = []
        for info in archive.infolist():
            method = UNSUPPORTED_METHOD if info.flag_bits & 1 else info.compress_type
            sizes = info.compress_size, info.file_size
            members.append(Member(fold_slashes(info.filename), info.header_offset, *sizes, info.CRC, method))
        return members, length - archive.start_dir


def _pak_members(stream: io.BufferedReader, length: int) -> tuple[list[Member], int]:
    header = stream.read(12)
    if len(header) < 12:
        raise ValueError("it ends within its header")
    _, start, size = struct.unpack("<4s2i", header)
    if start < 0 or size < 0 or start + size > length:
        raise ValueError("its directory lies outside of it")
    if size > MAX_MEMBERS * _PAK_ENTRY.size:
        raise ValueError("it has too many members")
    stream.seek(start)
    directory = stream.read(size - size % _PAK_ENTRY.size)
    members = [
        Member(fold_slashes(raw.partition(b"\0")[0].decode("latin-1")), offset, count, count, 0, PAK_METHOD)
        for raw, offset, count in _PAK_ENTRY.iter_unpack(directory)
        if offset >= 0 and count >= 0 and offset + count <= length
    ]
    return members, size


def split_archive_path(path: str | os.PathLike[str]) -> tuple[Path, str] | None:
    """The archive on disk that a path leads into, and the path inside it, empty for the archive itself."""
    # Nearly no path leads into one.
    if not any(extension in os.fspath(path).lower() for extension in ARCHIVE_EXTENSIONS):
        return None
    parts = Path(os.path.abspath(path)).parts
    for index in range(1, len(parts)):
        if is_archive_name(parts[index]):
            archive = Path(*parts[: index + 1])
            # `Path.is_file` raises for folders that cannot be read and for names that are too long.
            if os.path.isfile(archive):
                return archive, "/".join(parts[index + 1 :])
    return None


class MemberStream(io.BytesIO):
    """The content of a member of an archive, with its path as its name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def readable(path: Path) -> Path | MemberStream:
    """What readers take for a path: itself, or a member's content; OSError if that cannot be read."""
    file = _member(path)
    if file is None:
        return path
    try:
        return MemberStream(file.read(), os.fspath(path))
    except FileReadError as error:
        raise OSError(_OTHER_REASON, str(error).removeprefix(f"{file}: "), os.fspath(path)) from error


def unpacked_size(path: Path) -> int:
    """The size of a member of an archive, 0 for a path on disk; OSError if it cannot be read."""
    file = _member(path)
    return file.size() if file is not None else 0


def _member(path: Path) -> GameFile | None:
    """The member that a path leads to; None for a path on disk, OSError if there is none."""
    found = split_archive_path(path)
    if found is None or not found[1]:
        return None
    archive = Archive(found[0])
    folder, _, base = fold(found[1]).rpartition("/")
    file = archive.listing(folder).files.get(base)
    if file is not None:
        return file
    if archive.warnings:
        reason = archive.warnings[0].removeprefix(f"{archive.path}: ")
        raise OSError(_OTHER_REASON, reason, os.fspath(archive.path))
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))


def files_in(folder: Path) -> list[Path]:
    """The files directly inside a folder on disk or in an archive, by name. Raises OSError if it cannot be read."""
    found = split_archive_path(folder)
    if found is None:
        return sorted(folder.iterdir())
    listing = Archive(found[0]).listing(fold(found[1]))
    return sorted(folder / file.name for file in listing.files.values())


def listed_files(folder: Path, suffix: str = "") -> list[Path]:
    """Those with a suffix, in any case; none if the folder cannot be read."""
    with suppress(OSError):
        return [path for path in files_in(folder) if suffix in ("", path.suffix.lower())]
    return []


class FilesByName:
    """Files found by their names without regard to case, in folders that are listed once each."""

    def __init__(self) -> None:
        self._folders: dict[Path, dict[str, Path]] = {}

    def find(self, folder: Path, name: str) -> Path | None:
        """The file with a name directly inside a folder; None if there is none, or the folder cannot be read."""
        if folder not in self._folders:
            # The first of a name stays.
            self._folders[folder] = {fold(path.name): path for path in reversed(listed_files(folder))}
        return self._folders[folder].get(fold(name))


def stamp(path: str | os.PathLike[str]) -> Stamp:
    """The stamp of a file or folder, or of the archive that a path leads into. Raises OSError if there is none."""
    archive = split_archive_path(path)
    status = os.stat(archive[0] if archive is not None else path)
    return [status.st_size, status.st_mtime_ns]


def stamp_of(path: str | os.PathLike[str]) -> Stamp | None:
    """The same; None if there is none."""
    try:
        return stamp(path)
    except (OSError, ValueError):
        return None
