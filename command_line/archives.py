"""Models inside archives, as sources of a conversion: paths that lead into the archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..io_common.game_tree.archives import split_archive_path
from ..io_common.game_tree.tree import GameTree


def is_in_archive(path: Path) -> bool:
    """Whether a path is an archive, or leads to a file or folder in one that exists."""
    found = split_archive_path(path)
    if found is None or not found[1]:
        return found is not None
    return _is_member(*found) or GameTree([path]).listing() is not None


def members(path: Path, suffixes: Sequence[str]) -> tuple[list[tuple[Path, Path]], list[str]]:
    """The files with one of some suffixes in an archive, in a folder of one, or the one file that a path leads to.

    Suffixes are in lower case, with the dot. Returns the files without hidden ones, each with its path relative to what
    was given, and warnings about the archive.
    """
    found = split_archive_path(path)
    if found is not None and found[1] and _is_member(*found):
        is_wanted = path.suffix.lower() in suffixes
        return ([(path, Path(path.name))] if is_wanted else []), []
    files = GameTree([path])
    result = []
    for name in files.walk("", *suffixes):
        parts = name.split("/")
        if not any(part.startswith(".") for part in parts):
            result.append((path.joinpath(*parts), Path(*parts)))
    return result, files.warnings


def _is_member(archive: Path, inside: str) -> bool:
    return GameTree([archive]).has(inside)
