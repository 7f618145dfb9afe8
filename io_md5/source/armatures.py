"""Data stored on armatures: the command line of the file, and the scale and axes of the import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.scene import names
from ...io_common.scene import stored_values as values
from ...io_common.scene.axes import Conversion, identity
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import ID, Armature

_COMMANDLINE = "commandline"
_SCALE = "global_scale"
_AXES = "axes"
_MIN_SCALE, _MAX_SCALE = 1e-12, 1e12
_ROTATION_TOLERANCE = 1e-4


def store_armature(armature: Armature, commandline: str, conversion: Conversion) -> None:
    """Stores the data of a file on the armature made of it."""
    armature[GROUP] = {}
    if commandline:
        names.store_text(armature[GROUP], _COMMANDLINE, commandline)
    store_conversion(armature, conversion)


def load_commandline(armature: Armature) -> str:
    """The command line of the file; empty if there is none."""
    return values.read_text(values.read_group(armature, GROUP), _COMMANDLINE) or ""


def store_conversion(data: ID, conversion: Conversion) -> None:
    """Stores scale and axes of an import on a data-block."""
    if not conversion.is_identity:
        owner: Any = data  # the stubs lack `in` for custom properties
        if GROUP not in owner:
            owner[GROUP] = {}
        owner[GROUP][_SCALE] = conversion.scale
        owner[GROUP][_AXES] = conversion.rotation.ravel()


def load_conversion(data: ID) -> Conversion:
    """The scale and axes that a data-block was imported with; the identity if they are missing or invalid."""
    group = values.read_group(data, GROUP)
    scale = values.read_number(group, _SCALE, lowest=_MIN_SCALE, highest=_MAX_SCALE)
    axes = values.read_floats(group, _AXES, 9)
    if scale is None or axes is None or len(axes) != 1:
        return identity()
    rotation = axes[0].reshape(3, 3)
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > _ROTATION_TOLERANCE or np.linalg.det(rotation) < 0.0:
        return identity()
    return Conversion(scale, rotation)
