"""The games that characters are imported from, and the list of what is in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..io_common.catalogue import Catalogue, kept_catalogue
from ..io_common.game_tree.folders import folders_of
from ..io_common.game_tree.names import fold
from ..io_common.reports import listing
from .errors import CharacterError


def game_folder(game: str, known: Sequence[str]) -> Path:
    """The game folder that a text names: a path, or the last part of the path of a known folder.

    An empty text names the first known folder. Raises CharacterError if there is no such folder.
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


def catalogue(folder: Path, base: Path | None = None) -> Catalogue:
    """The list of what can be imported from a game.

    `base` is the game folder that a mod is played with; see `game_folders.folders_of`. Raises CharacterError if the
    game folder is inside `folder` instead.
    """
    found = kept_catalogue(folders_of(folder, base))
    if found.problem:
        raise CharacterError(found.problem)
    return found
