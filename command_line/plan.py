"""The plan of a run: its sources and their targets, the same on every machine that sees the same files."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from ..io_common.family import Role
from ..io_common.files import file_info
from .archives import is_in_archive, members
from .formats import BLEND, FAMILY_FORMATS, INPUT_SUFFIXES, result_suffix, role_of, source_suffixes
from .settings import FAILED, NO_ANIMATIONS, Outcome, Settings, Task
from .source_files import Sources, path_key, resolved_path, source_files


def make_plan(
    inputs: Sequence[str], out: Path, settings: Settings, results: Container[str]
) -> tuple[list[Task], list[tuple[Task, Outcome]], Sources]:
    """Finds the files to convert and their targets.

    `results` holds the resolved paths of what earlier runs wrote, which is not converted again. Returns the tasks in an
    order that does not depend on the machine; the files that cannot be converted, with reasons; and the set of all
    input files, which must not be overwritten.
    """
    tasks: dict[str, Task] = {}
    refused: list[tuple[Task, Outcome]] = []
    for given in dict.fromkeys(inputs):
        path = Path(given)
        if is_in_archive(path):
            found, reasons = members(
                path, [suffix for suffix in _searched_suffixes(settings) if suffix != BLEND]
            )
            refused += [_refuse(Task(path, out / path.name, given), reason) for reason in reasons]
            for file, relative in found:
                tasks.setdefault(str(file), _task(file, relative, out, settings))
            continue
        if os.path.isdir(path):
            unreadable: list[OSError] = []
            for file in _walk(path, out, settings, unreadable.append):
                if resolved_path(file) not in results:
                    tasks.setdefault(resolved_path(file), _task(file, file.relative_to(path), out, settings))
            for error in unreadable:
                closed = Path(error.filename)
                refused.append(
                    _refuse(Task(closed, out / closed.name, str(closed)), "the folder cannot be read")
                )
            continue
        reason = _reason_to_refuse(path, settings)
        if reason:
            refused.append(_refuse(Task(path, out / path.name, given), reason))
        else:
            tasks.setdefault(resolved_path(path), _task(path, Path(path.name), out, settings))
    named = (task.source for task, _ in refused)
    sources = Sources(chain(source_files(tasks.values(), settings, results), named))
    unique = _with_unique_targets(list(tasks.values()), settings, sources, refused)
    return _with_prefixes(unique, settings), refused, sources


def shard(tasks: Sequence[Task], part: int, parts: int) -> list[Task]:
    """Every `parts`-th task, starting with the `part`-th, counted from 1."""
    return list(tasks[part - 1 :: parts])


def _reason_to_refuse(path: Path, settings: Settings) -> str:
    """Why a file that the user named cannot be converted; empty if it can."""
    suffix = path.suffix.lower()
    if not os.path.isfile(path):
        return "not a regular file"
    if suffix not in INPUT_SUFFIXES:
        return f"not one of {', '.join(INPUT_SUFFIXES)}"
    suffixes = source_suffixes(settings.format)
    if suffix not in suffixes:
        return f"only {', '.join(suffixes)} can be converted to {settings.format}"
    return ""


def _searched_suffixes(settings: Settings) -> list[str]:
    """The suffixes of files that are looked for in folders and archives."""
    return [suffix for suffix in source_suffixes(settings.format) if role_of(suffix) is not Role.ANIMATION]


def _walk(
    folder: Path, out: Path, settings: Settings, onerror: Callable[[OSError], object]
) -> Iterable[Path]:
    """The sources in a folder, searched recursively, without animations: those are converted with their models.

    `onerror` gets the error of each folder that cannot be read.
    """
    suffixes = _searched_suffixes(settings)
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


def _task(source: Path, relative: Path, out: Path, settings: Settings) -> Task:
    target = out / relative.with_name(relative.stem + result_suffix(source.suffix, settings.format))
    return Task(source, target, str(source))


def _with_unique_targets(
    tasks: list[Task], settings: Settings, sources: Sources, refused: list[tuple[Task, Outcome]]
) -> list[Task]:
    """Tasks with different targets: of files with the same one, such as a.md5mesh and a.md2, all but one get another.

    A task whose target is an input file goes to `refused`.
    """
    taken = _files_beside(tasks, settings)
    accepted, clashing = [], []
    for task in sorted(tasks, key=_priority):
        if path_key(task.target) in taken:
            clashing.append(task)
            continue
        taken.add(path_key(task.target))
        if task.target in sources:
            refused.append(
                _refuse(task, f"{task.target} is an input file of this run: choose another output folder")
            )
        else:
            accepted.append(task)
    # Once all unchanged names are known, so that no new name is one of them.
    numbers: Counter[str] = Counter()
    for task in clashing:
        stem = f"{task.target.stem}_{task.source.suffix[1:].lower()}"
        target = task.target.with_name(stem + task.target.suffix)
        first = path_key(target)
        while path_key(target) in taken or target in sources:
            numbers[first] += 1
            target = task.target.with_name(f"{stem}_{numbers[first] + 1}{task.target.suffix}")
        taken.add(path_key(target))
        accepted.append(replace(task, target=target))
    return sorted(accepted, key=lambda task: task.name)


def _files_beside(tasks: Iterable[Task], settings: Settings) -> set[str]:
    """The keys of the files that models may write beside themselves under their own name."""
    family = FAMILY_FORMATS.get(settings.format)
    if family is None or family.has_one_file:
        return set()
    suffixes = {family.suffix_beside(settings.game)} - {""}
    if settings.animations != NO_ANIMATIONS:
        suffixes |= {kind.suffix for kind in family.kinds if kind.role is Role.ANIMATION}
    return {
        path_key(task.target.with_suffix(suffix))
        for task in tasks
        if role_of(task.target.suffix) is Role.MODEL
        for suffix in suffixes
    }


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
    taken = sorted(path_key(task.target) for task in writers if role_of(task.target.suffix) is Role.ANIMATION)
    prefix_keys: set[str] = set()
    result = {}
    models = [task for task in writers if role_of(task.target.suffix) is not Role.ANIMATION]
    for task in sorted(models, key=lambda task: (-len(task.target.stem), task.name)):
        stem = task.target.stem
        # A number, as a model `imp_` would clash with `imp` for any number of underscores.
        candidates = chain((f"{stem}_", f"{stem}__"), (f"{stem}_{number}_" for number in count(2)))
        prefix = next(
            one
            for one in candidates
            if not _has_common_prefix(path_key(task.target.with_name(one)), taken, prefix_keys)
        )
        prefix_key = path_key(task.target.with_name(prefix))
        prefix_keys.add(prefix_key)
        insort(taken, prefix_key)
        result[task.target] = prefix
    return result


def _has_common_prefix(text: str, taken: list[str], prefixes: set[str]) -> bool:
    """Whether one of the sorted texts in `taken` starts with a text, or the text with one of the prefixes."""
    index = bisect_left(taken, text)
    if index < len(taken) and taken[index].startswith(text):
        return True
    return any(text[:length] in prefixes for length in range(len(text)))


def _refuse(task: Task, reason: str) -> tuple[Task, Outcome]:
    return task, Outcome(FAILED, reason)
