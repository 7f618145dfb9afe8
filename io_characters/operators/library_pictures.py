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


def find(folders: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The assets of a game in all libraries of the preferences, by kind and name, each with its path for `icon`."""
    found: dict[tuple[str, str], str] = {}
    for library in bpy.context.preferences.filepaths.asset_libraries:
        if library.path:
            found = assets_of_game(Path(bpy.path.abspath(library.path)), folders) | found
    return found


def icon(path: str) -> int:
    """The number of the icon with the picture of an asset; 0 for an empty path."""
    if not path:
        return 0
    if not _loaded:
        _loaded.append(bpy.utils.previews.new())
    previews = _loaded[0]
    preview = previews[path] if path in previews else previews.load(path, path, "BLEND")
    return int(preview.icon_id)


def remove() -> None:
    """Removes the pictures."""
    while _loaded:
        bpy.utils.previews.remove(_loaded.pop())
