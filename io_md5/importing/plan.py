"""The second step of an import: the skeleton of each animation; the scene is not changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...io_blender.reports import listing
from ..format import Animation, Joints, Md5Error
from ..format import quaternions as quat
from ..format.skeleton import compose, match_joints
from .read import ImportSkeleton, SourceFiles, check_size
from .rig import read_rig

if TYPE_CHECKING:
    from bpy.types import Context, Object

Plan = list[tuple[Path, ImportSkeleton]]
"""The path of each animation with a skeleton to import it onto; several skeletons for one path are possible."""


def active_skeleton(context: Context) -> ImportSkeleton | None:
    """The active armature, or that of the active mesh; None if there is none or it has no bones."""
    return _armatures_of_scene(context)[0]


def plan_animations(context: Context, files: SourceFiles) -> Plan:
    """The skeletons to import each animation onto.

    Raises Md5Error if no skeleton has joints of an animation, or if several match equally well.
    """
    active, others = _armatures_of_scene(context) if files.animations else (None, [])
    plan: Plan = []
    added: list[ImportSkeleton] = []
    for path, animation in files.animations.items():
        # Models with the same skeleton, such as a character and its armour, all get the animation.
        targets = _best_matches([*files.skeletons, *added], animation)
        if not targets and active is not None:
            targets = _best_matches([active], animation)
        if not targets:
            targets = _best_matches(others, animation)
            if len(targets) > 1:
                raise Md5Error(
                    "several armatures match the animation equally well: make one of them active",
                    path=str(path), found=listing([skeleton.name for skeleton in targets]),
                )  # fmt: skip
        if not targets:
            present = [
                skeleton.name for skeleton in [*files.skeletons, *([active] if active else []), *others]
            ]
            if present:
                raise Md5Error(
                    "no bone matches a joint of the animation: import its model first",
                    path=str(path), found=listing(animation.names), expected=f"joints of {listing(present)}",
                )  # fmt: skip
            targets = [ImportSkeleton(path.stem, _bind_pose(animation))]
            check_size(targets[0].joints, 0, path)
            added += targets
        for target in targets:
            if target.obj is not None:
                _check_editable(target.obj, path)
            plan.append((path, target))
    return plan


def _check_editable(armature: Object, path: Path) -> None:
    """Raises Md5Error if the armature is linked or not editable.

    It would lose a new action when the .blend file is saved.
    """
    override = armature.override_library
    if armature.library is not None:
        reason = f"is linked from {Path(armature.library.filepath).name}"
    elif override is not None and override.is_system_override:
        reason = "is a library override that is not editable"
    else:
        return
    raise Md5Error(
        f"the armature {armature.name} {reason}: make it local, or make an editable library override",
        path=str(path),
    )


def _armatures_of_scene(context: Context) -> tuple[ImportSkeleton | None, list[ImportSkeleton]]:
    """The active armature, or that of the active mesh; and all others."""
    active = context.view_layer.objects.active
    if active is not None and active.type != "ARMATURE":
        active = active.find_armature()
    found = [
        ImportSkeleton(obj.name_full, read_rig(obj.data).joints, obj=obj)
        for obj in context.view_layer.objects
        if obj.type == "ARMATURE" and obj.data.bones
    ]
    first = next((skeleton for skeleton in found if skeleton.obj == active), None)
    return first, [skeleton for skeleton in found if skeleton is not first]


def _best_matches(skeletons: list[ImportSkeleton], animation: Animation) -> list[ImportSkeleton]:
    """The skeletons that share most joints with an animation; empty if none shares any."""
    scores = [len(match_joints(animation, skeleton.joints).joints) for skeleton in skeletons]
    best = max(scores, default=0)
    if best == 0:
        return []
    return [skeleton for skeleton, score in zip(skeletons, scores, strict=True) if score == best]


def _bind_pose(animation: Animation) -> Joints:
    """A bind pose for an animation without a model: its base frame."""
    orientations = quat.wxyz_from_xyz(animation.base_orientations)
    positions, orientations = compose(animation.parents, animation.base_positions, orientations)
    return Joints(animation.names, animation.parents, positions, orientations)
