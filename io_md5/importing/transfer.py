"""Animation Between Skeletons: whether an animation needs a transfer to an armature, and by which map of joints."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import bpy
import numpy as np

from ...io_blender import versions
from ...io_blender.clips.actions import ActionFinder, moves_bones
from ...io_blender.reports import Report, listing
from ...io_blender.scene.axes import identity
from ...io_blender.scene.objects import conversion_of
from ...io_common.game_tree.archives import files_in, readable
from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.joint_map import (
    LEAST_SHARE,
    Pair,
    find_joint_map,
    map_retargeting,
    read_joint_map,
    source_indices,
)
from ...io_common.skeletal.retargeting import UNMAPPED, Retargeting
from ...io_common.skeletal.skeleton import compose, match_joints
from ...io_common.texts import counted
from ..format import Animation, Joints, Md5Error, read_joints
from ..format.model import MESH_SUFFIX
from ..records import load_joint_map, store_joint_map
from .rig import Rig, bone_path, convert_joints

if TYPE_CHECKING:
    from bpy.types import Object

    from .read import ImportSkeleton

# Of the size of a skeleton: joints that are nearer are in the same place, and bones that move less are only turned.
_SAME_PLACE, _LEAST_MOVE = 1e-4, 1e-3


class Rest(NamedTuple):
    """The skeleton of an animation at rest."""

    joints: Joints
    is_known: bool  # whether it is that of a model; else it is the base frame


class UserMap(NamedTuple):
    """The map of joints in the file that the user chose."""

    name: str  # of the file
    pairs: dict[str, str]  # joints of other skeletons by those of the armature


@dataclass(frozen=True, eq=False)
class Transfer:
    """An animation of another skeleton."""

    rest: Rest
    pairs: dict[str, str]  # its joints by those of the armature
    found: dict[str, Pair] = field(default_factory=dict)  # the same, if the map was found for this animation


def read_user_map(path: str) -> UserMap | None:
    """The map in a file, None if the path is empty; raises Md5Error or OSError."""
    return UserMap(Path(path).name, read_joint_map(Path(path))) if path else None


def find_rest(path: Path, animation: Animation) -> Rest:
    """The skeleton of an animation at rest: of a model in its folder with its joints, else its base frame."""
    with suppress(OSError):
        for model in files_in(path.parent):
            if model.suffix.lower() == MESH_SUFFIX:
                with suppress(Md5Error, OSError):
                    joints = read_joints(readable(model))
                    match = match_joints(animation, joints)
                    if match.is_complete:
                        order = [bone for _, bone in sorted(zip(match.joints, match.bones, strict=True))]
                        positions, orientations = joints.positions[order], joints.orientations[order]
                        return Rest(Joints(animation.names, animation.parents, positions, orientations), True)
    return Rest(base_pose(animation), False)


def base_pose(animation: Animation) -> Joints:
    """The joints of an animation's base frame."""
    orientations = quat.wxyz_from_xyz(animation.base_orientations)
    return Joints(
        animation.names, animation.parents, *compose(animation.parents, animation.base_positions, orientations)
    )


def plan_transfer(
    path: Path, animation: Animation, target: ImportSkeleton, user_map: UserMap | None, rest: Rest | None = None
) -> Transfer | None:
    """How an animation is transferred, None if it is not needed; raises Md5Error if too few joints are mapped."""
    # With `rest`, the skeleton of the animation, it is transferred even if its joints fit.
    fitting, count = len(match_joints(animation, target.joints).joints), len(animation.names)
    is_wanted = rest is not None or user_map is not None
    if 2 * fitting >= count and not is_wanted:
        return _plan_for_turned(path, animation, target)
    rest = rest or find_rest(path, animation)
    found: dict[str, Pair] = {}
    pairs = user_map.pairs if user_map is not None else _stored_map(rest, target)
    if not pairs:
        found = find_joint_map(rest.joints, target.joints)
        pairs = {name: pair.source for name, pair in found.items()}
    sources = source_indices(pairs, rest.joints, target.joints)
    mapped = len({rest.joints.names[joint] for joint in sources if joint != UNMAPPED})
    if user_map is not None and not mapped and 2 * fitting < count:
        raise Md5Error(
            f"the joint map {user_map.name} names none of its joints and the bones of {target.name}", path=str(path)
        )
    mapped_or_fitting = mapped if is_wanted else max(mapped, fitting)
    # Of the smaller skeleton: what the larger one has besides cannot fit.
    if 0 < mapped_or_fitting < LEAST_SHARE * min(count, len(target.joints)):
        raise Md5Error(
            f"only {mapped_or_fitting} of {counted(count, 'joints')} fit. Import this animation's own model, or map "
            "its joints in the panel MD5 of the armature",
            path=str(path),
        )
    return Transfer(rest, pairs, found) if mapped > (0 if is_wanted else fitting) else None


