"""The command ``extract``: files of a game, written to a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..io_common.error_messages import message_for
from ..io_common.files import file_info
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.names import fold, path_on_disk
from ..io_common.game_tree.tree import GameTree
from .source_files import path_key


def extract(folders: Iterable[str], patterns: Sequence[str], target: Path, *, force: bool) -> int:
    """Writes files of a game to a folder, where they keep their paths; makes the folder if needed.

    `folders` are the folders and archives of the game, the one that overrides the others first. Patterns are those of
    game paths, such as `models/md5/*`, compared without case; `*` also stands for slashes. `force` replaces files that
    exist. Returns the exit status: 1 if a file could not be written, or there is none.
    """
    files = GameTree(folders)
    folded = [fold(pattern) for pattern in patterns]
    count = failed = 0
    written: dict[str, Path] = {}
    for name in files.walk():
        if not any(fnmatchcase(fold(name), pattern) for pattern in folded):
            continue
        # Each file is an import of its own.
        files.budget.renew()
        try:
            file = path_on_disk(target, name)
            reason = _obstacle(file, written, force=force)
            if not reason:
                files.extract([name], target)
                written[path_key(file)] = file
                count += 1
        except (FileReadError, OSError) as error:
            reason = message_for(error, (FileReadError,))
        if reason:
            failed += 1
            _tell(f"failed {name}: {reason}")
    for warning in files.warnings:
        _tell(f"warning: {warning}")
    if not count and not failed:
        _tell(f"No file in {', '.join(map(str, files.folders))} matches {' or '.join(patterns)}")
    file_info.write(sys.stdout, f"{count} written, {failed} failed\n")
    return int(failed > 0 or not count)


def _obstacle(file: Path, written: dict[str, Path], *, force: bool) -> str:
    """Why a file cannot be written: something else is in its place; empty if it can."""
    if not os.path.lexists(file):
        return ""
    if not os.path.isfile(file):
        return f"{file} exists: choose another folder"
    if not force:
        return f"{file} exists: choose another folder, or use --force"
    # A file system may take names for the same that differ in the archive, such as those with other accents.
    other = written.get(path_key(file))
    if other is not None and os.path.samefile(file, other):
        return f"{file} was written for another file of the game, whose name is the same there"
    return ""


def _tell(text: str) -> None:
    file_info.write(sys.stderr, f"{file_info.on_one_line(text)}\n")
