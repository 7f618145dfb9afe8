"""The description of the MD2 family: Quake II's models, whose frames are positions of all vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..io_common.family import Family, FileKind, FuzzTarget, Role
from .format import FRAMES_PER_SECOND, PROFILES, Md2Error, read_model
from .format.describe import describe
from .texture_rules import TEXTURE_RULES

if TYPE_CHECKING:
    from ..io_common.family import BlenderPart


def _blender() -> BlenderPart:
    from .operators import BLENDER

    return BLENDER


def _fuzz_targets() -> Mapping[str, FuzzTarget]:
    from .format import fuzz

    return {"md2": FuzzTarget(fuzz.md2, (Md2Error,), (fuzz.seed(),))}


FAMILY = Family(
    name="md2",
    label="id Tech 2 MD2",
    kinds=(FileKind(".md2", "id Tech 2 MD2", Role.MODEL, read_model, describe),),
    error=Md2Error,
    blender=_blender,
    textures=TEXTURE_RULES,
    games=PROFILES,
    fuzz_targets=_fuzz_targets,
    frame_rate=FRAMES_PER_SECOND,
    has_one_file=True,
)
