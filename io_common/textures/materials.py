"""The material declarations of game folders, by name.

They are in `materials/*.mtr`, in Unvanquished and XreaL also in `scripts/*.shader`.

As in Doom 3, the `materials/*.mtr` of all folders and archives are searched in alphabetical order, a file hides those
with the same name in later folders, and the first declaration of a name is used. The `.mtr` files next to the model
come last. A file is parsed only if the name occurs in its text. Of `.shader` files, the last one by name comes first,
as in Quake III and its relatives (`ScanAndLoadShaderFiles` in `tr_shader.c`).
"""

from __future__ import annotations

from dataclasses import dataclass

from .budget import Budget
from .game_files import FileReadError, GameFile
from .material_parser import Material
from .mtr import MaterialFile, canonical_name, parse_mtr
from .names import fold
from .search_paths import SearchPaths

_FOLDERS = (("materials", ".mtr"), ("scripts", ".shader"))


@dataclass
class _Text:
    file: GameFile
    text: str
    folded: str
    parsed: MaterialFile | None = None


class MaterialIndex:
    """The declarations for the models in one folder.

    Args:
        paths: the folders that may be searched for the models.
        budget: of the import.
    """

    def __init__(self, paths: SearchPaths, budget: Budget) -> None:
        self._paths = paths
        self._budget = budget
        self._texts: list[_Text] | None = None
        self.warnings: list[str] = []

    @property
    def patterns(self) -> list[str]:
        """Where material files were found, relative to a game folder, such as `materials/*.mtr`."""
        found = {text.file.extension for text in self._load()}
        return [f"{folder}/*{extension}" for folder, extension in _FOLDERS if extension in found]

    def find(self, name: str) -> Material | None:
        """The declaration of a name, compared by `canonical_name`; None if there is none."""
        with self._budget.timed():
            return self._find(canonical_name(name))

    def _find(self, key: str) -> Material | None:
        found: Material | None = None
        for text in self._load() if key else ():
            if not self._budget.take("scanned", len(text.folded)) or self._budget.is_over():
                self._warn("there are too many materials: some were not found")
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
        ordered: list[GameFile] = []
        for folder, extension in _FOLDERS:
            files: dict[str, GameFile] = {}
            for root in self._paths.roots:
                for key, file in root.texts(folder, extension).items():
                    files.setdefault(key, file)
            ordered += [files[key] for key in sorted(files, reverse=extension == ".shader")]
        own = self._paths.own.texts("", ".mtr")
        known = {file.path for file in ordered if file.member is None}
        ordered += [own[key] for key in sorted(own) if own[key].path not in known]
        self._texts = []
        for file in ordered:
            try:
                if not self._budget.take("text", file.size()) or self._budget.is_over():
                    self._warn(
                        f"{file}: there are too many materials; this file and those after it are skipped"
                    )
                    break
                text = file.read_text()
            except FileReadError as error:
                self._warn(str(error))
                continue
            self._texts.append(_Text(file, text, fold(text)))
        return self._texts
