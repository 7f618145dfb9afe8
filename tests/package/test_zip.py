"""The built zip contains the code that runs, the help pages, and nothing else."""

from __future__ import annotations

import os
import posixpath
import tomllib
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from paths import PACKAGES, ROOT

ARCHIVE = os.environ.get("IO_IDTECH_ZIP")
pytestmark = pytest.mark.skipif(not ARCHIVE, reason="IO_IDTECH_ZIP names no zip: see the nox session 'package'")


@pytest.fixture(scope="module")
def members() -> set[str]:
    with zipfile.ZipFile(str(ARCHIVE)) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_it_holds_the_modules_the_manifest_and_the_licence(members):
    code = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert {name for name in members if not name.startswith("help/")} == code | {
        "__init__.py",
        "blender_manifest.toml",
        "families.py",
        "LICENSE",
    }


class Targets(HTMLParser):
    """The links, pictures and style sheets of a page, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.targets += [str(values[name]) for name in ("href", "src") if name in values]
        if "id" in values:
            self.anchors.add(str(values["id"]))


@pytest.fixture(scope="module")
def pages() -> dict[str, Targets]:
    with zipfile.ZipFile(str(ARCHIVE)) as archive:
        return {
            name: Targets(archive.read(name).decode())
            for name in archive.namelist()
            if name.startswith("help/") and name.endswith(".html")
        }


def test_it_holds_the_help_pages_with_a_page_for_every_family_and_every_game_page(pages):
    games = {f"help/games/{page.stem}.html" for page in (ROOT / "docs" / "games").glob("*.md")}
    families = {
        f"help/{package.name.removeprefix('io_')}.html"
        for package in ROOT.glob("io_*")
        if package.name not in ("io_blender", "io_common")
    }
    assert len(families) >= 2
    assert games
    named = {
        "help/index.html",
        "help/keywords.html",
        "help/games.html",
        "help/recipes.html",
        "help/troubleshooting.html",
    }
    assert set(pages) >= named | families | games


def test_the_links_and_pictures_of_the_help_pages_resolve_within_the_zip(members, pages):
    broken = []
    for page, found in pages.items():
        for target in found.targets:
            address = urlsplit(target)
            if address.scheme in ("http", "https"):
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), address.path))
            path = path if address.path else page
            anchors = pages[path].anchors if path in pages else set()
            if path not in members or (address.fragment and address.fragment not in anchors):
                broken.append((page, target))
    assert broken == []


def test_keywords_lead_to_the_sections_about_them(pages):
    targets = pages["help/keywords.html"].targets
    assert "recipes.html#export-a-rigify-character" in targets
    assert len([target for target in targets if "#" in target]) > 100


def test_the_help_pages_load_nothing_from_the_network(pages):
    with zipfile.ZipFile(str(ARCHIVE)) as archive:
        texts = {name: archive.read(name).decode() for name in (*pages, "help/style.css")}
    assert [name for name, text in texts.items() if "<script" in text or "url(" in text] == []
    assert [name for name, text in texts.items() if 'src="http' in text] == []


def test_the_help_is_small(members):
    with zipfile.ZipFile(str(ARCHIVE)) as archive:
        assert sum(info.file_size for info in archive.infolist() if info.filename.startswith("help/")) < 600_000


def test_its_name_carries_the_version_of_the_manifest():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert Path(str(ARCHIVE)).name == f"io_idtech-{manifest['version']}.zip"


def test_it_asks_for_files_and_for_no_other_permission():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert list(manifest["permissions"]) == ["files"]
