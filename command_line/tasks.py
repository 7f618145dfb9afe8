"""What is converted: formats, tasks, the files that tasks read, which are never overwritten, and records of results.

The output folder's `.idtech` has a small JSON file for each task, so that several machines can work on the folder. A
result is up to date if it was made from the same files with the same settings and version of the extension. A record
may be damaged or come from somebody else: it holds the hash of each result; a file with another hash is the user's.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..families import FAMILIES
from ..io_blender.options import Settings
from ..io_common.asset_library import RECORDS, is_inside, read_record
from ..io_common.catalogue import Catalogue, kept_catalogue
from ..io_common.declarations.characters import Character
from ..io_common.family import Family, Role, family_of, kinds_by_suffix
from ..io_common.files import open_file
from ..io_common.game_tree.archives import FilesByName, listed_files, readable, split_archive_path, stamp, stamp_of
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.tree import GameTree

BLEND = ".blend"
CONVERTED, UP_TO_DATE, FAILED = "converted", "up to date", "failed"

FAMILY_FORMATS: dict[str, Family] = {family.name: family for family in FAMILIES}
ASSETS = "assets"
FORMATS: tuple[str, ...] = ("blend", *FAMILY_FORMATS, "glb", "fbx", ASSETS)
_WITH_ANIMATIONS = {family.skeletal.animation_suffix for family in FAMILIES if family.skeletal is not None}
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
    catalog: str = ""  # of the asset that is made of the character


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
    text = unicodedata.normalize("NFC", resolved_path(path))
    return unicodedata.normalize("NFC", text.casefold())


def with_one_root(text: str) -> str:
    """A path without a second slash at its start, which Blender takes for the folder of the .blend file."""
    return f"/{text.lstrip('/')}" if os.name == "posix" and text.startswith("//") else text


def is_task(path: Path) -> bool:
    """Whether a file in a folder is converted by itself: not animations alone."""
    family = family_of(FAMILIES, path.suffix)
    kind = family.skeletal if family is not None else None
    if kind is None or kind.model_suffix != kind.animation_suffix:
        return True
    try:
        return kind.has_model(readable(path))
    except OSError:
        # Its conversion says why it cannot be read.
        return True


def animations_in(folder: Path | None) -> list[Path]:
    """The animations in a folder on disk or in an archive, in alphabetical order; none if it cannot be read."""
    if folder is None:
        return []
    paths = [path for path in listed_files(folder) if path.suffix.lower() in _WITH_ANIMATIONS]
    # Unlike `Path.is_file`, it raises no error for a link that cannot be followed.
    return paths if split_archive_path(folder) is not None else list(filter(os.path.isfile, paths))


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


def files_read(task: Task, settings: Settings, listed: FilesByName) -> tuple[list[Path], list[str], str]:
    """The files that a task reads, except textures and its result, the names of missing ones, and a hash."""
    # The hash is of all that the declarations of a character say, whatever files they are in.
    if task.character:
        character, files = character_of(task, settings)
        declared = hashlib.sha256(os.fsencode(repr(character))).hexdigest()
        return sorted(character_files(character, files)), list(character.missing), declared
    sources = [task.source, *animations_in(settings.animation_folder(task.source))]
    if settings.joint_map:
        sources.append(Path(settings.joint_map))
    result = path_key(task.target)
    companions = [path for path in companion_files(sources, listed) if path_key(path) != result]
    return sources + [path for path in companions if stamp_of(path) is not None], [], ""


class Records:
    """Which results in a folder are up to date, not those of other versions, and which files may be replaced."""

    def __init__(self, out: Path, settings: Settings, version: str, *, force: bool = False) -> None:
        self.settings = settings
        # As JSON, which has no tuples.
        self._stored_settings = json.loads(json.dumps(vars(settings)))
        self.force = force  # replace files that are not results of earlier runs
        self.sources = FileSet()  # the input files of the run
        self.out = out
        self._version = version
        self._listed = FilesByName()
        self._results: dict[str, set[str]] = {}
        with suppress(OSError):
            for path in (out / RECORDS).glob("*.json"):
                for file, digests in self._files(read_record(path)).items():
                    self._results.setdefault(resolved_path(file), set()).update(digests)

    def is_earlier_result(self, path: str) -> bool:
        """Whether a file, by its resolved path, was there as it is before this run, as the result of any task."""
        return path in self._results and _is_unchanged(Path(path), self._results[path])

    def is_result(self, task: Task, path: Path) -> bool:
        """Whether a file is byte for byte what the last run of a task wrote, or a run that was killed."""
        digests = [one for record in self._paths(task) for one in self._files(read_record(record)).get(path, [])]
        return _is_unchanged(path, digests)

    def is_up_to_date(self, task: Task) -> bool:
        """Whether a task can be skipped."""
        path, begun = self._paths(task)
        record = read_record(path)
        files, others = self._files(record), record.get("others")
        is_whole = bool(files) and all(map(os.path.exists, files)) and not os.path.lexists(begun)
        if not is_whole or not isinstance(others, dict):
            return False
        state = self.state(task)
        return (
            state is not None
            and all(record.get(key) == value for key, value in state.items())
            and all(stamp_of(self.out / name) == stamped for name, stamped in others.items())
        )

    def state(self, task: Task) -> dict[str, Any] | None:
        """What a task's result depends on; taken before its files are read, so that later changes count."""
        try:
            sources, missing, declared = files_read(task, self.settings, self._listed)
            stamps = {self._relative_path(path): stamp(path) for path in sources}
        except (FileReadError, OSError):
            # It is reported when the task tries to read it.
            return None
        asset = [task.kind, task.character, task.catalog] if self.settings.format == ASSETS else None
        what = {"version": self._version, "settings": self._stored_settings, "prefix": task.prefix, "asset": asset}
        return {**what, "declared": declared, "sources": stamps, "missing": missing}

    @contextmanager
    def storing(
        self, task: Task, state: dict[str, Any] | None, digests: Mapping[Path, str], others: list[Path]
    ) -> Iterator[None]:
        """Stores a task as done after a block; if Blender is killed in it, results may be replaced."""
        # `state` is that before the files were read, `others` what the scene refers to, such as images.
        record, begun = self._paths(task)
        content = {
            **(state or {}),
            "others": {self._relative_path(path): stamp_of(path) for path in others},
            "files": {os.path.relpath(file, self.out): [one] for file, one in digests.items()},
        }
        if os.path.lexists(record.parent) and not record.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(record.parent))
        record.parent.mkdir(parents=True, exist_ok=True)
        try:
            begun.unlink(missing_ok=True)
            with open(begun, "xb") as file:
                file.write(json.dumps(content).encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(begun)) from error
        yield
        begun.replace(record)

    def _paths(self, task: Task) -> tuple[Path, Path]:
        """The record of a task, and the one that is there while its results are moved, or if that was interrupted."""
        # A hash, as the name of a result may already be as long as the file system allows.
        relative = os.path.relpath(task.target, self.out).replace(os.sep, "/")
        name = hashlib.sha256(os.fsencode(relative)).hexdigest()[:32]
        return self.out / RECORDS / f"{name}.json", self.out / RECORDS / f"{name}-begun.json"

    def _files(self, record: dict[str, Any]) -> dict[Path, list[str]]:
        """The files in a record that lie in the output folder, each with its possible hashes."""
        names = record.get("files")
        return {
            self.out / name: [one for one in digests if isinstance(one, str)]
            for name, digests in (names.items() if isinstance(names, dict) else ())
            if is_inside(name) and isinstance(digests, list)
        }

    def _relative_path(self, path: Path) -> str:
        """The path of a source relative to the output folder, which is the same on all machines that share a disk."""
        try:
            return os.path.relpath(path, self.out)
        except ValueError:
            # It is on another drive of Windows.
            return os.path.abspath(path)


def digest(path: Path) -> str:
    """The hash of a file."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_unchanged(path: Path, digests: Collection[str]) -> bool:
    with suppress(OSError):
        return bool(digests) and not path.is_symlink() and digest(path) in digests
    return False
