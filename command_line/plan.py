"""The plan of a run: its sources and their targets, the same on every machine that sees the same files."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from ..io_common.batch import NO_ANIMATIONS, Settings
from ..io_common.family import Role
from ..io_common.files import file_info
from ..io_common.game_data.catalogue import CatalogueEntry
from ..io_common.game_data.files import GameFiles
from ..io_common.game_data.paths import FilesByName
from ..io_common.textures.archives import split_archive_path
from ..io_common.textures.game_files import FileReadError
from ..io_common.textures.names import clean_name, split_extension
from .tasks import (
    BLEND,
    FAILED,
    FAMILY_FORMATS,
    INPUT_SUFFIXES,
    FileSet,
    Outcome,
    Task,
    animations_in,
    catalogue,
    character_files,
    files_beside,
    path_key,
    resolved_path,
    result_suffix,
    role_of,
    source_suffixes,
)

# What no system, or not Windows, allows in a name.
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')


@dataclass
class Plan:
    """What a run does.

    Attributes:
        tasks: the tasks, in an order that does not depend on the machine.
        refused: what cannot be converted, with the reasons.
        sources: all input files, which must not be overwritten.
    """

    tasks: list[Task] = field(default_factory=list)
    refused: list[tuple[Task, Outcome]] = field(default_factory=list)
    sources: FileSet = field(default_factory=FileSet)

    def refuse(self, task: Task, reason: str) -> None:
        """Adds a task that cannot be done."""
        self.refused.append((task, Outcome(FAILED, reason)))

    def refuse_sources(self, tasks: Iterable[Task]) -> list[Task]:
        """The tasks that overwrite no input file; the others are refused."""
        accepted = []
        for task in tasks:
            if task.target in self.sources:
                self.refuse(task, f"{task.target} is an input file of this run: choose another output folder")
            else:
                accepted.append(task)
        return accepted


def plan_files(
    inputs: Sequence[str], out: Path, settings: Settings, is_result: Callable[[str], bool]
) -> Plan:
    """The conversion of files, and of those in folders and archives.

    `is_result` tells whether an earlier run wrote a file, by its resolved path: that is not converted again.
    """
    plan = Plan()
    tasks: dict[str, Task] = {}
    for path in map(Path, dict.fromkeys(inputs)):
        found, problems = _find_files(path, out, settings, is_result)
        for file, reason in problems:
            plan.refuse(Task(file, out / file.name, str(file)), reason)
        for file, relative in found:
            target = out / relative.with_name(relative.stem + result_suffix(file.suffix, settings.format))
            tasks.setdefault(resolved_path(file), Task(file, target, str(file)))
    named = [task.source for task, _ in plan.refused]
    plan.sources = FileSet([*_source_files(tasks.values(), settings, is_result), *named])
    plan.tasks = _with_prefixes(_with_unique_targets(list(tasks.values()), settings, plan), settings)
    return plan


def is_in_archive(path: Path) -> bool:
    """Whether a path is an archive, or leads to a file or folder in one that exists."""
    found = split_archive_path(path)
    if found is None or not found[1]:
        return found is not None
    return GameFiles([found[0]]).has(found[1]) or GameFiles([path]).listing() is not None


def _find_files(
    path: Path, out: Path, settings: Settings, is_result: Callable[[str], bool]
) -> tuple[list[tuple[Path, Path]], list[tuple[Path, str]]]:
    """The files to convert for an input, each with its path relative to that, and what cannot be, with reasons.

    Folders and archives are searched recursively, without animations: those are converted with their models.
    """
    suffixes = source_suffixes(settings.format)
    searched = [suffix for suffix in suffixes if role_of(suffix) is not Role.ANIMATION]
    if is_in_archive(path):
        return _find_members(path, [suffix for suffix in searched if suffix != BLEND])
    if os.path.isdir(path):
        unreadable: list[OSError] = []
        files = [
            (file, file.relative_to(path))
            for file in _walk(path, out, searched, unreadable.append)
            if not is_result(resolved_path(file))
        ]
        return files, [(Path(error.filename), "the folder cannot be read") for error in unreadable]
    reason = ""
    if not os.path.isfile(path):
        reason = "not a regular file"
    elif path.suffix.lower() not in INPUT_SUFFIXES:
        reason = f"not one of {', '.join(INPUT_SUFFIXES)}"
    elif path.suffix.lower() not in suffixes:
        reason = f"only {', '.join(suffixes)} can be converted to {settings.format}"
    return ([], [(path, reason)]) if reason else ([(path, Path(path.name))], [])


def _find_members(
    path: Path, suffixes: Sequence[str]
) -> tuple[list[tuple[Path, Path]], list[tuple[Path, str]]]:
    """The files of an archive, of a folder in one, or the one that a path leads to; see `_find_files`."""
    archive, inside = split_archive_path(path) or (path, "")
    if inside and GameFiles([archive]).has(inside):
        return ([(path, Path(path.name))] if path.suffix.lower() in suffixes else []), []
    files = GameFiles([path])
    names = [name.split("/") for name in files.walk("", *suffixes)]
    shown = [parts for parts in names if not any(part.startswith(".") for part in parts)]
    return [(path.joinpath(*parts), Path(*parts)) for parts in shown], [
        (path, warning) for warning in files.warnings
    ]


def _walk(
    folder: Path, out: Path, suffixes: Sequence[str], onerror: Callable[[OSError], object]
) -> Iterator[Path]:
    """The files in a folder and below it, without hidden ones and the output folder."""
    results = os.path.realpath(out)
    for parent, folders, names in file_info.walk(folder, onerror):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(parent, name)) != results
        ]
        for name in names:
            path = Path(parent, name)
            if not name.startswith(".") and path.suffix.lower() in suffixes and _may_be_read(path):
                yield path


def _may_be_read(path: Path) -> bool:
    """Whether a path is that of a regular file, or cannot be examined: then its conversion fails with the reason."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        # A broken link.
        return False
    except OSError:
        return True


