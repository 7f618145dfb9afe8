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
    """What is checked: a model, an animation or a camera.

    Attributes:
        model: the mesh file.
        animation: the animation file.
        mesh_joints: of the model that the animation is for; None if unknown.
        has_animation: whether there is an animation beside the mesh; None if unknown.
        scales: of the joints of the animation; None if they have none, or if it is unknown.
        camera: the camera file.
        animations: of the model, in whose poses it is checked too.
    """

    model: Model | None = None
    animation: Animation | None = None
    mesh_joints: Joints | None = None
    has_animation: bool | None = None
    scales: ScaleTable | None = None
    camera: Camera | None = None
    animations: Sequence[Animation] = ()

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
    """A game's limits on joint names, besides those of the format.

    Attributes:
        max_bytes: the longest name in UTF-8; 0 for no limit.
        forbidden: invalid characters, as a regular expression; empty for none.
        problem: the problem with other names, for messages.
    """

    max_bytes: int = 0
    forbidden: str = ""
    problem: str = ""

    def accepts(self, name: str) -> bool:
        """Whether the game accepts a name."""
        fits = not self.max_bytes or byte_count(name) <= self.max_bytes
        return fits and not (self.forbidden and re.search(self.forbidden, name))


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
    names: NameRule = NameRule()
    joint_scales: bool = False
    last_parent: int = 0
    frame_rate: float = 0.0


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
    """Names that a game accepts: valid names unchanged, each other one with a unique replacement.

    The result depends only on the names of all joints in order, so mesh and animations of one skeleton get the same
    names.
    """
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
