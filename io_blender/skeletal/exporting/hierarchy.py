"""Which bones become joints, and what these hang on: what Deform Bones Only leaves out, and the hierarchy of generated
rigs, whose bones hang on controls."""
# The hierarchy does not change what is shown: poses are relative to whatever parent a joint has. But without it, what a
# game does with a joint and all below it would not work.

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import numpy as np
from bpy.types import Action, Bone, FCurve, Object

from ....io_common.skeletal.model import ROOT, Floats, Ints
from ....io_common.skeletal.skeleton import ancestors
from ... import versions
from ...clips.playing import POSE_CHANNELS
from ...reports import Report
from ...scene.mesh_data import read_array
from ..rig import bone_path
from .source import FOLLOWING_CONSTRAINTS, is_deformed, parent_bone_of, targets_of_constraint

_TOLERANCE = 1e-4  # of the length of a bone
_SAME_MOTION = 1e-3  # of the size of an armature, and of axes
_AT_REST = 1e-6


def bones_to_leave_out(armature: Object, meshes: list[Object], actions: list[Action], report: Report) -> set[str]:
    """The bones that neither deform nor are the parent of a mesh; `actions` are all that move the bones."""
    # A mesh on a non-deforming bone is moved by the nearest deforming ancestor of the bone if the two can never move
    # relative to each other. Otherwise the bone is exported, with a warning. `armature` is the original object, not an
    # evaluated one.
    bones = armature.data.bones
    left_out = {bone.name for bone in bones if not bone.use_deform}
    for obj in meshes:
        name = None if is_deformed(obj, armature) else parent_bone_of(obj, armature)
        if name is None or name not in left_out:
            continue
        chain = [bones[name], *bones[name].parent_recursive]
        moved = list(takewhile(lambda bone: bone.name in left_out, chain))
        if len(moved) == len(chain) or not all(_is_fixed_to_parent(armature, bone, actions) for bone in moved):
            left_out.discard(name)
            report.warn(f"the bone {name} is exported although Deform is off, because {obj.name} is parented to it")
    return left_out


def _is_fixed_to_parent(armature: Object, bone: Bone, actions: list[Action]) -> bool:
    pose = armature.pose.bones[bone.name]
    prefix = bone_path(bone.name)
    data = armature.animation_data
    if (
        not bone.use_inherit_rotation
        or bone.inherit_scale != "FULL"
        or any(not constraint.mute for constraint in pose.constraints)
        or (data is not None and any(driver.data_path.startswith(prefix) for driver in data.drivers))
    ):
        return False
    if not np.allclose(np.array(pose.matrix_basis), np.eye(4), atol=_AT_REST):
        return False
    for action in actions:
        for curve in versions.all_fcurves(action):
            path, _, channel = curve.data_path.rpartition(".")
            if path.startswith(f"{prefix}.constraints["):
                return False
            if path == prefix and not _is_at_rest(curve, POSE_CHANNELS.get(channel)):
                return False
    return True


def _is_at_rest(curve: FCurve, rest: tuple[float, ...] | None) -> bool:
    if rest is None or curve.array_index >= len(rest) or curve.modifiers or curve.driver is not None:
        return False
    values = read_array(curve.keyframe_points, "co", 2)[:, 1]
    return bool(np.abs(values - rest[curve.array_index]).max(initial=0.0) <= _AT_REST)


def rebuild_hierarchy(armature: Object, names: list[str], parents: Ints, sample: Callable[[list[str]], Floats]) -> Ints:
    """The parents of joints, where roots whose controls move with another bone hang on that; in any order."""
    # `names` are those of the exported bones; `parents` are indices into them, -1 for roots, (n,). `sample` gives the
    # matrices of bones on some frames, (F, n, 4, 4), for roots that no control tells about.
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
        controls = {bone for target, bone in targets if target == armature and bone in bones and bone not in joints}
        parent = bones[name].parent
        if not targets and parent is not None and parent.name not in joints:
            bone = bones[name]
            off = (bone.head_local - parent.head_local).length, (bone.tail_local - parent.tail_local).length
            if max(off) <= _TOLERANCE * bone.length:
                controls.add(parent.name)
        for control in controls:
            found.setdefault(control, []).append(joint)
    names = list(joints)
    for control, followers in found.items():
        head = bones[control].head_local
        followers.sort(key=lambda joint: (bones[names[joint]].head_local - head).length)
    return found


def _is_below(joint: int, other: int, parents: Ints) -> bool:
    """Whether a joint is another one, or below it."""
    return other in (joint, *ancestors(parents, joint))


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
