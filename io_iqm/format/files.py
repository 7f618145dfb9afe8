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


def animations_in(iqm: Iqm) -> list[NamedAnimation]:
    """The animations of a file; one that is alone in it has no name, as games find it by that of the file."""
    found = to_animations(iqm)
    if len(found) == 1 and not iqm.holds_model:
        found[0].name = ""
    return found


def _read_joints(source: Source) -> Joints:
    iqm = read_iqm(source)
    if not iqm.holds_model:
        raise IqmError("the file holds animations alone: import the model of these as well")
    return joints_of(iqm)


def _read_header(source: Source) -> AnimationHeader:
    iqm = read_iqm(source)
    rates = [one.frame_rate for one in iqm.animations if one.frame_rate] or [DEFAULT_RATE]
    count = sum(one.frame_count for one in iqm.animations)
    return AnimationHeader(iqm.joint_names or [""] * len(iqm.pose_parents), iqm.pose_parents, count, rates[0])


def _has(test: Callable[[Iqm], Any]) -> Callable[[Source], bool]:
    def has(source: Source) -> bool:
        try:
            return bool(test(read_iqm(source)))
        except (IqmError, OSError):
            return True

    return has


FORMAT = SkeletalFormat(
    SUFFIX, SUFFIX, _read_joints, _read_header, lambda source: animations_in(read_iqm(source)),
    has_animations=_has(lambda iqm: iqm.animations and not iqm.meshes), has_model=_has(lambda iqm: iqm.holds_model),
)  # fmt: skip
