"""The examples of the documentation run, and its links lead to existing pages."""

from __future__ import annotations

import os
import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import bpy
import pytest
from enabled_families import FAMILIES
from paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# The largest pictures, in bytes.
IMAGE_SIZE = 250_000
LARGER = {"tour.webp": 2_000_000}


def blocks(page: Path) -> list[str]:
    """The fenced Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_examples_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"folder": str(tmp_path)}
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page.name}, example {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_tests_exist(page):
    named = re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_pictures_are_small():
    images = (ROOT / "docs" / "images").iterdir()
    assert [path.name for path in images if os.stat(path).st_size > LARGER.get(path.name, IMAGE_SIZE)] == []


@pytest.mark.parametrize("family", [family.name for family in FAMILIES])
def test_every_custom_property_is_named_on_the_page(family):
    text = (ROOT / "docs" / f"{family}.md").read_text(encoding="utf-8")
    modules = [path for package in ROOT.glob("io_*") for path in package.rglob("*.py")]
    used = {
        name
        for module in modules
        for name in re.findall(rf'= .*"({family}_[a-z_]+)"', module.read_text(encoding="utf-8"))
    }
    # IQM has those of all skeletal models.
    assert used or family == "iqm"
    assert [name for name in sorted(used) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_page_leads_into_every_game(family):
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "games").glob("*.md"))
    assert [game.label for game in family.games.values() if f"*{game.label}*" not in text] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "games").glob("*.md")), ids=lambda page: page.name)
def test_the_pages_of_games_have_numbered_steps_and_are_in_the_navigation_and_in_the_zip(page):
    assert re.findall(r"^(?:## )?1\. ", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert f"games/{page.name}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f'"games/{page.stem}"' in (ROOT / "tools" / "help_pages.py").read_text(encoding="utf-8")


LIST_OPERATORS = ("list_animations", "check_animations", "move_animation")


def test_every_property_of_the_list_of_animations_is_on_the_page_and_has_a_tooltip():
    text = (ROOT / "docs" / "choosing-animations.md").read_text(encoding="utf-8")
    stored = bpy.types.Object.bl_rna.properties["io_idtech_animations"].fixed_type.properties
    operators = [getattr(bpy.ops.object, f"io_idtech_{name}").get_rna_type() for name in LIST_OPERATORS]
    properties = [*stored, *stored["rows"].fixed_type.properties, *(p for one in operators for p in one.properties)]
    own = [p for p in properties if p.identifier not in ("rna_type", "name")]
    assert {"pattern", "export_name", "owner"} <= {p.identifier for p in own}
    assert [p.identifier for p in own if f"`{p.identifier}`" not in text or not p.description] == []
    assert [one.identifier for one in operators if not one.description] == []


def test_functions_that_the_page_of_speed_tells_of_exist(part, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    jobs = import_module("jobs")
    tables = [value for name, value in vars(jobs).items() if name.isupper() and isinstance(value, dict)]
    named = [name.partition(":") for table in tables for names in table.values() for name in names]
    assert len(named) > 20
    assert [(module, name) for module, _, name in named if not _has(part(module), name)] == []


def _has(module, path):
    return reduce(lambda owner, name: getattr(owner, name, None), path.split("."), module) is not None
