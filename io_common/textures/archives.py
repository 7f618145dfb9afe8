"""The archives of game folders: ``.pk4`` and ``.pk3`` files, which are zip files."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..files.regular_files import open_file
from .budget import Budget
from .game_files import MAX_FILE_SIZE, FileReadError, GameFile, Member
from .names import IMAGE_EXTENSIONS, fold, fold_slashes, is_image, split_extension

ARCHIVE_EXTENSIONS = (".pk4", ".pk3")
MAX_MEMBERS = 200_000
"""Maximum number of members of an archive."""

# More than the last record of an archive with the longest possible comment, in bytes.
_MAX_END_SIZE = 1 << 17


class _BudgetedFile:
    """A file whose reads count against the budget, as a directory may claim any size."""

    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        self._budget = budget
        self._read = stream.read
        self.seek = stream.seek
        self.tell = stream.tell
        self.seekable = stream.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes of the file.

        Raises:
            FileReadError: they are more than the budget allows.
        """
        if size > self._budget.directories:
            raise FileReadError("the directories of the archives are too large")
        # `zipfile` reads without a size only at the end of the archive.
        data = self._read(size if size >= 0 else _MAX_END_SIZE)
        self._budget.take("directories", len(data))
        return data


class Archive:
    """A `.pk4` or `.pk3` archive; its directory and its members are read on demand."""

    def __init__(self, path: Path, budget: Budget | None = None) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._budget = budget if budget is not None else Budget()
        self._folders: dict[str, dict[str, Member]] | None = None

    def files(self, folder: str) -> dict[str, Member]:
        """The files directly inside a directory of the archive, by folded base name."""
        if self._folders is None:
            self._folders = self._index()
        return self._folders.get(fold(folder), {})

    def _index(self) -> dict[str, dict[str, Member]]:
        folders: dict[str, dict[str, Member]] = {}
        try:
            with open_file(self.path) as stream:
                # Opening the archive reads only its directory.
                budgeted = cast("IO[bytes]", _BudgetedFile(stream, self._budget))
                with zipfile.ZipFile(budgeted) as archive:
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
            self.warnings.append(f"{self.path}: {len(members)} members are too many; the archive is skipped")
            return folders
        for info in members:
            folder, _, base = fold(info.filename).rpartition("/")
            # The names of folders end with a slash, and have no base name.
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
        """A member as a file."""
        return GameFile(self.path, member, fold_slashes(member.name))

    def find_plain(self, path: str) -> GameFile | None:
        """The image with this path in the archive, with any image extension."""
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
