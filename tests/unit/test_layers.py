"""Imports point downwards, and what format packages share as copies is the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from paths import ROOT

FAMILIES = sorted(path.parent.name for path in ROOT.glob("io_*/family.py") if path.parent.name != "io_common")
# The folders of `io_common`; each may import from those before it.
SHARED = ("files", "game_tree", "declarations", "textures", "scene", "materials", "operators")


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


def imported_folders(path: Path) -> set[str]:
    """The folders of `io_common` that one of its modules imports from."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = (*package[: len(package) + 1 - node.level], *filter(None, (node.module or "").split(".")))
            for alias in node.names:
                found.update((*start, alias.name)[1:2])
    return found & set(SHARED)


COMMON = [
    pytest.param(path, id=path.relative_to(ROOT).as_posix())
    for path in sorted((ROOT / "io_common").rglob("*.py"))
]


def test_all_families_are_known():
    """Without them, the tests below would check nothing."""
    assert {"io_md2", "io_md5"} <= set(FAMILIES)


@pytest.mark.parametrize("path", COMMON)
def test_what_all_families_share_imports_no_family(path):
    assert imported_names(path).isdisjoint({*FAMILIES, "families", "command_line", "io_characters"})


@pytest.mark.parametrize(
    "path",
    [path for family in FAMILIES for path in sorted((ROOT / family).rglob("*.py"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_families_do_not_know_the_characters_that_are_built_with_them(path):
    assert "io_characters" not in imported_names(path)


@pytest.mark.parametrize("path", COMMON)
def test_imports_within_io_common_only_point_downwards(path):
    folder = path.relative_to(ROOT).parts[1]
    # The modules outside the folders may use any but the operators.
    level = SHARED.index(folder) if folder in SHARED else SHARED.index("operators") - 1
    assert imported_folders(path) <= set(SHARED[: level + 1])


def test_the_folders_that_a_module_imports_from_are_found():
    """Both as a module of a folder and as a name from a package."""
    assert imported_folders(ROOT / "io_common/operators/registration.py") == {"materials", "operators"}
    assert {"textures", "scene", "materials"} <= imported_folders(ROOT / "io_common/materials/images.py")


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
        ("io_common/files/file_info.py", "io_md2/format/file_info.py", "io_md5/format/file_info.py"),
        ("io_md2/format/sources.py", "io_md5/format/sources.py"),
        ("io_common/counting.py", "io_md2/format/counting.py", "io_md5/format/counting.py"),
    ],
    ids=["findings", "regular_files", "file_info", "sources", "counting"],
)
def test_modules_that_exist_several_times_are_the_same_word_for_word(copies):
    assert len({(ROOT / copy).read_bytes() for copy in copies}) == 1
