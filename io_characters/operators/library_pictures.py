"""The pictures of a game's characters in the user's asset libraries, as icons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import bpy.utils.previews

from ...io_common.asset_library import assets_of_game

# Blender loads a picture when it is drawn first, and keeps it.
_loaded: list[Any] = []
_paths: dict[tuple[str, str], str] = {}


def find(folders: Sequence[Path]) -> None:
    """Finds the pictures of a game, by the kinds and names of its characters, in the libraries of the preferences."""
    _paths.clear()
    for library in bpy.context.preferences.filepaths.asset_libraries:
        _paths.update(assets_of_game(Path(bpy.path.abspath(library.path)), folders))


def icon(kind: str, name: str) -> int:
    """The number of the icon with the picture of a character; 0 if there is none."""
    path = _paths.get((kind, name))
    if path is None:
        return 0
    if not _loaded:
        _loaded.append(bpy.utils.previews.new())
    return int((_loaded[0].get(path) or _loaded[0].load(path, path, "BLEND")).icon_id)


def remove() -> None:
    """Removes the pictures."""
    _paths.clear()
    while _loaded:
        bpy.utils.previews.remove(_loaded.pop())
