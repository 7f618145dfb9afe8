"""Profiles of games: rules, and how files are written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .names import ANY_NAME, NameRule
from .rules import Rule


class Game(Enum):
    """A game to write files for."""

    ANY = "ANY"
    DOOM3 = "DOOM3"
    DOOM3_BFG = "DOOM3_BFG"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    SAUERBRATEN = "SAUERBRATEN"
    UNVANQUISHED = "UNVANQUISHED"


class Comments(Enum):
    """Which meshes get a comment ``// meshes: NAME``."""

    EXISTING = "those that had one"
    AMBIGUOUS = "those that had one, and meshes with the same name and shader"
    ALL = "all"


@dataclass(frozen=True)
class Writing:
    """How files are written for a game.

    Attributes:
        all_components: every joint of an animation has all six components in every frame.
        name_lines: meshes keep the line with their name.
        comments: which meshes get a comment with their name.
        max_commandline: in bytes; 0 for no limit.
        animation_beside: the game does not load a mesh without an animation of the same name beside it.
        names: limits on joint names.
        joint_scales: scales of joints are written to a file beside the animation.
        last_parent: the highest index of a joint that may have children; 0 for no limit.
        frame_rate: frames per second that the game plays, whatever the file says; 0 for those of the file.
    """

    all_components: bool = False
    name_lines: bool = True
    comments: Comments = Comments.EXISTING
    max_commandline: int = 0
    animation_beside: bool = False
    names: NameRule = ANY_NAME
    joint_scales: bool = False
    last_parent: int = 0
    frame_rate: float = 0.0


@dataclass(frozen=True)
class Profile:
    """The profile of a game.

    Attributes:
        game: the game.
        label: its name in the interface.
        description: the games it includes, in one line.
        engines: the engines whose source was read.
        rules: its rules, besides those of every game.
        writing: how files for it are written.
        written: the same in words, with reasons, for the documentation.
    """

    game: Game
    label: str
    description: str
    engines: str
    rules: tuple[Rule, ...]
    writing: Writing = Writing()
    written: tuple[str, ...] = ()
