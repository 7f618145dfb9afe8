"""Files that were found in game folders and archives, and how they are read."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from ..files.regular_files import open_file
from .names import fold_slashes, split_extension

MAX_FILE_SIZE = 256 << 20
"""Maximum size of an image, in bytes: loose, or unpacked from an archive."""
MAX_TEXT_SIZE = 16 << 20
"""Maximum size of a text file (.mtr, .cfg, .skin), in bytes."""


PAK_METHOD = -1
"""The method of members of a `.pak`, which are not compressed and have no checksum."""


class FileReadError(ValueError):
    """A file cannot be read: too large, damaged, removed, or locked."""


@dataclass(frozen=True)
class Member:
    """A file inside an archive: the entry of the archive's directory."""

    name: str
    offset: int
    packed_size: int
    size: int
    crc: int
    method: int
    encrypted: bool

    @property
    def base(self) -> str:
        """The last part of the name."""
        return fold_slashes(self.name).rpartition("/")[2]


@dataclass(frozen=True)
class GameFile:
    """A file in a game folder or an archive.

    Attributes:
        path: the file, or the archive that holds it.
        member: the member of the archive; None for a loose file.
        relative: the path relative to the searched folder or the archive, with forward slashes.
    """

    path: Path
    member: Member | None = None
    relative: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The base name with its extension."""
        return self.member.base if self.member is not None else self.path.name

    @property
    def full_path(self) -> Path:
        """Where the file is: its path on disk, or one that leads into its archive."""
        return self.path.joinpath(*self._parts) if self.member is not None else self.path

    @property
    def _parts(self) -> list[str]:
        """The parts of the path in the archive."""
        name = fold_slashes(self.member.name) if self.member is not None else ""
        return [part for part in name.split("/") if part not in ("", ".")]

    @property
    def extension(self) -> str:
        """The extension in lower case, with the dot."""
        return split_extension(self.name)[1].lower()

    def __str__(self) -> str:
        return str(self.full_path)

    def read(self, limit: int = MAX_FILE_SIZE) -> bytes:
        """The bytes of the file. Raises FileReadError if it cannot be read, or is larger than `limit` bytes."""
        try:
            if self.member is not None:
                return _read_member(self.path, self.member, limit)
            if self.size() > limit:
                raise FileReadError(f"{self}: larger than {limit:,} bytes")
            with open_file(self.path) as stream:
                data = stream.read(limit + 1)
        except (OSError, ValueError, struct.error, zlib.error) as error:
            raise FileReadError(f"{self}: {getattr(error, 'strerror', None) or error}") from error
        if len(data) > limit:
            raise FileReadError(f"{self}: larger than {limit:,} bytes")
        return data

    def size(self) -> int:
        """The size in bytes, of a member as its archive declares it.

        Raises FileReadError if the file does not exist.
        """
        if self.member is not None:
            return self.member.size
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise FileReadError(f"{self}: {getattr(error, 'strerror', None) or error}") from error

    def read_text(self, limit: int = MAX_TEXT_SIZE) -> str:
        """The file as text: UTF-8 if valid, else Latin-1, as old files may have any encoding.

        Raises FileReadError if it cannot be read, or is larger than `limit` bytes.
        """
        data = self.read(limit)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("latin-1")


def _read_member(path: Path, member: Member, limit: int) -> bytes:
    """The bytes of a member of an archive, read without its directory.

    Raises ValueError if the data is bad or too large, and OSError if the archive cannot be read.
    """
    if member.size > limit or member.packed_size > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    if member.method == PAK_METHOD:
        with open_file(path) as stream:
            stream.seek(member.offset)
            data = stream.read(member.size)
        if len(data) != member.size:
            raise ValueError("damaged archive member")
        return data
    if member.encrypted or member.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("encrypted, or compressed with an unsupported method")
    with open_file(path) as stream:
        stream.seek(member.offset)
        header = stream.read(30)
        if header[:4] != b"PK\x03\x04":
            raise ValueError("damaged archive")
        name_size, extra_size = struct.unpack_from("<2H", header, 26)
        stream.seek(name_size + extra_size, os.SEEK_CUR)
        data = stream.read(member.packed_size)
    if member.method == zipfile.ZIP_DEFLATED:
        # Never more than the declared size, whatever the data would expand to.
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(member.size, 1))
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise ValueError("damaged archive member")
    return data
