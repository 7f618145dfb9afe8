"""What the extension says of itself is what its manifest says."""

from __future__ import annotations

import ast
import tomllib

import pytest
from paths import ROOT

from io_idtech.io_common import errors


def test_the_version_is_that_of_the_manifest():
    assert errors.extension_version() == tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]


def test_internal_errors_are_reported_to_the_website_or_else_to_the_maintainer():
    given = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    address = errors.contact_address()
    assert address == given.get("website") or given["maintainer"] in address


def test_the_website_is_preferred(monkeypatch, tmp_path):
    file = tmp_path / "blender_manifest.toml"
    monkeypatch.setattr(errors, "_MANIFEST", file)
    file.write_text('maintainer = "somebody"\n')
    assert errors.contact_address() == "the maintainer of the add-on, somebody"
    file.write_text('maintainer = "somebody"\nwebsite = "https://example.org"\n')
    assert errors.contact_address() == "https://example.org"


# Which Blenders are supported


def assigned(path: str, name: str):
    """The value of a constant of a module, which need not be importable here."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == [name]
    )


def test_the_oldest_blender_is_that_of_the_manifest():
    oldest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["blender_version_min"]
    assert f"{next(iter(assigned('noxfile.py', 'PARTS')))}.0" == oldest


def test_the_workflows_test_every_blender_in_its_python():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    versions = assigned("noxfile.py", "BLENDERS")
    assert f"blender: {list(versions)}".replace("'", '"') in workflow
    for version, (python, _) in versions.items():
        assert (f'- blender: "{version}"\n            python: "{python}"' in workflow) == (python != "3.11")


def test_later_blenders_open_the_files_of_every_tested_one():
    versions = assigned("tests/promises/scene/test_next_version.py", "VERSIONS")
    assert versions == tuple(assigned("noxfile.py", "PARTS"))


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "io_blender/versions.py"])
def test_pages_name_the_oldest_and_the_newest_blender(page):
    oldest, *_, newest = assigned("noxfile.py", "PARTS")
    text = (ROOT / page).read_text("utf-8")
    assert f"Blender {oldest} to {newest}" in text or f"Blender {oldest} and {newest}" in text
