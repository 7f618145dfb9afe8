"""Constraints whose target bone does not exist: Blender shows their effect until it evaluates the rig anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpy.types import Constraint, Object

    from ...io_blender.reports import Report


def warn_of_missing_targets(armature: Object, report: Report) -> None:
    """Gives one warning that names the constraints of bones that refer to a bone that does not exist."""
    assert armature.pose is not None
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.enabled and any(_is_missing(*target) for target in _targets(constraint)):
                report.warn(
                    "the target bone of the constraint does not exist, so what Blender shows may change with its next "
                    "update: choose another bone or remove the constraint",
                    f"{bone.name} ({constraint.name})",
                )


def _targets(constraint: Constraint) -> Iterator[tuple[Object | None, str]]:
    """The target objects of a constraint, and the names of their bones."""
    holder: Any
    for holder in (constraint, *getattr(constraint, "targets", ())):
        yield getattr(holder, "target", None), getattr(holder, "subtarget", "")


def _is_missing(target: Object | None, bone: str) -> bool:
    return target is not None and target.pose is not None and bool(bone) and bone not in target.pose.bones
