"""Makes the tables of games and rules in docs/games.md from the profiles.

    python tools/game_rules.py            prints them
    python tools/game_rules.py --write    writes them to the page

A test checks that the page is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT / "tests/helpers") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests/helpers"))

from io_idtech.io_iqm.format import games as iqm  # noqa: E402
from io_idtech.io_md2.format import games as md2  # noqa: E402
from io_idtech.io_md3.format import games as md3  # noqa: E402
from io_idtech.io_md5.format import games as md5  # noqa: E402

PAGE = ROOT / "docs" / "games.md"
BEGIN = "<!-- rules: made by tools/game_rules.py -->"
END = "<!-- end of rules -->"

_HEAD = ("| requirement | if not met | reason | what to do | source |", "|---|---|---|---|---|")


def _row(rule: Any) -> str:
    """A rule as a row of a table."""
    kind = "error" if rule.is_error else "warning"
    cells = (rule.requirement, kind, rule.why, rule.remedy, rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _section(profile: Any, level: str) -> list[str]:
    """A game: the programs that it covers, how files are written for it, and its rules."""
    lines = [
        f"{level} {profile.label} (`{profile.game.value}`)",
        "",
        f"{profile.description}. Source of the rules: {profile.engines}.",
        "",
    ]
    written = profile.written
    if written:
        lines += ["How files are written:", "", *(f"- {text}" for text in written), ""]
    if profile.rules:
        lines += [*_HEAD, *map(_row, profile.rules), ""]
    return lines


def _family(name: str, games: Any) -> list[str]:
    lines = [f"## {name}", "", "### Every game", "", *_HEAD, *map(_row, games.COMMON), ""]
    for profile in games.PROFILES.values():
        lines += _section(profile, "###")
    return lines


def tables() -> str:
    """The tables of all games as Markdown."""
    return "\n".join([*_family("MD5", md5), *_family("MD2", md2), *_family("MD3", md3), *_family("IQM", iqm)]).rstrip()


def main() -> None:
    """Prints the tables, or writes them to the page."""
    text = tables()
    if "--write" not in sys.argv[1:]:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, _begin, rest = page.partition(BEGIN)
    _old, _end, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
