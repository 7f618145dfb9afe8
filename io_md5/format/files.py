"""How MD5 files are read by what all skeletal formats share."""

from __future__ import annotations

from ...io_common.skeletal.formats import SkeletalFormat
from ...io_common.skeletal.scales import NamedAnimation
from .model import ANIMATION_SUFFIX, MESH_SUFFIX
from .text.anim_file import read_animation, read_animation_header
from .text.mesh_file import read_joints

FORMAT = SkeletalFormat(
    MESH_SUFFIX,
    ANIMATION_SUFFIX,
    read_joints,
    read_animation_header,
    lambda source: [NamedAnimation("", read_animation(source))],
)
