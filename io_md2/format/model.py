"""An MD2 model as numpy arrays, its validation, and the dtypes of its file's sections.

The file (MD2 specification, version 8) is little-endian: 17 int32, then sections at the offsets that these give.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...io_common import arrays
from ...io_common.arrays import ArrayOf, Record
from ...io_common.errors import FormatError
from ...io_common.frames import FRAME_NAME_SIZE


class Md2Error(FormatError):
    """An MD2 file that cannot be understood, or a model that cannot be written."""


MAGIC = b"IDP2"
"""The first four bytes of a file."""

MAGIC_NUMBER = int.from_bytes(MAGIC, "little")
"""The same as the integer that the specification gives, 844121161."""

VERSION = 8
"""The version in the header."""

FRAMES_PER_SECOND = 10.0
"""How fast Quake II plays."""

HEADER_FIELDS = (
    "ident", "version", "skinwidth", "skinheight", "framesize",
    "num_skins", "num_vertices", "num_st", "num_tris", "num_glcmds", "num_frames",
    "offset_skins", "offset_st", "offset_tris", "offset_frames", "offset_glcmds", "offset_end",
)  # fmt: skip
HEADER_SIZE = 4 * len(HEADER_FIELDS)
SKIN_NAME_SIZE = 64
FRAME_HEADER_SIZE = 40
VERTEX_SIZE = 4

SKIN_DTYPE = np.dtype(("V", SKIN_NAME_SIZE))
ST_DTYPE = np.dtype([("st", "<i2", (2,))])
TRIANGLE_DTYPE = np.dtype([("vertex", "<u2", (3,)), ("st", "<u2", (3,))])


def frame_dtype(vertex_count: int, frame_size: int = 0) -> np.dtype[np.void]:
    """The dtype of one frame in the file; `frame_size` is the bytes from one frame to the next, if it has others."""
    return np.dtype(
        {
            "names": ["scale", "translate", "name", "vertices"],
            "formats": [("<f4", (3,)), ("<f4", (3,)), ("V", FRAME_NAME_SIZE), (np.uint8, (vertex_count, VERTEX_SIZE))],
            "offsets": [0, 12, 24, FRAME_HEADER_SIZE],
            "itemsize": frame_size or FRAME_HEADER_SIZE + VERTEX_SIZE * vertex_count,
        }
    )


@np.errstate(invalid="ignore", over="ignore")
def is_in_range(scale: NDArray[np.float32], translate: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether all positions on each frame's grid are finite in single precision, (F, 3)."""
    result: NDArray[np.bool_] = np.isfinite(np.abs(scale) * 255 + np.abs(translate))
    return result


@dataclass(eq=False)
class GlCommands(Record):
    """Triangle strips and fans, as a GL renderer draws them (MD2 specification, "OpenGL commands").

    Attributes:
        counts: (P,) int32, vertices of each primitive: positive for a strip, negative for a fan. A primitive
            of fewer than three vertices draws nothing, and occurs.
        st: (N, 2) float32, texture coordinates of the primitives' vertices one after another, as fractions
            of the skin from its upper left corner; N is the sum of the absolute counts.
        vertices: (N,) int32, indices into the vertices of a frame.
    """

    counts: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "P"))
    st: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "N", 2))
    vertices: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "N"))

    ERROR, PLACE = Md2Error, "gl_commands."

    @property
    def word_count(self) -> int:
        """Length of the commands in the file in 32-bit words, with the 0 that ends them."""
        return len(self.counts) + 3 * len(self.vertices) + 1


