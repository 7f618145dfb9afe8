"""The command ``extract``: files of a game, written to a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..io_common.error_messages import message_for
from ..io_common.files import file_info
from ..io_common.game_data.files import GameFiles
from ..io_common.textures.game_files import FileReadError
from ..io_common.textures.names import fold


def extract(folders: Iterable[str], patterns: Sequence[str], target: Path, *, force: bool) -> int:
    """Writes files of a game to a folder, where they keep their paths.

    Args:
        folders: the folders and archives of the game, the one that overrides the others first.
        patterns: of game paths, such as `models/md5/*`, compared without case; `*` also stands for slashes.
        target: the folder, which is made if needed.
        force: replace files that exist.

    Returns:
        The exit status: 1 if a file could not be written, or there is none.
    """
    files = GameFiles(folders)
    folded = [fold(pattern) for pattern in patterns]
    count = failed = 0
    for name in files.walk():
        if not any(fnmatchcase(fold(name), pattern) for pattern in folded):
            continue
        # Each file is an import of its own.
        files.budget.renew()
        place = files.place_of(name, target)
        # A name that leads to no file cannot be read either.
        if place != target and os.path.lexists(place) and not (force and os.path.isfile(place)):
            failed += 1
            remedy = "choose another folder" + (", or use --force" if os.path.isfile(place) else "")
            _tell(f"failed {name}: {place} exists: {remedy}")
            continue
        try:
            files.extract([name], target)
            count += 1
        except (FileReadError, OSError) as error:
            failed += 1
            _tell(f"failed {name}: {message_for(error, (FileReadError,))}")
    for warning in files.warnings:
        _tell(f"warning: {warning}")
    if not count and not failed:
        _tell(f"No file in {', '.join(map(str, files.folders))} matches {' or '.join(patterns)}")
    file_info.write(sys.stdout, f"{count} written, {failed} failed\n")
    return int(failed > 0 or not count)


def _tell(text: str) -> None:
    file_info.write(sys.stderr, f"{file_info.on_one_line(text)}\n")
