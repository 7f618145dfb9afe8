"""The folders that are searched for the images of a model: its game folders and its own folder.

A game folder holds `models/...`, `textures/...`, `materials/*.mtr` and so on, loose or in archives. As in the games,
loose files come before archives, and later archives before earlier ones. An archive can be a game folder itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .archives import FOLDER_EXTENSIONS, is_archive_name, split_archive_path
from .budget import Budget
from .folders import Root
from .game_files import GameFile
from .names import AssetName, clean_name, fold, fold_slashes, split_extension

_TOP_FOLDERS = ("packages", "models", "players", "progs", "textures", "sprites", "mapobjects")
_TYPICAL_FOLDERS = frozenset(
    ("materials", "scripts", "textures", "sound", "sounds", "maps", "def", "env", "gfx", "data")
)


def guess_game_folder(model_path: str | os.PathLike[str], names: Iterable[AssetName] = ()) -> Path | None:
    """The game folder of a model: the parent of a folder such as `models` or `players` in the model's path.

    If there are several, the one under which the folders of the skins or shaders agree most with the model's own folder
    is used, then one that looks like a game folder (with archives, `materials` and so on in it), then the outermost
    (`base/models/players/x`), counted from the last repetition of a name (`models/work/base/models/x`). The root of a
    drive and the user's home folder are never used.

    `names` are the model's skins or shaders. Returns None if the path contains none of the usual folders.
    """
    folder = Path(os.path.abspath(model_path)).parent
    parts = [fold(part) for part in folder.parts]
    folders = [fold(name.folder).split("/") for name in names if name.folder]
    best: tuple[tuple[int, bool, int, int], Path] | None = None
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
        if root == Path(root.anchor) or root in (_home_folder(), _home_folder().parent):
            continue
        agreement = max((_common_length(own, parts[index:]) for own in folders), default=0)
        rank = (agreement, _has_entry(root, _TYPICAL_FOLDERS), repetitions, -index)
        if best is None or rank > best[0]:
            best = (rank, root)
    return best[1] if best is not None else None


def _home_folder() -> Path:
    return Path(os.path.expanduser("~"))


def _common_length(own: list[str], other: list[str]) -> int:
    """How many parts two paths have in common at their start."""
    count = 0
    for a, b in zip(own, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def looks_like_game_folder(root: Path) -> bool:
    """Whether a path is an archive, or a folder with one, or with a folder such as `models` or `textures` in it."""
    if is_archive_name(root.name) and os.path.isfile(root):
        return True
    return _has_entry(root, _TYPICAL_FOLDERS.union(_TOP_FOLDERS))


def _has_entry(root: Path, folders: frozenset[str]) -> bool:
    """Whether a folder has an archive in it, or a folder with one of these names."""
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                name = fold(entry.name)
                if name in folders or is_archive_name(name) or split_extension(name)[1] in FOLDER_EXTENSIONS:
                    return True
    except OSError:
        pass
    return False


class SearchPaths:
    """The folders that may be searched for one model, made by `Library.paths_for`.

    Attributes:
        model_path: the model.
        own: the folder of the model, with the folders in it.
        roots: the game folders, in order.
        named: those of them that the user named; the others were guessed.
    """

    def __init__(self, model_path: Path, own: Root, roots: list[Root], named: Sequence[Path]) -> None:
        self.model_path = model_path
        self.own = own
        self.roots = roots
        self.named = named

    def find_image(self, path: str) -> GameFile | None:
        """The image with this path relative to one of the game folders."""
        for root in self.roots:
            found = root.find_image(path)
            if found is not None:
                return found
        return None

    def own_folders(self) -> Iterator[tuple[Root, str]]:
        """The game folders that contain the model, each with the relative path of the model's folder (never empty)."""
        for root in self.roots:
            relative = _relative(self.model_path.parent, root.path)
            if relative:
                yield root, relative

    def relative(self, file: GameFile) -> str | None:
        """The path of a file relative to the innermost game folder that contains it; None if none does."""
        if file.member is not None and any(root.path == file.path.parent for root in self.roots):
            return fold_slashes(file.member.name)
        absolute = Path(os.path.abspath(file.full_path))
        found = [relative for root in self.roots if (relative := _relative(absolute, root.path))]
        return min(found, key=len) if found else None


