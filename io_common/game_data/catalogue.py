"""What can be imported from a game: entities, models, players, models with a script, and loose models.

Models are not opened for the list; what is missing is told by the names of files alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from ..counting import counted
from ..game_tree.files import FileReadError
from ..game_tree.folders import problem_of
from ..game_tree.names import fold, is_image, split_extension
from ..game_tree.tree import GameTree
from ..textures.conventions import guess_skins
from .character import (
    DOOM3,
    MODEL_SUFFIXES,
    QUAKE2,
    Character,
    CharacterAnimation,
    CharacterPart,
    CharacterSkin,
    Declaration,
)
from .daemon_models import CHARACTER_CONFIG, IQM, MODEL_CONFIG, declared_model, is_config
from .doom3 import Doom3Declarations
from .model_cfg import CONFIGS, cfg_character
from .quake2_player import MODEL as PLAYER_MODEL
from .quake2_player import player_character

_ANIMATION_SUFFIX = ".md5anim"
_PLAYERS = "players"
_TOO_LONG = "there is too much in this game: the list is not complete"


# The last list that was made.
_kept: list[Catalogue] = []


class Kind(StrEnum):
    """What an entry of the list is."""

    ENTITY = "entity"
    """An `entityDef` of Doom 3."""
    MODEL = "model"
    """A `model` declaration of Doom 3."""
    PLAYER = "player"
    """A folder in Quake II's `players`."""
    CONFIG = "config"
    """A folder with an `md5.cfg` or `md2.cfg`, or a `.cfg` file of Unvanquished or XreaL that names a model."""
    LOOSE = "loose model"
    """A model that none of the others names."""
    IQM = "IQM model"
    """A model of another format that a `.cfg` file names; it is listed and cannot be imported."""


@dataclass(frozen=True)
class Count:
    """How many of something are there, and how many are named but missing.

    `found` is None if they are inside the model files, like the frames of an MD2. `files` are those that the found ones
    are made of, if that is another number.
    """

    found: int | None = 0
    missing: int = 0
    files: int | None = None

    def __str__(self) -> str:
        if self.found is None:
            return "in file"
        text = str(self.found)
        if self.files is not None and self.files != self.found:
            text = f"{counted(self.found, 'entries')}, {counted(self.files, 'files')}"
        return f"{text} ({self.missing} missing)" if self.missing else text


@dataclass(frozen=True)
class CatalogueEntry:
    """Something that can be imported.

    Attributes:
        name: of the declaration; of a player or a script the folder, of a loose model the game path.
        kind: what it is.
        path: game path of the file with the declaration, of the folder, or of the model.
        meshes: model files.
        animations: those under a name of their own; of a loose model, the animation files in its folder; those of MD2
            are in the models.
        skins: skins that are declared or lie beside the model.
    """

    name: str
    kind: Kind
    path: str
    meshes: Count = Count()
    animations: Count = Count()
    skins: Count = Count()


