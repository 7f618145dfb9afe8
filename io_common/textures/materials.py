"""The material declarations of game folders, found by name.

All `materials/*.mtr` of all folders and archives are one list in alphabetical order, as in Doom 3, where a file hides
those of the same name further back, and the first declaration of a name stays. After them come the `.mtr` files
that lie beside the model. A file is parsed when a name occurs in its text, and not before.
"""

from __future__ import annotations

from dataclasses import dataclass

from .budget import Budget
from .gamefolder import FileReadError, GameFile, Place
from .mtr import Material, MaterialFile, canonical_name, parse_mtr
from .names import fold


@dataclass
class _Text:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class MaterialIndex:
    """The declarations that hold for the models of one folder."""

    def __init__(self, place: Place, budget: Budget) -> None:
        self._place = place
        self._budget = budget
        self._texts: list[_Text] | None = None
        self.warnings: list[str] = []

    @property
    def file_count(self) -> int:
        """Number of files that declarations are looked for in."""
        return len(self._load())

    def find(self, name: str) -> Material | None:
        """The declaration of this name, without regard to case, slashes and extension."""
        with self._budget.timed():
            return self._find(canonical_name(name))

    def _find(self, key: str) -> Material | None:
        found: Material | None = None
        for text in self._load() if key else ():
            if not self._budget.take("scanned", len(text.folded)) or self._budget.is_over():
                self._warn("there are more materials than are searched: some were not found")
                break
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_mtr(text.text, str(text.file), self._budget.tokens)
                self._budget.take("tokens", text.parsed.token_count)
                self.warnings += text.parsed.warnings
            material = text.parsed.materials.get(key)
            if material is None:
                continue
            if found is None:
                found = material
            else:
                self._warn(
                    f"{material.source}:{material.line}: '{material.name}' is already defined in {found.source}"
                )
        return found

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _load(self) -> list[_Text]:
        if self._texts is not None:
            return self._texts
        files: dict[str, GameFile] = {}
        for root in self._place.roots:
            for key, file in root.texts("materials", ".mtr").items():
                files.setdefault(key, file)
        ordered = [files[key] for key in sorted(files)]
        beside = self._place.own.texts("", ".mtr")
        known = {file.path for file in ordered if file.member is None}
        ordered += [beside[key] for key in sorted(beside) if beside[key].path not in known]
        self._texts = []
        for file in ordered:
            try:
                if not self._budget.take("text", file.size()) or self._budget.is_over():
                    self._warn(
                        f"{file}: more materials than are read; this file and those after it are left out"
                    )
                    break
                text = file.read_text()
            except FileReadError as error:
                self._warn(str(error))
                continue
            self._texts.append(_Text(file, text, fold(text)))
        return self._texts
