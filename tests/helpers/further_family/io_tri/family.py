"""The description of the family."""

from __future__ import annotations

from dataclasses import dataclass

from ..io_blender.part import BlenderPart
from ..io_common.family import Family, FileKind, Role
from ..io_common.textures.conventions import TextureRules
from . import format as tri


@dataclass(frozen=True)
class Description:
    facts: dict
    lines: list


def describe(path: str, game: str) -> Description:
    corners = tri.read(path)
    return Description({"kind": "tri", "warnings": [], "corners": corners.tolist()}, ["a triangle"])


def _blender() -> BlenderPart:
    from .operators import BLENDER

    return BLENDER


FAMILY = Family(
    name="tri",
    label="Triangle",
    kinds=(FileKind(".tri", "Triangle", Role.MODEL, tri.read, describe),),
    error=tri.TriError,
    blender=_blender,
    textures=TextureRules(),
    magic=b"TRI",
    has_one_file=True,
)
