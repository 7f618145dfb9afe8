"""Which files are to be converted, and where to: the same on every machine that sees the same files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from .settings import FAILED, NO_ANIMATIONS, Outcome, Settings, Task

ANIMATION = ".md5anim"
_CAMERA, _BLEND = ".md5camera", ".blend"
_MODELS = (".md5mesh", ".md2")
_NAMED = (*_MODELS, ANIMATION, _CAMERA, _BLEND)
# What each format is made of. A .blend is a source of the games' formats only.
_SOURCES = {
    "blend": (*_MODELS, ANIMATION, _CAMERA),
    "glb": (*_MODELS, ANIMATION, _CAMERA),
    "fbx": (*_MODELS, ANIMATION, _CAMERA),
    "md5": _NAMED,
    "md2": (*_MODELS, _BLEND),
}
_KEEPS_ENDING = (ANIMATION, _CAMERA)


def make_plan(
    inputs: Sequence[str], out: Path, settings: Settings, results: Iterable[Path]
) -> tuple[list[Task], list[tuple[Task, Outcome]]]:
    """Finds what is to be converted.

    Args:
        inputs: files and folders, as the user gave them.
        out: the folder of the results.
        settings: how files are converted.
        results: what lies in that folder from earlier runs, which is no source again.

    Returns:
        The tasks in an order that does not depend on the machine, and those that cannot be done, with why.
    """
    tasks: dict[str, Task] = {}
    refused: list[tuple[Task, Outcome]] = []
    known = {os.path.abspath(path) for path in results}
    for given in dict.fromkeys(inputs):
        path = Path(given)
        if path.is_dir():
            for file in _walk(path, out, settings):
                if os.path.abspath(file) not in known:
                    tasks.setdefault(
                        os.path.abspath(file), _task(file, file.relative_to(path), out, settings)
                    )
            continue
        reason = _unfit(path, settings)
        if reason:
            refused.append(_refuse(Task(path, out / path.name, given), reason))
        else:
            tasks.setdefault(os.path.abspath(path), _task(path, Path(path.name), out, settings))
    return _prefixed(_without_clashes(list(tasks.values()), refused), settings), refused


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
    if ending not in _NAMED:
        return f"not one of {', '.join(_NAMED)}"
    if ending not in _SOURCES[settings.format]:
        return f"{settings.format} is made of {', '.join(_SOURCES[settings.format])}"
    return ""


def _walk(folder: Path, out: Path, settings: Settings) -> Iterable[Path]:
    """The sources in a folder and the folders in it; animations travel with their models."""
    endings = [ending for ending in _SOURCES[settings.format] if ending != ANIMATION]
    results = os.path.abspath(out)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.abspath(os.path.join(place, name)) != results
        )
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.suffix.lower() in endings and path.is_file():
                yield path


def _task(source: Path, place: Path, out: Path, settings: Settings) -> Task:
    return Task(source, out / place.with_name(place.stem + _ending(source, settings)), source.as_posix())


def _ending(source: Path, settings: Settings) -> str:
    ending = source.suffix.lower()
    if settings.format == "md5":
        return ending if ending in _KEEPS_ENDING else ".md5mesh"
    return f".{settings.format}"


def _without_clashes(tasks: list[Task], refused: list[tuple[Task, Outcome]]) -> list[Task]:
    """Of files that would have the same result, such as a.md5mesh and a.md2, one keeps the name."""
    sources = {os.path.abspath(task.source).lower() for task in tasks}
    taken: set[str] = set()
    kept = []
    for task in sorted(tasks, key=_claim):
        target = task.target
        if _key(target) in taken:
            target = target.with_name(f"{target.stem}_{task.source.suffix[1:].lower()}{target.suffix}")
        if _key(target) in taken:
            refused.append(_refuse(task, f"another file becomes {target} already: use another folder"))
        elif _key(target) in sources:
            refused.append(_refuse(task, f"{target} is a source itself: use another folder"))
        else:
            kept.append(replace(task, target=target))
        taken.add(_key(target))
    return sorted(kept, key=lambda task: task.name)


def _claim(task: Task) -> tuple[bool, int, str]:
    """Who keeps a name: what stays in its format, then models before the rest."""
    ending = task.source.suffix.lower()
    return ending != task.target.suffix, _NAMED.index(ending), task.name


def _prefixed(tasks: list[Task], settings: Settings) -> list[Task]:
    """Where several files of a folder may have animations of the same name, has them bear the model's as well."""
    if settings.format != "md5":
        return tasks
    may_write = [
        task
        for task in tasks
        if task.target.suffix == ANIMATION
        or (task.target.suffix == ".md5mesh" and settings.animations != NO_ANIMATIONS)
    ]
    writers = Counter(_key(task.target.parent) for task in may_write)
    return [
        replace(task, prefix=f"{task.target.stem}_") if writers[_key(task.target.parent)] > 1 else task
        for task in tasks
    ]


def _key(path: Path) -> str:
    """Many file systems take names that differ in case only for one."""
    return os.path.abspath(path).lower()


def _refuse(task: Task, reason: str) -> tuple[Task, Outcome]:
    return task, Outcome(FAILED, reason)
