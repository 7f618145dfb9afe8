"""What is converted: formats, tasks, and the files that tasks read.

The files that a run reads are never overwritten, not even with ``--force``. Files are compared by device and inode, so
that links and other spellings of a path make no difference, and by path, ignoring case.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..families import FAMILIES
from ..io_common.batch import Settings
from ..io_common.family import Family, FileKind, Role, family_of, kinds_by_suffix
from ..io_common.game_data.catalogue import Catalogue, kept_catalogue
from ..io_common.game_data.character import Character
from ..io_common.game_data.files import GameFiles
from ..io_common.game_data.paths import FilesByName, files_in
from ..io_common.textures.archives import split_archive_path
from ..io_common.textures.game_files import FileReadError

BLEND = ".blend"
CONVERTED, UP_TO_DATE, FAILED = "converted", "up to date", "failed"

KINDS: dict[str, FileKind] = kinds_by_suffix(FAMILIES)
FAMILY_FORMATS: dict[str, Family] = {family.name: family for family in FAMILIES}
FORMATS: tuple[str, ...] = ("blend", *FAMILY_FORMATS, "glb", "fbx")
INPUT_SUFFIXES: tuple[str, ...] = (
    *sorted(KINDS, key=lambda suffix: list(Role).index(KINDS[suffix].role)),
    BLEND,
)
"""The suffixes of all files that can be converted, models first."""


@dataclass(frozen=True)
class Task:
    """One file or character to convert.

    Attributes:
        source: the file; for a character the game.
        target: the output file; animations may be written next to it.
        name: for messages: the path as the user gave it.
        prefix: of the file names of animations next to the target.
        character: the name of the character, which is in no file of its own; empty for a file.
        kind: what the character is in the list of the game.
    """

    source: Path
    target: Path
    name: str
    prefix: str = ""
    character: str = ""
    kind: str = ""


@dataclass
class Outcome:
    """The outcome of a task.

    Attributes:
        status: CONVERTED, UP_TO_DATE or FAILED.
        reason: why it failed.
        warnings: of the import and the export.
        seconds: how long it took.
        exporter_seconds: how much of that one of Blender's own exporters took.
        written: the files that were written to the temporary folder.
        others: the files that the scene refers to.
    """

    status: str
    reason: str = ""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    exporter_seconds: float = 0.0
    written: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def role_of(suffix: str) -> Role | None:
    """The role of files with a suffix, in any case; None for .blend files and unknown suffixes."""
    kind = KINDS.get(suffix.lower())
    return kind.role if kind is not None else None


def source_suffixes(format_name: str) -> tuple[str, ...]:
    """The suffixes of the files that a format can be made from.

    Only the families accept .blend files. A family accepts models of every family, but only its own animations and
    cameras.
    """
    family = FAMILY_FORMATS.get(format_name)
    if family is None:
        return INPUT_SUFFIXES[:-1]
    return tuple(
        suffix
        for suffix in INPUT_SUFFIXES
        if suffix == BLEND or role_of(suffix) is Role.MODEL or suffix in family.suffixes
    )


def result_suffix(source_suffix: str, format_name: str) -> str:
    """The suffix of a converted file; a family's own animations and cameras keep theirs."""
    family = FAMILY_FORMATS.get(format_name)
    if family is None:
        return f".{format_name}"
    suffix = source_suffix.lower()
    return suffix if suffix in family.suffixes else family.model_suffix


class FileSet:
    """A set of files, whatever their paths are."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        paths = list(paths)
        self._keys = {path_key(path) for path in paths}
        self._identities = {identity for path in paths if (identity := _identity(path)) is not None}

    def __contains__(self, path: Path) -> bool:
        return path_key(path) in self._keys or _identity(path) in self._identities


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file, those of its target for a link; None if it does not exist."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def resolved_path(path: Path) -> str:
    """The absolute path of a file, with links in its folders resolved but not the file itself."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def path_key(path: Path) -> str:
    """The resolved path, equal for paths that some file systems treat as one file.

    These differ only in case or in how accents are encoded.
    """
    return _fold(resolved_path(path))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def with_single_root(text: str) -> str:
    """A path without a second slash at its start, which Blender takes for the folder of the .blend file."""
    return f"/{text.lstrip('/')}" if os.name == "posix" and text.startswith("//") else text


def as_listed(paths: Iterable[str]) -> list[Path]:
    """Paths with names in the case in which their folders list them, as far as they exist.

    So one file has one path on a file system that ignores case, however the user spells it.
    """
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


def files_beside(paths: Iterable[Path], listed: FilesByName) -> Iterator[Path]:
    """The files beside others that an import reads with them; `listed` keeps the folders already listed."""
    for path in paths:
        family = family_of(FAMILIES, path.suffix)
        if family is not None:
            yield from family.files_beside(path, listed)


@lru_cache(maxsize=1)
def catalogue(game: tuple[str, ...]) -> Catalogue:
    """The list of what is in a game, made once for a run, which may write into its folders."""
    return kept_catalogue(game)


def character_of(task: Task, settings: Settings) -> tuple[Character, GameFiles]:
    """The character of a task; raises FileReadError if it is no longer in the game."""
    found = catalogue(settings.game_data)
    for entry in found.entries:
        if (entry.name, entry.kind.value) == (task.character, task.kind):
            return found.character(entry), found.files
    raise FileReadError(f"{task.name}: not found in {', '.join(settings.game_data)}")


def character_files(character: Character, files: GameFiles) -> set[Path]:
    """The files that a character is made of, besides textures."""
    names = [character.declaration.file] if character.declaration is not None else []
    for part in character.parts:
        names += [part.model, *(file for one in part.animations for file in one.files)]
    return {path for name in dict.fromkeys(names) if (path := files.path(name)) is not None}
