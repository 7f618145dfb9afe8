"""MD2, the vertex-animated models of Quake II, as numpy arrays: reading, writing, and the format's rules.

Nothing here needs Blender. A file becomes a ``Model`` and back; bad data raises ``Md2Error``::

    model = read_model("tris.md2")
    positions = decompress(model.vertices, model.scale, model.translate)
    write_model(model, "copy.md2")

Sources are paths, bytes, or binary file objects such as the entries of a zip file. What cannot be read, written or
calculated with raises ``Md2Error``, which names the file and byte, or the attribute of the model. What can be written
can be read, as an equal model.

The rules are those of the MD2 specification or, where it has none, of Quake II's model compiler; each
function names its source. Axes are the game's (+X forward, +Y left, +Z up), a unit is about an inch, triangles are
clockwise seen from outside, texture coordinates are texels from the upper left corner of the skin.

Models are mutable and own nothing but what they were given: an array of the right type is shared with the caller, and
with models made by ``dataclasses.replace``. Functions never change their arguments.
"""

from __future__ import annotations

from ...io_common.files.sources import Readable, Source, Target, Writable
from ...io_common.findings import Finding
from .boxes import frame_bounds, model_bounds
from .check import check_model
from .counts import Counts
from .degenerate import is_degenerate
from .describe import Description, describe
from .errors import Md2Error
from .frames import (
    Wrap,
    box_grid,
    decompress,
    frame_pair,
    grid_tolerance,
    interpolate,
    match_grid,
    quantise,
    quantise_on_grid,
)
from .games import PROFILES, Game, Profile, prepare_model
from .glcommands import commands_match, drawn_triangles, generate_commands
from .model import (
    FRAME_NAME_SIZE,
    FRAMES_PER_SECOND,
    MAGIC,
    MAGIC_NUMBER,
    SKIN_NAME_SIZE,
    VERSION,
    GlCommands,
    Model,
    first_frame,
)
from .naming import clean_name, number_frames
from .normal_table import NORMAL_COUNT, NORMALS, normal_vectors
from .normals import face_normals, nearest_normals, normal_indices, vertex_normals
from .reading import parse_model, read_model
from .sequences import PLAYER_SEQUENCES, FrameSequence, find_sequences, number_digits, split_frame_name
from .texels import CENTRE, CORNER, flip_t, st_fractions, st_texels
from .validation import validate_model
from .welding import weld
from .writing import format_model, write_model

__all__ = [
    "CENTRE",
    "CORNER",
    "FRAMES_PER_SECOND",
    "FRAME_NAME_SIZE",
    "MAGIC",
    "MAGIC_NUMBER",
    "NORMALS",
    "NORMAL_COUNT",
    "PLAYER_SEQUENCES",
    "PROFILES",
    "SKIN_NAME_SIZE",
    "VERSION",
    "Counts",
    "Description",
    "Finding",
    "FrameSequence",
    "Game",
    "GlCommands",
    "Md2Error",
    "Model",
    "Profile",
    "Readable",
    "Source",
    "Target",
    "Wrap",
    "Writable",
    "box_grid",
    "check_model",
    "clean_name",
    "commands_match",
    "decompress",
    "describe",
    "drawn_triangles",
    "face_normals",
    "find_sequences",
    "first_frame",
    "flip_t",
    "format_model",
    "frame_bounds",
    "frame_pair",
    "generate_commands",
    "grid_tolerance",
    "interpolate",
    "is_degenerate",
    "match_grid",
    "model_bounds",
    "nearest_normals",
    "normal_indices",
    "normal_vectors",
    "number_digits",
    "number_frames",
    "parse_model",
    "prepare_model",
    "quantise",
    "quantise_on_grid",
    "read_model",
    "split_frame_name",
    "st_fractions",
    "st_texels",
    "validate_model",
    "vertex_normals",
    "weld",
    "write_model",
]
