"""What the extension's manifest says of it."""

from __future__ import annotations

import re
from pathlib import Path

_MANIFEST = Path(__file__).resolve().parent.parent / "blender_manifest.toml"


def version() -> str:
    """The version of the extension."""
    # Without a parser of TOML, since the manifest's own lines are known.
    found = re.search(r'^version = "([^"]+)"', _MANIFEST.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""
