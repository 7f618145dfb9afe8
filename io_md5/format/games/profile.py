"""A game: what it takes, and how files for it are written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .names import ANY_NAME, NameRule
from .rules import Rule


class Game(Enum):
    """Whose loader is to take the files."""

    ANY = "ANY"
    DOOM3 = "DOOM3"
    DOOM3_BFG = "DOOM3_BFG"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    SAUERBRATEN = "SAUERBRATEN"
    UNVANQUISHED = "UNVANQUISHED"


class Comments(Enum):
    """Which meshes get a comment ``// meshes: NAME``."""

    KEPT = "those that had one"
    APART = "those that had one, and all where several share name and shader"
    ALL = "all"


@dataclass(frozen=True)
class Writing:
    """How files for a game are written.

    Attributes:
        all_components: every joint of an animation has all six components in every frame.
        name_lines: meshes keep the line with their name.
        comments: which meshes get a comment with their name.
        longest_commandline: in bytes; 0 for any length.
        animation_beside: the mesh is not loaded without an animation of the same name beside it.
        names: which names of joints the game takes.
    """

    all_components: bool = False
    name_lines: bool = True
    comments: Comments = Comments.KEPT
    longest_commandline: int = 0
    animation_beside: bool = False
    names: NameRule = ANY_NAME


@dataclass(frozen=True)
class Profile:
    """A game.

    Attributes:
        game: which.
        label: its name in the interface.
        description: what else it stands for, in one line.
        engines: whose loaders were read.
        rules: what it takes, besides what every game does.
        writing: how files for it are written.
        written: the same in words, for the documentation, each with its reason.
    """

    game: Game
    label: str
    description: str
    engines: str
    rules: tuple[Rule, ...]
    writing: Writing = Writing()
    written: tuple[str, ...] = ()
