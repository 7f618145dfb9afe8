"""The arguments of the command line."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..families import FAMILIES
from ..io_blender.verification import Verify
from ..io_common.family import game_identifiers
from ..io_common.files import file_info
from ..io_common.textures.archives import ARCHIVE_EXTENSIONS, split_archive_path
from .formats import FAMILY_FORMATS, FORMATS, INPUT_SUFFIXES
from .settings import ANIMATIONS_BESIDE, NO_ANIMATIONS, Settings
from .source_files import with_single_root

GAMES = game_identifiers(FAMILIES)
"""The identifiers of the games of all families."""

_FAMILY_NAMES = " and ".join(name.upper() for name in FAMILY_FORMATS)

PROGRAM = "blender --command idtech"

_LIST = """\
Lists what can be imported from a game: entities and models of Doom 3, players of Quake II, models with an md5.cfg or
md2.cfg, and all other models; with the number of meshes, animations and skins that are there and that are missing."""

_EXTRACT = """\
Writes files of a game to a folder, where they keep their paths: those that the game would use, loose or in archives."""

_CONVERT = """\
Converts models to another format. Folders are searched recursively, and their layout is kept.
Files that are up to date are skipped; a file that cannot be converted does not stop the others."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parses the words after the name of the command.

    Raises SystemExit if they are invalid or ask for help; the message has been printed.
    """
    parser = argparse.ArgumentParser(prog=PROGRAM, description=f"id Software's {_FAMILY_NAMES} models.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_convert(commands.add_parser("convert", help="convert files or whole trees", description=_CONVERT))
    info = commands.add_parser("info", help="print what is in a file", description="Prints what is in files.")
    file_info.add_arguments(info, GAMES)
    _add_list(commands.add_parser("list", help="list the characters and models of a game", description=_LIST))
    _add_extract(
        commands.add_parser("extract", help="write files of a game to a folder", description=_EXTRACT)
    )
    # For the workers that `--jobs` starts; a command without help is not listed.
    commands.add_parser("work").add_argument("replies", type=Path)
    return parser.parse_args(words)


def settings(
    options: argparse.Namespace, game_folders: Sequence[str], default_game: Callable[[str], str]
) -> Settings:
    """The settings of a conversion, from what `parse` returned for ``convert`` and the add-on's preferences.

    `default_game` returns the game that the preferences have for a family.
    """
    game = options.game
    if not game and options.format in FAMILY_FORMATS:
        game = default_game(options.format)
    return Settings(
        format=options.format,
        # A character comes with the animations that are declared for it.
        animations=ANIMATIONS_BESIDE if options.characters else options.animations,
        scale=options.scale,
        use_textures=not options.no_textures,
        game=game,
        verify=options.verify,
        game_folders=(*options.game_folder, *game_folders),
        game_data=tuple(options.inputs) if options.characters else (),
        deform_only=options.deform_bones_only,
        add_origin=options.add_root_bone,
        max_influences=options.bone_influences,
    )


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs",
        nargs="+",
        type=file_info.given,
        metavar="IN",
        help=f"a file ({', '.join(INPUT_SUFFIXES)}), a folder, or an archive ({', '.join(ARCHIVE_EXTENSIONS)})",
    )
    parser.add_argument(
        "--to", required=True, type=_out_folder, metavar="OUT_FOLDER", help="the output folder"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="blend", help="the format of the results (default: blend)"
    )
    parser.add_argument(
        "--characters",
        action="append",
        type=_pattern,
        default=[],
        metavar="PATTERN",
        help="convert the characters of a game that have such names, such as 'monster_*', with all that is declared "
        "for them; IN are the folders and archives of one game, of which the first has priority",
    )
    parser.add_argument(
        "--animations",
        type=_animations,
        default=NO_ANIMATIONS,
        metavar="same|FOLDER",
        help=f"also convert the animations that have a model's joints: '{ANIMATIONS_BESIDE}' for those in the "
        "model's own folder, or the path of another folder",
    )
    parser.add_argument(
        "--jobs", type=_count, default=1, metavar="N", help="the number of Blenders to run (default: 1)"
    )
    parser.add_argument(
        "--shard",
        type=_shard,
        default=(1, 1),
        metavar="I/N",
        help="do only the I-th of N parts of the work, counted from 1",
    )
    parser.add_argument(
        "--scale",
        type=_factor,
        metavar="X",
        help="factor for all lengths (default: 1, and for a .blend what makes up for the scale of the import)",
    )
    parser.add_argument(
        "--game-folder",
        action="append",
        type=_game_folder,
        default=[],
        metavar="FOLDER",
        help="also search this folder or archive for textures; may be given several times",
    )
    parser.add_argument("--no-textures", action="store_true", help="do not load images for materials")
    parser.add_argument(
        "--game",
        choices=GAMES,
        type=str.upper,
        default="",
        help=f"write {_FAMILY_NAMES} files for this game, and fail where the game would not load them (default: as in "
        "the preferences)",
    )
    parser.add_argument(
        "--verify",
        choices=[verify.value for verify in Verify],
        type=str.upper,
        default=Verify.SOME.value,
        help=f"the frames on which {_FAMILY_NAMES} files are compared with what Blender shows (default: SOME)",
    )
    parser.add_argument(
        "--deform-bones-only",
        action="store_true",
        help="leave out bones that do not deform meshes, such as those of a control rig, in .md5mesh files",
    )
    parser.add_argument(
        "--add-root-bone",
        action="store_true",
        help="add a root joint named origin if there are several roots, or one that is not at the origin, in .md5mesh "
        "files",
    )
    parser.add_argument(
        "--bone-influences",
        type=_count,
        default=0,
        metavar="N",
        help="the most bones for each vertex in .md5mesh files, the largest weights first (default: unlimited)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also convert files that are up to date, and overwrite files that this command did not write",
    )


def _add_game(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "game",
        nargs="+",
        type=_game_folder,
        metavar="GAME",
        help=f"a game folder or an archive ({', '.join(ARCHIVE_EXTENSIONS)}); of several, the first has priority",
    )


def _add_extract(parser: argparse.ArgumentParser) -> None:
    _add_game(parser)
    parser.add_argument(
        "--files",
        action="append",
        type=_pattern,
        required=True,
        metavar="PATTERN",
        help="the files to write, such as 'models/md5/*'; may be given several times",
    )
    parser.add_argument("--to", required=True, type=_out_folder, metavar="FOLDER", help="the folder")
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def _add_list(parser: argparse.ArgumentParser) -> None:
    _add_game(parser)
    parser.add_argument(
        "--search",
        nargs="+",
        type=_word,
        default=[],
        metavar="WORD",
        help="only list what has all these words in its name, path or kind",
    )
    parser.add_argument("--json", action="store_true", help="a list of objects, one for each entry")


def _pattern(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the pattern is empty: '*' stands for everything")
    return text


def _word(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(
            "a word to search for is empty: without --search, everything is listed"
        )
    return text


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _factor(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 1e-6 <= number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.000001 to 1000000")
    return number


def _folder(text: str) -> str:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"folder {text!r} does not exist")
    return with_single_root(text)


def _game_folder(text: str) -> str:
    if not os.path.isdir(text) and split_archive_path(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a folder nor an archive")
    return with_single_root(text)


def _animations(text: str) -> str:
    return text if text in (NO_ANIMATIONS, ANIMATIONS_BESIDE) else _folder(text)


def _out_folder(text: str) -> str:
    file_info.given(text)
    if os.path.exists(text) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return text


def _shard(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    is_number = first.isdecimal() and second.isdecimal() and len(text) <= 19
    if not (slash and is_number and 1 <= int(first) <= int(second)):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form I/N with I from 1 to N, such as 2/8")
    return int(first), int(second)
