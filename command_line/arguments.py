"""What can be said on the command line."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from pathlib import Path

from ..families import FAMILIES
from ..io_common.family import game_identifiers
from ..io_common.files import file_info
from ..io_common.verification import Verify
from .formats import FAMILY_FORMATS, FORMATS, INPUT_SUFFIXES
from .settings import ANIMATIONS_BESIDE, NO_ANIMATIONS, Settings

GAMES = game_identifiers(FAMILIES)
"""The games of all families."""

_FAMILY_NAMES = " and ".join(name.upper() for name in FAMILY_FORMATS)

PROGRAM = "blender --command idtech"

_CONVERT = """\
Converts models to another format. A folder is searched with all folders in it, and its layout is kept.
What is up to date is left alone; a file that cannot be converted does not stop the others."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Reads the words of a command line.

    Raises:
        SystemExit: they make no sense, or ask for help; it has been printed.
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description="id Software's MD5 and MD2 models.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_convert(commands.add_parser("convert", help="convert files or whole trees", description=_CONVERT))
    info = commands.add_parser("info", help="tell what is in a file", description="Tells what is in files.")
    file_info.add_arguments(info, GAMES)
    # For the Blenders that `--jobs` starts; without a help it is not listed.
    commands.add_parser("work").add_argument("replies", type=Path)
    return parser.parse_args(words)


def settings(given: argparse.Namespace, game_folders: Sequence[str]) -> Settings:
    """How the command line wants files converted.

    Args:
        given: what `parse` returned for ``convert``.
        game_folders: those of the add-on's preferences.
    """
    return Settings(
        format=given.format,
        animations=given.animations,
        scale=given.scale,
        use_textures=not given.no_textures,
        game=given.game,
        verify=given.verify,
        game_folders=(*given.game_folder, *game_folders),
    )


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs",
        nargs="+",
        type=file_info.given,
        metavar="IN",
        help=f"a file ({', '.join(INPUT_SUFFIXES)}) or a folder",
    )
    parser.add_argument(
        "--to", required=True, type=_out_folder, metavar="OUT_FOLDER", help="where the results go"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="blend", help="what the results are (default: blend)"
    )
    parser.add_argument(
        "--animations",
        type=_animations,
        default=NO_ANIMATIONS,
        metavar="folder",
        help=f"take along the animations that have a model's joints: '{ANIMATIONS_BESIDE}' for those in the "
        "model's own folder, or the path of another one",
    )
    parser.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="work with so many Blenders at once (default: 1)"
    )
    parser.add_argument(
        "--shard",
        type=_shard,
        default=(1, 1),
        metavar="I/N",
        help="only the I-th of N parts of the work, from 1",
    )
    parser.add_argument("--scale", type=_factor, default=1.0, metavar="X", help="factor of all lengths")
    parser.add_argument(
        "--game-folder",
        action="append",
        type=_folder,
        default=[],
        metavar="FOLDER",
        help="look for textures there too; may be given several times",
    )
    parser.add_argument("--no-textures", action="store_true", help="leave materials without images")
    parser.add_argument(
        "--game",
        choices=GAMES,
        type=str.upper,
        default="",
        help=f"write {_FAMILY_NAMES} files for this game, and refuse what it would refuse (default: as in the "
        "preferences)",
    )
    parser.add_argument(
        "--verify",
        choices=[verify.value for verify in Verify],
        type=str.upper,
        default=Verify.SOME.value,
        help=f"on which frames {_FAMILY_NAMES} files are compared with what Blender shows (default: SOME)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="convert also what is up to date, and write over files that are no results of this command",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _factor(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 1e-6 <= number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0.000001 to 1000000")
    return number


def _folder(text: str) -> str:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    return text


def _animations(text: str) -> str:
    return text if text in (NO_ANIMATIONS, ANIMATIONS_BESIDE) else _folder(text)


def _out_folder(text: str) -> str:
    file_info.given(text)
    if os.path.exists(text) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no folder")
    return text


def _shard(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    if not (slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N, such as 2/8")
    return int(first), int(second)
