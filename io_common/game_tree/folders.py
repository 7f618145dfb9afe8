"""Which folders belong to a game, and where a model lies in them.

A game folder holds `models/...`, `materials/*.mtr` and so on, loose or in archives, and may be an archive itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from ..names import AssetName, clean_name, fold, without_image_extension
from .archives import is_archive_name, is_unpacked_archive_name, split_archive_path
from .files import GameFile
from .tree import GameTree

_TOP_FOLDERS = ("packages", "models", "players", "progs", "textures", "sprites", "mapobjects")
_TYPICAL_FOLDERS = {"materials", "scripts", "textures", "sound", "sounds", "maps", "def", "env", "gfx", "data"}
_BASES = ("base", "q4base", "baseq2", "id1")  # what a mod's folder is played with, beside it
_MAX_DEPTH, _MAX_FOLDERS = 2, 200  # of the folders below a model's that are searched


def guess_game_folder(model_path: str | os.PathLike[str], names: Iterable[AssetName] = ()) -> Path | None:
    """The game folder of a model: the parent of a folder such as `models` in its path; None without one."""
    # Of several, that under which the folders of the skins or shaders, `names`, agree most with the model's is used,
    # then one with archives, `materials` and so on, then the outermost (`base/models/players/x`), counted from the last
    # repetition of a name (`models/work/base/models/x`); never the root of a drive or the user's home folder.
    home = Path(os.path.expanduser("~"))
    folder = Path(os.path.abspath(model_path)).parent
    parts = [fold(part) for part in folder.parts]
    folders = [fold(name.folder).split("/") for name in names if name.folder]
    ranked: list[tuple[tuple[int, bool, int, int], Path]] = []
    seen: set[str] = set()
    repetitions = 0
    for index in range(1, len(parts)):
        if parts[index] not in _TOP_FOLDERS or (parts[index] == "models" and parts[index - 1] == "packages"):
            continue
        if parts[index] in seen:
            seen.clear()
            repetitions += 1
        seen.add(parts[index])
        root = Path(*folder.parts[:index])
        if root in (Path(root.anchor), home, home.parent):
            continue
        agreement = max((_common_length(one, parts[index:]) for one in folders), default=0)
        ranked.append(((agreement, _has_entry(root, _TYPICAL_FOLDERS), repetitions, -index), root))
    return max(ranked)[1] if ranked else None


def _common_length(one: list[str], other: list[str]) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def looks_like_game_folder(root: Path) -> bool:
    """Whether a path is an archive, or a folder with one or with a folder such as `models` in it."""
    if is_archive_name(root.name) and os.path.isfile(root):
        return True
    return _has_entry(root, _TYPICAL_FOLDERS.union(_TOP_FOLDERS))


def _has_entry(root: Path, folders: set[str]) -> bool:
    try:
        with os.scandir(root) as entries:
            return any(
                fold(entry.name) in folders or is_archive_name(entry.name) or is_unpacked_archive_name(entry.name)
                for entry in entries
            )
    except OSError:
        return False


def folders_of(folder: Path, base: Path | None = None) -> list[Path]:
    """A game folder, then the one that it overrides: `base`, or if None the folder `base` beside it."""
    if base is not None:
        return [folder, base] if base != folder else [folder]
    if fold(folder.name) in _BASES or not folder.is_dir():
        return [folder]
    bases = [folder.parent / base for base in _BASES]
    return [folder, *(path for path in bases if path.is_dir() and looks_like_game_folder(path))][:2]


def inner_game(folder: Path) -> Path | None:
    """The game folder in a folder that is none itself, such as Doom 3's `base` beside its program."""
    if not folder.is_dir() or looks_like_game_folder(folder):
        return None
    return next((path for base in _BASES if looks_like_game_folder(path := folder / base)), None)


def problem_of(folder: Path) -> str:
    """Why nothing is found in a folder that holds a game folder, and what to do; empty for others."""
    inner = inner_game(folder)
    return f"{folder} holds no game data itself: choose {inner.name} in it, {inner}" if inner is not None else ""


def export_name(
    image_path: str | os.PathLike[str], game_folders: Iterable[str | os.PathLike[str]] = (), *, with_extension: bool
) -> str | None:
    """The path of an image (or shader: no extension) in its game folder, perhaps guessed; else None."""
    path = Path(os.path.abspath(image_path))
    folders = [Path(os.path.abspath(folder)) for folder in game_folders if os.fspath(folder)]
    inside = [folder for folder in folders if _relative(path, folder)]
    root = max(inside, key=lambda folder: len(folder.parts)) if inside else guess_game_folder(path)
    if root is None:
        return None
    relative = path.relative_to(root).as_posix()
    if fold(relative).startswith("dds/"):
        # Doom 3 has a compressed copy of `textures/a.tga` in `dds/textures/a.dds`; models name the original.
        relative = relative[4:]
    return relative if with_extension else without_image_extension(relative)


