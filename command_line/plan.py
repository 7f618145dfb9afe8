"""Which files are to be converted, and where to: the same on every machine that sees the same files."""

from __future__ import annotations

import os
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from ..io_common.family import Role
from .formats import FAMILY_FORMATS, INPUT_SUFFIXES, result_suffix, role_of, source_suffixes
from .settings import FAILED, NO_ANIMATIONS, Outcome, Settings, Task
from .sources import Sources, key, place, read_by


def make_plan(
    inputs: Sequence[str], out: Path, settings: Settings, results: Iterable[Path]
) -> tuple[list[Task], list[tuple[Task, Outcome]], Sources]:
    """Finds what is to be converted.

    Args:
        inputs: files and folders, as the user gave them.
        out: the folder of the results.
        settings: how files are converted.
        results: what lies in that folder from earlier runs, which is no source again.

    Returns:
        The tasks in an order that does not depend on the machine; those that cannot be done, with why; and the files
        that are read, none of which is written over.
    """
    tasks: dict[str, Task] = {}
    refused: list[tuple[Task, Outcome]] = []
    known = {place(path) for path in results}
    for given in dict.fromkeys(inputs):
        path = Path(given)
        if path.is_dir():
            for file in _walk(path, out, settings):
                if place(file) not in known:
                    tasks.setdefault(place(file), _task(file, file.relative_to(path), out, settings))
            continue
        reason = _unfit(path, settings)
        if reason:
            refused.append(_refuse(Task(path, out / path.name, given), reason))
        else:
            tasks.setdefault(place(path), _task(path, Path(path.name), out, settings))
    sources = Sources(read_by(tasks.values(), settings))
    return _prefixed(_without_clashes(list(tasks.values()), sources, refused), settings), refused, sources


def shard(tasks: Sequence[Task], part: int, parts: int) -> list[Task]:
    """Every `parts`-th task, beginning with the `part`-th, counted from 1."""
    return list(tasks[part - 1 :: parts])


def _unfit(path: Path, settings: Settings) -> str:
    """Why a file that was named cannot be converted; nothing if it can."""
    ending = path.suffix.lower()
    if not path.exists():
        return "there is no such file or folder"
    if not path.is_file():
        return "it is no file"
    if ending not in INPUT_SUFFIXES:
        return f"not one of {', '.join(INPUT_SUFFIXES)}"
    suffixes = source_suffixes(settings.format)
    if ending not in suffixes:
        return f"{settings.format} is made of {', '.join(suffixes)}"
    return ""


def _walk(folder: Path, out: Path, settings: Settings) -> Iterable[Path]:
    """The sources in a folder and the folders in it; animations travel with their models."""
    endings = [ending for ending in source_suffixes(settings.format) if role_of(ending) is not Role.ANIMATION]
    results = os.path.realpath(out)
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(os.path.join(parent, name)) != results
        )
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and path.suffix.lower() in endings and path.is_file():
                yield path


def _task(source: Path, relative: Path, out: Path, settings: Settings) -> Task:
    target = out / relative.with_name(relative.stem + result_suffix(source.suffix, settings.format))
    return Task(source, target, source.as_posix())


def _without_clashes(tasks: list[Task], sources: Sources, refused: list[tuple[Task, Outcome]]) -> list[Task]:
    """Of files that would have the same result, such as a.md5mesh and a.md2, one keeps the name."""
    taken: set[str] = set()
    kept, others = [], []
    for task in sorted(tasks, key=_claim):
        if key(task.target) in taken:
            others.append(task)
            continue
        taken.add(key(task.target))
        if task.target in sources:
            refused.append(_refuse(task, f"{task.target} is a source itself: use another folder"))
        else:
            kept.append(task)
    # After those that keep theirs: no other name may be one of them.
    numbers: Counter[str] = Counter()
    for task in others:
        stem = f"{task.target.stem}_{task.source.suffix[1:].lower()}"
        target = task.target.with_name(stem + task.target.suffix)
        first = key(target)
        while key(target) in taken or target in sources:
            numbers[first] += 1
            target = task.target.with_name(f"{stem}_{numbers[first] + 1}{task.target.suffix}")
        taken.add(key(target))
        kept.append(replace(task, target=target))
    return sorted(kept, key=lambda task: task.name)


def _claim(task: Task) -> tuple[bool, int, str]:
    """Who keeps a name: what stays in its format, then models before the rest."""
    ending = task.source.suffix.lower()
    return ending != task.target.suffix, INPUT_SUFFIXES.index(ending), task.name


def _prefixed(tasks: list[Task], settings: Settings) -> list[Task]:
    """Where several files of a folder may have animations of the same name, has them bear the model's as well."""
    family = FAMILY_FORMATS.get(settings.format)
    if family is None or family.has_one_file:
        return tasks
    folders: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        role = role_of(task.target.suffix)
        if role is Role.ANIMATION or (role is Role.MODEL and settings.animations != NO_ANIMATIONS):
            folders[key(task.target.parent)].append(task)
    prefixes: dict[Path, str] = {}
    for writers in folders.values():
        if len(writers) > 1:
            prefixes |= _prefixes(writers)
    return [replace(task, prefix=prefixes.get(task.target, "")) for task in tasks]


def _prefixes(writers: list[Task]) -> dict[Path, str]:
    """For the target of each model of a folder what the names of its animations begin with.

    No name of one model's animation is that of another's, whatever the animations are called: no beginning begins with
    another one, nor does an animation that is converted by itself. So `imp` with `b_walk`, beside `imp_b` with `walk`,
    becomes `imp__b_walk`.
    """
    taken = sorted(key(task.target) for task in writers if role_of(task.target.suffix) is Role.ANIMATION)
    beginnings: set[str] = set()
    result = {}
    models = [task for task in writers if role_of(task.target.suffix) is not Role.ANIMATION]
    for task in sorted(models, key=lambda task: (-len(task.target.stem), task.name)):
        stem = task.target.stem
        # Of an `imp_` the name begins as that of `imp` with any number of underscores does.
        candidates = chain((f"{stem}_", f"{stem}__"), (f"{stem}_{number}_" for number in count(2)))
        prefix = next(
            one for one in candidates if not _begins_alike(key(task.target.with_name(one)), taken, beginnings)
        )
        beginning = key(task.target.with_name(prefix))
        beginnings.add(beginning)
        insort(taken, beginning)
        result[task.target] = prefix
    return result


def _begins_alike(text: str, taken: list[str], beginnings: set[str]) -> bool:
    """Whether one of the texts in alphabetical order begins with a text, or it with one of the beginnings."""
    at = bisect_left(taken, text)
    if at < len(taken) and taken[at].startswith(text):
        return True
    return any(text[:length] in beginnings for length in range(len(text)))


def _refuse(task: Task, reason: str) -> tuple[Task, Outcome]:
    return task, Outcome(FAILED, reason)