def _source_files(
    tasks: Iterable[Task], settings: Settings, is_result: Callable[[str], bool]
) -> Iterator[Path]:
    """The files that tasks read, except textures: their sources, the animations of models, and what is beside these."""
    listed = FilesByName()
    models = [task.source for task in tasks if role_of(task.source.suffix) is Role.MODEL]
    folders = dict.fromkeys(settings.animation_folder(source) for source in models)
    files = [task.source for task in tasks] + [file for folder in folders for file in animations_in(folder)]
    yield from files
    yield from (file for file in files_beside(files, listed) if not is_result(resolved_path(file)))


def _with_unique_targets(tasks: list[Task], settings: Settings, plan: Plan) -> list[Task]:
    """Tasks with different targets: of files with the same one, such as a.md5mesh and a.md2, all but one get another.

    A task whose target is an input file is refused.
    """
    taken = _files_written_beside(tasks, settings)
    chosen: list[Task] = []
    clashing: list[Task] = []
    for task in sorted(tasks, key=_priority):
        (clashing if path_key(task.target) in taken else chosen).append(task)
        taken.add(path_key(task.target))
    accepted = plan.refuse_sources(chosen)
    # Once all unchanged names are known, so that no new name is one of them.
    numbers: Counter[str] = Counter()
    for task in clashing:
        stem = f"{task.target.stem}_{task.source.suffix[1:].lower()}"
        target = task.target.with_name(stem + task.target.suffix)
        first = path_key(target)
        while path_key(target) in taken or target in plan.sources:
            numbers[first] += 1
            target = task.target.with_name(f"{stem}_{numbers[first] + 1}{task.target.suffix}")
        taken.add(path_key(target))
        accepted.append(replace(task, target=target))
    return sorted(accepted, key=lambda task: task.name)


def _files_written_beside(tasks: Iterable[Task], settings: Settings) -> set[str]:
    """The keys of the files that models may write beside themselves under their own name."""
    family = FAMILY_FORMATS.get(settings.format)
    if family is None or family.has_one_file:
        return set()
    suffixes = {family.suffix_beside(settings.game)} - {""}
    if settings.animations != NO_ANIMATIONS:
        suffixes |= {kind.suffix for kind in family.kinds if kind.role is Role.ANIMATION}
    models = [task.target for task in tasks if role_of(task.target.suffix) is Role.MODEL]
    return {path_key(target.with_suffix(suffix)) for target in models for suffix in suffixes}


def _priority(task: Task) -> tuple[bool, int, str]:
    """A sort key: of tasks with the same target, the first keeps it. Files that keep their format, then models."""
    suffix = task.source.suffix.lower()
    return suffix != task.target.suffix, INPUT_SUFFIXES.index(suffix), task.name


