"""Which files are to be converted, and where to: the same on every machine that sees the same files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .settings import FAILED, Outcome, Settings, Task

# In a folder, animations travel with their models; a .blend is a source only of a game's format.
_MODELS = (".md5mesh", ".md2")
_IN_FOLDERS = {
    "blend": (*_MODELS, ".md5camera"),
    "glb": (*_MODELS, ".md5camera"),
    "fbx": (*_MODELS, ".md5camera"),
    "md5": (*_MODELS, ".md5camera", ".blend"),
    "md2": (*_MODELS, ".blend"),
}
_NAMED = (*_MODELS, ".md5anim", ".md5camera", ".blend")
_KEEPS_ENDING = (".md5anim", ".md5camera")


def make_plan(
    inputs: Sequence[str], out: Path, settings: Settings
) -> tuple[list[Task], list[tuple[Task, Outcome]]]:
    """Finds what is to be converted.

    Args:
        inputs: files and folders, as the user gave them.
        out: the folder of the results.
        settings: how files are converted.

    Returns:
        The tasks in an order that does not depend on the machine, and those that cannot be done, with why.
    """
    tasks: list[Task] = []
    refused: list[tuple[Task, Outcome]] = []
    for given in dict.fromkeys(inputs):
        path = Path(given)
        if path.is_dir():
            tasks += [
                _task(file, file.relative_to(path), out, settings) for file in _walk(path, out, settings)
            ]
        elif not path.exists():
            refused.append(_refuse(Task(path, out, given), "there is no such file or folder"))
        elif path.suffix.lower() not in _NAMED:
            refused.append(_refuse(Task(path, out, given), f"not one of {', '.join(_NAMED)}"))
        else:
            tasks.append(_task(path, Path(path.name), out, settings))
    # A file that was named twice is one.
    tasks = list({task.source.resolve(): task for task in tasks}.values())
    return _without_clashes(tasks, refused), refused


def shard(tasks: Sequence[Task], part: int, parts: int) -> list[Task]:
    """Every `parts`-th task, beginning with the `part`-th, counted from 1."""
    return list(tasks[part - 1 :: parts])


def _walk(folder: Path, out: Path, settings: Settings) -> Iterable[Path]:
    endings = _IN_FOLDERS[settings.format]
    results = out.resolve()
    for place, folders, names in os.walk(folder):
        # Results among the sources are no sources.
        folders[:] = [
            name for name in folders if not name.startswith(".") and Path(place, name).resolve() != results
        ]
        yield from (Path(place, name) for name in names if Path(name).suffix.lower() in endings)


def _task(source: Path, place: Path, out: Path, settings: Settings) -> Task:
    return Task(source, out / place.with_name(place.stem + _ending(source, settings)), source.as_posix())


def _ending(source: Path, settings: Settings) -> str:
    ending = source.suffix.lower()
    if settings.format == "md5":
        return ending if ending in _KEEPS_ENDING else ".md5mesh"
    return f".{settings.format}"


def _without_clashes(tasks: list[Task], refused: list[tuple[Task, Outcome]]) -> list[Task]:
    """Of files that would have the same result, such as a.md5mesh and a.md2, one keeps the name."""
    taken: set[str] = set()
    kept = []
    for task in sorted(tasks, key=_claim):
        target = task.target
        if _key(target) in taken:
            target = target.with_name(f"{target.stem}_{task.source.suffix[1:].lower()}{target.suffix}")
        if _key(target) in taken:
            refused.append(_refuse(task, f"another file becomes {target} already: use another folder"))
        elif target.resolve() == task.source.resolve():
            refused.append(_refuse(task, "it would be written over itself: use another folder"))
        else:
            taken.add(_key(target))
            kept.append(Task(task.source, target, task.name))
    return sorted(kept, key=lambda task: task.name)


def _claim(task: Task) -> tuple[bool, int, str]:
    """Who keeps a name: what stays in its format, then models before the rest."""
    ending = task.source.suffix.lower()
    return ending != task.target.suffix, _NAMED.index(ending), task.name


def _key(path: Path) -> str:
    """Many file systems take names that differ in case only for one."""
    return str(path).lower()


def _refuse(task: Task, reason: str) -> tuple[Task, Outcome]:
    return task, Outcome(FAILED, reason)
