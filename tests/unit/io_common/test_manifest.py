"""What the extension says of itself is what its manifest says."""

from __future__ import annotations

import tomllib

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