class Catalogue:
    """The list of what can be imported from a game.

    Attributes:
        entries: the list: by kind, then by name.
        problem: why nothing is listed, if a folder holds the game folder; else empty.
    """

    def __init__(self, files: GameTree) -> None:
        self.files = files
        self._doom3 = Doom3Declarations(files)
        self.problem = next((problem for folder in files.folders if (problem := problem_of(folder))), "")
        self._warnings = [self.problem] if self.problem else []
        self._animations: dict[str, tuple[CharacterAnimation, ...]] = {}
        with files.budget.timed():
            entries = self._all_entries() if not self.problem else []
        order = list(Kind)
        self.entries = sorted(
            entries, key=lambda entry: (order.index(entry.kind), fold(entry.name), entry.path)
        )

    @property
    def warnings(self) -> list[str]:
        """What could not be read, each once. Oddities of declarations are told with the characters that have them."""
        return list(dict.fromkeys([*self.files.warnings, *self._doom3.unreadable, *self._warnings]))

    def matching(self, patterns: Iterable[str]) -> list[CatalogueEntry]:
        """The entries of which a name fits one of the patterns, such as `monster_*`, compared without case.

        Besides its whole name, an entry has the last part of it, with and without extension.
        """
        folded = [fold(pattern) for pattern in patterns]
        return [
            entry
            for entry in self.entries
            if entry.kind is not Kind.IQM
            and any(fnmatchcase(name, pattern) for name in _names(entry) for pattern in folded)
        ]

    def searched(self, text: str) -> list[CatalogueEntry]:
        """The entries whose name, path or kind contains all words of a text, compared without case."""
        words = fold(text).split()
        return [
            entry
            for entry in self.entries
            if all(word in fold(f"{entry.name} {entry.path} {entry.kind}") for word in words)
        ]

    def named(self, name: str, kind: str = "") -> CatalogueEntry | None:
        """The entry with a name, compared without case, else the first of which the name is the last part.

        Entities come before models, and these before the others. An empty `kind` stands for any.
        """
        key = fold(name).strip("/")
        entries = [entry for entry in self.entries if kind in ("", entry.kind)]
        for count in (1, None):
            found = next((entry for entry in entries if key in _names(entry)[:count]), None)
            if found is not None:
                return found
        return None

    def character(self, entry: CatalogueEntry) -> Character:
        """The character of an entry. The budget of the files begins anew, as each character is an import of its own.

        Raises FileReadError if it is no longer there, or cannot be imported.
        """
        if entry.kind is Kind.IQM:
            raise FileReadError(f"{entry.name}: its model is IQM, which cannot be imported")
        self.files.budget.renew()
        found: Character | None = None
        if entry.kind is Kind.ENTITY:
            found = self._doom3.entity_character(entry.name)
        elif entry.kind is Kind.MODEL:
            found = self._doom3.model_character(entry.name)
        elif entry.kind is Kind.PLAYER:
            found = player_character(self.files, entry.path)
        elif entry.kind is Kind.CONFIG:
            found = (
                self._configured(entry.path)
                if is_config(entry.path)
                else cfg_character(self.files, entry.path)
            )
        elif self.files.has(entry.path):
            found = self._loose_character(entry.path)
        if found is None:
            raise FileReadError(f"{entry.name}: not found in {', '.join(map(str, self.files.folders))}")
        return found

    def _all_entries(self) -> list[CatalogueEntry]:
        claimed: set[str] = set()
        entries = self._declared(claimed)
        models, configs = self._all_models()
        for folder in configs:
            entries += self._config(folder, claimed) if not self._is_over() else []
        for folder in self._player_folders():
            entries += self._player(folder, claimed) if not self._is_over() else []
        for path in models:
            if fold(path) not in claimed and not self._is_over():
                entries.append(self._loose(path))
        return entries

    def _is_over(self) -> bool:
        """Whether the list takes too long, and is left as it is."""
        if not self.files.budget.is_over():
            return False
        if _TOO_LONG not in self._warnings:
            self._warnings.append(_TOO_LONG)
        return True

    # --- Doom 3

    def _declared(self, claimed: set[str]) -> list[CatalogueEntry]:
        doom3 = self._doom3
        entries: list[CatalogueEntry] = []
        for names, kind, build in (
            (doom3.entity_names, Kind.ENTITY, doom3.entity_character),
            (doom3.model_names, Kind.MODEL, doom3.model_character),
        ):
            for name in names:
                if self._is_over():
                    return entries
                character = build(name, in_detail=False)
                if character is not None and character.declaration is not None:
                    entries.append(_entry(name, kind, character.declaration.file, character))
                    claimed.update(fold(part.model) for part in character.parts)
        return entries

    # --- Folders

    def _all_models(self) -> tuple[list[str], list[str]]:
        """The game paths of all models, and the folders with a script."""
        models, configs = [], []
        names = frozenset(CONFIGS.values())
        for path in self.files.walk("", *MODEL_SUFFIXES, ".cfg"):
            folder, _, base = path.rpartition("/")
            if fold(base) in names:
                configs.append(folder)
            elif is_config(path):
                configs.append(path)
            elif not base.lower().endswith(".cfg"):
                models.append(path)
        return models, list(dict.fromkeys(configs))

    def _config(self, folder: str, claimed: set[str]) -> list[CatalogueEntry]:
        is_file = is_config(folder)
        try:
            character = self._configured(folder) if is_file else cfg_character(self.files, folder)
        except FileReadError as error:
            self._warnings.append(str(error))
            return []
        if not is_file:
            claimed.update(fold(part.model) for part in character.parts)
            return [_entry(folder, Kind.CONFIG, folder, character)]
        if character.missing == ("",):
            return []
        is_iqm = any(fold(path).endswith(IQM) for path in character.missing)
        name = (
            folder[: -len(MODEL_CONFIG)] if fold(folder).endswith(MODEL_CONFIG) else folder.rpartition("/")[0]
        )
        return [_entry(name, Kind.IQM if is_iqm else Kind.CONFIG, folder, character)]

    def _configured(self, path: str) -> Character:
        """The model that a `.cfg` file of Unvanquished or XreaL names; it also stays in the list by itself."""
        model, scale = declared_model(self.files, path)
        folder, _, base = path.rpartition("/")
        is_player = fold(base) == CHARACTER_CONFIG
        name = folder.rpartition("/")[2] if is_player else base[: -len(MODEL_CONFIG)]
        if not model.lower().endswith(MODEL_SUFFIXES) or not self.files.has(model):
            return Character(name, DOOM3, missing=(model,))
        (part,) = self._loose_character(model).parts
        return Character(name, DOOM3, (replace(part, scale=scale),), declaration=Declaration(path, 1))

    def _player_folders(self) -> list[str]:
        listing = self.files.listing(_PLAYERS)
        top = self.files.listing()
        if listing is None or top is None:
            return []
        spelled = top.folders.get(_PLAYERS, _PLAYERS)
        folders = [f"{spelled}/{listing.folders[key]}" for key in sorted(listing.folders)]
        return [folder for folder in folders if self.files.has(f"{folder}/{PLAYER_MODEL}")]

    def _player(self, folder: str, claimed: set[str]) -> list[CatalogueEntry]:
        try:
            character = player_character(self.files, folder)
        except FileReadError as error:
            self._warnings.append(str(error))
            return []
        claimed.update(fold(part.model) for part in character.parts)
        return [_entry(folder, Kind.PLAYER, folder, character)]

    # --- Loose models

    def _loose(self, path: str) -> CatalogueEntry:
        return _entry(path, Kind.LOOSE, path, self._loose_character(path))

    def _loose_character(self, path: str) -> Character:
        folder, _, base = path.rpartition("/")
        stem = split_extension(base)[0]
        if fold(base).endswith(".md2"):
            names = [file.name for file in self.files.files(folder).values()]
            skins = guess_skins(
                [name for name in names if is_image(name)],
                [name for name in names if fold(name).endswith(".md2")],
                base,
                folder.rpartition("/")[2],
                anything=False,
            )
            prefix = f"{folder}/" if folder else ""
            found = tuple(CharacterSkin(split_extension(name)[0], (("*", prefix + name),)) for name in skins)
            return Character(stem, QUAKE2, (CharacterPart(stem, path, skins=found),))
        return Character(stem, DOOM3, (CharacterPart(stem, path, animations=self._animations_in(folder)),))

    def _animations_in(self, folder: str) -> tuple[CharacterAnimation, ...]:
        """The animations in a folder, which all models there share."""
        if folder not in self._animations:
            self._animations[folder] = tuple(
                CharacterAnimation(split_extension(file.rpartition("/")[2])[0], (file,))
                for file in self.files.paths(folder, _ANIMATION_SUFFIX)
            )
        return self._animations[folder]


