"""MD3, the models of Quake III with tags and several surfaces, as numpy arrays: reading, writing, and the games' rules.

Nothing here needs Blender. A file becomes a ``Model`` and back; bad data raises ``Md3Error``::

    model = read_model("upper.md3")
    for surface in model.surfaces:
        points, normals = positions(surface.vertices), normal_vectors(surface.normals)
    write_model(model, "copy.md3")

The rules are those of id's `qfiles.h` and of the engines' loaders. Axes are the game's (+X forward, +Y left, +Z up),
triangles are clockwise seen from outside, texture coordinates are fractions from the upper left corner of the skin.
"""

from __future__ import annotations

from ...io_common.files import Readable, Source, Target, Writable
from ...io_common.frames import FRAME_NAME_SIZE, Wrap
from ...io_common.rules import Description, Finding, Profile, Rule
from ...io_common.triangles import flip_v as flip_t
from ...io_common.triangles import is_degenerate
from .file import describe, format_model, parse_model, read_model, write_model
from .games import PROFILES, Game, check_model
from .model import (
    FRAMES_PER_SECOND,
    MAGIC,
    NAME_SIZE,
    UNITS,
    VERSION,
    Md3Error,
    Model,
    Surface,
    first_frame,
    frame_bounds,
    frame_pair,
    interpolate,
    nearest_normals,
    normal_vectors,
    positions,
    quantise,
    validate_model,
)

__all__ = [
    "FRAMES_PER_SECOND", "FRAME_NAME_SIZE", "MAGIC", "NAME_SIZE", "PROFILES", "UNITS", "VERSION", "Description",
    "Finding", "Game", "Md3Error", "Model", "Profile", "Readable", "Rule", "Source", "Surface", "Target", "Wrap",
    "Writable", "check_model", "describe", "first_frame", "flip_t", "format_model", "frame_bounds", "frame_pair",
    "interpolate", "is_degenerate", "nearest_normals", "normal_vectors", "parse_model", "positions", "quantise",
    "read_model", "validate_model", "write_model",
]  # fmt: skip
