"""What the rules and profiles of the games are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ....io_common import rules
from ..model import Animation, Camera, Ints, Joints, Model
from ..scale_file import ScaleTable
from ..validation import is_writable

_UNWRITABLE = re.compile("[\r\n\0\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT = "_"


class Game(Enum):
    """A game to write files for."""

    ANY = "ANY"
    DOOM3 = "DOOM3"
    DOOM3_BFG = "DOOM3_BFG"
    QUAKE = "QUAKE"
    QUAKE2 = "QUAKE2"
    SAUERBRATEN = "SAUERBRATEN"
    UNVANQUISHED = "UNVANQUISHED"


@dataclass(frozen=True)
class Subject:
    """What is checked: a model, an animation or a camera."""

    model: Model | None = None
    animation: Animation | None = None
    mesh_joints: Joints | None = None  # of the model that the animation is for
    has_animation: bool | None = None  # beside the mesh; None if unknown
    scales: ScaleTable | None = None  # of the animation's joints
    camera: Camera | None = None
    animations: Sequence[Animation] = ()  # of the model, in whose poses it is checked too

    @property
    def names(self) -> list[str]:
        """The names of the joints of the file."""
        joints = self.model.joints if self.model is not None else self.animation
        return joints.names if joints is not None else []

    @property
    def parents(self) -> Ints:
        """The parents of the joints of the file."""
        joints = self.model.joints if self.model is not None else self.animation
        return joints.parents if joints is not None else np.empty(0, dtype=np.int32)


class Comments(Enum):
    """Which meshes get a comment ``// meshes: NAME``."""

    EXISTING = "those that had one"
    AMBIGUOUS = "those that had one, and meshes with the same name and shader"
    ALL = "all"


@dataclass(frozen=True)
class NameRule:
    """A game's limits on joint names, besides those of the format."""

    max_bytes: int = 0  # in UTF-8; 0 for no limit
    forbidden: str = ""  # characters, as a regular expression
    problem: str = ""  # with other names, for messages

    def accepts(self, name: str) -> bool:
        """Whether the game accepts a name."""
        fits = not self.max_bytes or byte_count(name) <= self.max_bytes
        return fits and not (self.forbidden and re.search(self.forbidden, name))


@dataclass(frozen=True)
class Writing:
    """How files are written for a game."""

    all_components: bool = False  # of every joint in every frame of an animation
    name_lines: bool = True  # meshes keep the line with their name
    comments: Comments = Comments.EXISTING  # which meshes get a comment with their name
    max_commandline: int = 0  # in bytes; 0 for no limit
    needs_animation: bool = False  # the game loads no mesh without an animation of its name
    names: NameRule = NameRule()
    joint_scales: bool = False  # are written to a file beside the animation
    last_parent: int = 0  # highest index of a joint that may have children; 0 for no limit
    frame_rate: float = 0.0  # that the game plays, whatever the file says; 0 for the file's
    max_influences: int = 0  # joints that move a vertex; 0 for any number
    needs_root: bool = False  # a single root joint at the origin


@dataclass(frozen=True)
class Profile(rules.Profile):
    """A game, and how files for it are written."""

    writing: Writing = Writing()


def byte_count(text: str) -> int:
    """The bytes of a text in a file."""
    return len(text.encode("utf-8", "surrogateescape"))


def shorten(text: str, max_bytes: int) -> str:
    """A text shortened to a number of bytes without splitting a character."""
    room = max_bytes
    for end, letter in enumerate(text):
        room -= byte_count(letter)
        if room < 0:
            return text[:end]
    return text


def safe_names(names: list[str], rule: NameRule) -> list[str]:
    """Names that a game accepts; the same for mesh and animations, as only all names in order count."""
    valid = {name for name in names if is_writable(name) and rule.accepts(name)}
    # Some engines compare names without regard to case.
    taken = {name.casefold() for name in valid}
    result = []
    for name in names:
        safe = name
        if name not in valid:
            clean = _UNWRITABLE.sub(_REPLACEMENT, name.replace('"', "'"))
            clean = re.sub(rule.forbidden, _REPLACEMENT, clean) if rule.forbidden else clean
            number, suffix = 1, ""
            while (safe := _with_suffix(clean, suffix, rule)).casefold() in taken:
                number += 1
                suffix = f"{_REPLACEMENT}{number}"
            taken.add(safe.casefold())
        result.append(safe)
    return result


def _with_suffix(name: str, suffix: str, rule: NameRule) -> str:
    return (shorten(name, rule.max_bytes - len(suffix)) if rule.max_bytes else name) + suffix
