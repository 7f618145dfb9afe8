"""What all skeletal formats share has to know of one: how its files are read, and what its games take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..files import Source
from .model import AnimationHeader, Joints
from .scales import NamedAnimation


@dataclass(frozen=True)
class SkeletalFormat:
    """A skeletal format; its functions raise SkeletalError or OSError."""

    model_suffix: str  # in lower case, with the dot
    animation_suffix: str  # the same if files hold models and animations
    read_joints: Callable[[Source], Joints]  # the bind pose of a model
    read_header: Callable[[Source], AnimationHeader]
    read_animations: Callable[[Source], list[NamedAnimation]]
    # Whether a model's file holds animations as well; true of what cannot be read, so that reading tells why.
    has_animations: Callable[[Source], bool] = lambda source: True
    has_model: Callable[[Source], bool] = lambda source: True  # the same of a model, and not animations alone


@dataclass(frozen=True)
class Writing:
    """How skeletal models are written for a game."""

    joint_scales: bool = False  # joints may be scaled in animations
    last_parent: int = 0  # highest index of a joint that may have children; 0 for no limit
    frame_rate: float = 0.0  # that the game plays, whatever the file says; 0 for the file's
    max_influences: int = 0  # joints that move a vertex; 0 for any number
    single_root: bool = False  # models with several root joints are refused
    root_at_origin: bool = False  # a model is moved by the distance of its root joint
    precision: float = 0.0  # of vertices, relative to the size of a model, if files are coarser than 32-bit floats
    computes_w: bool = False  # files have x, y and z of a quaternion, of which games compute w with 32-bit floats
