"""MD2, the vertex-animated models of Quake II, as numpy arrays: reading, writing, and the format's rules.

Nothing here needs Blender. A file becomes a ``Model`` and back; bad data raises ``Md2Error``::

    model = read_model("tris.md2")
    positions = decompress(model.vertices, model.scale, model.translate)
    write_model(model, "copy.md2")

The rules are those of the MD2 specification or, where it has none, of Quake II's model compiler; each
function names its source. Axes are the game's (+X forward, +Y left, +Z up), triangles are clockwise seen from
outside, texture coordinates are texels from the upper left corner of the skin.
"""

from __future__ import annotations

from .check import check_model
from .counts import Counts
from .errors import Md2Error
from .findings import Finding
from .frames import (
    box_grid,
    decompress,
    frame_at,
    grid_tolerance,
    interpolate,
    match_grid,
    quantise,
    quantise_on_grid,
)
from .games import PROFILES, Game, Profile, prepare_model
from .glcommands import commands_match, drawn_triangles, generate_commands, st_fractions
from .model import FRAMES_PER_SECOND, GlCommands, Model
from .normals import NORMALS, face_normals, nearest_normals, normal_indices, normal_vectors, vertex_normals
from .reading import parse_model, read_model
from .sequences import PLAYER_SEQUENCES, FrameSequence, find_sequences, number_digits, split_frame_name
from .validation import validate_model
from .writing import format_model, write_model

__all__ = [
    "FRAMES_PER_SECOND",
    "NORMALS",
    "PLAYER_SEQUENCES",
    "PROFILES",
    "Counts",
    "Finding",
    "FrameSequence",
    "Game",
    "GlCommands",
    "Md2Error",
    "Model",
    "Profile",
    "box_grid",
    "check_model",
    "commands_match",
    "decompress",
    "drawn_triangles",
    "face_normals",
    "find_sequences",
    "format_model",
    "frame_at",
    "generate_commands",
    "grid_tolerance",
    "interpolate",
    "match_grid",
    "nearest_normals",
    "normal_indices",
    "normal_vectors",
    "number_digits",
    "parse_model",
    "prepare_model",
    "quantise",
    "quantise_on_grid",
    "read_model",
    "split_frame_name",
    "st_fractions",
    "validate_model",
    "vertex_normals",
    "write_model",
]
