"""The games that characters are imported from: a folder with what it overrides, and the list of what is in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..io_common.game_data.catalogue import Catalogue
from ..io_common.game_data.files import GameFiles
from ..io_common.game_data.paths import stamp
from ..io_common.reports import listing
from ..io_common.textures.names import fold
from ..io_common.textures.search_paths import looks_like_game_folder
from .errors import CharacterError

# What a mod's folder is played with, beside it.
_BASES = ("base", "q4base", "baseq2", "id1")

# The last list, by the state of its folders: to open the list and then to import needs it twice.
_last: dict[tuple[object, ...], Catalogue] = {}


def game_folder(game: str, known: Sequence[str]) -> Path:
    """The game folder that a text names: a path, or the last part of the path of a known folder.

    Args:
        game: the text; empty for the first known folder.
        known: the folders of the preferences.

    Raises:
        CharacterError: there is no such folder.
    """
    wanted = game.strip().rstrip("/\\")
    if not wanted and known:
        return Path(known[0])
    for folder in known:
        clean = folder.rstrip("/\\")
        if wanted and (fold(clean) == fold(wanted) or fold(Path(clean).name) == fold(wanted)):
            return Path(folder)
    if wanted and os.path.exists(wanted):
        return Path(wanted)
    if not wanted:
        raise CharacterError("no game: add its folder in the add-on's preferences, or give its path")
    names = listing([Path(folder.rstrip("/\\")).name for folder in known]) or "none"
    raise CharacterError(
        f"{game}: there is no such folder. Give the path of a game folder, or one of the preferences ({names})"
    )


def folders_of(folder: Path) -> list[Path]:
    """A game folder, then the one that it overrides, if it is that of a mod: `base` beside it."""
    if fold(folder.name) in _BASES or not folder.is_dir():
        return [folder]
    beside = [folder.parent / base for base in _BASES]
    return [folder, *(path for path in beside if path.is_dir() and looks_like_game_folder(path))][:2]


def catalogue(folder: Path, *, is_listed: bool = False) -> Catalogue:
    """The list of what can be imported from a game.

    Args:
        folder: the game folder.
        is_listed: whether the dialog shows the list already. It is used then, unless folders or archives have changed.
    """
    if not is_listed:
        _last.clear()
    folders = folders_of(folder)
    key = tuple((str(path), *_state(path)) for path in folders)
    if key not in _last:
        found = Catalogue(GameFiles(folders))
        _last.clear()
        _last[key] = found
    return _last[key]


def _state(folder: Path) -> Sequence[object]:
    """Sizes and times of what is directly in a folder."""
    try:
        if not folder.is_dir():
            return list(stamp(folder))
        with os.scandir(folder) as entries:
            # Links are not followed, as a broken one would keep the list from ever being made again.
            found = [
                (entry.name, entry.stat(follow_symlinks=False))
                for entry in entries
                if not entry.name.startswith(".")
            ]
        return sorted((name, status.st_size, status.st_mtime_ns) for name, status in found)
    except OSError:
        return []