class ModelFolder:
    """The folder of a model, and its game folders: a guessed one before the user's, unless one holds it."""

    def __init__(
        self, model_path: str | os.PathLike[str], named: Sequence[Path], names: Iterable[str], tree: GameTree
    ) -> None:
        self.named = named  # others are guessed
        # In an archive, the model is taken to be where it would be in the game folder of the archive.
        self.model_path, folders = _game_folders(Path(os.path.abspath(model_path)), named, names)
        self.game = tree.of(*dict.fromkeys(folders))
        folder = self.model_path.parent
        self.trees = [(tree.of(root), relative) for root in self.game.folders if (relative := _relative(folder, root))]
        """The game folders that contain the model's folder, each with the relative path of that folder."""
        # With what the archives of the game folder have in the model's folder.
        self.files = next(
            (one.below(relative) for one, relative in self.trees if one.has_folder(relative)), None
        ) or GameTree([folder], tree.budget, tree.known, with_archives=False)

    def relative(self, file: GameFile) -> str | None:
        """The path of a file relative to the innermost game folder that contains it; None if none does."""
        if file.member is not None and file.container.parent in self.game.folders:
            return file.member.path
        path = Path(os.path.abspath(file.full_path))
        found = [relative for root in self.game.folders if (relative := _relative(path, root))]
        return min(found, key=len, default=None)

    def find_nearby(self, name: str) -> GameFile | None:
        """The image with a base name in the model's folder, below it, or in the folder above inside a game folder."""
        near = (self.files.image_in(folder, name) for folder in self._folders)
        return next(filter(None, near), None) or self.find_above(name)

    def find_above(self, name: str) -> GameFile | None:
        """The image with a base name in the folder above the model's, if that is inside a game folder."""
        above = (tree.image_in(folder, name) for tree, folder in self._above)
        return next(filter(None, above), None)

    def text_files(self, name: str) -> list[tuple[GameFile, str]]:
        """The files with a name in the model's folder and in the one above, each with the relative path: "" or ".."."""
        found = [(self.files.get(name), "")]
        found += [(tree.get(f"{folder}/{name}"), "..") for tree, folder in self._above]
        return [(file, relative) for file, relative in found if file is not None]

    @cached_property
    def _folders(self) -> list[str]:
        """The model's folder and those below it, the nearest first, limited in depth and number."""
        folders = [""]
        level = [""]
        for _ in range(_MAX_DEPTH):
            below = []
            for folder in level:
                for name in sorted(self.files.listing(folder).folders.values(), key=fold):
                    below.append(f"{folder}/{name}" if folder else name)
            level = below[: _MAX_FOLDERS - len(folders)]
            folders += level
        return folders

    @property
    def _above(self) -> list[tuple[GameTree, str]]:
        return [(tree, folder.rpartition("/")[0]) for tree, folder in self.trees if "/" in folder]


def _game_folders(path: Path, named: Iterable[Path], names: Iterable[str]) -> tuple[Path, list[Path]]:
    """The path of a model and its game folders; if it is in an archive, the path that it has in the game folder."""
    folders = list(named)
    found = split_archive_path(path)
    if found is not None:
        archive, inside = found
        # A `.zip` that is in none of the game folders is one itself, as it may lie in a folder of downloads.
        if archive.suffix.lower() != ".zip" or archive.parent in folders:
            if archive not in folders and archive.parent not in folders:
                folders.insert(0, archive.parent)
            if archive not in folders:
                path = archive.parent.joinpath(*inside.split("/"))
    if not any(path.is_relative_to(folder) for folder in folders):
        guessed = guess_game_folder(path, [clean_name(name) for name in names])
        if guessed is not None:
            folders.insert(0, guessed)
            if is_unpacked_archive_name(guessed.name):
                # What it depends on lies beside it.
                folders.insert(1, guessed.parent)
    return path, folders


def _relative(path: Path, folder: Path) -> str:
    """A path relative to a folder; empty for the folder itself and paths outside of it."""
    return path.relative_to(folder).as_posix() if path != folder and path.is_relative_to(folder) else ""