def _relative(path: Path, folder: Path) -> str:
    """A path relative to a folder, with forward slashes; empty for the folder itself and paths outside of it."""
    return path.relative_to(folder).as_posix() if path != folder and path.is_relative_to(folder) else ""


class Library:
    """The folders of one import, each listed only once for all models and materials.

    It does not notice changes on disk, so each import makes its own. The game folders are the user's, in order; empty
    names are ignored. `roots` are folders with their archives that are listed already.
    """

    def __init__(
        self, game_folders: Iterable[str | os.PathLike[str]] = (), roots: Iterable[Root] = ()
    ) -> None:
        self.budget = Budget()
        self._game_folders = [Path(os.path.abspath(path)) for path in game_folders if os.fspath(path)]
        self._roots: dict[tuple[Path, bool], Root] = {(root.path, True): root for root in roots}

    def paths_for(self, model_path: str | os.PathLike[str], names: Iterable[str] = ()) -> SearchPaths:
        """The folders to search for a model.

        Unless one of the user's game folders contains the model, the game folder is guessed from the model's path and
        comes before the user's folders. `names` are the model's skins or shaders, which help to guess.
        """
        path = Path(os.path.abspath(model_path))
        folders = list(self._game_folders)
        archive = split_archive_path(path)
        if archive is not None:
            path = self._path_in_folder(path, *archive, folders)
        if not any(path.is_relative_to(folder) for folder in folders):
            guessed = guess_game_folder(path, [clean_name(name) for name in names])
            if guessed is not None:
                folders.insert(0, guessed)
                if split_extension(fold(guessed.name))[1] in FOLDER_EXTENSIONS:
                    # What it depends on lies beside it.
                    folders.insert(1, guessed.parent)
        roots = [self._root(folder, True) for folder in dict.fromkeys(folders)]
        return SearchPaths(path, self._own(path.parent, roots), roots, self._game_folders)

    @staticmethod
    def _path_in_folder(path: Path, archive: Path, inside: str, folders: list[Path]) -> Path:
        """The path that a model in an archive has in the game folder that the archive belongs to.

        A `.zip` that is in none of the game folders is one itself, as it may lie in a folder of downloads. `inside` is
        the model's path in the archive. The game folder that the archive belongs to is added to `folders` if it is
        missing.
        """
        if archive.suffix.lower() == ".zip" and archive.parent not in folders:
            return path
        if archive not in folders and archive.parent not in folders:
            folders.insert(0, archive.parent)
        return path if archive in folders else archive.parent.joinpath(*inside.split("/"))

    def _own(self, folder: Path, roots: list[Root]) -> Root:
        """The folder of a model: with what the archives of its game folder have in it, if it is in one."""
        for root in roots:
            relative = _relative(folder, root.path)
            if relative and root.has_folder(relative):
                key = (folder, True)
                if key not in self._roots:
                    self._roots[key] = Root(folder, within=root)
                return self._roots[key]
        return self._root(folder, False)

    @property
    def folders(self) -> list[Path]:
        """The game folders that were used so far, and the user's."""
        used = [path for path, has_archives in self._roots if has_archives]
        return list(dict.fromkeys([*used, *self._game_folders]))

    def _root(self, path: Path, archives: bool) -> Root:
        if (path, archives) not in self._roots:
            self._roots[path, archives] = Root(path, archives, self.budget)
        return self._roots[path, archives]

    @property
    def warnings(self) -> list[str]:
        """The warnings about folders and archives so far."""
        return [warning for root in self._roots.values() for warning in root.warnings]
