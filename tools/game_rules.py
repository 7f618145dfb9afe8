"""Makes the tables of games and rules in docs/game-rules.md from the profiles.

    python tools/game_rules.py            prints them
    python tools/game_rules.py --write    writes them to the page

A test checks that the page is up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT / "tests/helpers") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests/helpers"))

from io_idtech.io_iqm.format import games as iqm  # noqa: E402
from io_idtech.io_md2.format import games as md2  # noqa: E402
from io_idtech.io_md3.format import games as md3  # noqa: E402
from io_idtech.io_md5.format.games import profiles as md5  # noqa: E402

PAGE = ROOT / "docs" / "game-rules.md"
NAME = "rules: made by tools/game_rules.py"


def table(*rows: tuple[str, ...]) -> list[str]:
    """A table of Markdown; the first row is its head."""
    lines = ["|" + "|".join(cell.replace("|", "\\|") for cell in row) + "|" for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:], ""]


def write(page: Path, name: str, text: str) -> None:
    """Replaces what a page has between the comments with a name."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name.partition(':')[0]} -->"
    before, _begin, rest = page.read_text(encoding="utf-8").partition(begin)
    _old, _end, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def place(source: str) -> str:
    """The file of a source: the declaration of the rule also names the function."""
    return re.split(", `|: |; [a-z]", source)[0]


def _rules(games: Any) -> list[tuple[str, ...]]:
    """A row for each requirement. Games that have the same one share it."""
    found: dict[str, tuple[list[str], list[str], list[str]]] = {}
    of_games = [(profile.label, profile.rules) for profile in games.PROFILES.values()]
    for label, rules in (("all", games.COMMON), *of_games):
        for rule in rules:
            errors, warnings, sources = found.setdefault(rule.requirement, ([], [], []))
            (errors if rule.is_error else warnings).append(label)
            sources.append(place(rule.source))
    return [
        (requirement, "; ".join(errors), "; ".join(warnings), "; ".join(dict.fromkeys(sources)))
        for requirement, (errors, warnings, sources) in found.items()
    ]


def _family(name: str, games: Any) -> list[str]:
    """The games of a format, and their rules."""
    profiles = games.PROFILES.values()
    shared = set.intersection(*(set(one.written) for one in profiles))
    covered = [
        (
            f"{one.label} (`{one.game.value}`)",
            one.description,
            one.engines,
            "; ".join(text for text in one.written if text not in shared),
        )
        for one in profiles
    ]
    lines = [f"## {name}", "", *table(("game", "programs", "rules read in", "how files are written"), *covered)]
    if shared:
        written = [text for text in next(iter(profiles)).written if text in shared]
        lines += [f"How files are written for every game: {'; '.join(written)}.", ""]
    return [*lines, *table(("requirement", "error for", "warning for", "source"), *_rules(games))]


def tables() -> str:
    """The tables of all games as Markdown."""
    return "\n".join([*_family("MD5", md5), *_family("MD2", md2), *_family("MD3", md3), *_family("IQM", iqm)]).rstrip()


def main() -> None:
    """Prints the tables, or writes them to the page."""
    if "--write" in sys.argv[1:]:
        write(PAGE, NAME, tables())
    else:
        print(tables())


if __name__ == "__main__":
    main()
