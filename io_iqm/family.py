"""The description of the IQM family: the skeletal models of today's engines."""

from __future__ import annotations

from ..io_common.family import Family, FileKind, Role, operators_of
from .format import MAGIC, PROFILES, IqmError, describe, read_iqm
from .format.files import FORMAT, SUFFIX
from .options import TEXTURE_RULES

FAMILY = Family(
    name="iqm",
    label="Inter-Quake Model IQM",
    kinds=(FileKind(SUFFIX, "Inter-Quake Model IQM", Role.MODEL, read_iqm, describe),),
    error=IqmError,
    blender=operators_of(__package__),
    textures=TEXTURE_RULES,
    games=PROFILES,
    skeletal=FORMAT,
    magic=MAGIC,
    has_one_file=True,
)
