"""Characters of a game as tasks of a conversion."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from itertools import chain, count
from pathlib import Path

from ..io_common.catalogue import Catalogue, CatalogueEntry, kept_catalogue
from ..io_common.declarations.characters import Character
from ..io_common.files import file_info
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.names import clean_name, split_extension
from ..io_common.game_tree.tree import GameTree
from .formats import FAMILY_FORMATS
from .settings import FAILED, Outcome, Settings, Task
from .source_files import Sources, path_key, resolved_path

# What no system, or not Windows, allows in a name.
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')


@lru_cache(maxsize=1)
def catalogue(game: tuple[str, ...]) -> Catalogue:
    """The list of what is in a game, made once for a run, which may write into its folders.

    `game` holds its folders and archives, the one that overrides the others first.
    """
    return kept_catalogue(game)


def make_plan(
    patterns: Iterable[str], out: Path, settings: Settings, results: Container[str]
) -> tuple[list[Task], list[tuple[Task, Outcome]], Sources]:
    """The characters to convert and their targets; for `results` and what is returned see `plan.make_plan`.

    Patterns are those of names, such as `monster_*`.
    """
    catalogue.cache_clear()
    found = catalogue(settings.game_data)
    for warning in found.warnings:
        file_info.write(sys.stderr, f"warning: {file_info.on_one_line(warning)}\n")
    tasks: list[Task] = []
    refused: list[tuple[Task, Outcome]] = []
    taken: set[str] = set()
    read: set[Path] = set()
    for entry in found.matching(patterns):
        file = found.files.path(entry.path)
        if file is not None and resolved_path(file) in results:
            continue
        task = _task(entry, out, settings, taken)
        try:
            character = found.character(entry)
        except FileReadError as error:
            refused.append((task, Outcome(FAILED, str(error))))
            continue
        if not character.parts:
            missing = ", ".join(character.missing)
            refused.append((task, Outcome(FAILED, f"its model is missing: {missing}")))
            continue
        read.update(_files(character, found.files))
        tasks.append(task)
    sources = Sources(read)
    for task in [task for task in tasks if task.target in sources]:
        reason = f"{task.target} is an input file of this run: choose another output folder"
        refused.append((task, Outcome(FAILED, reason)))
        tasks.remove(task)
    return tasks, refused, sources


def _task(entry: CatalogueEntry, out: Path, settings: Settings, taken: set[str]) -> Task:
    """The task of an entry. Each has a target of its own, and a folder if animations are files of their own."""
    source = Path(settings.game_data[0])
    name = split_extension(entry.name)[0] if entry.name == entry.path else entry.name
    parts = [_FORBIDDEN.sub("_", part).rstrip(". ") or "_" for part in _parts(name)]
    family = FAMILY_FORMATS.get(settings.format)
    suffix = family.model_suffix if family is not None else f".{settings.format}"
    # Animations of the same name belong to different characters.
    has_folder = family is not None and not family.has_one_file
    with_kind = f"{parts[-1]}_{entry.kind.value.replace(' ', '_')}"
    stems = chain((parts[-1], with_kind), (f"{with_kind}_{number}" for number in count(2)))
    targets = (
        out.joinpath(*parts[:-1], *([stem] if has_folder else []), f"{stem}{suffix}") for stem in stems
    )
    target = next(target for target in targets if path_key(target) not in taken)
    taken.add(path_key(target))
    return Task(
        source, target, f"{entry.kind.value} {entry.name}", character=entry.name, kind=entry.kind.value
    )


def _parts(name: str) -> Sequence[str]:
    clean = clean_name(name)
    return (clean.path or clean.base or "character").split("/")


def entry_of(task: Task, settings: Settings) -> CatalogueEntry:
    """The entry of a task; raises FileReadError if it is no longer in the game."""
    for entry in catalogue(settings.game_data).entries:
        if (entry.name, entry.kind.value) == (task.character, task.kind):
            return entry
    raise FileReadError(f"{task.name}: not found in {', '.join(settings.game_data)}")


def state(task: Task, settings: Settings) -> tuple[list[Path], list[str]]:
    """What the result of a task depends on: the files that are there, and the names of those that are missing.

    Raises OSError if the character is no longer in the game.
    """
    found = catalogue(settings.game_data)
    try:
        character = found.character(entry_of(task, settings))
    except FileReadError as error:
        raise OSError(str(error)) from error
    return sorted(_files(character, found.files)), list(character.missing)


def _files(character: Character, files: GameTree) -> set[Path]:
    """The files that a character is made of, besides textures."""
    names = [character.declaration.file] if character.declaration is not None else []
    for part in character.parts:
        names += [part.model, *(file for one in part.animations for file in one.files)]
    return {path for name in dict.fromkeys(names) if (path := files.path(name)) is not None}
