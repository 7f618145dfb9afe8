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

from ...io_common.files import Readable, Source, Target, Writable
from ...io_common.frames import (
    FRAME_NAME_SIZE,
    FrameSequence,
    Wrap,
    clean_name,
    find_sequences,
    number_digits,
    number_frames,
    split_frame_name,
)
from ...io_common.rules import Description, Finding, Profile, Rule
from ...io_common.triangles import flip_v as flip_t
from ...io_common.triangles import is_degenerate
from .file import describe, format_model, parse_model, read_model, write_model
from .frames import (
    box_grid,
    decompress,
    frame_bounds,
    frame_pair,
    grid_tolerance,
    interpolate,
    match_grid,
    merge_vertices,
    model_bounds,
    quantise,
    quantise_on_grid,
)
from .games import PLAYER_SEQUENCES, PROFILES, Game, check_model, prepare_model
from .glcommands import CENTRE, CORNER, commands_match, drawn_triangles, generate_commands, st_fractions, st_texels
from .model import (
    FRAMES_PER_SECOND,
    MAGIC,
    MAGIC_NUMBER,
    SKIN_NAME_SIZE,
    VERSION,
    GlCommands,
    Md2Error,
    Model,
    first_frame,
    validate_model,
)
from .normals import (
    NORMAL_COUNT,
    NORMALS,
    face_normals,
    nearest_normals,
    normal_indices,
    normal_vectors,
    vertex_normals,
)

__all__ = [
    "CENTRE", "CORNER", "FRAMES_PER_SECOND", "FRAME_NAME_SIZE", "MAGIC", "MAGIC_NUMBER", "NORMALS", "NORMAL_COUNT",
    "PLAYER_SEQUENCES", "PROFILES", "SKIN_NAME_SIZE", "VERSION", "Description", "Finding",
    "FrameSequence", "Game", "GlCommands", "Md2Error", "Model", "Profile", "Readable", "Rule", "Source", "Target",
    "Wrap", "Writable", "box_grid", "check_model", "clean_name", "commands_match", "decompress", "describe",
    "drawn_triangles", "face_normals", "find_sequences", "first_frame", "flip_t", "format_model", "frame_bounds",
    "frame_pair", "generate_commands", "grid_tolerance", "interpolate", "is_degenerate", "match_grid",
    "merge_vertices", "model_bounds", "nearest_normals", "normal_indices", "normal_vectors", "number_digits",
    "number_frames", "parse_model", "prepare_model", "quantise", "quantise_on_grid", "read_model",
    "split_frame_name", "st_fractions", "st_texels", "validate_model", "vertex_normals", "write_model",
]  # fmt: skip
