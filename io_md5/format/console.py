"""The program ``python -m io_md5``: descriptions of files on a console, as text or as JSON, with this package alone."""

from __future__ import annotations

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .describe import DESCRIBERS
from .errors import Md5Error
from .games import Game


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the program.

    Args:
        arguments: of the command line; those of the process if None.

    Returns:
        The exit status: 1 if a file could not be read, or there is none.
    """
    parser = argparse.ArgumentParser(prog="python -m io_md5", description="Describes files, with warnings.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="describe files, with warnings")
    info.add_argument(
        "files", nargs="+", type=_given, metavar="FILE", help="a file, or a folder with all that is in it"
    )
    info.add_argument(
        "--game", choices=[game.value for game in Game], default="", type=str.upper,
        help="also list what this game would refuse or show differently",
    )  # fmt: skip
    info.add_argument("--json", action="store_true", help="a list of objects, one for each file")
    options = parser.parse_args(arguments)
    try:
        return _print(options.files, options.game, as_json=options.json)
    except BrokenPipeError:
        # The reader has closed the pipe; Python must not write to it again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _given(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty: give a file or folder")
    return text


def _print(files: Sequence[str], game: str, *, as_json: bool) -> int:
    results: list[dict[str, Any]] = []
    for file in _expanded(files):
        facts, lines = _described(file, game)
        if not as_json:
            gap = "\n" if results else ""
            _write(gap + "".join(f"{_on_one_line(line)}\n" for line in _indented(file, lines)))
        results.append({"file": file, **facts})
    if as_json:
        _write(json.dumps(results, indent=2) + "\n")
    sys.stdout.flush()
    if not results:
        sys.stderr.write(f"No {', '.join(DESCRIBERS)} file found\n")
    return int(not results or any("error" in facts for facts in results))


def _indented(file: str, lines: list[str]) -> list[str]:
    return [f"{file}: {lines[0]}", *(f"  {line}" for line in lines[1:])]


def _expanded(files: Sequence[str]) -> Iterator[str]:
    """Files, and those in folders that are MD5 files."""
    for file in files:
        if not os.path.isdir(file):
            yield file
            continue
        for folder, folders, names in os.walk(file):
            folders.sort()
            for name in sorted(names):
                if Path(name).suffix.lower() in DESCRIBERS:
                    yield os.path.join(folder, name)


def _described(file: str, game: str) -> tuple[dict[str, Any], list[str]]:
    """Facts and lines about a file, or the error."""
    describer = DESCRIBERS.get(Path(file).suffix.lower())
    if not os.path.exists(file):
        text = "there is no such file or folder"
    elif not os.path.isfile(file):
        # Reading from a pipe might wait for ever.
        text = "it is not a regular file"
    elif describer is None:
        text = f"unknown kind of file; expected {', '.join(DESCRIBERS)}"
    else:
        try:
            description = describer(file, game)
        except Md5Error as error:
            text = str(error).removeprefix(f"{file}, ").removeprefix(f"{file}: ")
        except OSError as error:
            text = error.strerror or str(error)
        except MemoryError:
            text = "there is not enough memory"
        else:
            warnings = [f"warning: {warning}" for warning in description.facts["warnings"]]
            return description.facts, [*description.lines, *warnings]
    return {"error": text}, [f"ERROR: {text}"]


def _on_one_line(text: str) -> str:
    """A text with escaped control characters, which names of files may contain."""
    return "".join(repr(letter)[1:-1] if unicodedata.category(letter) == "Cc" else letter for letter in text)


def _write(text: str) -> None:
    """Writes a text; characters that the console cannot show become question marks."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