def _with_prefixes(tasks: list[Task], settings: Settings) -> list[Task]:
    """Tasks with the model's name as a prefix for animations, where several models write to one folder."""
    family = FAMILY_FORMATS.get(settings.format)
    if family is None or family.has_one_file:
        return tasks
    folders: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        role = role_of(task.target.suffix)
        if role is Role.ANIMATION or (role is Role.MODEL and settings.animations != NO_ANIMATIONS):
            folders[path_key(task.target.parent)].append(task)
    prefixes: dict[Path, str] = {}
    for writers in folders.values():
        if len(writers) > 1:
            prefixes |= _prefixes(writers)
    return [replace(task, prefix=prefixes.get(task.target, "")) for task in tasks]


def _prefixes(writers: list[Task]) -> dict[Path, str]:
    """The prefix for animations of each model in a folder, by target.

    No prefix starts with another one, nor does the name of an animation that is converted by itself, so that two
    models never write the same file, whatever their animations are called: `imp` with `b_walk` becomes `imp__b_walk`
    next to `imp_b` with `walk`.
    """
    models = [task for task in writers if role_of(task.target.suffix) is not Role.ANIMATION]
    taken = [path_key(task.target) for task in writers if role_of(task.target.suffix) is Role.ANIMATION]
    prefixes: tuple[str, ...] = ()
    result = {}
    for task in sorted(models, key=lambda task: (-len(task.target.stem), task.name)):
        stem = task.target.stem
        # A number, as a model `imp_` would clash with `imp` for any number of underscores.
        candidates = chain((f"{stem}_", f"{stem}__"), (f"{stem}_{number}_" for number in count(2)))
        for prefix in candidates:
            key = path_key(task.target.with_name(prefix))
            if not key.startswith(prefixes) and not any(one.startswith(key) for one in taken):
                break
        prefixes += (key,)
        taken.append(key)
        result[task.target] = prefix
    return result


def plan_characters(
    patterns: Iterable[str], out: Path, settings: Settings, is_result: Callable[[str], bool]
) -> Plan:
    """The conversion of the characters of a game whose names fit one of some patterns, such as `monster_*`."""
    catalogue.cache_clear()
    found = catalogue(settings.game_data)
    for warning in found.warnings:
        file_info.write(sys.stderr, f"warning: {file_info.on_one_line(warning)}\n")
    plan = Plan()
    taken: set[str] = set()
    read: set[Path] = set()
    for entry in found.matching(patterns):
        file = found.files.path(entry.path)
        if file is not None and is_result(resolved_path(file)):
            continue
        task = _character_task(entry, out, settings, taken)
        try:
            character = found.character(entry)
        except FileReadError as error:
            plan.refuse(task, str(error))
            continue
        if character.parts:
            read |= character_files(character, found.files)
            plan.tasks.append(task)
        else:
            plan.refuse(task, f"its model is missing: {', '.join(character.missing)}")
    plan.sources = FileSet(read)
    plan.tasks = plan.refuse_sources(plan.tasks)
    return plan


def _character_task(entry: CatalogueEntry, out: Path, settings: Settings, taken: set[str]) -> Task:
    """The task of an entry. Each has a target of its own, and a folder if animations are files of their own."""
    name = split_extension(entry.name)[0] if entry.name == entry.path else entry.name
    clean = clean_name(name)
    *folders, stem = [
        _FORBIDDEN.sub("_", part).rstrip(". ") or "_"
        for part in (clean.path or clean.base or "character").split("/")
    ]
    family = FAMILY_FORMATS.get(settings.format)
    suffix = family.model_suffix if family is not None else f".{settings.format}"
    # Animations of the same name belong to different characters.
    has_folder = family is not None and not family.has_one_file
    with_kind = f"{stem}_{entry.kind.value.replace(' ', '_')}"
    for one in chain((stem, with_kind), (f"{with_kind}_{number}" for number in count(2))):
        target = out.joinpath(*folders, *([one] if has_folder else []), f"{one}{suffix}")
        if path_key(target) not in taken:
            break
    taken.add(path_key(target))
    kind = entry.kind.value
    return Task(Path(settings.game_data[0]), target, f"{kind} {entry.name}", character=entry.name, kind=kind)
