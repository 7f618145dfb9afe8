"""The command ``list``: what can be imported from a game."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TextIO

from ..io_common.catalogue import CatalogueEntry, Count, kept_catalogue
from ..io_common.files import file_info

_TITLES = ("KIND", "NAME", "MESHES", "ANIMATIONS", "SKINS", "DECLARED IN")


def print_list(
    folders: Iterable[str], *, search: str = "", as_json: bool = False, out: TextIO | None = None
) -> int:
    """Prints the characters and models of a game, as a table or a JSON list of objects.

    `folders` are the folders and archives of the game, the one that overrides the others first; `search` holds words
    that the entries must contain. Prints to standard output if `out` is None. Returns the exit status: 1 if there are
    none.
    """
    out = out or sys.stdout
    catalogue = kept_catalogue(list(folders))
    entries = catalogue.searched(search)
    for warning in catalogue.warnings:
        file_info.write(sys.stderr, f"warning: {file_info.on_one_line(warning)}\n")
    if as_json:
        file_info.write(out, json.dumps([_facts(entry) for entry in entries], indent=2) + "\n")
    elif entries:
        file_info.write(out, _table(entries))
    if not entries:
        folders = ", ".join(map(str, catalogue.files.folders))
        reason = f"No character or model in {folders} matches {search!r}"
        if not search:
            reason = f"There is no character or model in {folders}"
        file_info.write(sys.stderr, f"{reason}\n")
    return int(not entries)


def _table(entries: list[CatalogueEntry]) -> str:
    rows = [_TITLES]
    rows += [
        (
            entry.kind.value,
            entry.name,
            str(entry.meshes),
            str(entry.animations),
            str(entry.skins),
            entry.path if entry.path != entry.name else "",
        )
        for entry in entries
    ]
    shown = [[file_info.on_one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(_TITLES))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _facts(entry: CatalogueEntry) -> dict[str, object]:
    counts: dict[str, Count] = {
        "meshes": entry.meshes,
        "animations": entry.animations,
        "skins": entry.skins,
    }
    return {
        "kind": entry.kind.value,
        "name": entry.name,
        "path": entry.path,
        **{key: {"found": count.found, "missing": count.missing} for key, count in counts.items()},
    }
