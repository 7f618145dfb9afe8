"""The description of the MD2 family: Quake II's models, whose frames are positions of all vertices."""

from __future__ import annotations

from ..io_common.family import Family, FileKind, Role, operators_of
from .format import MAGIC, PROFILES, Md2Error, read_model
from .format.file import describe
from .format.games import TEXTURE_RULES

FAMILY = Family(
    name="md2",
    label="id Tech 2 MD2",
    kinds=(FileKind(".md2", "id Tech 2 MD2", Role.MODEL, read_model, describe),),
    error=Md2Error,
    blender=operators_of(__package__),
    textures=TEXTURE_RULES,
    games=PROFILES,
    magic=MAGIC,
    has_one_file=True,
)
