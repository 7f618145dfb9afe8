"""Imports only point downwards: command line, characters, families, what families share in Blender, the library."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

pytestmark = pytest.mark.slow

FAMILIES = sorted(path.parent.name for path in ROOT.glob("io_*/family.py") if path.parent.name != "io_common")
# Each may import those after it.
LAYERS = ("command_line", "io_characters", *FAMILIES, "io_blender", "io_common")
MODULES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_modules(path: Path) -> set[tuple[str, ...]]:
    """The names of the modules that a module imports, also for types alone; those of others as they are."""
    package = path.relative_to(ROOT).parts[:-1]
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            start = (*above, *filter(None, (node.module or "").split(".")))
            names.update((*start, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(tuple(alias.name.split(".")) for alias in node.names)
    return names


def is_library(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return parts[0] == "io_common" or parts[1] == "format"


def found_in(paths: Iterable[Path], search: Callable[[Path], Collection[Any]]) -> dict[str, Collection[Any]]:
    """What a search finds in modules, by their paths."""
    found = {path.relative_to(ROOT).as_posix(): search(path) for path in paths}
    assert len(found) > 5
    return {name: those for name, those in found.items() if those}


def test_all_families_are_known():
    assert {"io_md2", "io_md3", "io_md5"} <= set(FAMILIES)


def test_no_module_imports_from_a_layer_above_it_or_from_another_family():
    def above(path):
        layer = path.relative_to(ROOT).parts[0]
        is_above_families = layer in LAYERS[: LAYERS.index(FAMILIES[0])]
        others = {*LAYERS[: LAYERS.index(layer)], *([] if is_above_families else [*FAMILIES, "families"])} - {layer}
        # The library of one family may be used by another: an MD5 of a re-release replaces an MD2.
        return [name for name in imported_modules(path) if name[0] in others and name[1:2] != ("format",)]

    assert found_in(MODULES, above) == {}


def test_imports_of_files_need_no_exports():
    importing = [path for path in MODULES if "importing" in path.relative_to(ROOT).parts]
    assert found_in(importing, lambda path: [name for name in imported_modules(path) if "exporting" in name]) == {}


def test_the_library_needs_no_blender():
    def needed(path):
        names = imported_modules(path)
        of_blender = {name[0] for name in names} & {"bpy", "bmesh", "mathutils", "bpy_extras", "io_blender"}
        return [*of_blender, *(name for name in names if name[0].startswith("io_md") and name[1] != "format")]

    assert found_in(filter(is_library, MODULES), needed) == {}


def module_of(name: tuple[str, ...]) -> Path | None:
    """The module that a name is, or that has it; None for those of others."""
    return next((KNOWN[parts] for parts in (name, name[:-1]) if parts in KNOWN), None)


KNOWN = {path.relative_to(ROOT).with_suffix("").parts: path for path in MODULES}
KNOWN |= {parts[:-1]: path for parts, path in KNOWN.items() if parts[-1] == "__init__"}


def test_no_two_modules_import_each_other():
    reached = {path: {module_of(name) for name in imported_modules(path)} - {None, path} for path in MODULES}
    changed = True
    while changed:
        changed = False
        for others in reached.values():
            more = set().union(*(reached[path] for path in others)) - others
            others |= more
            changed = changed or bool(more)
    assert [path.relative_to(ROOT).as_posix() for path, others in reached.items() if path in others] == []


def test_no_function_is_longer_than_a_screen():
    def long(path):
        functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
        return [node.name for node in functions if node.end_lineno - node.lineno >= 60]

    assert found_in(MODULES, long) == {}


def test_only_one_module_asks_for_the_version_of_blender():
    asking = [path for path in MODULES if "app.version" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in asking] == ["io_blender/versions.py"]


def test_imports_are_found_as_modules_of_a_folder_and_as_names_from_a_package():
    found = imported_modules(ROOT / "io_blender/operators/registration.py")
    assert {("io_common", "family", "Family"), ("io_blender", "operators", "preferences")} <= found
