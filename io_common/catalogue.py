"""What can be imported from a game. Models are not opened for the list: what is missing is told by names alone.

- Quake II (`client/menu.c`, `client/cl_main.c`): a player is a folder with `tris.md2`. A skin is a `.pcx` with an icon
  beside it, `NAME_i.pcx`, which is no skin itself. `weapon.md2`, or the server's choice of `w_*.md2`, plays in step.
- Quake III (`cg_players.c`): a player is a folder in `models/players` with `lower.md3`, `upper.md3` and `head.md3`.
- Unvanquished (`bg_parse.cpp`): `configs/buildables/NAME.model.cfg` has `model N PATH` and `modelScale X`, those of
  `configs/classes` have `model NAME`, a folder in `models/players`; `null` is none.
- XreaL (`cg_players.c`): `models/players/NAME/character.cfg` is about `body.md5mesh` and the animations beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from .declarations import characters
from .declarations.characters import Attachment, Character, CharacterAnimation, CharacterPart, CharacterSkin, SourceLine
from .declarations.cube_models import CONFIGS, cfg_character
from .declarations.declaration_files import ENTITY, MODEL
from .declarations.doom3_characters import Doom3Declarations
from .game_tree.files import FileReadError
from .game_tree.folders import problem_of
from .game_tree.tree import GameTree
from .names import fold, is_image, join, split_extension
from .texts import counted
from .textures.conventions import guess_skins

_ANIMATION_SUFFIX = ".md5anim"
_PLAYERS = "players"
_PLAYER_MODEL, _WEAPON = "tris.md2", "weapon.md2"
# The models of a Quake III player, each on a tag of the one before.
_PLAYER_PARTS = {"lower.md3": "", "upper.md3": "tag_torso", "head.md3": "tag_head"}
_ICON = "_i"
_SKIN_SUFFIX = ".skin"
_SKIN_OF_WEAPON = ("weapon", "w_")  # images of weapons have their models' names
_MODEL_CONFIG, _CHARACTER_CONFIG = ".model.cfg", "character.cfg"

_kept: list[Catalogue] = []  # the last list that was made


class Kind(StrEnum):
    """What an entry of the list is."""

    ENTITY = "entity"  # an `entityDef` of Doom 3
    MODEL = "model"  # a `model` declaration of Doom 3
    PLAYER = "player"  # a folder in Quake II's `players` or Quake III's `models/players`
    CONFIG = "config"  # a folder with `md5.cfg`, `iqm.cfg` or `md2.cfg`, or a `.cfg` of Unvanquished or XreaL
    LOOSE = "loose model"  # that none of the others names


@dataclass(frozen=True)
class Count:
    """How many of something are there, and how many are named but missing."""

    found: int | None = 0  # None if they are inside the model files, as the frames of an MD2
    missing: int = 0
    files: int | None = None  # that the found ones are made of, if that is another number

    def __str__(self) -> str:
        if self.found is None:
            return "in file"
        text = str(self.found)
        if self.files is not None and self.files != self.found:
            text = f"{counted(self.found, 'entries')}, {counted(self.files, 'files')}"
        return f"{text} ({self.missing} missing)" if self.missing else text


@dataclass(frozen=True)
class CatalogueEntry:
    """Something that can be imported."""

    name: str  # of a player or a script the folder, of a loose model the game path
    kind: Kind
    path: str  # game path of the file with the declaration, of the folder, or of the model
    meshes: Count = Count()
    animations: Count = Count()  # of a loose model, the animation files in its folder
    skins: Count = Count()


class Catalogue:
    """The list of what can be imported from a game, by kind, then by name."""

    def __init__(self, files: GameTree) -> None:
        self.files = files
        self._doom3 = Doom3Declarations(files)
        # Why nothing is listed, if a folder holds the game folder; else empty.
        self.problem = next((problem for folder in files.folders if (problem := problem_of(folder))), "")
        if self.problem:
            files.budget.warn(self.problem)
        self._animations: dict[str, tuple[CharacterAnimation, ...]] = {}
        with files.budget.timed():
            entries = self._all_entries() if not self.problem else []
        order = list(Kind)
        self.entries = sorted(entries, key=lambda entry: (order.index(entry.kind), fold(entry.name), entry.path))

    def matching(self, patterns: Iterable[str]) -> list[CatalogueEntry]:
        """The entries whose name, or its last part with or without extension, fits a pattern, in any case."""
        folded = [fold(pattern) for pattern in patterns]
        return [
            entry for entry in self.entries if any(fnmatchcase(name, one) for name in _names(entry) for one in folded)
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
        """The entry with a name in any case, else the first of which the name is the last part."""
        key = fold(name).strip("/")
        entries = [entry for entry in self.entries if kind in ("", entry.kind)]
        return next((entry for count in (1, None) for entry in entries if key in _names(entry)[:count]), None)

    def weapons(self) -> list[str]:
        """The weapons of Quake III by their game paths, without their flashes, what turns on them, and hands."""
        paths = self.files.walk("models/weapons2", characters.MD3_SUFFIX)
        return sorted(path for path in paths if not re.search(r"_(hand|flash|barrel|[12])\.md3$", path, re.IGNORECASE))

    def character(self, entry: CatalogueEntry) -> Character:
        """The character of an entry, with a new budget; FileReadError if it cannot be imported."""
        self.files.budget.renew()
        found = self._character(entry.kind, entry.name, entry.path)
        if found is None:
            raise FileReadError(f"{entry.name}: not found in {', '.join(map(str, self.files.folders))}")
        return found

    def _character(self, kind: Kind, name: str, path: str, *, in_detail: bool = True) -> Character | None:
        if kind is Kind.ENTITY:
            return self._doom3.entity_character(name, in_detail=in_detail)
        if kind is Kind.MODEL:
            return self._doom3.model_character(name, in_detail=in_detail)
        if kind is Kind.PLAYER:
            return _player_character(self.files, path)
        if kind is Kind.CONFIG:
            return self._daemon_character(path) if _is_config(path) else cfg_character(self.files, path)
        return self._loose_character(path) if self.files.has(path) else None

    def _all_entries(self) -> list[CatalogueEntry]:
        models: list[str] = []
        configs: list[str] = []
        for path in self.files.walk("", *characters.MODEL_SUFFIXES, ".cfg"):
            folder, _, base = path.rpartition("/")
            if fold(base) in CONFIGS.values():
                configs.append(folder)
            elif _is_config(path):
                configs.append(path)
            elif not base.lower().endswith(".cfg"):
                models.append(path)
        declared = self._doom3.declared
        wanted = [(Kind.ENTITY, one.name, "") for one in declared[ENTITY].values()]
        wanted += [(Kind.MODEL, one.name, "") for one in declared[MODEL].values()]
        wanted += [(Kind.CONFIG, path, path) for path in dict.fromkeys(configs)]
        wanted += [(Kind.PLAYER, path, path) for path in self._player_folders()]
        wanted += [(Kind.LOOSE, path, path) for path in models]
        entries: list[CatalogueEntry] = []
        claimed: set[str] = set()
        for kind, name, path in wanted:
            if self.files.budget.is_over():
                self.files.budget.warn("there is too much in this game: the list is not complete")
                break
            if kind is Kind.LOOSE and fold(path) in claimed:
                continue
            try:
                character = self._character(kind, name, path, in_detail=False)
            except FileReadError as error:
                self.files.budget.warn(str(error))
                continue
            if character is None:
                continue
            if kind is Kind.CONFIG and _is_config(path):
                # The model also stays in the list by itself.
                if character.missing == ("",):
                    continue
                is_model = fold(path).endswith(_MODEL_CONFIG)
                name = path[: -len(_MODEL_CONFIG)] if is_model else path.rpartition("/")[0]
            else:
                claimed.update(fold(part.model) for part in character.parts)
                # An IQM of animations alone is no model.
                files = [file for part in character.parts for one in part.animations for file in one.files]
                claimed.update(fold(file.partition(":")[0]) for file in files)
            if not path and character.declaration is not None:
                path = character.declaration.file
            entries.append(_entry(name, kind, path, character))
        return entries

    def _player_folders(self) -> list[str]:
        found = []
        for parent, models in (("", [_PLAYER_MODEL]), ("models", _PLAYER_PARTS)):
            names = self.files.listing(join(parent, _PLAYERS)).folders
            spelled = join(parent, self.files.listing(parent).folders.get(_PLAYERS, _PLAYERS))
            folders = [f"{spelled}/{names[key]}" for key in sorted(names)]
            found += [folder for folder in folders if all(self.files.has(f"{folder}/{one}") for one in models)]
        return found

    def _daemon_character(self, path: str) -> Character:
        model, scale = _daemon_model(self.files, path)
        folder, _, base = path.rpartition("/")
        is_player = fold(base) == _CHARACTER_CONFIG
        name = folder.rpartition("/")[2] if is_player else base[: -len(_MODEL_CONFIG)]
        if not model.lower().endswith(characters.MODEL_SUFFIXES) or not self.files.has(model):
            return Character(name, characters.DOOM3, missing=(model,))
        (part,) = self._loose_character(model).parts
        return Character(name, characters.DOOM3, (replace(part, scale=scale),), declaration=SourceLine(path, 1))

    def _loose_character(self, path: str) -> Character:
        folder, _, base = path.rpartition("/")
        stem = split_extension(base)[0]
        part, game = CharacterPart(stem, path), characters.DOOM3
        if part.is_md3:
            part, game = replace(part, skins=_skin_files(self.files.files(folder), [stem])), characters.QUAKE3
        elif fold(base).endswith(".md2"):
            names = [file.name for file in self.files.files(folder).values()]
            models = [name for name in names if fold(name).endswith(".md2")]
            skins = guess_skins(filter(is_image, names), models, base, folder.rpartition("/")[2], anything=False)
            part, game = replace(part, skins=tuple(_image_skin(folder, name) for name in skins)), characters.QUAKE2
        elif not fold(base).endswith(characters.IQM_SUFFIX):
            if folder not in self._animations:
                # All models of a folder share its animations.
                self._animations[folder] = tuple(
                    CharacterAnimation(split_extension(file.rpartition("/")[2])[0], (file,))
                    for file in self.files.paths(folder, _ANIMATION_SUFFIX)
                )
            part = replace(part, animations=self._animations[folder])
        return Character(stem, game, (part,))


def _player_character(files: GameTree, folder: str) -> Character:
    folder = join(folder)
    names = {key: file.name for key, file in files.files(folder).items()}
    name = folder.rpartition("/")[2] or "player"
    parts: list[CharacterPart] = []
    if _PLAYER_MODEL not in names and names.keys() >= _PLAYER_PARTS.keys():
        for index, (key, tag) in enumerate(_PLAYER_PARTS.items()):
            attachment = Attachment(index - 1, tag) if tag else None
            parts.append(CharacterPart(split_extension(key)[0], join(folder, names[key]), attachment=attachment))
        parts[0] = replace(parts[0], skins=_skin_files(names, [part.name for part in parts]))
        return Character(name, characters.QUAKE3, tuple(parts), declaration=SourceLine(parts[0].model, 1))
    if _PLAYER_MODEL not in names:
        raise FileReadError(f"{join(folder, _PLAYER_MODEL)}: not found")
    images = {split_extension(key)[0]: name for key, name in sorted(names.items()) if is_image(name)}
    stems = [stem for stem in images if stem + _ICON in images]
    if not stems:
        stems = [stem for stem in images if not stem.endswith(_ICON) and not stem.startswith(_SKIN_OF_WEAPON)]
    skins = tuple(_image_skin(folder, images[stem]) for stem in sorted(stems))
    model = join(folder, names[_PLAYER_MODEL])
    parts.append(CharacterPart("tris", model, skins=skins))
    weapons = [key for key in names if key == _WEAPON or (key.startswith("w_") and key.endswith(".md2"))]
    for key in sorted(weapons, key=lambda key: (key != _WEAPON, key)):
        weapon = split_extension(names[key])[0]
        parts.append(CharacterPart(weapon, join(folder, names[key]), attachment=Attachment(0)))
    return Character(name, characters.QUAKE2, tuple(parts), declaration=SourceLine(model, 1))


def _skin_files(names: Iterable[str], models: list[str]) -> tuple[CharacterSkin, ...]:
    """The skins that all of some models have in `.skin` files, such as `red` in `lower_red.skin` (`cg_players.c`)."""
    names = list(names)
    found = [
        {key[len(start) : -len(_SKIN_SUFFIX)] for key in names if key.startswith(start) and key.endswith(_SKIN_SUFFIX)}
        for start in (f"{fold(model)}_" for model in models)
    ]
    return tuple(CharacterSkin(name) for name in sorted(set.intersection(*found)))


def _image_skin(folder: str, name: str) -> CharacterSkin:
    return CharacterSkin(split_extension(name)[0], (("*", join(folder, name)),))


def _is_config(path: str) -> bool:
    return fold(path).endswith(_MODEL_CONFIG) or fold(path).rpartition("/")[2] == _CHARACTER_CONFIG


def _daemon_model(files: GameTree, path: str) -> tuple[str, float]:
    """The game path of the model, empty if the file names none, and its scale."""

    def in_folder(folder: str) -> str:
        # That of the game's own format first.
        stems = dict.fromkeys(("body", folder.rpartition("/")[2]))
        paths = [f"{folder}/{stem}{suffix}" for suffix in (".md5mesh", characters.IQM_SUFFIX) for stem in stems]
        return next(filter(files.has, paths), paths[0])

    if not fold(path).endswith(_MODEL_CONFIG):
        return in_folder(path.rpartition("/")[0]), 1.0
    text = files.read_text(path)
    # A number may come before the path.
    found = re.search(r'^\s*model\s+(?:\d+\s+)?"?([^\s"]+)', text, re.IGNORECASE | re.MULTILINE)
    model = found[1] if found is not None else ""
    if model and "/" not in model:
        model = "" if fold(model) == "null" else in_folder(f"models/{_PLAYERS}/{model}")
    found = re.search(r"^\s*modelScale\s+(\d*\.?\d+)", text, re.IGNORECASE | re.MULTILINE)
    scale = float(found[1]) if found is not None else 1.0
    return model, scale if 1e-6 < scale < 1e6 else 1.0


def kept_catalogue(folders: Sequence[str | os.PathLike[str]]) -> Catalogue:
    """The list of a game, first the folder that overrides the others; made again if anything has changed."""
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
    whole = fold(entry.name)
    last = whole.rpartition("/")[2]
    return [whole, last, split_extension(last)[0]]


def _entry(name: str, kind: Kind, path: str, character: Character) -> CatalogueEntry:
    missing = {fold(one) for one in character.missing}
    skin_count = sum(len(part.skins) for part in character.parts)
    skin_count += sum(one.image is not None for part in character.parts for one in part.textures)
    models = [fold(part.model) for part in character.parts if part.is_model]
    has_frames = bool(models) and not any(model.endswith(".md5mesh") for model in models)
    are_inside = has_frames and not any(part.animations for part in character.parts)
    meshes = Count(len(models), sum(one.endswith(characters.MODEL_SUFFIXES) for one in missing))
    animations = Count(None) if are_inside else count_animations(character)
    skins = Count(skin_count, sum(one.startswith("skin ") or is_image(one) for one in missing))
    return CatalogueEntry(name, kind, path, meshes, animations, skins)
