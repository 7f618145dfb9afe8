"""``idtech`` or ``python -m io_idtech``: what is in files and games, without Blender."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from .command_line import arguments, info


def main() -> int:
    """Runs the command; returns the exit status, 1 if a file could not be read."""
    description = "Describes files, and lists and extracts what is in a game."
    parser = argparse.ArgumentParser(prog="idtech", description=description)
    arguments.add_reading(parser.add_subparsers(dest="command", required=True, metavar="COMMAND"))
    return info.written(partial(info.read, parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
