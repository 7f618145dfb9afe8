"""A Blender armature as an MD5 skeleton; skeletons and animations converted to other units or axes."""
# A bone of an imported armature has its joint's index, name, axes and bind pose stored on it (`records`); any other
# becomes a joint with the bone's name and axes: they are free as long as mesh and animation use the same.
#
# A conversion scales all lengths, but rotates only values in the space of the model: joints of the bind pose and roots
# of an animation.

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Armature, Bone

from ...io_common.skeletal import quaternions as quat
from ...io_common.skeletal.model import ROOT, Animation, Floats, Joints
from ...io_common.skeletal.scales import ScaleTable
from ...io_common.skeletal.skeleton import Match, components, with_components
from ..scene.axes import Conversion
from ..scene.mesh_data import without_infinity
from .records import load_bones

SMALLEST_SCALE = 1e-6
"""The scale of a bone whose joint has the scale 0. Too small to be seen, and its children keep their places."""

# A bone was not moved since the import if its position differs by less than this fraction of the skeleton's size, and
# its rotation by less than this angle in radians: the precision of 32-bit floats after a chain of bones.
_SAME_POSITION = 2e-5
_SAME_ANGLE = 5e-4


def bone_path(name: str) -> str:
    """The data path of a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


@dataclass(eq=False)
class Rig:
    """The bones of an armature in the order of the file, and their joints."""

    bone_names: list[str]
    joints: Joints  # the bind pose in the space of the armature
    indices: npt.NDArray[np.int64]  # of each joint in the imported file, -1 for a new one
    is_unmoved: npt.NDArray[np.bool_]  # whether the bind pose is that of the file, bool (J,)
    rest_positions: Floats  # heads of the bones
    rest_orientations: Floats  # axes of the bones, quaternions w x y z

    def __len__(self) -> int:
        return len(self.bone_names)

    def joints_in_bones(self) -> tuple[Floats, Floats]:
        """The constant transform of each joint in its bone: positions (J, 3) and orientations (J, 4)."""
        inverse = quat.conjugate(self.rest_orientations)
        positions = quat.rotate(inverse, self.joints.positions - self.rest_positions)
        return positions, quat.multiply(inverse, self.joints.orientations)


def read_rig(armature: Armature) -> Rig:
    """The skeleton of an armature at rest; it must not be in Edit Mode."""
    bones = list(armature.bones)
    indices, names, axes, binds = load_bones(bones)
    count = len(bones)
    order = _file_order(bones, indices)
    bones = [bones[bone] for bone in order]
    index = {bone.name: joint for joint, bone in enumerate(bones)}
    parents = np.array([index[bone.parent.name] if bone.parent else ROOT for bone in bones], dtype=np.int32)
    matrices = np.array([bone.matrix_local for bone in bones], dtype=np.float64).reshape(count, 4, 4)
    without_infinity(matrices)
    positions = matrices[:, :3, 3].copy()
    orientations = quat.from_matrices(matrices[:, :3, :3])
    joint_positions = positions.copy()
    joint_orientations = quat.normalise(quat.multiply(orientations, axes[order]))
    is_unmoved = _are_near(binds[order], joint_positions, joint_orientations)
    joint_positions[is_unmoved] = binds[order][is_unmoved, :3]
    joint_orientations[is_unmoved] = binds[order][is_unmoved, 3:]
    joints = Joints([names[bone] for bone in order], parents, joint_positions, joint_orientations)
    return Rig([bone.name for bone in bones], joints, indices[order], is_unmoved, positions, orientations)


def _file_order(bones: list[Bone], indices: npt.NDArray[np.int64]) -> list[int]:
    """Bones in the order of the file; a new bone follows its parent, and no bone comes before its parent."""
    numbers = {bone.name: number for number, bone in enumerate(bones)}
    parents = [numbers[bone.parent.name] if bone.parent else ROOT for bone in bones]
    keys: list[tuple[float, ...]] = []
    for number, (parent, index) in enumerate(zip(parents, indices.tolist(), strict=True)):
        # Parents come before their children in Blender, so the parent's key is known.
        parent_key = keys[parent] if parent != ROOT else (np.inf,)
        keys.append((float(index),) if index >= 0 else (*parent_key, float(number)))
    is_listed = [False] * len(bones)
    result: list[int] = []
    for number in sorted(range(len(bones)), key=lambda number: keys[number]):
        chain = []
        while number != ROOT and not is_listed[number]:
            is_listed[number] = True
            chain.append(number)
            number = parents[number]
        result += reversed(chain)
    return result


def _are_near(binds: Floats, positions: Floats, orientations: Floats) -> npt.NDArray[np.bool_]:
    size = max(float(np.abs(positions).max(initial=0.0)), 1e-9)
    distances = np.linalg.norm(binds[:, :3] - positions, axis=1)
    cosines = np.abs(np.einsum("ji,ji->j", binds[:, 3:], orientations))
    angles = 2.0 * np.arccos(np.minimum(cosines, 1.0))
    return np.asarray((distances <= _SAME_POSITION * size) & (angles <= _SAME_ANGLE))


def convert_joints(joints: Joints, conversion: Conversion) -> Joints:
    """Joints in the space of the model with their coordinates converted."""
    rotation = quat.from_matrices(conversion.rotation)
    return replace(
        joints, positions=conversion.points(joints.positions), orientations=quat.multiply(rotation, joints.orientations)
    )


def convert_animation(animation: Animation, conversion: Conversion) -> Animation:
    """An animation with its coordinates converted."""
    if conversion.is_identity:
        return animation
    table = components(animation)
    table[..., :3] *= conversion.scale
    roots = np.flatnonzero(animation.parents == ROOT)
    rotation = quat.from_matrices(conversion.rotation)
    table[:, roots, :3] = table[:, roots, :3] @ conversion.rotation.T
    table[:, roots, 3:] = quat.xyz_from_wxyz(quat.multiply(rotation, quat.wxyz_from_xyz(table[:, roots, 3:])))
    corners = conversion.points(animation.bounds)
    return with_components(animation, table, bounds=np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1))


@dataclass(frozen=True, eq=False)
class Motion:
    """An animation, in the coordinates of an armature, that moves its bones."""

    rig: Rig
    animation: Animation
    match: Match
    scales: ScaleTable | None = None
    is_loop: bool | None = None  # None if its frames say that
    is_transferred: bool = False  # from another skeleton
