"""Makes the table of the options of a conversion in docs/command-line.md from the arguments of the command.

    python tools/command_options.py            prints it
    python tools/command_options.py --write    writes it to the page

A test checks that the page is up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from game_rules import ROOT, table, write

from io_idtech.command_line import arguments

PAGE = ROOT / "docs" / "command-line.md"
NAME = "options: made by tools/command_options.py"
# Games are listed on a page of their own.
MOST_CHOICES = 10


def _rows() -> Iterator[tuple[str, str]]:
    """A row for each option of the command."""
    parser = argparse.ArgumentParser(add_help=False)
    arguments.add_convert(parser)
    for action in parser._actions:
        if not action.option_strings:
            continue
        words = [action.option_strings[0]]
        choices = [f"`{choice}`" for choice in action.choices or ()]
        if action.nargs != 0:
            words.append(action.metavar if isinstance(action.metavar, str) else "NAME")
        text = (action.help or "") % {"default": action.default}
        listed = f": {', '.join(choices)}" if 0 < len(choices) <= MOST_CHOICES else ""
        yield f"`{' '.join(words)}`", f"{text}{listed}"


def tables() -> str:
    """The table as Markdown."""
    return "\n".join(table(("Option", "Meaning"), *_rows())).rstrip()


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        write(PAGE, NAME, tables())
    else:
        print(tables())
