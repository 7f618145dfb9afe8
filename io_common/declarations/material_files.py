"""The material declarations of game folders, by name.

They are in `materials/*.mtr`, in Unvanquished and XreaL also in `scripts/*.shader`. As in Doom 3, the `.mtr` files of
all folders and archives are searched in alphabetical order, those next to the model last; a file hides those with its
name in later folders, and the first declaration of a name is used. Of `.shader` files, the last by name comes first, as
in Quake III (`ScanAndLoadShaderFiles` in `tr_shader.c`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ..game_tree.files import Budget, FileReadError, GameFile
from ..game_tree.names import fold
from ..game_tree.tree import GameTree
from .declaration_files import canonical_name
from .materials import Material, MaterialFile, parse_materials

_FOLDERS = (("materials", ".mtr"), ("scripts", ".shader"))


@dataclass
class _Text:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class _Texts:
    """Material files in order, each parsed at most once, and only if a name that is sought occurs in it."""

    def __init__(self, files: Iterable[GameFile], budget: Budget, warnings: list[str]) -> None:
        self.texts: list[_Text] = []
        self.is_complete = True
        self._budget = budget
        self._warnings = warnings
        self._known: dict[str, Material | None] = {}
        for file in files:
            try:
                if not budget.take("text", file.size()) or budget.is_over():
                    self._warn(f"{file}: there are too many materials; this file and those after it are skipped")
                    self.is_complete = False
                    break
                text = file.read_text()
            except FileReadError as error:
                self._warn(str(error))
                continue
            self.texts.append(_Text(file, text, fold(text)))

    def find(self, key: str, found: Material | None = None) -> tuple[Material | None, bool]:
        """The first declaration, or the `found` one of earlier files, and whether all files were searched."""
        if found is None and key in self._known:
            return self._known[key], True
        first = found
        for text in self.texts:
            if not self._budget.take("scanned", len(text.folded)) or self._budget.is_over():
                self._warn("there are too many materials: some were not found")
                return found, False
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_materials(text.text, str(text.file), self._budget.tokens)
                self._budget.take("tokens", text.parsed.token_count)
                self._warnings += text.parsed.warnings
            material = text.parsed.materials.get(key)
            if material is not None and found is not None:
                self._warn(f"{material.source}:{material.line}: '{material.name}' is already defined in {found.source}")
            found = found or material
        if first is None:
            self._known[key] = found
        return found, True

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


class GameMaterials:
    """The material files of game folders, in order, for all models of an import."""

    def __init__(self, tree: GameTree, budget: Budget, warnings: list[str]) -> None:
        self._tree = tree
        self._budget = budget
        self._warnings = warnings

    @cached_property
    def files(self) -> _Texts:
        """The files, read when they are first needed."""
        ordered: list[GameFile] = []
        for folder, extension in _FOLDERS:
            files = self._tree.files(folder, extension)
            ordered += [files[key] for key in sorted(files, reverse=extension == ".shader")]
        return _Texts(ordered, self._budget, self._warnings)


class MaterialIndex:
    """The declarations for the models in one folder: those of their game folders, then those beside the models."""

    def __init__(self, game: GameMaterials, own: GameTree, budget: Budget, warnings: list[str]) -> None:
        self._game = game
        self._neighbours = own
        self._budget = budget
        self._warnings = warnings

    @cached_property
    def _neighbouring_files(self) -> _Texts:
        loose = {text.file.path for text in self._game.files.texts if text.file.member is None}
        files = self._neighbours.files("", ".mtr") if self._game.files.is_complete else {}
        wanted = (file for file in files.values() if file.path not in loose)
        return _Texts(wanted, self._budget, self._warnings)

    @property
    def patterns(self) -> list[str]:
        """Where material files were found, relative to a game folder, such as `materials/*.mtr`."""
        texts = (*self._game.files.texts, *self._neighbouring_files.texts)
        found = {text.file.extension for text in texts}
        return [f"{folder}/*{extension}" for folder, extension in _FOLDERS if extension in found]

    def find(self, name: str) -> Material | None:
        """The declaration of a name, compared by `canonical_name`; None if there is none."""
        with self._budget.timed():
            key = canonical_name(name)
            if not key:
                return None
            found, is_whole = self._game.files.find(key)
            return self._neighbouring_files.find(key, found)[0] if is_whole else found
