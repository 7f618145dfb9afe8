"""The description of the MD3 family: Quake III's models, whose frames are positions of all vertices, with tags."""

from __future__ import annotations

from ..io_common.family import Family, FileKind, Role, operators_of
from .format import MAGIC, PROFILES, Md3Error, describe, read_model
from .format.games import TEXTURE_RULES

FAMILY = Family(
    name="md3",
    label="id Tech 3 MD3",
    kinds=(FileKind(".md3", "id Tech 3 MD3", Role.MODEL, read_model, describe),),
    error=Md3Error,
    blender=operators_of(__package__),
    textures=TEXTURE_RULES,
    games=PROFILES,
    magic=MAGIC,
    has_one_file=True,
)
