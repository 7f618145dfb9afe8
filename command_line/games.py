"""The commands that need no Blender: ``info`` of files, ``list`` and ``extract`` of what is in a game."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from ..families import FAMILIES
from ..io_common.catalogue import CatalogueEntry, kept_catalogue
from ..io_common.errors import message_for, without_path
from ..io_common.family import family_of_file, kinds_by_suffix
from ..io_common.files import file_info
from ..io_common.game_tree.files import FileReadError
from ..io_common.game_tree.names import fold, path_on_disk
from ..io_common.game_tree.tree import GameTree
from ..io_common.rules import Description
from .tasks import path_key

_TITLES = ("KIND", "NAME", "MESHES", "ANIMATIONS", "SKINS", "DECLARED IN")


def read(options: Namespace) -> int:
    """Runs ``info``, ``list`` or ``extract``; returns the exit status."""
    if options.command == "info":
        return file_info.print_info(options.files, _describers(), as_json=options.json, game=options.game)
    if options.command == "list":
        return print_list(options.game, search=" ".join(options.search), as_json=options.json)
    return extract(options.game, options.files, Path(options.to), force=options.force)


def _describers() -> dict[str, file_info.Describe]:
    def describe(suffix: str, file: str, game: str) -> Description:
        family = family_of_file(FAMILIES, Path(file)) or FAMILIES[0]
        kind = next((kind for kind in family.kinds if kind.suffix == suffix), family.kinds[0])
        try:
            return kind.describe(file, game)
        except family.error as error:
            raise ValueError(without_path(message_for(error, (family.error,)), file)) from error

    return {suffix: partial(describe, suffix) for suffix in kinds_by_suffix(FAMILIES)}


def print_list(folders: Iterable[str], *, search: str, as_json: bool) -> int:
    """Prints the entries that contain all words of `search`; returns 1 if there are none."""
    catalogue = kept_catalogue(list(folders))
    entries = catalogue.searched(search)
    for warning in catalogue.warnings:
        print_line(f"warning: {warning}")
    if as_json:
        file_info.write(sys.stdout, json.dumps([_facts(entry) for entry in entries], indent=2) + "\n")
    elif entries:
        file_info.write(sys.stdout, _table(entries))
    if not entries:
        what = f"character or model in {', '.join(map(str, catalogue.files.folders))}"
        print_line(f"No {what} matches {search!r}" if search else f"There is no {what}")
    return int(not entries)


def _table(entries: list[CatalogueEntry]) -> str:
    rows = [_TITLES]
    for entry in entries:
        counts = (str(entry.meshes), str(entry.animations), str(entry.skins))
        rows.append((entry.kind.value, entry.name, *counts, entry.path if entry.path != entry.name else ""))
    shown = [[file_info.on_one_line(cell) for cell in row] for row in rows]
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
    written: dict[str, Path] = {}
    for name in files.walk():
        if not any(fnmatchcase(fold(name), pattern) for pattern in folded):
            continue
        # Each file is an import of its own.
        files.budget.renew()
        try:
            file = path_on_disk(target, name)
            reason = _obstacle(file, written, force=force)
            if not reason:
                files.extract([name], target)
                written[path_key(file)] = file
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
    file_info.write(sys.stdout, f"{count} written, {failed} failed\n")
    return int(failed > 0 or not count)


def _obstacle(file: Path, written: dict[str, Path], *, force: bool) -> str:
    """Why a file cannot be written: something else is in its place; empty if it can."""
    if not os.path.lexists(file):
        return ""
    if not os.path.isfile(file):
        return f"{file} exists: choose another folder"
    if not force:
        return f"{file} exists: choose another folder, or use --force"
    # A file system may take names for the same that differ in the archive, such as those with other accents.
    other = written.get(path_key(file))
    if other is not None and os.path.samefile(file, other):
        return f"{file} was written for another file of the game, whose name is the same there"
    return ""


def print_line(text: str) -> None:
    """Prints a line to standard error."""
    file_info.write(sys.stderr, f"{file_info.on_one_line(text)}\n")
