"""What the extension's manifest says of it."""

from __future__ import annotations

import re
from pathlib import Path

_MANIFEST = Path(__file__).resolve().parent.parent / "blender_manifest.toml"


def version() -> str:
    """The version of the extension."""
    return _entry("version")


def address() -> str:
    """Where faults of the extension are reported: its website, else its maintainer."""
    return _entry("website") or f"the maintainer of the add-on, {_entry('maintainer')}"


def _entry(key: str) -> str:
    """A text of the manifest, nothing if it has none of that name."""
    # Without a parser of TOML, since the manifest's own lines are known.
    found = re.search(rf'^{key} = "([^"]+)"', _MANIFEST.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""
