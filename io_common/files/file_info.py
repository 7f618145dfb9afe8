"""What is in a file, told on a console: as lines to read, or as JSON for programs. Needs no Blender."""

from __future__ import annotations

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO


class Description(Protocol):
    """What a format tells about a file."""

    @property
    def facts(self) -> dict[str, Any]:
        """For programs: text, numbers, lists of them; with "kind" and "warnings"."""

    @property
    def lines(self) -> list[str]:
        """For people: sentences about the same."""


Describe = Callable[[str, str], Description]
"""Describes a file; the second argument names a game whose findings are told besides, or nothing."""


def add_arguments(parser: argparse.ArgumentParser, games: Iterable[str]) -> None:
    """The arguments of the command ``info``.

    Args:
        parser: gets them.
        games: names of games.
    """
    parser.add_argument(
        "files", nargs="+", type=given, metavar="FILE", help="a file, or a folder with all that is in it"
    )
    parser.add_argument(
        "--game",
        choices=list(games),
        default="",
        type=str.upper,
        help="tell also what this game would refuse or show otherwise",
    )
    parser.add_argument("--json", action="store_true", help="a list of objects, one for each file")


def given(text: str) -> str:
    """The name of a file or folder as it was given.

    Raises:
        argparse.ArgumentTypeError: it is empty, as of a variable that was not set, and would be the current folder.
    """
    if not text:
        raise argparse.ArgumentTypeError("an empty name is that of no file")
    return text


def run_alone(
    program: str,
    describers: Mapping[str, Describe],
    games: Iterable[str],
    arguments: Sequence[str] | None = None,
) -> int:
    """The program ``python -m io_md5`` or ``python -m io_md2``.

    Args:
        program: how it is called, for the help.
        describers: for the ending of each kind of file what reads it.
        games: names of the games of the format.
        arguments: of the command line; those of the process if None.

    Returns:
        The status of the process: 1 if a file could not be understood, or there is none.
    """
    parser = argparse.ArgumentParser(prog=program, description="Tells what is in a file, warnings included.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_arguments(commands.add_parser("info", help="what is in a file, warnings included"), games)
    given = parser.parse_args(arguments)
    return tell(given.files, describers, as_json=given.json, game=given.game)


def tell(
    files: Iterable[str],
    describers: Mapping[str, Describe],
    *,
    as_json: bool,
    game: str = "",
    out: TextIO | None = None,
) -> int:
    """Tells what is in files.

    Args:
        files: their paths; of a folder, all that is in it and has a known ending.
        describers: for the ending of each kind of file what reads it.
        as_json: a list of objects instead of lines.
        game: the name of a game whose findings are told besides.
        out: where to write; standard output if None.

    Returns:
        The status of the process: 1 if a file could not be understood, or there is none.
    """
    out = out or sys.stdout
    told: list[dict[str, Any]] = []
    try:
        for file in _expanded(files, describers):
            facts, lines = _describe(file, describers, game)
            if not as_json:
                gap = "\n" if told else ""
                shown = [f"{file}: {lines[0]}", *(f"  {line}" for line in lines[1:])]
                write(out, gap + "".join(f"{on_one_line(line)}\n" for line in shown))
            told.append({"file": file, **facts})
        if as_json:
            write(out, json.dumps(told, indent=2) + "\n")
        out.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    if not told:
        write(sys.stderr, f"There is no {', '.join(describers)} file here\n")
    return int(not told or any("error" in facts for facts in told))


def _expanded(files: Iterable[str], describers: Mapping[str, Describe]) -> Iterable[str]:
    for file in files:
        if not os.path.isdir(file):
            yield file
            continue
        for folder, folders, names in os.walk(file):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if _ending(name) in describers)


def _describe(file: str, describers: Mapping[str, Describe], game: str) -> tuple[dict[str, Any], list[str]]:
    """Facts and lines about a file, or what is wrong with it."""
    try:
        description = _describer(file, describers)(file, game)
    except OSError as error:
        return _wrong(error.strerror or str(error))
    except ValueError as error:
        # Both formats' exceptions are.
        return _wrong(str(error).removeprefix(f"{file}, ").removeprefix(f"{file}: "))
    except MemoryError:
        return _wrong("there is not enough memory for this")
    warnings = [f"warning: {text}" for text in description.facts["warnings"]]
    return description.facts, [*description.lines, *warnings]


def _describer(file: str, describers: Mapping[str, Describe]) -> Describe:
    """What reads a file.

    Raises:
        ValueError: nothing does.
    """
    if not os.path.exists(file):
        raise ValueError("there is no such file or folder")
    if not os.path.isfile(file):
        # To wait for what comes out of a pipe may be for ever.
        raise ValueError("it is no file")
    describe = describers.get(_ending(file))
    if describe is None:
        raise ValueError(f"unknown kind of file; expected {', '.join(describers)}")
    return describe


def _wrong(reason: str) -> tuple[dict[str, Any], list[str]]:
    return {"error": reason}, [f"ERROR: {reason}"]


def _ending(file: str) -> str:
    return Path(file).suffix.lower()


def on_one_line(text: str) -> str:
    """A text whose control characters are shown, not obeyed: names of files may hold any."""
    return "".join(repr(letter)[1:-1] if unicodedata.category(letter) == "Cc" else letter for letter in text)


def write(out: TextIO, text: str) -> None:
    """Writes a text; what the console cannot show of names becomes question marks."""
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "replace").decode(encoding))
