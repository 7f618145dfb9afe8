"""Data stored on armatures: the command line of the file, and the scale and axes of the import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...io_blender import stored_values as values
from ...io_blender.scene import names
from ...io_blender.scene.axes import Conversion
from ...io_blender.scene.imported_conversion import store_conversion
from . import GROUP

if TYPE_CHECKING:
    from bpy.types import Armature

_COMMANDLINE = "commandline"


def store_armature(armature: Armature, commandline: str, conversion: Conversion) -> None:
    """Stores the data of a file on the armature made of it."""
    armature[GROUP] = {}
    if commandline:
        names.store_text(armature[GROUP], _COMMANDLINE, commandline)
    store_conversion(armature[GROUP], conversion)


def load_commandline(armature: Armature) -> str:
    """The command line of the file; empty if there is none."""
    return values.read_text(values.read_group(armature, GROUP), _COMMANDLINE) or ""
