"""The plan of a run: its sources and their targets, the same on every machine that sees the same files."""

from __future__ import annotations

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from ..io_blender.options import NO_ANIMATIONS
from ..io_common import names
from ..io_common.asset_library import catalogs_of
from ..io_common.catalogue import CatalogueEntry
from ..io_common.family import Role
from ..io_common.game_tree.archives import FilesByName, split_archive_path
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.tree import GameTree
from ..io_common.names import clean_name, split_extension
from . import tasks
from .info import print_line, walk
from .tasks import ASSETS, BLEND, FAILED, FAMILY_FORMATS, FileSet, Outcome, Records, Task


class Plan:
    """What a run does, in an order that does not depend on the machine; skips results of earlier runs."""

    def __init__(self, records: Records) -> None:
        self.tasks: list[Task] = []
        self.refused: list[tuple[Task, Outcome]] = []  # what cannot be converted, with the reasons
        self._records = records
        self._out = records.out
        self._settings = records.settings
        self._family = FAMILY_FORMATS.get(records.settings.format)
        self._has_animation_files = self._family is not None and not self._family.has_one_file

    def add_files(self, inputs: Sequence[str]) -> None:
        """Adds files, and those in folders and archives."""
        planned: dict[str, Task] = {}
        for path in map(Path, dict.fromkeys(inputs)):
            for file, relative, reason in self._find_files(path):
                if reason:
                    self._refuse(Task(file, self._out, str(file)), reason)
                else:
                    target = self._out / relative.with_name(relative.stem + self._result_suffix(file))
                    planned.setdefault(tasks.resolved_path(file), Task(file, target, str(file)))
        named = [task.source for task, _ in self.refused]
        self._records.sources = FileSet([*self._files_read(planned.values()), *named])
        self.tasks = self._with_prefixes(self._with_unique_targets(list(planned.values())))

    def add_characters(self, patterns: Iterable[str]) -> None:
        """Adds the characters of a game whose names fit one of some patterns, such as `monster_*`."""
        tasks.catalogue.cache_clear()
        found = tasks.catalogue(self._settings.game_data)
        for warning in found.files.warnings:
            print_line(f"warning: {warning}")
        taken: set[str] = set()
        read: set[Path] = set()
        planned = []
        models = []
        for entry in found.matching(patterns):
            file = found.files.path(entry.path)
            if file is not None and self._records.is_earlier_result(tasks.resolved_path(file)):
                continue
            task = self._character_task(entry, taken)
            try:
                character = found.character(entry)
            except FileReadError as error:
                self._refuse(task, str(error))
                continue
            if character.parts:
                read |= tasks.character_files(character, found.files)
                planned.append(task)
                models.append(character.parts[0].model)
            else:
                self._refuse(task, f"its model is missing: {', '.join(character.missing)}")
        if self._settings.format == ASSETS:
            planned = [replace(task, catalog=one) for task, one in zip(planned, catalogs_of(models), strict=True)]
        self._records.sources = FileSet(read)
        self.tasks = self._without_sources(planned)

    def _refuse(self, task: Task, reason: str) -> None:
        self.refused.append((task, Outcome(FAILED, reason)))

    def _without_sources(self, planned: Iterable[Task]) -> list[Task]:
        """The tasks that overwrite no input file; the others are refused."""
        accepted = []
        for task in planned:
            if task.target in self._records.sources:
                self._refuse(task, f"{task.target} is an input file of this run: choose another output folder")
            else:
                accepted.append(task)
        return accepted

    def _find_files(self, path: Path) -> Iterator[tuple[Path, Path, str]]:
        """The files in an input, each with its path within it, and why it cannot be converted; empty if it can."""
        suffixes = self._source_suffixes()
        searched = [suffix for suffix in suffixes if tasks.role_of(suffix) is not Role.ANIMATION]
        if is_in_archive(path):
            yield from _find_members(path, [suffix for suffix in searched if suffix != BLEND])
        elif os.path.isdir(path):
            unreadable: list[OSError] = []
            has_results = self._out.exists()
            for parent, folders, names in walk(path, unreadable.append):
                shown = [name for name in folders if not name.startswith(".")]
                folders[:] = [name for name in shown if not (has_results and self._out.samefile(Path(parent, name)))]
                for file in (Path(parent, name) for name in names if not name.startswith(".")):
                    if file.suffix.lower() in searched and self._may_be_read(file) and tasks.is_task(file):
                        yield file, file.relative_to(path), ""
            for error in unreadable:
                yield Path(error.filename), Path(), "the folder cannot be read"
        elif not os.path.isfile(path):
            yield path, Path(), "not a regular file"
        elif path.suffix.lower() not in tasks.INPUT_SUFFIXES:
            yield path, Path(), f"not one of {', '.join(tasks.INPUT_SUFFIXES)}"
        elif path.suffix.lower() not in suffixes:
            yield path, Path(), f"only {', '.join(suffixes)} can be converted to {self._settings.format}"
        else:
            yield path, Path(path.name), ""

    def _may_be_read(self, path: Path) -> bool:
        """Whether a path gets a task: a regular file, no earlier result; if it cannot be examined, the task fails."""
        try:
            is_file = stat.S_ISREG(path.stat().st_mode)
        except OSError as error:
            # Broken links are left out.
            is_file = not isinstance(error, FileNotFoundError)
        return is_file and not self._records.is_earlier_result(tasks.resolved_path(path))

    def _source_suffixes(self) -> tuple[str, ...]:
        """The suffixes of what can be converted to the format; for that of a family, .blend files and all models."""
        if self._family is None:
            return tasks.INPUT_SUFFIXES[:-1]
        chosen = {BLEND, *self._family.suffixes}
        return tuple(one for one in tasks.INPUT_SUFFIXES if one in chosen or tasks.role_of(one) is Role.MODEL)

    def _result_suffix(self, source: Path) -> str:
        """The suffix of a converted file; a family's own animations and cameras keep theirs."""
        if self._settings.format == ASSETS:
            return BLEND
        if self._family is None:
            return f".{self._settings.format}"
        suffix = source.suffix.lower()
        return suffix if suffix in self._family.suffixes else self._family.suffixes[0]

    def _files_read(self, planned: Iterable[Task]) -> list[Path]:
        models = [task.source for task in planned if tasks.role_of(task.source.suffix) is Role.MODEL]
        folders = dict.fromkeys(map(self._settings.animation_folder, models))
        files = [task.source for task in planned] + [file for one in folders for file in tasks.animations_in(one)]
        companions = tasks.companion_files(files, FilesByName())
        return files + [file for file in companions if not self._records.is_earlier_result(tasks.resolved_path(file))]

    def _with_unique_targets(self, planned: list[Task]) -> list[Task]:
        """The tasks with targets of their own: if two share one, such as a.md5mesh and a.md2, one of them keeps it."""
        taken = self._companion_keys(planned)
        chosen: list[Task] = []
        clashing: list[Task] = []
        for task in sorted(planned, key=_priority):
            (clashing if tasks.path_key(task.target) in taken else chosen).append(task)
            taken.add(tasks.path_key(task.target))
        accepted = self._without_sources(chosen)
        # Once all unchanged names are known, so that no new name is one of them.
        numbers: Counter[str] = Counter()
        for task in clashing:
            stem = f"{task.target.stem}_{task.source.suffix[1:].lower()}"
            target = task.target.with_name(stem + task.target.suffix)
            first = tasks.path_key(target)
            while tasks.path_key(target) in taken or target in self._records.sources:
                numbers[first] += 1
                target = task.target.with_name(f"{stem}_{numbers[first] + 1}{task.target.suffix}")
            taken.add(tasks.path_key(target))
            accepted.append(replace(task, target=target))
        return sorted(accepted, key=lambda task: task.name)

    def _companion_keys(self, planned: Iterable[Task]) -> set[str]:
        if self._family is None or not self._has_animation_files:
            return set()
        suffixes = {self._family.required_suffix(self._settings.game)} - {""}
        if self._settings.animations != NO_ANIMATIONS:
            suffixes |= {kind.suffix for kind in self._family.kinds if kind.role is Role.ANIMATION}
        models = [task.target for task in planned if tasks.role_of(task.target.suffix) is Role.MODEL]
        return {tasks.path_key(target.with_suffix(suffix)) for target in models for suffix in suffixes}

    def _with_prefixes(self, planned: list[Task]) -> list[Task]:
        """Tasks with the model's name as a prefix for animations, where several models write to one folder."""
        if not self._has_animation_files:
            return planned
        folders: dict[str, list[Task]] = defaultdict(list)
        for task in planned:
            role = tasks.role_of(task.target.suffix)
            if role is Role.ANIMATION or (role is Role.MODEL and self._settings.animations != NO_ANIMATIONS):
                folders[tasks.path_key(task.target.parent)].append(task)
        prefixes: dict[Path, str] = {}
        for writers in folders.values():
            if len(writers) > 1:
                prefixes |= _prefixes(writers)
        return [replace(task, prefix=prefixes.get(task.target, "")) for task in planned]

    def _character_task(self, entry: CatalogueEntry, taken: set[str]) -> Task:
        """The task of an entry, with a target of its own, and a folder of its own if animations are separate files."""
        name = clean_name(split_extension(entry.name)[0] if entry.name == entry.path else entry.name)
        parts = (name.path or name.base or "character").split("/")
        *folders, stem = [names.for_files(part, "_") for part in parts]
        kind = entry.kind.value
        with_kind = f"{stem}_{kind.replace(' ', '_')}"
        for one in chain((stem, with_kind), (f"{with_kind}_{number}" for number in count(2))):
            # Animations of the same name belong to different characters.
            folder = self._out.joinpath(*folders, *([one] if self._has_animation_files else []))
            target = folder / f"{one}{self._result_suffix(Path())}"
            if tasks.path_key(target) not in taken:
                break
        taken.add(tasks.path_key(target))
        source = Path(self._settings.game_data[0])
        return Task(source, target, f"{kind} {entry.name}", character=entry.name, kind=kind)


