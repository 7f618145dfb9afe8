"""How IQM files are read by what all skeletal formats share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...io_common.files import Source
from ...io_common.skeletal.formats import SkeletalFormat
from ...io_common.skeletal.model import AnimationHeader, Joints
from ...io_common.skeletal.scales import NamedAnimation
from .convert import DEFAULT_RATE, joints_of, to_animations
from .file import read_iqm
from .model import Iqm, IqmError

SUFFIX = ".iqm"


def holds_model(iqm: Iqm) -> bool:
    """Whether a file holds more than animations for another."""
    return bool(iqm.meshes or iqm.joint_names)


def _read_joints(source: Source) -> Joints:
    iqm = read_iqm(source)
    if not holds_model(iqm):
        raise IqmError("the file holds animations alone: import the model of these as well")
    return joints_of(iqm)


def _read_header(source: Source) -> AnimationHeader:
    iqm = read_iqm(source)
    names = iqm.joint_names or [""] * len(iqm.pose_parents)
    rate = iqm.animations[0].frame_rate if iqm.animations else 0.0
    count = sum(one.frame_count for one in iqm.animations)
    return AnimationHeader(names, iqm.pose_parents, count, rate or DEFAULT_RATE)


def _read_animations(source: Source) -> list[NamedAnimation]:
    iqm = read_iqm(source)
    found = to_animations(iqm)
    if len(found) == 1 and not holds_model(iqm):
        # Games find it by the name of its file.
        found[0].name = ""
    return found


def _has(test: Callable[[Iqm], Any]) -> Callable[[Source], bool]:
    def has(source: Source) -> bool:
        try:
            return bool(test(read_iqm(source)))
        except (IqmError, OSError):
            return True

    return has


FORMAT = SkeletalFormat(
    SUFFIX, SUFFIX, _read_joints, _read_header, _read_animations, _has(lambda iqm: iqm.animations), _has(holds_model)
)
