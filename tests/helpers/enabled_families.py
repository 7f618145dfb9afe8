"""The families as Blender has loaded them, for tests that hold for every operator and every kind of file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
import targets
from installed import MODULE

FAMILIES = import_module(f"{MODULE}.families").FAMILIES

IMPORTERS = {suffix: family.blender().importer.bl_idname for family in FAMILIES for suffix in family.suffixes}
"""The import operator of each kind of file, by suffix."""

EXPORTERS = {
    exporter.filename_ext: exporter.bl_idname for family in FAMILIES for exporter in family.blender().exporters
}
"""The export operator of each kind of file, by suffix."""

OPERATORS = tuple(dict.fromkeys((*IMPORTERS.values(), *EXPORTERS.values())))
"""The names of all file operators."""


def operator(name: str) -> Any:
    """The operator with a name such as ``import_scene.md5``."""
    module, _, rest = name.partition(".")
    return getattr(getattr(bpy.ops, module), rest)


def import_file(path: Path, **options: Any) -> set[str]:
    """Imports a file with the operator for its suffix."""
    return operator(IMPORTERS[path.suffix.lower()])(filepath=str(path), **options)


def export_file(path: Path, **options: Any) -> set[str]:
    """Exports a file with the operator for its suffix."""
    return operator(EXPORTERS[path.suffix.lower()])(filepath=str(path), **options)


def write_samples(folder: Path) -> dict[str, Path]:
    """A small valid file of every kind, by suffix: `sample` with that suffix, the first seed of the fuzzer."""
    paths = {suffix: folder / f"sample{suffix}" for suffix in IMPORTERS}
    for suffix, path in paths.items():
        path.write_bytes(targets.TARGETS[suffix[1:]].seeds[0])
    return paths
