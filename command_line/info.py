"""What is in files and games: the commands ``info``, ``list`` and ``extract``, which need no Blender."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TextIO

from ..families import FAMILIES
from ..io_common.catalogue import CatalogueEntry, kept_catalogue
from ..io_common.errors import message_for, without_path
from ..io_common.family import ANY_GAME, Family, family_of_file, kinds_by_suffix
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.tree import GameTree
from ..io_common.names import fold, path_on_disk
from ..io_common.rules import Description

_KINDS = kinds_by_suffix(FAMILIES)
_TITLES = ("KIND", "NAME", "MESHES", "ANIMATIONS", "SKINS", "DECLARED IN")


def read(options: Namespace) -> int:
    """Runs ``info``, ``list`` or ``extract``; returns the exit status."""
    if options.command == "info":
        return print_info(options.files, as_json=options.json, game=options.game)
    if options.command == "list":
        return print_list(options.game, search=" ".join(options.search), as_json=options.json)
    return extract(options.game, options.files, Path(options.to), force=options.force)


def written(command: Callable[[], int]) -> int:
    """The exit status of a command that prints: 1 if its output is missing or cannot be written."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        sys.stdout, sys.stderr = before[0] or nothing, before[1] or nothing
        try:
            status = command()
            sys.stdout.flush()
        except OSError as error:
            # Python must not write to it again when it exits.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            # Of a pipe, the reader has had enough, as `head` has.
            if not isinstance(error, BrokenPipeError):
                print_line(f"error: the output cannot be written: {error.strerror or error}")
        else:
            return status
        finally:
            sys.stdout, sys.stderr = before
    return 1


def write(out: TextIO, text: str) -> None:
    """Writes a text; characters that the console cannot show become question marks."""
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "replace").decode(encoding))


def on_one_line(text: str) -> str:
    """A text whose unprintable characters are escaped: names of files may contain them."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def print_line(text: str) -> None:
    """Prints a line to standard error."""
    write(sys.stderr, f"{on_one_line(text)}\n")


def print_info(files: Iterable[str], *, as_json: bool, game: str = "") -> int:
    """Prints descriptions of files, also those in folders; returns 1 if one fails or there is none."""
    results: list[dict[str, Any]] = []
    for file in _expanded(files):
        try:
            description = _describe(file, game)
        except (OSError, MemoryError, ValueError) as error:
            reason = without_path(message_for(error, (ValueError,)), file)
            description = Description({"error": reason}, [f"ERROR: {reason}"])
        lines = [*description.lines, *(f"warning: {text}" for text in description.facts.get("warnings", ()))]
        if not as_json:
            gap = "\n" if results else ""
            text_lines = [f"{file}: {lines[0]}", *(f"  {line}" for line in lines[1:])]
            write(sys.stdout, gap + "".join(f"{on_one_line(line)}\n" for line in text_lines))
        results.append({"file": file, **description.facts})
    if as_json:
        write(sys.stdout, json.dumps(results, indent=2) + "\n")
    if not results:
        write(sys.stderr, f"No {', '.join(_KINDS)} file found\n")
    return int(not results or any("error" in facts for facts in results))


def _expanded(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        if not os.path.isdir(file):
            yield file
            continue
        unreadable: list[OSError] = []
        for folder, _, names in walk(file, unreadable.append):
            yield from (os.path.join(folder, name) for name in names if Path(name).suffix.lower() in _KINDS)
        yield from (error.filename for error in unreadable)


def walk(
    folder: str | os.PathLike[str], onerror: Callable[[OSError], object]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """`os.walk` in alphabetical order."""
    for parent, folders, names in os.walk(os.fspath(folder), onerror=onerror):
        folders.sort()
        yield parent, folders, sorted(names)


def _describe(file: str, game: str) -> Description:
    path = Path(file)
    if os.path.isdir(file):
        raise ValueError("the folder cannot be read: permission denied")
    if path.suffix.lower() not in _KINDS:
        # Raises OSError if there is nothing.
        os.lstat(file)
        raise ValueError(f"unknown kind of file; expected {', '.join(_KINDS)}")
    family = family_of_file(FAMILIES, path) or FAMILIES[0]
    kind = next((kind for kind in family.kinds if kind.suffix == path.suffix.lower()), family.kinds[0])
    has_rules = not game or family.has_game(game)
    description = kind.describe(file, game if has_rules else ANY_GAME)
    if has_rules:
        return description
    warning = f"{without_rules(family, game)}: checked as {ANY_GAME}"
    facts = description.facts | {"warnings": [*description.facts["warnings"], warning]}
    return Description(facts, description.lines)


def without_rules(family: Family, game: str) -> str:
    """That there are no rules for the files of a family in a game."""
    return f"{game} has no rules for {family.name.upper()} files"


def print_list(folders: Iterable[str], *, search: str, as_json: bool) -> int:
    """Prints the entries that contain all words of `search`; returns 1 if there are none."""
    catalogue = kept_catalogue(list(folders))
    entries = catalogue.searched(search)
    for warning in catalogue.files.warnings:
        print_line(f"warning: {warning}")
    if as_json:
        write(sys.stdout, json.dumps([_facts(entry) for entry in entries], indent=2) + "\n")
    elif entries:
        write(sys.stdout, _table(entries))
    if not entries:
        what = f"character or model in {', '.join(map(str, catalogue.files.folders))}"
        print_line(f"No {what} matches {search!r}" if search else f"There is no {what}")
    return int(not entries)


def _table(entries: list[CatalogueEntry]) -> str:
    rows = [_TITLES]
    for entry in entries:
        counts = (str(entry.meshes), str(entry.animations), str(entry.skins))
        rows.append((entry.kind.value, entry.name, *counts, entry.path if entry.path != entry.name else ""))
    shown = [[on_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _facts(entry: CatalogueEntry) -> dict[str, object]:
    counts = {"meshes": entry.meshes, "animations": entry.animations, "skins": entry.skins}
    return {
        "kind": entry.kind.value,
        "name": entry.name,
        "path": entry.path,
        **{key: {"found": count.found, "missing": count.missing} for key, count in counts.items()},
    }


def extract(folders: Iterable[str], patterns: Sequence[str], target: Path, *, force: bool) -> int:
    """Writes files by patterns, of which `*` stands for slashes too; returns 1 on failure or if none fit."""
    files = GameTree(folders)
    folded = [fold(pattern) for pattern in patterns]
    count = failed = 0
    for name in files.walk():
        if not any(fnmatchcase(fold(name), pattern) for pattern in folded):
            continue
        # Each file is an import of its own.
        files.budget.renew()
        try:
            file = path_on_disk(target, name)
            reason = _obstacle(file, force=force)
            if not reason:
                files.extract([name], target)
                count += 1
        except (FileReadError, OSError) as error:
            reason = message_for(error, (FileReadError,))
        if reason:
            failed += 1
            print_line(f"failed {name}: {reason}")
    for warning in files.warnings:
        print_line(f"warning: {warning}")
    if not count and not failed:
        print_line(f"No file in {', '.join(map(str, files.folders))} matches {' or '.join(patterns)}")
    write(sys.stdout, f"{count} written, {failed} failed\n")
    return int(failed > 0 or not count)


def _obstacle(file: Path, *, force: bool) -> str:
    """Why a file cannot be written: something else is in its place; empty if it can."""
    if not os.path.lexists(file) or (force and os.path.isfile(file)):
        return ""
    return f"{file} exists: choose another folder{', or use --force' if os.path.isfile(file) else ''}"
