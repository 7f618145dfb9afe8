"""The folders that a game is made of: that of a mod with the one that it is played with."""

from __future__ import annotations

from pathlib import Path

from ..textures.names import fold
from ..textures.search_paths import looks_like_game_folder

# What a mod's folder is played with, beside it.
_BASES = ("base", "q4base", "baseq2", "id1")


def folders_of(folder: Path, base: Path | None = None) -> list[Path]:
    """A game folder, then the one that it overrides.

    `base` is the game folder that a mod is played with; if None, the folder `base` beside it.
    """
    if base is not None:
        return [folder, base] if base != folder else [folder]
    if fold(folder.name) in _BASES or not folder.is_dir():
        return [folder]
    beside = [folder.parent / base for base in _BASES]
    return [folder, *(path for path in beside if path.is_dir() and looks_like_game_folder(path))][:2]


def inner_game(folder: Path) -> Path | None:
    """The game folder in a folder that is none itself, such as Doom 3's `base` in the folder of its program."""
    if not folder.is_dir() or looks_like_game_folder(folder):
        return None
    return next((path for base in _BASES if looks_like_game_folder(path := folder / base)), None)


def problem_of(folder: Path) -> str:
    """Why nothing is found in a folder that holds a game folder, and what to do; empty for others."""
    inner = inner_game(folder)
    return (
        f"{folder} holds no game data itself: choose {inner.name} in it, {inner}" if inner is not None else ""
    )
