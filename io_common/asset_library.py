"""Asset libraries: the file that lists their catalogs, and the records of the characters that are in them.

Identifiers of catalogs come from their paths: runs that share a library, and later ones, need no common state. Lines
that are there stay, as users rename and move catalogs in Blender.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from . import names
from .files import open_file, read_file, write_file
from .names import fold, split_extension
from .texts import counted

RECORDS = ".idtech"  # the folder, in all results of conversions, with a JSON file for each of them
_CATALOGS = "blender_assets.cats.txt"
_HEADER = "# This is an Asset Catalog Definition file for Blender.\n\nVERSION 1\n"
_NAMESPACE = uuid.UUID("6c1d1f7e-31a5-5c3e-9d0b-0f6a54c2b0a7")
_LONGEST_NAME = 63  # bytes, in the oldest Blender
_LONGEST_PATH = 4096
_MAX_SIZE = 1 << 24  # bytes; a record has a line for each file


def catalogs_of(models: Sequence[str]) -> list[str]:
    """The catalog of each of some models: its folder, or the one above if there is no other model in it."""
    folders = [model.rpartition("/")[0] for model in models]
    counts = Counter(fold(model).rpartition("/")[0] for model in {fold(model) for model in models})
    return [folder if counts[fold(folder)] > 1 else folder.rpartition("/")[0] for folder in folders]


def catalog_of_animations(name: str, catalog: str) -> str:
    """The catalog of the animations of a character, apart from those of characters, of which there are fewer."""
    return "/".join(filter(None, ("Animations", catalog, asset_name(name, catalog))))


def asset_name(name: str, catalog: str) -> str:
    """The name of a character in a library, without the path of its catalog: `models/orc/tris.md2` is `orc/tris`."""
    # Names of declarations may have dots.
    stem = split_extension(name)[0] if "/" in name else name
    inside = stem[len(catalog) + 1 :] if catalog and fold(stem).startswith(f"{fold(catalog)}/") else stem
    return names.for_blender(inside, _LONGEST_NAME, "Character")


def catalog_id(catalog: str) -> str:
    """The identifier of a catalog; that of none for an empty path."""
    return str(uuid.uuid5(_NAMESPACE, _clean(catalog)) if catalog else uuid.UUID(int=0))


def write_catalogs(library: Path, characters: Sequence[tuple[str, str]]) -> None:
    """Adds the catalogs of characters, by name, and of their animations to the file of a library."""
    path = library / _CATALOGS
    text = read_file(path).decode("utf-8", "surrogateescape") if path.exists() else _HEADER
    known = {line.partition(":")[0].strip() for line in text.splitlines()}
    wanted = [one for name, catalog in characters for one in (catalog, catalog_of_animations(name, catalog))]
    # Blender takes a catalog whose parents are not listed for a change.
    paths = {_clean(part) for one in wanted for part in accumulate(one.split("/"), "{}/{}".format) if part}
    lines = [f"{catalog_id(one)}:{one}:{one.replace('/', '-')}\n" for one in sorted(paths)]
    added = [line for line in lines if line.partition(":")[0] not in known]
    if added:
        library.mkdir(parents=True, exist_ok=True)
        whole = "".join([text, "" if text.endswith("\n") else "\n", *added])
        write_file(path, whole.encode("utf-8", "surrogateescape"))


def _clean(catalog: str) -> str:
    """A path without what the file cannot hold."""
    return re.sub(r"[:\\\x00-\x1f]", "_", catalog.encode("utf-8", "replace").decode())


def size_of(count: int) -> str:
    """How large a library may become, with all animations, their pictures, and images out of archives."""
    return f"{counted(count, 'assets')}: about {count:,} MB"


def assets_of_game(library: Path, folders: Sequence[Path]) -> dict[tuple[str, str], str]:
    """The characters of a game in a library, by kind and name, each with the path that Blender has for its asset."""
    wanted = [os.path.realpath(folder) for folder in folders]
    found: dict[tuple[str, str], str] = {}
    for path in (library / RECORDS).glob("*.json"):
        record = read_record(path)
        asset, sources, files = (record.get(key) for key in ("asset", "sources", "files"))
        if not (isinstance(asset, list) and isinstance(sources, dict) and isinstance(files, dict) and len(asset) == 3):
            continue
        kind, name, catalog = map(str, asset)
        read = [Path(os.path.realpath(library / source)) for source in sources]
        if any(one.is_relative_to(folder) for one in read for folder in wanted):
            for file in filter(is_inside, files):
                found[kind, name] = f"{library / file}/Collection/{asset_name(name, catalog)}"
    return found


def read_record(path: Path) -> dict[str, Any]:
    """A record of a conversion; empty if it does not exist or is damaged."""
    with suppress(OSError, ValueError, RecursionError), open_file(path) as file:
        record = json.loads(file.read(_MAX_SIZE))
        return record if isinstance(record, dict) else {}
    return {}


def is_inside(name: str) -> bool:
    """Whether a relative path stays below its folder, and can be the name of a file."""
    if len(name) > _LONGEST_PATH:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    normal = os.path.normpath(name)
    return "\0" not in name and not os.path.isabs(normal) and normal.split(os.sep)[0] not in ("", ".", "..")
