"""Skeletons of what is no plain skeleton: generated rigs, whose bones hang on controls, armatures that hang on bones of
others, and objects without bones."""
# The hierarchy does not change what is shown: poses are relative to whatever parent a joint has. But without it, what a
# game does with a joint and all below it would not work.

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...io_blender.scene.objects import NothingToExportError
from ...io_blender.scene.time_dependence import is_animated
from ..format import ROOT
from ..format.model import Floats, Ints
from ..options import AUTOMATIC, SEPARATE
from ..records import CONVERSION
from .binding import FOLLOWING_CONSTRAINTS, bones_followed, parents_of, targets_of_constraint

if TYPE_CHECKING:
    from bpy.types import Bone, Object

_TOLERANCE = 1e-4  # of the length of a bone
_SAME_MOTION = 1e-3  # of the size of an armature, and of axes


def rebuild_hierarchy(armature: Object, names: list[str], parents: Ints, sample: Callable[[list[str]], Floats]) -> Ints:
    """The parents of joints, where roots whose controls move with another bone hang on that; in any order.

    `names` are those of the exported bones; `parents` are indices into them, -1 for roots, (n,). `sample` gives the
    matrices of bones on some frames, (F, n, 4, 4), for roots that no control tells about.
    """
    result = parents.copy()
    if np.count_nonzero(parents == ROOT) < 2:
        return result
    bones, joints = armature.data.bones, {name: joint for joint, name in enumerate(names)}
    followers = _find_followers(armature, joints)
    for joint in np.flatnonzero(parents == ROOT).tolist():
        control = bones[names[joint]].parent
        while control is not None and result[joint] == ROOT:
            for follower in followers.get(control.name, ()):
                if not _is_below(follower, joint, result):
                    result[joint] = follower
                    break
            control = control.parent
    if np.count_nonzero(result == ROOT) > 1:
        _hang_by_motion(result, sample(names))
    return result


def _hang_by_motion(parents: Ints, matrices: Floats) -> None:
    """Hangs roots that move on the joint that they keep their place to on the most frames, the nearest of several."""
    positions = matrices[..., :3, 3]
    size = max(float(np.ptp(positions[0], axis=0).max()), 1e-9)
    tolerances = np.full((3, 4), _SAME_MOTION)
    tolerances[:, 3] *= size
    roots = np.flatnonzero(parents == ROOT)
    sizes = [sum(_is_below(joint, root, parents) for joint in range(len(parents))) for root in roots.tolist()]
    inverse = np.linalg.inv(matrices)
    # The largest tree is the body, and stays a root.
    for joint in roots[np.argsort(sizes, kind="stable")][:-1].tolist():
        motion = matrices[:, joint, :3]
        if (np.abs(motion - motion[:1]) <= tolerances).all():
            continue
        relative = (inverse @ matrices[:, joint, None])[..., :3, :]
        same = (np.abs(relative - np.median(relative, axis=0)) <= tolerances).all(axis=(2, 3)).sum(axis=0)
        distances = np.linalg.norm(positions[0] - positions[0, joint], axis=1)
        for candidate in np.lexsort([distances, -same]).tolist():
            if 2 * same[candidate] > len(matrices) and not _is_below(candidate, joint, parents):
                parents[joint] = candidate
                break


def _find_followers(armature: Object, joints: dict[str, int]) -> dict[str, list[int]]:
    """The exported bones that move as a control does, by the name of the control, the nearest at rest first."""
    bones = armature.data.bones
    found: dict[str, list[int]] = {}
    for name, joint in joints.items():
        targets = [
            target
            for constraint in armature.pose.bones[name].constraints
            if constraint.type in FOLLOWING_CONSTRAINTS and not constraint.mute
            for target in targets_of_constraint(constraint)
        ]
        controls = {bone for target, bone in targets if target == armature and bone not in joints}
        parent = bones[name].parent
        if not targets and parent is not None and parent.name not in joints and _coincide(bones[name], parent):
            controls.add(parent.name)
        for control in controls:
            found.setdefault(control, []).append(joint)
    names = list(joints)
    for control, followers in found.items():
        head = bones[control].head_local if control in bones else None
        if head is not None:
            followers.sort(key=lambda joint: (bones[names[joint]].head_local - head).length)
    return found


def _coincide(bone: Bone, other: Bone) -> bool:
    """Whether two bones lie on each other at rest."""
    distances = ((bone.head_local - other.head_local).length, (bone.tail_local - other.tail_local).length)
    return max(distances) <= _TOLERANCE * bone.length


def _is_below(joint: int, other: int, parents: Ints) -> bool:
    """Whether a joint is another one, or below it."""
    while joint not in (ROOT, other):
        joint = int(parents[joint])
    return joint == other


def order_parents_first(parents: Ints) -> Ints:
    """The order in which each joint comes after its parent, with what hangs on it next, (J,)."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents.tolist()):
        children.setdefault(parent, []).append(joint)
    order: list[int] = []
    waiting = children.get(ROOT, [])[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += children.get(joint, [])[::-1]
    return np.array(order, dtype=np.int32)


def find_attached(armature: Object, others: list[Object], choice: str) -> list[Object]:
    """The armatures that hang on bones of another, directly or not, and become part of its model, carriers first."""
    # `choice` is that of *Attached Armatures*. Raises NothingToExportError if two follow each other.
    if choice == SEPARATE:
        return []
    result = [armature]
    for carrier in result:
        result += [
            other
            for other in others
            if other not in result
            and (choice != AUTOMATIC or CONVERSION.read(other.data) is None)
            and carrying_bones(other, carrier)
        ]
    for other in result[1:]:
        if bones_followed(armature, other):
            raise NothingToExportError(
                f"{armature.name} and {other.name} follow bones of each other: remove one of the constraints, or set "
                "Attached Armatures to Separate"
            )
    return result[1:]


def carrying_bones(armature: Object, carrier: Object) -> list[str]:
    """The bones of another armature that an armature follows, as an object or with its root bones."""
    # Blender makes the pose of a new armature with its first update.
    poses = armature.pose.bones if armature.pose is not None else ()
    targets = [
        target
        for bone in poses
        if bone.parent is None
        for constraint in bone.constraints
        if constraint.type in FOLLOWING_CONSTRAINTS and not constraint.mute and constraint.influence
        for target in targets_of_constraint(constraint)
    ]
    of_roots = [bone for target, bone in targets if target == carrier and bone in carrier.data.bones]
    return list(dict.fromkeys([*bones_followed(armature, carrier), *of_roots]))


def find_joint_objects(meshes: list[Object]) -> list[Object]:
    """The objects that become joints: those that move meshes, and parents of others; none if none moves."""
    chains = [[obj, *parents_of(obj)] for obj in meshes]
    objects = list(dict.fromkeys(obj for chain in chains for obj in reversed(chain)))
    moving = [obj for obj in objects if is_animated(obj) or any(not constraint.mute for constraint in obj.constraints)]
    if not moving:
        return []
    parents = {obj.parent for obj in objects}
    return [obj for obj in objects if obj in moving or obj in parents]


def joint_object_of(obj: Object, joint_objects: list[Object]) -> int:
    """The index of the object that becomes the joint of another: itself or its nearest ancestor; -1 for none."""
    chain = [obj, *parents_of(obj)]
    return next((joint_objects.index(one) for one in chain if one in joint_objects), -1)
