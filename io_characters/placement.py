"""Where parts and tags are: transforms of declarations, in the axes of the files.

Sauerbraten's axes differ from those of its files: y points to the other side. What is turned there around x or z turns
the other way in the file (`md5.h`, `skelmodel.h`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.declarations.characters import Attachment, CharacterPart, Tag

if TYPE_CHECKING:
    from ..io_common.scene.axes import Conversion

Matrix = npt.NDArray[np.float64]
"""A transform for columns of coordinates, (4, 4)."""

_X, _Y, _Z = range(3)


def rotation(axis: int, degrees: float) -> Matrix:
    """A rotation around x (0), y (1) or z (2), counter-clockwise, (4, 4)."""
    angle = np.radians(degrees)
    first, second = [other for other in range(3) if other != axis]
    if axis == _Y:
        first, second = second, first
    matrix = np.eye(4)
    matrix[first, first] = matrix[second, second] = np.cos(angle)
    matrix[second, first] = np.sin(angle)
    matrix[first, second] = -np.sin(angle)
    return matrix


def translation(offset: npt.ArrayLike) -> Matrix:
    """A translation, (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, 3] = offset
    return matrix


def from_rotation(matrix: npt.NDArray[np.float64]) -> Matrix:
    """A rotation (3, 3) as a transform, (4, 4)."""
    result = np.eye(4)
    result[:3, :3] = matrix
    return result


def tag_matrix(tag: Tag) -> Matrix:
    """The transform of a tag in the space of its joint."""
    x, y, z = tag.translation
    turned = rotation(_Z, -tag.rotation[2]) @ rotation(_Y, tag.rotation[1]) @ rotation(_X, -tag.rotation[0])
    return translation((x, -y, z)) @ turned


def attachment_matrix(attachment: Attachment, joint_axes: npt.NDArray[np.float64]) -> Matrix:
    """The transform of a part in the space of the joint or tag that it hangs on.

    `joint_axes` is the rotation of the joint in the space of the other model while parts are attached, (3, 3).
    """
    to_joint = from_rotation(joint_axes.T)
    moved, turned = translation(attachment.translation), turn(attachment.rotation)
    own = translation(attachment.own_translation) @ turn(attachment.own_rotation)
    if attachment.keeps_axes:
        return to_joint @ moved @ turned @ own
    if attachment.along_model:
        moved = translation(joint_axes.T @ np.array(attachment.translation))
    return moved @ turned @ own


def turn(angles: tuple[float, float, float]) -> Matrix:
    """The rotation by yaw, pitch and roll in degrees, (4, 4)."""
    yaw, pitch, roll = angles
    return rotation(_Z, yaw) @ rotation(_Y, pitch) @ rotation(_X, roll)


def part_matrix(part: CharacterPart) -> Matrix:
    """Where the game shows a part, in its own space: the offset is scaled as well."""
    return np.diag([part.scale, part.scale, part.scale, 1.0]) @ translation(part.offset)


def in_scene(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform between coordinates of the scene."""
    turn = from_rotation(conversion.rotation)
    return turn @ scaled(matrix, conversion) @ turn.T


def below_joint(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform from a model in the scene to the space of a joint, which keeps its own axes there."""
    return scaled(matrix, conversion) @ from_rotation(conversion.rotation).T


def scaled(matrix: Matrix, conversion: Conversion) -> Matrix:
    """The same transform with lengths in units of the scene."""
    result = matrix.copy()
    result[:3, 3] *= conversion.scale
    return result