@dataclass(eq=False)
class Model(Record):
    """A model: one mesh, and its vertices in every frame.

    S is the number of texture coordinates, T of triangles, F of frames, V of vertices.

    Two models are equal if everything but their warnings and preserved bytes is; floats are compared byte for byte, so
    that NaN is equal to itself, integers by their values.

    Attributes:
        skin_width: width of the skin in texels.
        skin_height: height of the skin in texels.
        skins: names of the image files, relative to the game folder by convention: the text before the
            first NUL, decoded as Latin-1 so that no byte is lost; at most 64 characters.
        st: (S, 2) int16, texture coordinates in texels.
        triangles: (T, 3) int32, indices of vertices, clockwise seen from outside.
        triangle_st: (T, 3) int32, indices into ``st`` of the triangles' corners.
        scale: (F, 3) float32, size of a step of each frame's grid; negative in mirrored models.
        translate: (F, 3) float32, origin of each frame's grid.
        frame_names: the frames' names, decoded as those of skins are; at most 16 characters.
        vertices: (F, V, 3) uint8, steps on the frame's grid: the position is ``byte * scale + translate``.
        normals: (F, V) uint8, indices into the 162 normals; 162 and over occur and have no meaning.
        gl_commands: strips and fans of the same triangles.
        warnings: sentences about what was unusual in the file.
        preserved: the bytes of the file, if it was read to preserve them.
    """

    skin_width: int = 0
    skin_height: int = 0
    skins: list[str] = field(default_factory=list)
    st: NDArray[np.int16] = field(default_factory=ArrayOf(np.int16, "S", 2))
    triangles: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "T", 3))
    triangle_st: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "T", 3))
    scale: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", 3))
    translate: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", 3))
    frame_names: list[str] = field(default_factory=list)
    vertices: NDArray[np.uint8] = field(default_factory=ArrayOf(np.uint8, "F", "V", 3))
    normals: NDArray[np.uint8] = field(default_factory=ArrayOf(np.uint8, "F", "V"))
    gl_commands: GlCommands = field(default_factory=GlCommands)
    warnings: list[str] = field(default_factory=list, compare=False)
    preserved: bytes | None = field(default=None, compare=False, repr=False)

    ERROR = Md2Error

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return len(self.frame_names)

    @property
    def vertex_count(self) -> int:
        """Number of vertices in a frame."""
        return int(self.vertices.shape[1])

    @property
    def triangle_count(self) -> int:
        """Number of triangles."""
        return len(self.triangles)


def first_frame(model: Model) -> Model:
    """The model with its first frame alone; it must have one."""
    names = ("scale", "translate", "frame_names", "vertices", "normals")
    return replace(model, **{name: getattr(model, name)[:1] for name in names})


def validate_model(model: Model) -> None:
    """Raises Md2Error if a model cannot be written; the message begins with the attribute."""
    validate_structure(model)
    if model.frame_count == 0:
        raise Md2Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    for name, dtype in (("st", np.int16), ("triangles", np.uint16), ("triangle_st", np.uint16)):
        arrays.check_range(Md2Error, name, getattr(model, name), np.iinfo(dtype).min, np.iinfo(dtype).max)
    arrays.check_encoded(Md2Error, "skins", model.skins, SKIN_NAME_SIZE)
    arrays.check_encoded(Md2Error, "frame_names", model.frame_names, FRAME_NAME_SIZE)


def validate_structure(model: Model) -> None:
    """Raises Md2Error if the parts of a model do not fit; the message begins with the attribute."""
    for name in ("skin_width", "skin_height"):
        arrays.check_integer(Md2Error, name, getattr(model, name))
    arrays.check_names(Md2Error, "skins", model.skins)
    arrays.check_names(Md2Error, "frame_names", model.frame_names)
    model.check_arrays(F=len(model.frame_names))
    validate_commands(model.gl_commands)
    arrays.check_range(Md2Error, "vertices", model.vertices, 0, 255)
    arrays.check_range(Md2Error, "normals", model.normals, 0, 255)
    arrays.check_indices(Md2Error, "triangles", model.triangles, model.vertex_count)
    arrays.check_indices(Md2Error, "triangle_st", model.triangle_st, len(model.st))
    arrays.check_indices(Md2Error, "gl_commands.vertices", model.gl_commands.vertices, model.vertex_count)
    bad = np.flatnonzero(~is_in_range(model.scale, model.translate).all(axis=1))
    if len(bad):
        frame = int(bad[0])
        raise Md2Error(
            f"scale and translate of frame {frame} give positions that are not finite",
            found=f"scale {model.scale[frame]}, translate {model.translate[frame]}",
            expected="finite numbers",
        )


def validate_commands(commands: GlCommands) -> None:
    """Raises Md2Error if arrays of GL commands do not fit; the message begins with the attribute."""
    if not isinstance(commands, GlCommands):
        raise Md2Error("gl_commands is not GlCommands", found=type(commands).__name__, expected="GlCommands")
    commands.check_arrays()
    arrays.check_range(Md2Error, "gl_commands.counts", commands.counts, -arrays.MAX_INT32, arrays.MAX_INT32)
    if not commands.counts.all():
        raise Md2Error("gl_commands.counts has a 0, which would end the GL commands early", found="0")
    commands.check_arrays(N=int(np.abs(commands.counts.astype(np.int64)).sum()))