def count_mapped(path: Path, animation: Animation, target: ImportSkeleton) -> int:
    """How many joints of an animation move a skeleton that it is transferred to; 0 if it is not, or too few would."""
    try:
        transfer = plan_transfer(path, animation, target, None)
    except Md5Error:
        return 0
    return len({*transfer.pairs.values()}.intersection(animation.names)) if transfer is not None else 0


def _plan_for_turned(path: Path, animation: Animation, target: ImportSkeleton) -> Transfer | None:
    """How an animation is transferred to its own armature, of which bones were only turned, as by their roll."""
    if target.obj is None or not target.is_edited or not match_joints(animation, target.joints).is_complete:
        return None
    rest = find_rest(path, animation)
    order = [rest.joints.names.index(name) for name in target.joints.names]
    joints = convert_joints(rest.joints, conversion_of(target.obj) or identity())
    distances = np.linalg.norm(joints.positions[order] - target.joints.positions, axis=1)
    if not rest.is_known or distances.max() > _SAME_PLACE * np.ptp(joints.positions, axis=0).max():
        return None
    return Transfer(rest, {name: name for name in animation.names})


def _stored_map(rest: Rest, target: ImportSkeleton) -> dict[str, str]:
    """The map that is stored with an armature, unless it was made for another skeleton than this."""
    pairs = load_joint_map(target.obj.data) if target.obj is not None else {}
    known = sum(source in rest.joints.names for source in pairs.values())
    return pairs if 2 * known >= len(pairs) else {}


def find_retargeting(
    transfer: Transfer, rest: Joints, armature: Object, rig: Rig, translated: list[bool], name: str, report: Report
) -> Retargeting:
    """The transfer of poses from a skeleton, given in the units of the armature; stores a map that was found."""
    if not transfer.rest.is_known:
        report.warn("its rest pose is not known, so its base frame is used: put its .md5mesh into its folder", name)
    missing = {transfer.pairs[bone] for bone in rig.joints.names if bone in transfer.pairs}.difference(rest.names)
    if missing:
        report.warn(f"joints of the map that it does not have: {listing(sorted(missing))}", name)
    if transfer.found and not load_joint_map(armature.data):
        store_joint_map(armature.data, {bone: (pair.source, pair.how) for bone, pair in transfer.found.items()})
    return map_retargeting(rest, rig.joints, transfer.pairs, translated=translated)


def translated_bones(armature: Object, rig: Rig) -> list[bool]:
    """Whether the actions of an armature move each of its bones, and do not only turn it."""
    paths = {f"{bone_path(name)}.location": bone for bone, name in enumerate(rig.bone_names)}
    least = _LEAST_MOVE * float(np.ptp(rig.joints.positions, axis=0).max(initial=0.0))
    moved = [False] * len(rig)
    finder = ActionFinder(armature)
    for action in bpy.data.actions:
        if moves_bones(action, armature) and finder.owns(action):
            for curve in versions.action_fcurves(action, "OBJECT"):
                if curve.data_path in paths and not moved[paths[curve.data_path]]:
                    points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
                    curve.keyframe_points.foreach_get("co", points)
                    moved[paths[curve.data_path]] = bool(np.abs(points[1::2]).max(initial=0.0) > least)
    return moved
