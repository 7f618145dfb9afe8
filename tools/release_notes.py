"""Prints the changelog of the version that a tag names; fails if the manifest has another version.

python tools/release_notes.py v1.2.0
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str, version: str, changelog: str) -> str:
    """The section of ``version`` in the text of a changelog.

    Raises ``ValueError`` if the tag is not ``v`` and the version, or the changelog has no section of it.
    """
    if tag != f"v{version}":
        raise ValueError(f"the tag {tag} should be v{version}: that is the version in blender_manifest.toml")
    section = re.search(
        rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE
    )
    if not section or not section[1].strip():
        raise ValueError(f"CHANGELOG.md has no section [{version}]: rename [Unreleased] to it")
    return section[1].strip()


if __name__ == "__main__":
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    try:
        print(notes(sys.argv[1], manifest["version"], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    except ValueError as error:
        sys.exit(str(error))
