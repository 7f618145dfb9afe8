"""The description of a format family, which menus, the command line, fuzzing and tests loop over. Needs no Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

from .files import open_file
from .game_tree.archives import FilesByName, MemberStream, readable
from .rules import Description, Profile
from .skeletal.formats import SkeletalFormat
from .textures.conventions import TextureRules

ANY_GAME = "ANY"  # the game of all families whose rules are those of the format


class Role(Enum):
    """The contents of a file."""

    MODEL = "model"
    ANIMATION = "animation"
    CAMERA = "camera"


@dataclass(frozen=True)
class FileKind:
    """A kind of file."""

    suffix: str  # in lower case, with the dot
    label: str
    role: Role
    read: Callable[[str], object]  # without Blender; raises the family's error or OSError
    # What ``info`` prints about a file, with the findings for a game if it names one.
    describe: Callable[[str, str], Description]


@dataclass(frozen=True)
class Family:
    """A family of formats that belong together."""

    name: str  # in lower case, as in operators, ``--format`` on the command line, and the property group
    label: str
    kinds: tuple[FileKind, ...]  # the first is the model
    error: type[ValueError]  # that its readers and writers raise for bad data
    blender: Callable[[], Any]
    textures: TextureRules
    # The first is the default; empty if files are the same for all games.
    games: Mapping[Any, Profile] = field(default_factory=dict)
    other_games: frozenset[str] = frozenset()  # that other families have, and this one knows by another name
    skeletal: SkeletalFormat | None = None  # None for frames of vertices
    magic: bytes = b""  # with which files begin; empty if that tells nothing
    has_one_file: bool = False  # whether a model and all its animations are one file
    # Of the file that a game needs beside each model, with the same name; empty if it needs none.
    required_suffix: Callable[[str], str] = lambda game: ""
    # Those that an import reads with a file, with the folders listed so far.
    find_companion_files: Callable[[Path, FilesByName], list[Path]] = lambda path, listed: []

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of all kinds of files, that of the model first."""
        return tuple(kind.suffix for kind in self.kinds)

    def has_game(self, name: str) -> bool:
        """Whether there are rules for the files of a game; if not, those of any game apply."""
        return name in self.other_games or any(name == game.value for game in self.games)

    def frame_rate(self, name: str) -> float | None:
        """The rate at which a game plays all files, if there is one; that of the first game for one without rules."""
        profiles = list(self.games.values())
        found = next((one for one in profiles if one.game.value == name), profiles[0] if profiles else None)
        return found.frame_rate if found is not None else None


def operators_of(package: str) -> Callable[[], Any]:
    """What imports the operators of a family, when they are first needed, and gives what it adds to Blender."""
    return lambda: import_module(f"{package}.operators").BLENDER


def kinds_by_suffix(families: Iterable[Family]) -> dict[str, FileKind]:
    """The kinds of files of all families, by suffix."""
    return {kind.suffix: kind for family in families for kind in family.kinds}


def family_of(families: Sequence[Family], suffix: str) -> Family | None:
    """The family of files with a suffix, in any case; None if it is unknown."""
    return next((family for family in families if suffix.lower() in family.suffixes), None)


def family_of_file(families: Sequence[Family], path: Path) -> Family | None:
    """The same for a file, but of the family that its first bytes name if that is another one."""
    # Models of Quake II that are MD3 are named .md2. Of families with several kinds of files, names tell the kind.
    family = family_of(families, path.suffix)
    if family is None or not family.has_one_file:
        return family
    others = [other for other in families if other.has_one_file and other.magic]
    try:
        source = readable(path)
        with source if isinstance(source, MemberStream) else open_file(source) as file:
            begin = file.read(max((len(other.magic) for other in others), default=0))
    except OSError:
        # The reader of the family says why.
        return family
    return next((other for other in others if begin.startswith(other.magic)), family)


def game_identifiers(families: Iterable[Family]) -> list[str]:
    """The identifiers of the games of all families, each once."""
    return list(dict.fromkeys(game.value for family in families for game in family.games))
