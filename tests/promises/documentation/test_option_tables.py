"""The option tables of docs/: every option that a panel shows is described there, and no other."""

from __future__ import annotations

import re

import bpy
import pytest
from paths import ROOT

TABLES = re.compile(r"^\| option \| \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
EXPORTS_WITHOUT_TABLE = ("export_scene.md2", "export_scene.md5camera")


def labels(*operators: str) -> set[str]:
    """The labels of the options that panels of operators show."""
    found = set()
    for module, _, name in (operator.partition(".") for operator in operators):
        for prop in getattr(getattr(bpy.ops, module), name).get_rna_type().properties:
            if prop.identifier not in ("rna_type", "check_existing", "filepath") and not prop.is_hidden:
                found.add(prop.name)
    return found


def rows(page: str) -> list[set[str]]:
    """The options in the first column of each table of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [
        {name.strip() for line in table.splitlines() for name in line.split("|")[1].split(",")}
        for table in TABLES.findall(text)
    ]


@pytest.mark.parametrize(("page", "index", "operators"), [
    ("md5.md", 0, ("import_scene.md5",)),
    ("md5.md", 1, ("export_scene.md5mesh", "export_scene.md5anim")),
    ("iqm.md", 0, ("import_scene.iqm",)),
    ("md2.md", 0, ("import_scene.md2",)),
    ("characters.md", 0, ("import_scene.idtech_character",)),
])  # fmt: skip
def test_a_table_has_the_options_of_the_panel(page, index, operators):
    assert rows(page)[index] == labels(*operators) - {"Search"}


@pytest.mark.parametrize("operator", EXPORTS_WITHOUT_TABLE)
def test_options_without_a_table_are_described_in_the_text(operator):
    page = "md2.md" if operator.endswith("md2") else "md5.md"
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    missing = {label for label in labels(operator) if f"*{label}*" not in text and label not in text}
    assert not missing
