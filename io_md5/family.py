"""The description of the MD5 family: id Tech 4's skeletal models, animations and camera paths."""

from __future__ import annotations

from ..io_common.family import Family, FileKind, Role, operators_of
from .format import Md5Error, describe, read_animation, read_camera, read_mesh
from .format.companions import TEXTURE_RULES, find_companion_files
from .format.files import FORMAT
from .format.games.profiles import OTHER_NAMES, PROFILES, game_named
from .format.model import ANIMATION_SUFFIX, MAGIC

FAMILY = Family(
    name="md5",
    label="id Tech 4 MD5",
    kinds=(
        FileKind(".md5mesh", "id Tech 4 MD5 Mesh", Role.MODEL, read_mesh, describe),
        FileKind(".md5anim", "id Tech 4 MD5 Animation", Role.ANIMATION, read_animation, describe),
        FileKind(".md5camera", "id Tech 4 MD5 Camera", Role.CAMERA, read_camera, describe),
    ),
    error=Md5Error,
    blender=operators_of(__package__),
    textures=TEXTURE_RULES,
    games=PROFILES,
    skeletal=FORMAT,
    other_games=frozenset(OTHER_NAMES),
    magic=MAGIC.encode(),
    required_suffix=lambda game: ANIMATION_SUFFIX if PROFILES[game_named(game)].writing.needs_animation else "",
    find_companion_files=find_companion_files,
)
