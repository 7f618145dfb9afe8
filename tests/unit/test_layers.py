"""Imports point downwards, and what format packages share as copies is the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from paths import ROOT

FAMILIES = ("io_md2", "io_md5")


def imported_names(path: Path) -> set[str]:
    """Every part of the names of modules that a module imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            if not node.module:
                names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
    return names


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((ROOT / "io_common").rglob("*.py"))
        if path.relative_to(ROOT).parts[1] != "operators"
    ],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_what_all_families_share_imports_no_family(path):
    assert imported_names(path).isdisjoint(FAMILIES)


@pytest.mark.parametrize(
    "path",
    [path for family in FAMILIES for path in sorted((ROOT / family / "format").rglob("*.py"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_a_format_package_works_without_blender_and_without_the_other_packages(path):
    family = path.relative_to(ROOT).parts[0]
    others = {"bpy", "mathutils", "io_common", *FAMILIES} - {family}
    assert imported_names(path).isdisjoint(others)


@pytest.mark.parametrize(
    "copies",
    [
        ("io_md2/format/findings.py", "io_md5/format/games/findings.py"),
        (
            "io_common/files/regular_files.py",
            "io_md2/format/regular_files.py",
            "io_md5/format/regular_files.py",
        ),
    ],
    ids=["findings", "regular_files"],
)
def test_modules_that_exist_several_times_are_the_same_word_for_word(copies):
    assert len({(ROOT / copy).read_bytes() for copy in copies}) == 1
