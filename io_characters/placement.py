"""Where parts and tags are: bone parents, and empties for tags; transforms of declarations, in the axes of the files.

Sauerbraten's y axis points to the other side than that of its files, so that what is turned around x or z turns the
other way in the file (`md5.h`, `skelmodel.h`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import radians
from typing import Any

import bpy
import numpy.typing as npt
from bpy.types import Collection, Object
from mathutils import Matrix

from ..io_blender import versions
from ..io_blender.scene.axes import Conversion
from ..io_blender.skeletal.rig import Rig
from ..io_common import names
from ..io_common.declarations.characters import Attachment, CharacterPart
from ..io_common.skeletal import quaternions as quat
from ..io_common.skeletal.model import Floats

_EMPTY_SIZE = 0.5  # the size of a tag's empty, as a fraction of the length of its bone


@dataclass(eq=False)
class Skeleton:
    """An armature that parts can hang on, with the empties of its tags."""

    obj: Object
    rig: Rig
    # Orientations of the joints while the game attaches parts, w x y z, (J, 4); None: bind pose.
    attaching_pose: Floats | None
    tags: dict[str, Object] = field(default_factory=dict)  # by name in lower case


def add_tags(skeleton: Skeleton, part: CharacterPart, collection: Collection, conversion: Conversion) -> list[str]:
    """Adds an empty for each tag of a part; returns the names of joints that are missing."""
    missing = []
    for tag in part.tags:
        joint = _joint(skeleton.rig, tag.joint)
        if joint is None:
            missing.append(tag.joint)
            continue
        empty = bpy.data.objects.new(names.for_blender(tag.name, versions.MAX_ID_NAME, "tag"), None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = _EMPTY_SIZE * skeleton.obj.data.bones[skeleton.rig.bone_names[joint]].length
        collection.objects.link(empty)
        (x, y, z), (roll, pitch, yaw) = tag.translation, tag.rotation
        matrix = Matrix.Translation((x, -y, z)) @ _turn((-yaw, pitch, -roll))
        _parent_to_joint(empty, skeleton, joint, _scaled(matrix, conversion))
        skeleton.tags.setdefault(tag.name.lower(), empty)
    return missing


def attach(
    obj: Object, part: CharacterPart, parent: Object, skeleton: Skeleton | None, conversion: Conversion
) -> str | None:
    """Hangs a part's root object on another part; returns the joint's name if it is missing."""
    attachment = part.attachment or Attachment(0)
    part_matrix = _part_matrix(part)
    tag = skeleton.tags.get(attachment.joint.lower()) if skeleton is not None else None
    joint = _joint(skeleton.rig, attachment.joint) if skeleton is not None and attachment.joint else None
    if tag is not None:
        obj.parent = tag
        obj.matrix_basis = _below_joint(_attachment_matrix(attachment, Matrix()) @ part_matrix, conversion)
    elif skeleton is None or joint is None:
        obj.parent = parent
        if not attachment.joint:
            part_matrix = _attachment_matrix(attachment, Matrix()) @ part_matrix
        obj.matrix_basis = _in_scene(part_matrix, conversion)
        return attachment.joint or None
    else:
        if skeleton.attaching_pose is not None:
            axes = quat.to_matrices(skeleton.attaching_pose[joint])
        else:
            axes = conversion.rotation.T @ quat.to_matrices(skeleton.rig.joints.orientations[joint])
        matrix = _attachment_matrix(attachment, _matrix(axes)) @ part_matrix
        _parent_to_joint(obj, skeleton, joint, _below_joint(matrix, conversion))
    return None


def _joint(rig: Rig, name: str) -> int | None:
    """The joint of a name, without regard to case as in the games."""
    wanted = name.lower()
    return next((joint for joint, name in enumerate(rig.joints.names) if name.lower() == wanted), None)


def _parent_to_joint(obj: Object, skeleton: Skeleton, joint: int, matrix: Matrix) -> None:
    """Makes a bone an object's parent; `matrix` is the object's transform in the space of the joint."""
    bone_name = skeleton.rig.bone_names[joint]
    positions, orientations = skeleton.rig.joints_in_bones()
    obj.parent = skeleton.obj
    obj.parent_type = "BONE"
    obj.parent_bone = bone_name
    # Children of a bone are relative to its tail.
    to_head = Matrix.Translation((0.0, -skeleton.obj.data.bones[bone_name].length, 0.0))
    obj.matrix_parent_inverse = to_head @ _matrix(quat.transforms(positions[joint], orientations[joint]))
    obj.matrix_basis = matrix


def placement_matrix(part: CharacterPart, conversion: Conversion) -> Matrix:
    """Where the game shows a part, in the scene."""
    return _in_scene(_part_matrix(part), conversion)


def _part_matrix(part: CharacterPart) -> Matrix:
    """The same in the part's own space: the offset is scaled as well."""
    return Matrix.Scale(part.scale, 4) @ Matrix.Translation(part.offset)


def _attachment_matrix(attachment: Attachment, joint_axes: Matrix) -> Matrix:
    """In the space of the joint or tag; `joint_axes` is the joint's rotation while parts attach."""
    to_joint = joint_axes.transposed()
    moved, turned = Matrix.Translation(attachment.translation), _turn(attachment.rotation)
    part_matrix = Matrix.Translation(attachment.part_translation) @ _turn(attachment.part_rotation)
    if attachment.keeps_axes:
        return to_joint @ moved @ turned @ part_matrix
    if attachment.along_model:
        moved = Matrix.Translation((to_joint @ moved).translation)
    return moved @ turned @ part_matrix


def _turn(angles: tuple[float, float, float]) -> Matrix:
    yaw, pitch, roll = map(radians, angles)
    return Matrix.Rotation(yaw, 4, "Z") @ Matrix.Rotation(pitch, 4, "Y") @ Matrix.Rotation(roll, 4, "X")


def _in_scene(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform between coordinates of the scene."""
    turn = _matrix(conversion.rotation)
    return turn @ _scaled(matrix, conversion) @ turn.transposed()


def _below_joint(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform from a model in the scene to the space of a joint, which keeps its own axes there."""
    return _scaled(matrix, conversion) @ _matrix(conversion.rotation).transposed()


def _scaled(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform with lengths in units of the scene."""
    result = matrix.copy()
    result.translation *= conversion.scale
    return result


def _matrix(matrix: npt.NDArray[Any]) -> Matrix:
    return Matrix(matrix.tolist()).to_4x4()
