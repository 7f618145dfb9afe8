"""What is converted: formats, tasks, and the files that tasks read, which are never overwritten."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..families import FAMILIES
from ..io_blender.options import Settings
from ..io_common.catalogue import Catalogue, kept_catalogue
from ..io_common.declarations.characters import Character
from ..io_common.family import Family, Role, family_of, kinds_by_suffix
from ..io_common.game_tree.archives import FilesByName, files_in, split_archive_path, stamp
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.tree import GameTree

BLEND = ".blend"
CONVERTED, UP_TO_DATE, FAILED = "converted", "up to date", "failed"

FAMILY_FORMATS: dict[str, Family] = {family.name: family for family in FAMILIES}
FORMATS: tuple[str, ...] = ("blend", *FAMILY_FORMATS, "glb", "fbx")
_ROLES = {suffix: kind.role for suffix, kind in kinds_by_suffix(FAMILIES).items()}
INPUT_SUFFIXES = (*sorted(_ROLES, key=lambda suffix: list(Role).index(_ROLES[suffix])), BLEND)
"""The suffixes of all files that can be converted, models first."""


@dataclass(frozen=True)
class Task:
    """One file or character to convert."""

    source: Path  # for a character the game
    target: Path  # animations may be written next to it
    name: str  # for messages: the path as the user gave it
    prefix: str = ""  # of the file names of animations
    character: str = ""  # its name in the list of the game; empty for a file
    kind: str = ""  # of the character


@dataclass
class Outcome:
    """The outcome of a task."""

    status: str
    reason: str = ""  # why it failed
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    exporter_seconds: float = 0.0  # of these, those of Blender's own exporter
    written: list[str] = field(default_factory=list)  # files in the temporary folder
    others: list[str] = field(default_factory=list)  # files that the scene refers to


def role_of(suffix: str) -> Role | None:
    """The role of files with a suffix, in any case; None for .blend files and unknown suffixes."""
    return _ROLES.get(suffix.lower())


class FileSet:
    """A set of files, whatever links and spellings of their paths there are."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._identities = {identity for path in paths for identity in _identities(path)}

    def __contains__(self, path: Path) -> bool:
        return not self._identities.isdisjoint(_identities(path))


def _identities(path: Path) -> Iterator[object]:
    """What two paths of one file have in common: the path without case, or device and inode if it exists."""
    yield path_key(path)
    with suppress(OSError, ValueError):
        status = path.stat()
        yield status.st_dev, status.st_ino


def resolved_path(path: Path) -> str:
    """The absolute path of a file, with links in its folders resolved but not the file itself."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def path_key(path: Path) -> str:
    """The resolved path without what some file systems ignore: case, and how accents are encoded."""
    return _fold(resolved_path(path))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def with_single_root(text: str) -> str:
    """A path without a second slash at its start, which Blender takes for the folder of the .blend file."""
    return f"/{text.lstrip('/')}" if os.name == "posix" and text.startswith("//") else text


def as_listed(paths: Iterable[str]) -> list[Path]:
    """Paths in the case in which folders list the names: one for each file, even on a file system that ignores case."""
    names_in = lru_cache(maxsize=None)(lambda folder: frozenset(os.listdir(folder)))
    result = []
    for path in map(Path, paths):
        listed = Path(with_single_root(path.anchor))
        for name in path.parts[len(listed.parts) :]:
            try:
                is_there = name != os.pardir and os.path.lexists(listed / name)
                names = names_in(listed) if is_there else frozenset()
            except OSError:
                names = frozenset()
            alike = [name] if name in names else [one for one in names if _fold(one) == _fold(name)]
            listed /= alike[0] if len(alike) == 1 else name
        result.append(listed)
    return result


def animations_in(folder: Path | None) -> list[Path]:
    """The animations in a folder on disk or in an archive, in alphabetical order; none if it cannot be read."""
    if folder is None:
        return []
    try:
        is_on_disk = split_archive_path(folder) is None
        return [
            path
            for path in files_in(folder)
            # Unlike `Path.is_file`, it raises no error for a link that cannot be followed.
            if role_of(path.suffix) is Role.ANIMATION and (not is_on_disk or os.path.isfile(path))
        ]
    except OSError:
        return []


def companion_files(paths: Iterable[Path], listed: FilesByName) -> Iterator[Path]:
    """The files beside others that an import reads with them; `listed` keeps the folders already listed."""
    for path in paths:
        family = family_of(FAMILIES, path.suffix)
        if family is not None:
            yield from family.find_companion_files(path, listed)


@lru_cache(maxsize=1)
def catalogue(game: tuple[str, ...]) -> Catalogue:
    """The list of what is in a game, made once for a run, which may write into its folders."""
    return kept_catalogue(game)


def character_of(task: Task, settings: Settings) -> tuple[Character, GameTree]:
    """The character of a task; raises FileReadError if it is no longer in the game."""
    found = catalogue(settings.game_data)
    for entry in found.entries:
        if (entry.name, entry.kind.value) == (task.character, task.kind):
            return found.character(entry), found.files
    raise FileReadError(f"{task.name}: not found in {', '.join(settings.game_data)}")


def character_files(character: Character, files: GameTree) -> set[Path]:
    """The files that a character is made of, besides textures."""
    names = [character.declaration.file] if character.declaration is not None else []
    for part in character.parts:
        names += [part.model, *(file for one in part.animations for file in one.files)]
    return {path for name in dict.fromkeys(names) if (path := files.path(name)) is not None}


def files_read(task: Task, settings: Settings, listed: FilesByName) -> tuple[list[Path], list[str]]:
    """The files that a task reads, except textures and its result, and the names of missing ones."""
    if task.character:
        character, files = character_of(task, settings)
        return sorted(character_files(character, files)), list(character.missing)
    sources = [task.source, *animations_in(settings.animation_folder(task.source))]
    if settings.joint_map:
        sources.append(Path(settings.joint_map))
    own = path_key(task.target)
    companions = [path for path in companion_files(sources, listed) if path_key(path) != own]
    return sources + [path for path in companions if stamp_or_none(path) is not None], []


def stamp_or_none(path: Path) -> list[int] | None:
    """Size and time of a file; None if it is missing."""
    try:
        return stamp(path)
    except (OSError, ValueError):
        return None
