"""A Blender armature seen as an MD5 skeleton.

A bone knows its joint by custom properties: ``md5_index`` (its place in the file), ``md5_name`` (where Blender could
not hold the name), ``md5_turn`` (the joint's axes in the space of the bone, a quaternion w x y z: bones point to their
children, joints need not) and ``md5_bind`` (position and orientation in the space of the armature at import, so that
the rounding of Blender's 32-bit matrices is not taken for a change).
A bone without these is a joint of its own name and axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..io_common import names
from .format import ROOT, Joints
from .format import quaternions as quat
from .format.model import Floats, Ints

if TYPE_CHECKING:
    from bpy.types import Armature, Bone

INDEX = "md5_index"
NAME = "md5_name"
TURN = "md5_turn"
BIND = "md5_bind"

_IDENTITY = (1.0, 0.0, 0.0, 0.0)

# A bone is where it was imported if it is off by less than this part of the skeleton's size, and turned by less
# than this angle in radians: what is left of 32-bit floats after a chain of bones.
_SAME_PLACE = 2e-5
_SAME_TURN = 5e-4


@dataclass(eq=False)
class Rig:
    """The bones of an armature in the order of the file, and the joints that they stand for.

    Attributes:
        bone_names: Blender's names, J of them.
        joints: the bind pose in the space of the armature.
        rest_positions: heads of the bones, float64 (J, 3).
        rest_orientations: axes of the bones, quaternions w x y z, float64 (J, 4).
    """

    bone_names: list[str]
    joints: Joints
    rest_positions: Floats
    rest_orientations: Floats

    def __len__(self) -> int:
        return len(self.bone_names)

    def joints_in_bones(self) -> tuple[Floats, Floats]:
        """Each joint in the space of its bone, where it is fixed: positions (J, 3) and orientations (J, 4)."""
        back = quat.conjugate(self.rest_orientations)
        positions = quat.rotate(back, self.joints.positions - self.rest_positions)
        return positions, quat.multiply(back, self.joints.orientations)


def read_rig(armature: Armature) -> Rig:
    """The skeleton of an armature at rest, which must not be in Edit Mode."""
    bones = _in_file_order(list(armature.bones))
    count = len(bones)
    index = {bone.name: joint for joint, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else ROOT for bone in bones], dtype=np.int32)
    matrices = np.array([bone.matrix_local for bone in bones], dtype=np.float64).reshape(count, 4, 4)
    positions = matrices[:, :3, 3].copy()
    orientations = quat.from_matrices(matrices[:, :3, :3])
    turns = np.array([bone.get(TURN, _IDENTITY) for bone in bones], dtype=np.float64).reshape(count, 4)
    joint_positions, joint_orientations = positions.copy(), quat.normalise(quat.multiply(orientations, turns))
    _restore_binds(bones, joint_positions, joint_orientations)
    joint_names = [names.original(bone, NAME, bone.name) for bone in bones]
    joints = Joints(joint_names, parents, joint_positions, joint_orientations)
    return Rig([bone.name for bone in bones], joints, positions, orientations)


def _in_file_order(bones: list[Bone]) -> list[Bone]:
    """Bones by their place in the file; a new one follows its parent, and none comes before its parent."""
    remembered = [bone.get(INDEX) for bone in bones]
    keys: dict[str, tuple[float, ...]] = {}
    for place, (bone, index) in enumerate(zip(bones, remembered, strict=True)):
        # Blender lists parents before their children, so the parent's key is known.
        above = keys.get(bone.parent.name, ()) if bone.parent else ()
        keys[bone.name] = (float(index),) if index is not None else (*(above or (np.inf,)), float(place))
    ordered = sorted(bones, key=lambda bone: keys[bone.name])
    done: set[str] = set()
    result: list[Bone] = []
    for bone in ordered:
        chain = [bone]
        while chain[-1].parent and chain[-1].parent.name not in done:
            chain.append(chain[-1].parent)
        for member in reversed(chain):
            if member.name not in done:
                done.add(member.name)
                result.append(member)
    return result


def _restore_binds(bones: list[Bone], positions: Floats, orientations: Floats) -> None:
    """Puts the exact bind pose in place of what Blender made of it, for bones that were not moved since."""
    known = np.array([bool(BIND in bone) for bone in bones])
    if not known.any():
        return
    binds = np.array([bone[BIND] for bone, has in zip(bones, known, strict=True) if has], dtype=np.float64)
    size = max(float(np.abs(positions).max()), 1e-9)
    near = np.linalg.norm(binds[:, :3] - positions[known], axis=1) <= _SAME_PLACE * size
    cosines = np.abs(np.einsum("ji,ji->j", binds[:, 3:], orientations[known]))
    near &= 2.0 * np.arccos(np.minimum(cosines, 1.0)) <= _SAME_TURN
    unmoved = np.flatnonzero(known)[near]
    positions[unmoved] = binds[near, :3]
    orientations[unmoved] = binds[near, 3:]


def parent_names(joint_names: list[str], parents: Ints) -> list[str | None]:
    """The name of each joint's parent."""
    return [joint_names[parent] if parent != ROOT else None for parent in parents.tolist()]
