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
    """The assets of a game in the libraries of the preferences, by kind and name, each with its path for `icon`."""
    libraries = [Path(bpy.path.abspath(one.path)) for one in bpy.context.preferences.filepaths.asset_libraries]
    return {key: path for library in libraries for key, path in assets_of_game(library, folders).items()}


def icon(path: str) -> int:
    """The number of the icon with the picture of an asset; 0 for an empty path."""
    if path and not _loaded:
        _loaded.append(bpy.utils.previews.new())
    return int((_loaded[0].get(path) or _loaded[0].load(path, path, "BLEND")).icon_id) if path else 0


def remove() -> None:
    """Removes the pictures."""
    while _loaded:
        bpy.utils.previews.remove(_loaded.pop())
