"""The command ``info``: descriptions of files on a console, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from ..errors import without_path
from ..rules import Description

Describe = Callable[[str, str], Description]
"""Describes a file; the second argument is the name of a game whose findings are included, or empty."""


def add_arguments(parser: argparse.ArgumentParser, games: Iterable[str]) -> None:
    """Adds the arguments of the command ``info``."""
    parser.add_argument(
        "files", nargs="+", type=given, metavar="FILE", help="a file, or a folder with all that is in it"
    )
    parser.add_argument(
        "--game",
        choices=list(games),
        default="",
        type=str.upper,
        help="also list what this game would refuse or show differently",
    )
    parser.add_argument("--json", action="store_true", help="a list of objects, one for each file")


def given(text: str) -> str:
    """The name of a file or folder; an error if empty, which would mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty: give a file or folder")
    return text


def print_info(files: Iterable[str], describers: Mapping[str, Describe], *, as_json: bool, game: str = "") -> int:
    """Prints descriptions of files, also those in folders; returns 1 if one fails or there is none."""
    results: list[dict[str, Any]] = []
    for file in _expanded(files, describers):
        facts, lines = _describe(file, describers, game)
        if not as_json:
            gap = "\n" if results else ""
            text_lines = [f"{file}: {lines[0]}", *(f"  {line}" for line in lines[1:])]
            write(sys.stdout, gap + "".join(f"{on_one_line(line)}\n" for line in text_lines))
        results.append({"file": file, **facts})
    if as_json:
        write(sys.stdout, json.dumps(results, indent=2) + "\n")
    if not results:
        write(sys.stderr, f"No {', '.join(describers)} file found\n")
    return int(not results or any("error" in facts for facts in results))


def written(command: Callable[[], int]) -> int:
    """The exit status of a command that prints: 1 if its output is missing or cannot be written."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        sys.stdout, sys.stderr = before[0] or nothing, before[1] or nothing
        try:
            status = command()
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has closed the pipe, as `head` does. Python must not write to it again when it exits.
            _discard_output()
        except OSError as error:
            _discard_output()
            write(sys.stderr, f"error: the output cannot be written: {error.strerror or error}\n")
        else:
            return status
        finally:
            sys.stdout, sys.stderr = before
    return 1


def _discard_output() -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _expanded(files: Iterable[str], describers: Mapping[str, Describe]) -> Iterable[str]:
    for file in files:
        if not os.path.isdir(file):
            yield file
            continue
        unreadable: list[OSError] = []
        for folder, _, names in walk(file, unreadable.append):
            yield from (os.path.join(folder, name) for name in names if _suffix(name) in describers)
        yield from (error.filename for error in unreadable)


def walk(
    folder: str | os.PathLike[str], onerror: Callable[[OSError], object]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """`os.walk` in alphabetical order, for folders of any depth: that of Python 3.11 calls itself for each."""
    waiting = [os.fspath(folder)]
    while waiting:
        for parent, folders, names in islice(os.walk(waiting.pop(), onerror=onerror), 1):
            yield parent, folders, sorted(names)
            paths = [os.path.join(parent, name) for name in sorted(folders, reverse=True)]
            waiting += [path for path in paths if not os.path.islink(path)]


def _describe(file: str, describers: Mapping[str, Describe], game: str) -> tuple[dict[str, Any], list[str]]:
    try:
        description = _describer(file, describers)(file, game)
    except (OSError, MemoryError, ValueError) as error:
        # The formats' exceptions are ValueErrors.
        reason = without_path(_message(error), file)
        return {"error": reason}, [f"ERROR: {reason}"]
    warnings = [f"warning: {text}" for text in description.facts["warnings"]]
    return description.facts, [*description.lines, *warnings]


def _describer(file: str, describers: Mapping[str, Describe]) -> Describe:
    if not os.path.exists(file):
        raise ValueError("there is no such file or folder")
    if os.path.isdir(file):
        raise ValueError("the folder cannot be read: permission denied")
    if not os.path.isfile(file):
        # Reading from a pipe might wait for ever.
        raise ValueError("it is not a regular file")
    describe = describers.get(_suffix(file))
    if describe is None:
        raise ValueError(f"unknown kind of file; expected {', '.join(describers)}")
    return describe


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _suffix(file: str) -> str:
    return Path(file).suffix.lower()


def on_one_line(text: str) -> str:
    """A text whose unprintable characters are escaped: names of files may contain them."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def write(out: TextIO, text: str) -> None:
    """Writes a text; characters that the console cannot show become question marks."""
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "replace").decode(encoding))
