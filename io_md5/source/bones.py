"""Data stored on bones: the index of the joint in the file, its axes and its bind pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender import stored_values as values
from ...io_blender.scene import names
from ..format import Joints
from ..format.model import Floats
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Bone

_INDEX = "index"
_NAME = "name"
_AXES = "axes"
_BIND = "bind"
_MAX_JOINTS = 1 << 16
_UNIT_TOLERANCE = 1e-3


@dataclass(eq=False)
class StoredBones:
    """The stored data of n bones.

    Attributes:
        indices: of the joints in the file; -1 if unknown, int64 (n,).
        names: of the joints; the bone's name if it is the same or the bone was renamed.
        axes: of the joints in the space of their bones, quaternions w x y z; the identity if unknown, (n, 4).
        has_bind: whether the bind pose is known, bool (n,).
        bind_positions: in the space of the armature, (n, 3).
        bind_orientations: quaternions w x y z, (n, 4).
    """

    indices: npt.NDArray[np.int64]
    names: list[str]
    axes: Floats
    has_bind: npt.NDArray[np.bool_]
    bind_positions: Floats
    bind_orientations: Floats


def store_bones(bones: list[Bone], joints: Joints, axes: Floats) -> None:
    """Stores the joint of each bone. Blender must not be in Edit Mode.

    `bones` has one for each joint. `joints` are the bind pose in the space of the armature, `axes` those of the joints
    in the space of their bones, quaternions (J, 4).
    """
    binds = np.column_stack([joints.positions, joints.orientations])
    for index, (bone, name) in enumerate(zip(bones, joints.names, strict=True)):
        bone[GROUP] = {_INDEX: index, _AXES: axes[index], _BIND: binds[index]}
        names.store_name(bone[GROUP], _NAME, name, bone.name)


def load_joint_name(bone: Bone) -> str:
    """The name of a bone's joint; the bone's name if it is the same or the bone was renamed."""
    group = values.read_group(bone, GROUP)
    return (
        names.load_name(group, _NAME, bone.name) if values.read_text(group, _NAME) is not None else bone.name
    )


def change_joint_name(bone: Bone, name: str) -> None:
    """Stores another name of a bone's joint; an empty one stands for the bone's name."""
    names.change_name(values.own_group(bone, GROUP), _NAME, name if name != bone.name else "", bone.name)


def load_joint_index(bone: Bone) -> int:
    """The index of a bone's joint in the file; -1 if unknown."""
    index = values.read_integer(values.read_group(bone, GROUP), _INDEX, highest=_MAX_JOINTS)
    return -1 if index is None else index


def change_joint_index(bone: Bone, index: int) -> None:
    """Stores another index of a bone's joint; a negative one makes it a new joint."""
    group = values.own_group(bone, GROUP)
    if index >= 0:
        group[_INDEX] = index
    elif _INDEX in group:
        del group[_INDEX]


def load_bones(bones: list[Bone]) -> StoredBones:
    """The stored data of bones.

    A copy of a bone has the same index; it is treated as a new bone, because each joint is one bone.
    """
    count = len(bones)
    groups = [values.read_group(bone, GROUP) for bone in bones]
    bone_names = [bone.name for bone in bones]
    stored_names = [
        names.load_name(group, _NAME, name) if values.read_text(group, _NAME) is not None else name
        for group, name in zip(groups, bone_names, strict=True)
    ]
    indices = np.full(count, -1, dtype=np.int64)
    owners: dict[int, int] = {}
    # Blender adds a suffix to the names of copies, so the bone with the shortest name is the original.
    for bone in sorted(range(count), key=lambda bone: (len(bone_names[bone]), bone)):
        index = values.read_integer(groups[bone], _INDEX, highest=_MAX_JOINTS)
        if index is None:
            continue
        if index in owners:
            stored_names[bone] = bone_names[bone]
        else:
            owners[index] = bone
            indices[bone] = index
    axes = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    has_bind = np.zeros(count, dtype=bool)
    positions, orientations = np.zeros((count, 3)), axes.copy()
    for bone, group in enumerate(groups):
        rotation = _unit_quaternion(values.read_floats(group, _AXES, 4))
        if rotation is not None:
            axes[bone] = rotation
        bind = values.read_floats(group, _BIND, 7)
        rotation = _unit_quaternion(bind[:, 3:]) if bind is not None else None
        if bind is not None and rotation is not None:
            has_bind[bone] = True
            positions[bone], orientations[bone] = bind[0, :3], rotation
    return StoredBones(indices, stored_names, axes, has_bind, positions, orientations)


def _unit_quaternion(rows: Floats | None) -> Floats | None:
    """The only row of a table, unchanged; None unless it is one quaternion of unit length."""
    if rows is None or len(rows) != 1 or abs(float(np.linalg.norm(rows[0])) - 1.0) > _UNIT_TOLERANCE:
        return None
    return rows[0]
