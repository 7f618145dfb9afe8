"""Parts on the joints of others: bone parents, and empties for tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix as BlenderMatrix

from ..io_common.declarations.characters import Attachment, CharacterPart
from ..io_common.scene import names, versions
from ..io_md5.format import quaternions as quat
from ..io_md5.format.model import Floats
from ..io_md5.rig import Rig, read_rig
from .placement import (
    Matrix,
    attachment_matrix,
    below_joint,
    in_scene,
    part_matrix,
    scaled,
    tag_matrix,
)

if TYPE_CHECKING:
    from bpy.types import Collection, Object

    from ..io_common.scene.axes import Conversion

# The size of a tag's empty, as a fraction of the length of its bone.
_EMPTY_SIZE = 0.5


@dataclass(eq=False)
class Skeleton:
    """An armature that parts can hang on.

    Attributes:
        obj: the armature.
        rig: its joints.
        tags: the empties of its tags, by name in lower case.
    """

    obj: Object
    rig: Rig
    tags: dict[str, Object]


def read_skeleton(obj: Object) -> Skeleton:
    """The skeleton of an armature, without tags."""
    return Skeleton(obj, read_rig(obj.data), {})


def add_tags(
    skeleton: Skeleton, part: CharacterPart, collection: Collection, conversion: Conversion
) -> list[str]:
    """Adds an empty for each tag of a part; returns the names of joints that are missing."""
    missing = []
    for tag in part.tags:
        joint = _joint(skeleton.rig, tag.joint)
        if joint is None:
            missing.append(tag.joint)
            continue
        empty = bpy.data.objects.new(names.for_blender(tag.name, versions.MAX_ID_NAME, "tag"), None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = (
            _EMPTY_SIZE * skeleton.obj.data.bones[skeleton.rig.bone_names[joint]].length
        )
        collection.objects.link(empty)
        _parent_to_joint(empty, skeleton, joint, scaled(tag_matrix(tag), conversion))
        skeleton.tags.setdefault(tag.name.lower(), empty)
    return missing


def place(obj: Object, part: CharacterPart, conversion: Conversion) -> None:
    """Moves and scales the root object of the first part as the game does."""
    obj.matrix_basis = _blender(in_scene(part_matrix(part), conversion))


def attach(
    obj: Object,
    part: CharacterPart,
    parent: Object,
    skeleton: Skeleton | None,
    conversion: Conversion,
    attaching_pose: Floats | None = None,
) -> str | None:
    """Hangs the root object of a part on another part; returns the name of the joint if it is missing.

    `skeleton` is that of the other part, None if it has none. `attaching_pose` holds the orientations of that part's
    joints while the game attaches parts, w x y z, (J, 4); None for those of the bind pose.
    """
    attachment = part.attachment or Attachment(0)
    own = part_matrix(part)
    tag = skeleton.tags.get(attachment.joint.lower()) if skeleton is not None else None
    if tag is not None:
        obj.parent = tag
        obj.matrix_basis = _blender(below_joint(attachment_matrix(attachment, np.eye(3)) @ own, conversion))
        return None
    joint = _joint(skeleton.rig, attachment.joint) if skeleton is not None and attachment.joint else None
    if skeleton is None or joint is None:
        obj.parent = parent
        if not attachment.joint:
            own = attachment_matrix(attachment, np.eye(3)) @ own
        obj.matrix_basis = _blender(in_scene(own, conversion))
        return attachment.joint or None
    if attaching_pose is not None:
        axes = quat.to_matrices(attaching_pose[joint])
    else:
        axes = conversion.rotation.T @ quat.to_matrices(skeleton.rig.joints.orientations[joint])
    matrix = attachment_matrix(attachment, axes) @ own
    _parent_to_joint(obj, skeleton, joint, below_joint(matrix, conversion))
    return None


def _joint(rig: Rig, name: str) -> int | None:
    """The joint of a name, without regard to case as in the games."""
    wanted = name.lower()
    return next((joint for joint, own in enumerate(rig.joints.names) if own.lower() == wanted), None)


def _parent_to_joint(obj: Object, skeleton: Skeleton, joint: int, matrix: Matrix) -> None:
    """Makes a bone an object's parent; `matrix` is the object's transform in the space of the joint."""
    bone_name = skeleton.rig.bone_names[joint]
    positions, orientations = skeleton.rig.joints_in_bones()
    joint_in_bone = quat.transforms(positions[joint], orientations[joint])
    obj.parent = skeleton.obj
    obj.parent_type = "BONE"
    obj.parent_bone = bone_name
    # Children of a bone are relative to its tail.
    to_head = BlenderMatrix.Translation((0.0, -skeleton.obj.data.bones[bone_name].length, 0.0))
    obj.matrix_parent_inverse = to_head @ _blender(joint_in_bone)
    obj.matrix_basis = _blender(matrix)


def _blender(matrix: Matrix) -> BlenderMatrix:
    return BlenderMatrix(matrix.tolist())
