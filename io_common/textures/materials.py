"""The material declarations of game folders, by name.

They are in `materials/*.mtr`, in Unvanquished and XreaL also in `scripts/*.shader`.

As in Doom 3, the `materials/*.mtr` of all folders and archives are searched in alphabetical order, a file hides those
with the same name in later folders, and the first declaration of a name is used. The `.mtr` files next to the model
come last. A file is parsed only if the name occurs in its text. Of `.shader` files, the last one by name comes first,
as in Quake III and its relatives (`ScanAndLoadShaderFiles` in `tr_shader.c`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..game_tree.files import Budget, FileReadError, GameFile
from ..game_tree.names import fold
from ..game_tree.tree import GameTree
from .material_parser import Material
from .mtr import MaterialFile, canonical_name, parse_mtr

_FOLDERS = (("materials", ".mtr"), ("scripts", ".shader"))


@dataclass
class _Text:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class _Texts:
    """Material files that are searched in order, each parsed at most once. Each warning is added once."""

    def __init__(self, budget: Budget, warnings: list[str]) -> None:
        self.texts: list[_Text] = []
        self._budget = budget
        self._warnings = warnings

    def add(self, files: Iterable[GameFile]) -> bool:
        """Reads files; returns False if the budget does not allow all of them."""
        for file in files:
            try:
                if not self._budget.take("text", file.size()) or self._budget.is_over():
                    self._warn(
                        f"{file}: there are too many materials; this file and those after it are skipped"
                    )
                    return False
                text = file.read_text()
            except FileReadError as error:
                self._warn(str(error))
                continue
            self.texts.append(_Text(file, text, fold(text)))
        return True

    def find(self, key: str, found: Material | None) -> tuple[Material | None, bool]:
        """The first declaration of a canonical name, and whether all files were searched.

        `found` is a declaration in files that come before these.
        """
        for text in self.texts:
            if not self._budget.take("scanned", len(text.folded)) or self._budget.is_over():
                self._warn("there are too many materials: some were not found")
                return found, False
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_mtr(text.text, str(text.file), self._budget.tokens)
                self._budget.take("tokens", text.parsed.token_count)
                self._warnings += text.parsed.warnings
            material = text.parsed.materials.get(key)
            if material is None:
                continue
            if found is None:
                found = material
            else:
                self._warn(
                    f"{material.source}:{material.line}: '{material.name}' is already defined in {found.source}"
                )
        return found, True

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


class GameMaterials:
    """The declarations of game folders, for all models of an import in these folders.

    Each warning is added once.
    """

    def __init__(self, tree: GameTree, budget: Budget, warnings: list[str]) -> None:
        self._tree = tree
        self._texts = _Texts(budget, warnings)
        self._is_complete: bool | None = None
        self.loose: set[Path] = set()
        """The files that are not in an archive."""
        self._known: dict[str, Material | None] = {}

    def load(self) -> bool:
        """Reads the files, once; returns False if the budget does not allow all of them."""
        if self._is_complete is None:
            ordered: list[GameFile] = []
            for folder, extension in _FOLDERS:
                files = self._tree.files(folder, extension)
                ordered += [files[key] for key in sorted(files, reverse=extension == ".shader")]
            self.loose = {file.path for file in ordered if file.member is None}
            self._is_complete = self._texts.add(ordered)
        return self._is_complete

    @property
    def files(self) -> list[GameFile]:
        """The files that were read."""
        return [text.file for text in self._texts.texts]

    def find(self, key: str) -> tuple[Material | None, bool]:
        """The first declaration of a canonical name, and whether all files were searched."""
        if key in self._known:
            return self._known[key], True
        found, is_whole = self._texts.find(key, None)
        if is_whole:
            self._known[key] = found
        return found, is_whole


class MaterialIndex:
    """The declarations for the models in one folder: those of their game folders, then those beside the models.

    Each warning is added once.
    """

    def __init__(self, game: GameMaterials, own: GameTree, budget: Budget, warnings: list[str]) -> None:
        self._game = game
        self._own = own
        self._budget = budget
        self._beside = _Texts(budget, warnings)
        self._is_loaded = False

    @property
    def patterns(self) -> list[str]:
        """Where material files were found, relative to a game folder, such as `materials/*.mtr`."""
        self._load()
        found = {file.extension for file in (*self._game.files, *(text.file for text in self._beside.texts))}
        return [f"{folder}/*{extension}" for folder, extension in _FOLDERS if extension in found]

    def find(self, name: str) -> Material | None:
        """The declaration of a name, compared by `canonical_name`; None if there is none."""
        with self._budget.timed():
            key = canonical_name(name)
            if not key:
                return None
            self._load()
            found, is_whole = self._game.find(key)
            return self._beside.find(key, found)[0] if is_whole else found

    def _load(self) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True
        if self._game.load():
            own = self._own.files("", ".mtr")
            self._beside.add(file for file in own.values() if file.path not in self._game.loose)
