"""IQM, the skeletal models of today's engines, as numpy arrays: reading, writing, and the games' rules.

Nothing here needs Blender. A file becomes an ``Iqm`` and back; bad data raises ``IqmError``::

    iqm = read_iqm("imp.iqm")
    model, animations = to_model(iqm), to_animations(iqm)
    write_iqm(from_model(model, animations), "copy.iqm")

``to_model`` and ``to_animations`` give the joints, meshes and animations that ``io_md5.format`` reads and writes.
Axes are the game's (+X forward, +Y left, +Z up), triangles are clockwise seen from outside, texture coordinates are
fractions from the upper left corner of the skin.
"""

from __future__ import annotations

from ...io_common.files import Readable, Source, Target, Writable
from ...io_common.rules import Description, Finding, Profile, Rule
from ...io_common.skeletal.scales import NamedAnimation
from .convert import (
    Attributes,
    animations_alone,
    bind_scales,
    encode_animations,
    from_model,
    to_animations,
    to_attributes,
    to_model,
    with_animations,
)
from .file import describe, format_iqm, parse_iqm, read_iqm, write_iqm
from .games import PROFILES, Game, check_iqm
from .keep import keep_source
from .model import (
    CHANNELS,
    FORMATS,
    MAGIC,
    PORTABLE,
    VERSION,
    ArrayType,
    Extension,
    FrameRange,
    Iqm,
    IqmError,
    MeshRange,
    VertexArray,
    validate_iqm,
)

__all__ = [
    "CHANNELS", "FORMATS", "MAGIC", "PORTABLE", "PROFILES", "VERSION", "ArrayType", "Attributes", "Description",
    "Extension", "Finding", "FrameRange", "Game", "Iqm", "IqmError", "MeshRange", "NamedAnimation", "Profile",
    "Readable", "Rule", "Source", "Target", "VertexArray", "Writable", "animations_alone", "bind_scales", "check_iqm",
    "describe", "encode_animations", "format_iqm", "from_model", "keep_source", "parse_iqm", "read_iqm",
    "to_animations", "to_attributes", "to_model", "validate_iqm", "with_animations", "write_iqm",
]  # fmt: skip
