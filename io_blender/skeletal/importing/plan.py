"""Which skeletons the animations of an import move: its models, or armatures of the scene."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bpy.types import Context, Object

from ....io_common.skeletal.model import Animation, SkeletalError
from ....io_common.skeletal.skeleton import match_joints
from ...reports import Report, listing
from ..rig import read_rig
from .sources import ImportSkeleton, SourceAnimation, SourceFiles, base_pose, check_size
from .transfer import Transfer, plan_transfer


class Planned(NamedTuple):
    """An animation with a skeleton to import it onto; there may be several for one animation."""

    source: SourceAnimation
    target: ImportSkeleton
    transfer: Transfer | None  # None if the animation moves its joints as it is


def active_skeleton(context: Context) -> ImportSkeleton | None:
    """The active armature, or that of the active mesh; None if there is none or it has no bones."""
    return _armatures_of_scene(context)[0]


def plan_animations(context: Context, files: SourceFiles, report: Report) -> list[Planned]:
    """The skeletons for each animation; raises SkeletalError if none matches, or several equally well."""
    active, others = _armatures_of_scene(context) if files.animations else (None, [])
    plan: list[Planned] = []
    added: list[ImportSkeleton] = []
    for source in files.animations:
        path, animation = source.path, source.animation
        # Models with the same skeleton, such as a character and its armour, all get the animation.
        targets = _best_matches([*files.skeletons, *added], animation)
        if not targets and active is not None:
            targets = _best_matches([active], animation)
        if not targets:
            targets = _best_matches(others, animation)
            if active is not None and targets:
                fitting = match_joints(animation, targets[0].joints).named_count
                # A few equal names say nothing.
                targets = targets if 2 * fitting >= len(animation.names) else []
            if len(targets) > 1:
                raise SkeletalError(
                    "several armatures match the animation equally well: make one of them active",
                    path=str(path), found=listing([skeleton.name for skeleton in targets]),
                )  # fmt: skip
            if targets and active is not None:
                report.warn(
                    f"imported onto {targets[0].name}, which has its joints. To transfer it to {active.name}, select "
                    "both and use Animation Between Skeletons",
                    path.name,
                )
        candidates = targets or files.skeletons[:1] or ([active] if active is not None else others)
        transfer = None
        if len(candidates) == 1 or targets:
            transfer = plan_transfer(source, candidates[0], files.joint_map)
            is_same_order = bool(match_joints(animation, candidates[0].joints).renamed)
            targets = candidates if transfer is not None or is_same_order else targets
        if not targets:
            present = [skeleton.name for skeleton in [*files.skeletons, *([active] if active else []), *others]]
            if present:
                raise SkeletalError(
                    "no bone matches a joint of the animation: import its model first",
                    path=str(path), found=listing(animation.names), expected=f"joints of {listing(present)}",
                )  # fmt: skip
            targets = [ImportSkeleton(path.stem, base_pose(animation))]
            check_size(targets[0].joints, 0, path)
            added += targets
        for target in targets:
            if target.obj is not None:
                check_editable(target.obj, path)
            plan.append(Planned(source, target, transfer))
    return plan


def check_editable(armature: Object, path: Path | None = None) -> None:
    """Raises SkeletalError if the armature is linked or not editable, so that saving would lose a new action."""
    override = armature.override_library
    if armature.library is not None:
        reason = f"is linked from {Path(armature.library.filepath).name}"
    elif override is not None and override.is_system_override:
        reason = "is a library override that is not editable"
    else:
        return
    raise SkeletalError(
        f"the armature {armature.name} {reason}: make it local, or make an editable library override",
        path=str(path or ""),
    )


def _armatures_of_scene(context: Context) -> tuple[ImportSkeleton | None, list[ImportSkeleton]]:
    """The active armature, or that of the active mesh; and all others."""
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = active.find_armature()
    found = []
    for obj in context.view_layer.objects:
        if obj.type == "ARMATURE" and obj.data.bones:
            rig = read_rig(obj.data)
            is_edited = not rig.is_unmoved[rig.indices >= 0].all()
            found.append(ImportSkeleton(obj.name_full, rig.joints, obj=obj, is_edited=is_edited))
    first = next((skeleton for skeleton in found if skeleton.obj == active), None)
    return first, [skeleton for skeleton in found if skeleton is not first]


def _best_matches(skeletons: list[ImportSkeleton], animation: Animation) -> list[ImportSkeleton]:
    scores = [match_joints(animation, skeleton.joints).named_count for skeleton in skeletons]
    best = max(scores, default=0)
    if best == 0:
        return []
    return [skeleton for skeleton, score in zip(skeletons, scores, strict=True) if score == best]