def is_in_archive(path: Path) -> bool:
    """Whether a path is an archive, or leads to a file or folder in one that exists."""
    found = split_archive_path(path)
    if found is None or not found[1]:
        return found is not None
    return GameTree([found[0]]).has(found[1]) or bool(GameTree([path]).listing())


def _find_members(path: Path, suffixes: Sequence[str]) -> Iterator[tuple[Path, Path, str]]:
    """The files of an archive, of a folder in one, or the one that a path leads to; see `Plan._find_files`."""
    archive, inside = split_archive_path(path) or (path, "")
    if inside and GameTree([archive]).has(inside):
        if path.suffix.lower() in suffixes:
            yield path, Path(path.name), ""
        return
    files = GameTree([path])
    for parts in (name.split("/") for name in files.walk("", *suffixes)):
        if not any(part.startswith(".") for part in parts) and tasks.is_task(path.joinpath(*parts)):
            yield path.joinpath(*parts), Path(*parts), ""
    for warning in files.warnings:
        yield path, Path(), warning


def _priority(task: Task) -> tuple[bool, int, str]:
    """A sort key: the first of tasks with one target keeps it. First come files that keep their format, then models."""
    suffix = task.source.suffix.lower()
    return suffix != task.target.suffix, tasks.INPUT_SUFFIXES.index(suffix), task.name


def _prefixes(writers: list[Task]) -> dict[Path, str]:
    """The prefix for animations of each model in a folder, by target: `imp` with `b_walk` is `imp__b_walk`."""
    # No prefix starts another one, or the name of an animation converted by itself: no two models write one file.
    models = [task for task in writers if tasks.role_of(task.target.suffix) is Role.MODEL]
    taken = [tasks.path_key(task.target) for task in writers if tasks.role_of(task.target.suffix) is Role.ANIMATION]
    prefixes: tuple[str, ...] = ()
    result = {}
    for task in sorted(models, key=lambda task: (-len(task.target.stem), task.name)):
        stem = task.target.stem
        # A number, as a model `imp_` would clash with `imp` for any number of underscores.
        candidates = chain((f"{stem}_", f"{stem}__"), (f"{stem}_{number}_" for number in count(2)))
        for prefix in candidates:
            key = tasks.path_key(task.target.with_name(prefix))
            if not key.startswith(prefixes) and not any(one.startswith(key) for one in taken):
                break
        prefixes += (key,)
        taken.append(key)
        result[task.target] = prefix
    return result
