"""The arguments of the command line."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..families import FAMILIES
from ..io_blender.options import NO_ANIMATIONS, SAME_FOLDER, Settings
from ..io_blender.verification import Verify
from ..io_common.family import game_identifiers
from ..io_common.game_tree.archives import ARCHIVE_EXTENSIONS, split_archive_path
from .tasks import ASSETS, FAMILY_FORMATS, FORMATS, INPUT_SUFFIXES, with_one_root

_GAMES = game_identifiers(FAMILIES)
_FAMILY_NAMES = ", ".join(name.upper() for name in FAMILY_FORMATS)
_ARCHIVES = ", ".join(ARCHIVE_EXTENSIONS)

_LIST = """\
Lists what can be imported from a game: entities and models of Doom 3, players of Quake II, models with an md5.cfg or
md2.cfg, and all other models; with the number of meshes, animations and skins that are there and that are missing."""

_EXTRACT = """\
Writes files of a game to a folder, where they keep their paths: those that the game would use, loose or in archives."""

_CONVERT = """\
Converts models to another format. Folders are searched recursively, and their layout is kept.
Files that are up to date are skipped; a file that cannot be converted does not stop the others."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments after the name of the command; raises SystemExit, with the message printed."""
    parser = argparse.ArgumentParser(
        prog="blender --command idtech", description=f"id Software's {_FAMILY_NAMES} models."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_convert(commands.add_parser("convert", help="convert files or whole trees", description=_CONVERT))
    add_reading(commands)
    # For the Blenders that `--jobs` starts; a command without help is not listed.
    work = commands.add_parser("work")
    work.add_argument("replies", type=Path)
    work.add_argument("settings", type=json.loads)
    options = parser.parse_args(words)
    if options.command == "convert" and options.format == ASSETS:
        options.characters = options.characters or ["*"]
    return options


def add_reading(commands: Any) -> None:
    """Adds the commands that need no Blender: ``info``, ``list`` and ``extract``."""
    info = commands.add_parser("info", help="print what is in a file", description="Prints what is in files.")
    info.add_argument("files", nargs="+", type=_given, metavar="FILE", help="a file, or a folder of files")
    what = "also list what this game would refuse or show differently"
    info.add_argument("--game", choices=_GAMES, default="", type=str.upper, help=what)
    info.add_argument("--json", action="store_true", help="a list of objects, one for each file")
    listing = commands.add_parser("list", help="list the characters and models of a game", description=_LIST)
    extraction = commands.add_parser("extract", help="write files of a game to a folder", description=_EXTRACT)
    what = f"a game folder or an archive ({_ARCHIVES}); of several, the first has priority"
    for command in (listing, extraction):
        command.add_argument("game", nargs="+", type=_game_folder, metavar="GAME", help=what)
    what = "only list what has all these words in its name, path or kind"
    listing.add_argument("--search", nargs="+", type=_word, default=[], metavar="WORD", help=what)
    listing.add_argument("--json", action="store_true", help="a list of objects, one for each entry")
    what = "the files to write, such as 'models/md5/*'; may be given several times"
    extraction.add_argument("--files", action="append", type=_pattern, required=True, metavar="PATTERN", help=what)
    extraction.add_argument("--to", required=True, type=_out_folder, metavar="FOLDER", help="the folder")
    extraction.add_argument("--force", action="store_true", help="replace files that exist")


def settings_of(
    options: argparse.Namespace, game_folders: Sequence[str], default_game: Callable[[str], str]
) -> Settings:
    """The settings of a conversion; `default_game` gives the preferred game of a family."""
    values = {field.name: getattr(options, field.name) for field in fields(Settings) if field.name in options}
    values["game_folders"] = (*options.game_folders, *game_folders)
    if not options.game and options.format in FAMILY_FORMATS:
        values["game"] = default_game(options.format)
    if options.characters:
        # A character comes with the animations that are declared for it.
        values |= {"animations": SAME_FOLDER, "game_data": tuple(options.inputs)}
    return Settings(**values)


def add_convert(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of a conversion."""
    add = parser.add_argument
    formats = (
        f"the format of the results; '{ASSETS}' makes OUT_FOLDER an asset library of the characters of a game, by "
        "default of all of them (default: %(default)s)"
    )
    inputs = f"a file ({', '.join(INPUT_SUFFIXES)}), a folder, or an archive ({_ARCHIVES})"
    add("inputs", nargs="+", type=_given, metavar="IN", help=inputs)
    add("--to", required=True, type=_out_folder, metavar="OUT_FOLDER", help="the output folder")
    add("--format", choices=FORMATS, help=formats)
    characters = (
        "convert the characters of a game with these names, such as 'monster_*', and all that is declared for them; IN "
        "are the folders and archives of one game, of which the first has priority"
    )
    add("--characters", action="append", type=_pattern, default=[], metavar="PATTERN", help=characters)
    animations = (
        f"also convert the animations that have a model's joints: '{SAME_FOLDER}' for those in the model's own "
        "folder, or the path of another folder"
    )
    add("--animations", type=_animations, metavar="same|FOLDER", help=animations)
    mapping = "also convert animations of another skeleton, with this map of its joints (JSON)"
    add("--map", dest="joint_map", type=_map_file, metavar="FILE", help=mapping)
    add("--jobs", type=_count, default=1, metavar="N", help="the number of Blenders to run (default: 1)")
    shard = "do only the I-th of N parts of the work, counted from 1"
    add("--shard", type=_shard, default=(1, 1), metavar="I/N", help=shard)
    scale = "factor for all lengths (default: 1; for a .blend, what undoes the scale of the import)"
    add("--scale", type=_factor, metavar="X", help=scale)
    folders = "also search this folder or archive for textures; may be given several times"
    add("--game-folder", dest="game_folders", action="append", type=_game_folder, metavar="FOLDER", help=folders)
    add("--no-textures", dest="use_textures", action="store_false", help="do not load images for materials")
    written = "write models for this game, and fail where the game would not load them"
    add("--game", choices=_GAMES, type=str.upper, help=f"{written} (default: as in the preferences)")
    frames = "the frames on which models are compared with what Blender shows (default: %(default)s)"
    add("--verify", choices=[verify.value for verify in Verify], type=str.upper, help=frames)
    deform = "leave out bones that do not deform meshes, such as those of a control rig, in MD5 and IQM files"
    add("--deform-bones-only", dest="deform_only", action="store_true", help=deform)
    root = "add a root joint named origin above all others, unless the only root has this name and is at the origin"
    add("--add-root-bone", dest="add_origin", action="store_true", help=f"{root}, in MD5 and IQM files")
    influences = "the most bones for each vertex in MD5 and IQM files, the largest weights first (default: unlimited)"
    add("--bone-influences", dest="max_influences", type=_count, metavar="N", help=influences)
    force = "also convert files that are up to date, and overwrite files that this command did not write"
    add("--force", action="store_true", help=force)
    # Further folders are added to a copy of the list, which cannot be a tuple.
    parser.set_defaults(**{one.name: one.default for one in fields(Settings)} | {"game_folders": []})


def _checked(convert: Callable[[str], Any], problem: str) -> Callable[[str], Any]:
    """A type of arguments; of a text that it converts to None, the message tells the problem."""

    def check(text: str) -> Any:
        value = convert(text)
        if value is None:
            raise argparse.ArgumentTypeError(problem.format(repr(text)))
        return value

    return check


def _filled(problem: str) -> Callable[[str], Any]:
    return _checked(lambda text: text if text.strip() else None, problem)


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return number if 1e-6 <= (number := float(text)) <= 1e6 else None
    return None


def _part_and_parts(text: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    return (int(found[1]), int(found[2])) if found and 1 <= int(found[1]) <= int(found[2]) else None


def _path_if(is_valid: Callable[[str], bool], problem: str) -> Callable[[str], Any]:
    return _checked(lambda text: with_one_root(text) if is_valid(text) else None, problem)


_given = _filled("the name is empty: give a file or folder")  # it would mean the current folder
_pattern = _filled("the pattern is empty: '*' stands for everything")
_word = _filled("a word to search for is empty: without --search, everything is listed")
_count = _checked(
    lambda text: (int(text) or None) if re.fullmatch(r"\d{1,9}", text) else None,
    "{} is not a whole number of at least 1",
)
_factor = _checked(_number, "{} is not a number from 0.000001 to 1000000")
_shard = _checked(_part_and_parts, "{} is not of the form I/N with I from 1 to N, such as 2/8")
_game_folder = _path_if(
    lambda text: os.path.isdir(text) or split_archive_path(text) is not None, "{} is neither a folder nor an archive"
)
_animations = _path_if(
    lambda text: text in (NO_ANIMATIONS, SAME_FOLDER) or os.path.isdir(text), "folder {} does not exist"
)
_map_file = _checked(
    lambda text: text and (os.path.abspath(text) if os.path.isfile(text) else None), "file {} does not exist"
)
_out_folder = _checked(
    lambda text: _given(text) if os.path.isdir(text) or not os.path.exists(text) else None, "{} is not a folder"
)
