"""The material declarations of game folders, by name.

They are in `materials/*.mtr`, in Unvanquished and XreaL also in `scripts/*.shader`. As in Doom 3, the `.mtr` files of
all folders and archives are searched in alphabetical order, those next to the model last; a file hides those with its
name in later folders, and the first declaration of a name is used. Of `.shader` files, the last by name comes first, as
in Quake III (`ScanAndLoadShaderFiles` in `tr_shader.c`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


class MaterialFiles:
    """Material files in order, read when first needed, and parsed only if a name that is sought occurs in them."""

    def __init__(self, files: Iterable[GameFile], budget: Budget) -> None:
        self.is_complete = True
        self._files = files
        self._budget = budget
        self._known: dict[str, Material | None] = {}

    @cached_property
    def texts(self) -> list[_Text]:
        """The files that can be read, up to the limit."""
        texts = []
        for file in self._files:
            try:
                if not self._budget.take("text", file.size()) or self._budget.is_over():
                    self._budget.warn(f"{file}: there are too many materials; this file and those after it are skipped")
                    self.is_complete = False
                    break
                text = file.read_text()
            except FileReadError as error:
                self._budget.warn(str(error))
                continue
            texts.append(_Text(file, text, fold(text)))
        return texts

    def find(self, key: str, found: Material | None = None) -> tuple[Material | None, bool]:
        """The first declaration, or the `found` one of earlier files, and whether all files were searched."""
        if found is None and key in self._known:
            return self._known[key], True
        first = found
        for text in self.texts:
            if not self._budget.take("scanned", len(text.folded)) or self._budget.is_over():
                self._budget.warn("there are too many materials: some were not found")
                return found, False
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_materials(text.text, str(text.file), self._budget.tokens)
                self._budget.take("tokens", text.parsed.token_count)
                for warning in text.parsed.warnings:
                    self._budget.warn(warning)
            material = text.parsed.materials.get(key)
            if material is not None and found is not None:
                place = f"{material.source}:{material.line}"
                self._budget.warn(f"{place}: '{material.name}' is already defined in {found.source}")
            found = found or material
        if first is None:
            self._known[key] = found
        return found, True


def game_materials(tree: GameTree) -> MaterialFiles:
    """The material files of game folders, for all models of an import."""
    return MaterialFiles(_files_in(tree), tree.budget)


def _files_in(tree: GameTree) -> Iterator[GameFile]:
    for folder, extension in _FOLDERS:
        files = list(tree.files(folder, extension).values())
        yield from reversed(files) if extension == ".shader" else files


class MaterialIndex:
    """The declarations for the models in one folder: those of their game folders, then those beside the models."""

    def __init__(self, game: MaterialFiles, own: GameTree) -> None:
        self._game = game
        self._own = MaterialFiles(self._files_beside(own), own.budget)
        self._budget = own.budget

    def _files_beside(self, own: GameTree) -> Iterator[GameFile]:
        loose = {text.file.path for text in self._game.texts if text.file.member is None}
        files = own.files("", ".mtr") if self._game.is_complete else {}
        yield from (file for file in files.values() if file.path not in loose)

    @property
    def patterns(self) -> list[str]:
        """Where material files were found, relative to a game folder, such as `materials/*.mtr`."""
        found = {text.file.extension for text in (*self._game.texts, *self._own.texts)}
        return [f"{folder}/*{extension}" for folder, extension in _FOLDERS if extension in found]

    def find(self, name: str) -> Material | None:
        """The declaration of a name, compared by `canonical_name`; None if there is none."""
        with self._budget.timed():
            key = canonical_name(name)
            if not key:
                return None
            found, is_whole = self._game.find(key)
            return self._own.find(key, found)[0] if is_whole else found
