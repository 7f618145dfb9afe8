"""``python -m io_idtech info FILE…``: descriptions of files, without Blender."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from .families import FAMILIES
from .io_common.family import game_identifiers
from .io_common.files import file_info


def main() -> int:
    """Runs the command; returns the exit status, 1 if a file could not be read."""
    parser = argparse.ArgumentParser(
        prog="python -m io_idtech", description="Describes files, with warnings."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="describe files, with warnings")
    file_info.add_arguments(info, game_identifiers(FAMILIES))
    options = parser.parse_args()
    describers = {kind.suffix: kind.describe for family in FAMILIES for kind in family.kinds}
    return file_info.written(
        partial(file_info.print_info, options.files, describers, as_json=options.json, game=options.game)
    )


if __name__ == "__main__":
    sys.exit(main())