def kept_catalogue(folders: Sequence[str | os.PathLike[str]]) -> Catalogue:
    """The list of a game: the last one that was made, if it is of these folders and nothing in them has changed.

    The folder or archive that overrides the others comes first.
    """
    wanted = GameTree(folders).folders
    if not _kept or _kept[0].files.folders != wanted or not _kept[0].files.is_current():
        _kept[:] = [Catalogue(GameTree(wanted))]
    return _kept[0]


def count_animations(character: Character) -> Count:
    """How many animations a character declares, and those of its folder that are missing."""
    animations = [one for part in character.parts for one in part.animations]
    missing = {fold(one) for one in character.missing}
    named = {fold(file) for one in animations for file in one.files}
    broken = sum(any(fold(file) in missing for file in one.files) for one in animations)
    lost = sum(one.endswith(_ANIMATION_SUFFIX) and one not in named for one in missing)
    return Count(len(animations) - broken, broken + lost, len(named - missing) if named else None)


def _names(entry: CatalogueEntry) -> list[str]:
    """The folded names of an entry: the whole one, then its last part with and without extension."""
    whole = fold(entry.name)
    last = whole.rpartition("/")[2]
    return [whole, last, split_extension(last)[0]]


def _entry(name: str, kind: Kind, path: str, character: Character) -> CatalogueEntry:
    """The entry of a character, with what is counted."""
    missing = {fold(one) for one in character.missing}
    skins = sum(len(part.skins) for part in character.parts)
    images = sum(one.image is not None for part in character.parts for one in part.textures)
    models = [fold(part.model) for part in character.parts if part.is_model]
    is_md2 = bool(models) and all(model.endswith(".md2") for model in models)
    are_inside = is_md2 and not any(part.animations for part in character.parts)
    return CatalogueEntry(
        name,
        kind,
        path,
        Count(len(models), sum(one.endswith(MODEL_SUFFIXES) for one in missing)),
        Count(None) if are_inside else count_animations(character),
        Count(skins + images, sum(one.startswith("skin ") or is_image(one) for one in missing)),
    )
