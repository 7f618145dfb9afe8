"""Materials as shaders: their names in MD5 files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...io_blender.materials.export_names import name_for_file
from ...io_blender.materials.source import Family

if TYPE_CHECKING:
    from bpy.types import Material

    from ...io_blender.reports import Report

SHADERS = Family("md5", "shader")
"""How the names of materials are stored."""


def shader_name(material: Material, game_folders: Sequence[str], report: Report | None = None) -> str:
    """The shader that an MD5 mesh names for a material; for the rules see `name_for_file`."""
    return name_for_file(material, SHADERS, game_folders, report)
