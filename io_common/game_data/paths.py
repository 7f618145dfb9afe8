"""Paths that lead into archives, such as `base/pak000.pk4/models/imp/imp.md5mesh`, read like those of files on disk."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

from ..textures.archives import Archive, split_archive_path
from ..textures.folders import Root
from ..textures.game_files import FileReadError, GameFile
from ..textures.names import fold


class MemberStream(io.BytesIO):
    """The content of a member of an archive, with its path as its name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


# Of errors whose text is the reason: with the number of a system error, the user would be told of that.
_OTHER_REASON = 0


def readable(path: Path) -> Path | MemberStream:
    """What the readers of the formats take for a path: the path itself, or the content of a member of an archive.

    Raises OSError if the path leads into an archive and cannot be read.
    """
    file = _member(path)
    if file is None:
        return path
    try:
        return MemberStream(file.read(), os.fspath(path))
    except FileReadError as error:
        raise OSError(_OTHER_REASON, str(error).removeprefix(f"{file}: "), os.fspath(path)) from error


def unpacked_size(path: Path) -> int:
    """The bytes that reading a file unpacks: the size of a member of an archive; 0 for a path on disk.

    Raises OSError if the path leads into an archive and cannot be read.
    """
    file = _member(path)
    return file.size() if file is not None else 0


def files_in(folder: Path) -> list[Path]:
    """The files directly inside a folder on disk or in an archive, in the order of their names.

    Raises OSError if the folder cannot be read.
    """
    if split_archive_path(folder) is None:
        return sorted(folder.iterdir())
    listing = Root(folder).listing()
    return sorted(folder / name for name in listing.files.values()) if listing is not None else []


class FilesByName:
    """Files found by their names without regard to case, in folders on disk or in archives that are listed once each.

    It does not notice changes, so that each import makes its own.
    """

    def __init__(self) -> None:
        self._folders: dict[Path, dict[str, Path]] = {}

    def find(self, folder: Path, name: str) -> Path | None:
        """The file with a name directly inside a folder; None if there is none, or the folder cannot be read."""
        if folder not in self._folders:
            files: dict[str, Path] = {}
            try:
                for path in files_in(folder):
                    files.setdefault(fold(path.name), path)
            except OSError:
                files.clear()
            self._folders[folder] = files
        return self._folders[folder].get(fold(name))


def stamp(path: Path) -> list[int]:
    """Size in bytes and time of the last change in nanoseconds; for a path into an archive, those of the archive.

    Raises OSError if there is no such file.
    """
    archive = split_archive_path(path)
    status = (archive[0] if archive is not None else path).stat()
    return [status.st_size, status.st_mtime_ns]


def _member(path: Path) -> GameFile | None:
    """The member of an archive that a path leads to; None for a path on disk.

    Raises OSError if the archive has no such member.
    """
    archive = split_archive_path(path)
    if archive is None or not archive[1]:
        return None
    # Without a listing of its folder, which would be made anew for each of its files.
    layer = Archive(archive[0])
    folder, _, base = archive[1].rpartition("/")
    found = layer.file(folder, base)
    if found is None:
        if layer.warnings:
            raise OSError(
                _OTHER_REASON, layer.warnings[0].removeprefix(f"{archive[0]}: "), os.fspath(archive[0])
            )
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    return found
