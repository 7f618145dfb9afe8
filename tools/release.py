"""Whether a version can be released, and its notes.

    python tools/release.py v1.2.0       prints the section of the changelog, or says what is missing

`docs/releasing.md` names the lines that the maintainer fills in once.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The lines to fill in: the file, what has to match, and an example.
LINES = (
    ("blender_manifest.toml", r'^website = "https://\S+"', 'website = "https://…"'),
    ("pyproject.toml", r'^Issues = "https://\S+"', 'Issues = "https://…"'),
    ("SECURITY.md", r"^Contact: \S+", "Contact: security@your.domain"),
)


def missing_lines(root: Path) -> list[str]:
    """The lines that are not filled in yet."""
    return [
        f"{name} has no line {example}: see docs/releasing.md"
        for name, pattern, example in LINES
        if not re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
    ]


def notes(tag: str, version: str, changelog: str) -> str:
    """The section of ``version`` in the text of a changelog.

    Raises ``ValueError`` if the tag is not ``v`` and the version, or the changelog has no section of it.
    """
    if tag != f"v{version}":
        raise ValueError(f"the tag {tag} should be v{version}: that is the version in blender_manifest.toml")
    section = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    if not section or not section[1].strip():
        raise ValueError(f"CHANGELOG.md has no section [{version}]: rename [Unreleased] to it")
    return section[1].strip()


def main(tag: str = "") -> int:
    """Prints the notes; without a tag, those of the manifest's version."""
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    problems, text = missing_lines(ROOT), ""
    try:
        text = notes(tag or f"v{version}", version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    except ValueError as error:
        problems.append(str(error))
    print("\n".join(problems) or text, file=sys.stderr if problems else sys.stdout)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
