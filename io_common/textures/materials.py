"""The material declarations of game folders, found by name.

All `materials/*.mtr` of all folders and archives are one list in alphabetical order, as in Doom 3, where a file hides
those of the same name further back, and the first declaration of a name stays. After them come the `.mtr` files
that lie beside the model. A file is parsed when a name occurs in its text, and not before.
"""

from __future__ import annotations

from dataclasses import dataclass

from .gamefolder import FileReadError, GameFile, Place
from .mtr import Material, MaterialFile, canonical_name, parse_mtr
from .names import fold

MAX_TOTAL_SIZE = 128 << 20
"""Most text that is read for one model's materials, in characters."""


@dataclass
class _Text:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class MaterialIndex:
    """The declarations that hold for the models of one folder."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._texts: list[_Text] | None = None
        self.warnings: list[str] = []

    @property
    def file_count(self) -> int:
        """Number of files that declarations are looked for in."""
        return len(self._load())

    def find(self, name: str) -> Material | None:
        """The declaration of this name, without regard to case, slashes and extension."""
        key = canonical_name(name)
        found: Material | None = None
        for text in self._load() if key else ():
            if key not in text.folded:
                continue
            if text.parsed is None:
                text.parsed = parse_mtr(text.text, str(text.file))
                self.warnings += text.parsed.warnings
            material = text.parsed.materials.get(key)
            if material is None:
                continue
            if found is None:
                found = material
            else:
                warning = f"{material.source}:{material.line}: '{material.name}' is already defined in {found.source}"
                if warning not in self.warnings:
                    self.warnings.append(warning)
        return found

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
        total = 0
        for file in ordered:
            try:
                text = file.read_text()
            except FileReadError as error:
                self.warnings.append(str(error))
                continue
            total += len(text)
            if total > MAX_TOTAL_SIZE:
                self.warnings.append(f"{file}: more materials than are read")
                break
            self._texts.append(_Text(file, text, fold(text)))
        return self._texts
