"""What all skeletal formats share has to know of one: how its files are read, and what its games take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..files import Source
from .model import Animation, AnimationHeader, Joints
from .scales import ScaleTable


class NamedAnimation(NamedTuple):
    """An animation of a file."""

    name: str  # empty for that of the file
    animation: Animation
    scales: ScaleTable | None = None  # of its joints, None if all are 1


@dataclass(frozen=True)
class SkeletalFormat:
    """A skeletal format; its functions raise SkeletalError or OSError."""

    model_suffix: str  # in lower case, with the dot
    animation_suffix: str  # the same if files hold models and animations
    read_joints: Callable[[Source], Joints]  # the bind pose of a model
    read_header: Callable[[Source], AnimationHeader]
    read_animations: Callable[[Source], list[NamedAnimation]]


@dataclass(frozen=True)
class Writing:
    """How skeletal models are written for a game."""

    joint_scales: bool = False  # joints may be scaled in animations
    last_parent: int = 0  # highest index of a joint that may have children; 0 for no limit
    frame_rate: float = 0.0  # that the game plays, whatever the file says; 0 for the file's
    max_influences: int = 0  # joints that move a vertex; 0 for any number
    single_root: bool = False  # models with several root joints are refused
    root_at_origin: bool = False  # a model is moved by the distance of its root joint
