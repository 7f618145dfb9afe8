"""The description of the IQM family: the skeletal models of today's engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..io_common.family import Family, FileKind, Role
from .format import MAGIC, PROFILES, IqmError, describe, read_iqm
from .format.files import FORMAT, SUFFIX
from .options import TEXTURE_RULES

if TYPE_CHECKING:
    from ..io_blender.part import BlenderPart


def _blender() -> BlenderPart:
    from .operators import BLENDER

    return BLENDER


FAMILY = Family(
    name="iqm",
    label="Inter-Quake Model IQM",
    kinds=(FileKind(SUFFIX, "Inter-Quake Model IQM", Role.MODEL, read_iqm, describe),),
    error=IqmError,
    blender=_blender,
    textures=TEXTURE_RULES,
    games=PROFILES,
    skeletal=FORMAT,
    magic=MAGIC,
    has_one_file=True,
)
