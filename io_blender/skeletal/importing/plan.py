"""Which skeletons the animations of an import move: its models, or armatures of the scene. Animation Between Skeletons:
whether an animation needs a transfer to an armature, and by which map of joints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from bpy.types import Context, Object

from ....io_common.skeletal import joint_map
from ....io_common.skeletal.model import Animation, SkeletalError
from ....io_common.skeletal.retargeting import UNMAPPED
from ....io_common.skeletal.skeleton import match_joints
from ....io_common.texts import counted
from ...reports import Report, listing
from ...scene.axes import identity
from ...scene.objects import armature_of, conversion_of
from ..records import load_joint_map
from ..rig import convert_joints, read_rig
from .sources import ImportSkeleton, Rest, SourceAnimation, SourceFiles, UserMap, base_pose, check_size

# Of the size of a skeleton: joints that are nearer are in the same place.
_SAME_PLACE = 1e-4


@dataclass(frozen=True, eq=False)
class Transfer:
    """An animation of another skeleton."""

    rest: Rest
    pairs: dict[str, str]  # its joints by those of the armature
    found: dict[str, joint_map.Pair] = field(default_factory=dict)  # the same, if the map was found for this animation


# An animation with a skeleton to import it onto, of which there may be several, and None if it moves that as it is.
Planned = tuple[SourceAnimation, ImportSkeleton, Transfer | None]


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
        # Models with the same skeleton, such as a character and its armour, all get the animation, unless it is inside
        # the file of one.
        own = [one for one in files.skeletons if one.path == path]
        targets = own or _best_matches([*files.skeletons, *added], animation)
        if not targets and active is not None:
            targets = _best_matches([active], animation)
        if not targets:
            targets = _best_matches(others, animation)
            if active is not None and targets:
                fitting = match_joints(animation, targets[0].joints).named_count
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
            plan.append((source, target, transfer))
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
    active = armature_of(context.view_layer.objects.active)
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


def read_user_map(path: str) -> UserMap | None:
    """The map in a file, None if the path is empty; raises SkeletalError or OSError."""
    return UserMap(Path(path).name, joint_map.read_joint_map(Path(path))) if path else None


def plan_transfer(source: SourceAnimation, target: ImportSkeleton, user_map: UserMap | None) -> Transfer | None:
    """How an animation is transferred, None if it is not needed; raises SkeletalError if too few joints are mapped."""
    path, animation = source.path, source.animation
    match = match_joints(animation, target.joints)
    fitting, count = match.named_count, len(animation.names)
    is_wanted = source.rest is not None or user_map is not None
    if 2 * fitting >= count and not is_wanted:
        return _plan_for_turned(source, target)
    rest = source.find_rest()
    found: dict[str, joint_map.Pair] = {}
    pairs = user_map.pairs if user_map is not None else _stored_map(rest, target)
    if not pairs:
        found = joint_map.find_joint_map(rest.joints, target.joints)
        pairs = {name: pair.source for name, pair in found.items()}
    sources = joint_map.source_indices(pairs, rest.joints, target.joints)
    if match.renamed and not is_wanted and not rest.is_known and sources == match.joints:
        # Its own rest pose is that of the target.
        return None
    mapped = len({rest.joints.names[joint] for joint in sources if joint != UNMAPPED})
    if user_map is not None and not mapped and 2 * fitting < count:
        raise SkeletalError(
            f"the joint map {user_map.name} names none of its joints and the bones of {target.name}", path=str(path)
        )
    mapped_or_fitting = mapped if is_wanted else max(mapped, fitting)
    # Of the smaller skeleton: what the larger one has besides cannot fit.
    if 0 < mapped_or_fitting < joint_map.LEAST_SHARE * min(count, len(target.joints)):
        raise SkeletalError(
            f"only {mapped_or_fitting} of {counted(count, 'joints')} fit. Import this animation's own model, or map "
            "its joints in the tab id Tech",
            path=str(path),
        )
    return Transfer(rest, pairs, found) if mapped > (0 if is_wanted else fitting) else None


def count_mapped(source: SourceAnimation, target: ImportSkeleton) -> int:
    """How many joints of an animation move a skeleton that it is transferred to; 0 if it is not, or too few would."""
    try:
        transfer = plan_transfer(source, target, None)
    except SkeletalError:
        return 0
    return len({*transfer.pairs.values()}.intersection(source.animation.names)) if transfer is not None else 0


def _plan_for_turned(source: SourceAnimation, target: ImportSkeleton) -> Transfer | None:
    """How an animation is transferred to its own armature, of which bones were only turned, as by their roll."""
    match = match_joints(source.animation, target.joints)
    if target.obj is None or not target.is_edited or not match.is_complete:
        return None
    # The joints of some files have no names.
    names = [target.joints.names[bone] for _, bone in sorted(zip(match.joints, match.bones, strict=True))]
    rest = source.find_rest()
    rest = rest._replace(joints=replace(rest.joints, names=names))
    order = [names.index(name) for name in target.joints.names]
    joints = convert_joints(rest.joints, conversion_of(target.obj) or identity())
    distances = np.linalg.norm(joints.positions[order] - target.joints.positions, axis=1)
    if not rest.is_known or distances.max() > _SAME_PLACE * np.ptp(joints.positions, axis=0).max():
        return None
    return Transfer(rest, {name: name for name in names})


def _stored_map(rest: Rest, target: ImportSkeleton) -> dict[str, str]:
    """The map that is stored with an armature, unless it was made for another skeleton than this."""
    pairs = load_joint_map(target.obj.data) if target.obj is not None else {}
    known = sum(source in rest.joints.names for source in pairs.values())
    return pairs if 2 * known >= len(pairs) else {}
