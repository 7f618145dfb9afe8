"""The description of the MD3 family: Quake III's models, whose frames are positions of all vertices, with tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..io_common.family import Family, FileKind, Role
from .format import MAGIC, PROFILES, Md3Error, describe, read_model
from .format.games import TEXTURE_RULES

if TYPE_CHECKING:
    from ..io_blender.part import BlenderPart


def _blender() -> BlenderPart:
    from .operators import BLENDER

    return BLENDER


FAMILY = Family(
    name="md3",
    label="id Tech 3 MD3",
    kinds=(FileKind(".md3", "id Tech 3 MD3", Role.MODEL, read_model, describe),),
    error=Md3Error,
    blender=_blender,
    textures=TEXTURE_RULES,
    games=PROFILES,
    magic=MAGIC,
    has_one_file=True,
)
