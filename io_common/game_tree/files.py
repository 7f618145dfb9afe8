"""Files that were found in game folders and archives, how they are read, and the limits for one import.

A small archive may expand to an enormous amount of data. Whatever is beyond the limits, which all of Doom 3's own data
keeps, is skipped with a warning, so that the files next to a model cannot keep it from being imported.
"""

from __future__ import annotations

import os
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from ..files import open_file
from ..names import extension_rank, fold, has_image_extension, is_image, split_extension

# For one import.
MAX_TEXT = 32 << 20  # characters in material files and declarations
MAX_CONFIGS = 4 << 20  # characters in .cfg and .skin files
MAX_TOKENS = 1_000_000  # tokens in material files and declarations
MAX_DIRECTORIES = 32 << 20  # bytes in the directories of archives
MAX_DATA = 512 << 20  # bytes unpacked from archives
MAX_LOADED = 4 << 30  # bytes of all images once they are loaded
MAX_SECONDS = 60.0
# For one file.
MAX_FILE_SIZE = 256 << 20  # bytes, loose or unpacked from an archive
MAX_TEXT_SIZE = 16 << 20  # bytes of a text (.mtr, .cfg, .skin)
MAX_LOADED_OF_ONE = 512 << 20  # bytes of an image once it is loaded: 16,384 by 8,192 pixels of 8 bits

# The methods of members of a `.pak`, which are not compressed and have no checksum, and of encrypted ones.
PAK_METHOD, UNSUPPORTED_METHOD = -1, -2


class FileReadError(ValueError):
    """A file cannot be read: too large, damaged, removed, or locked."""


class Budget:
    """The remaining amount of each limit, and warnings about what was left out or could not be read, each once."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._since: float | None = None
        self.renew()

    def renew(self) -> None:
        """Restores all amounts, for another import with the same listings."""
        self.text, self.configs, self.tokens = MAX_TEXT, MAX_CONFIGS, MAX_TOKENS
        self.directories, self.data, self.loaded = MAX_DIRECTORIES, MAX_DATA, MAX_LOADED
        self.seconds = MAX_SECONDS

    def take(self, kind: str, amount: int) -> bool:
        """Subtracts an amount from a field, given by its name; returns False and subtracts nothing if less remains."""
        remaining: int = getattr(self, kind) - amount
        if remaining >= 0:
            setattr(self, kind, remaining)
        return remaining >= 0

    def warn(self, warning: str) -> None:
        """Adds a warning, unless there is the same one already."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Subtracts the time that the block takes, unless it is in such a block already."""
        if self._since is not None:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - self._since
            self._since = None

    def is_over(self) -> bool:
        """Whether the time is used up."""
        running = time.monotonic() - self._since if self._since is not None else 0.0
        return running > self.seconds


class Member(NamedTuple):
    """A file in an archive, as the archive's directory describes it; the path has forward slashes."""

    path: str
    offset: int
    packed_size: int
    size: int
    crc: int
    method: int


class GameFile(NamedTuple):
    """A file in a game folder or an archive."""

    container: Path  # the folder on disk, or the archive that holds the file
    name: str  # as spelled, with its extension
    folder: str = ""  # relative to the searched tree, with forward slashes
    member: Member | None = None  # None for a loose file

    @property
    def path(self) -> Path:
        """The file, or the archive that holds it."""
        return self.container if self.member is not None else self.container / self.name

    @property
    def relative(self) -> str:
        """The path relative to the searched tree, with forward slashes."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def full_path(self) -> Path:
        """Where the file is: its path on disk, or one that leads into its archive."""
        return self.container / (self.member.path if self.member is not None else self.name)

    @property
    def extension(self) -> str:
        """The extension in lower case, with the dot."""
        return split_extension(self.name)[1].lower()

    def __str__(self) -> str:
        return str(self.full_path)

    def read(self, limit: int = MAX_FILE_SIZE) -> bytes:
        """The bytes of the file. Raises FileReadError if it cannot be read, or is larger than `limit` bytes."""
        if self.size() > limit:
            raise FileReadError(f"{self}: larger than {limit:,} bytes")
        try:
            with open_file(self.path) as stream:
                if self.member is not None:
                    return _read_member(stream, self.member)
                data = stream.read(limit + 1)
        except (OSError, ValueError, struct.error, zlib.error) as error:
            raise FileReadError(f"{self}: {getattr(error, 'strerror', None) or error}") from error
        if len(data) > limit:
            raise FileReadError(f"{self}: larger than {limit:,} bytes")
        return data

    def size(self) -> int:
        """The size in bytes, of a member as its archive declares it. Raises FileReadError if there is no such file."""
        if self.member is not None:
            return self.member.size
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise FileReadError(f"{self}: {getattr(error, 'strerror', None) or error}") from error

    def read_text(self, limit: int = MAX_TEXT_SIZE) -> str:
        """The file as text: UTF-8 if valid, else Latin-1, as old files may have any encoding. Raises FileReadError."""
        data = self.read(limit)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("latin-1")


def _read_member(stream: BufferedReader, member: Member) -> bytes:
    """The bytes of a member, read without the archive's directory; ValueError for bad data."""
    stream.seek(member.offset)
    if member.method == PAK_METHOD:
        data = stream.read(member.size)
        if len(data) != member.size:
            raise ValueError("damaged archive member")
        return data
    if member.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("encrypted, or compressed with an unsupported method")
    header = stream.read(30)
    if header[:4] != b"PK\x03\x04":
        raise ValueError("damaged archive")
    stream.seek(sum(struct.unpack_from("<2H", header, 26)), os.SEEK_CUR)
    data = stream.read(member.packed_size)
    if member.method == zipfile.ZIP_DEFLATED:
        # Never more than the declared size, whatever the data would expand to.
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(member.size, 1))
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise ValueError("damaged archive member")
    return data


@dataclass
class Listing:
    """The files and the names of the folders in a folder, by their folded names; that of a missing folder is empty."""

    files: dict[str, GameFile] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    def image(self, name: str) -> GameFile | None:
        """The image with this name, with any extension or none in `name`; None if there is none."""
        folded = fold(name)
        exact = self.files.get(folded)
        if exact is not None and is_image(exact.name):
            return exact
        found = self._images.get(folded)
        return found or (self._images.get(split_extension(folded)[0]) if has_image_extension(name) else None)

    @cached_property
    def _images(self) -> dict[str, GameFile]:
        """The preferred image for each stem."""
        found: dict[str, GameFile] = {}
        images = [file for file in self.files.values() if is_image(file.name)]
        for file in sorted(images, key=lambda file: (extension_rank(file.name), file.name)):
            found.setdefault(split_extension(fold(file.name))[0], file)
        return found
