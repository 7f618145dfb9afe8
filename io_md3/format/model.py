"""An MD3 model as numpy arrays, the dtypes of its file's sections (id's `qfiles.h`, version 15), and its frames.

A normal is two angles in 1/255 of a full turn: the first from +z, the second around z from +x (q3map's
`NormalToLatLong`, which writes them; some engines decode them with other steps).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ...io_common import arrays
from ...io_common.arrays import ArrayOf, Record, distinct_rows
from ...io_common.errors import FormatError
from ...io_common.frames import FRAME_NAME_SIZE, Wrap, find_frame_pair


class Md3Error(FormatError):
    """An MD3 file that cannot be understood, or a model that cannot be written."""


MAGIC = b"IDP3"
"""The first four bytes of a file, and of each surface."""

VERSION = 15
"""The version in the header."""

FRAMES_PER_SECOND = 10.0
"""How fast Quake and Quake II play models; Quake III plays the rates of an `animation.cfg`."""

UNITS = 64
"""Steps of the grid of positions in one unit."""

NAME_SIZE = 64

FRAME_DTYPE = np.dtype(
    [("bounds", "<f4", (2, 3)), ("origin", "<f4", 3), ("radius", "<f4"), ("name", "V", FRAME_NAME_SIZE)]
)
TAG_DTYPE = np.dtype([("name", "V", NAME_SIZE), ("origin", "<f4", 3), ("axes", "<f4", (3, 3))])
SHADER_DTYPE = np.dtype([("name", "V", NAME_SIZE), ("index", "<i4")])
VERTEX_DTYPE = np.dtype([("position", "<i2", 3), ("normal", "u1", 2)])


@dataclass(eq=False)
class Surface(Record):
    """A surface of a model. T is the number of triangles, V of vertices, F of frames.

    Attributes:
        name: in files by convention that of the mesh; .skin files refer to it. At most 64 Latin-1 characters.
        shaders: names of its skins: paths of images or of shaders, relative to the game folder.
        triangles: (T, 3) int32, indices of vertices, clockwise seen from outside.
        st: (V, 2) float32, texture coordinates as fractions of the skin from its upper left corner.
        vertices: (F, V, 3) int16, positions in 1/64 unit.
        normals: (F, V, 2) uint8, the angle from +z and that from +x around z, in 1/255 of a full turn.
        flags: 0 in files of the games.
    """

    name: str = ""
    shaders: list[str] = field(default_factory=list)
    triangles: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "T", 3))
    st: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "V", 2))
    vertices: NDArray[np.int16] = field(default_factory=ArrayOf(np.int16, "F", "V", 3))
    normals: NDArray[np.uint8] = field(default_factory=ArrayOf(np.uint8, "F", "V", 2))
    flags: int = 0

    ERROR = Md3Error

    @property
    def vertex_count(self) -> int:
        """Number of vertices in a frame."""
        return len(self.st)

    @property
    def triangle_count(self) -> int:
        """Number of triangles."""
        return len(self.triangles)


@dataclass(eq=False)
class Model(Record):
    """A model: surfaces and tags, in every frame. F is the number of frames, N of tags.

    Two models are equal if everything but their warnings and preserved bytes is; floats are compared byte for byte.

    Attributes:
        name: in files by convention the path of the file. At most 64 Latin-1 characters.
        frame_names: at most 16 Latin-1 characters each.
        bounds: (F, 2, 3) float32, the lower and upper corner of the box around each frame.
        origins: (F, 3) float32, the center of the sphere around each frame.
        radii: (F,) float32, the radius of that sphere.
        tag_names: at most 64 Latin-1 characters each.
        tag_origins: (F, N, 3) float32, in units.
        tag_axes: (F, N, 3, 3) float32; the rows are the tag's x, y and z.
        surfaces: in the order of the file.
        flags: 0 in files of the games.
        warnings: sentences about what was unusual in the file.
        preserved: the bytes of the file, if it was read to preserve them.
    """

    name: str = ""
    frame_names: list[str] = field(default_factory=list)
    bounds: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", 2, 3))
    origins: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", 3))
    radii: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F"))
    tag_names: list[str] = field(default_factory=list)
    tag_origins: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", "N", 3))
    tag_axes: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "F", "N", 3, 3))
    surfaces: list[Surface] = field(default_factory=list)
    flags: int = 0
    warnings: list[str] = field(default_factory=list, compare=False)
    preserved: bytes | None = field(default=None, compare=False, repr=False)

    ERROR = Md3Error

    def __post_init__(self) -> None:
        super().__post_init__()
        # Without tags, the arrays need not be given.
        if not self.tag_names:
            self.tag_origins = np.zeros((self.frame_count, 0, 3), np.float32)
            self.tag_axes = np.zeros((self.frame_count, 0, 3, 3), np.float32)

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return len(self.frame_names)

    @property
    def vertex_count(self) -> int:
        """Number of vertices of all surfaces."""
        return sum(surface.vertex_count for surface in self.surfaces)

    @property
    def triangle_count(self) -> int:
        """Number of triangles of all surfaces."""
        return sum(surface.triangle_count for surface in self.surfaces)


def validate_model(model: Model) -> None:
    """Raises Md3Error if a model cannot be written; the message begins with the attribute."""
    arrays.check_integer(Md3Error, "flags", model.flags, -arrays.MAX_INT32 - 1)
    arrays.check_encoded(Md3Error, "name", [model.name], NAME_SIZE)
    arrays.check_encoded(Md3Error, "frame_names", model.frame_names, FRAME_NAME_SIZE)
    arrays.check_encoded(Md3Error, "tag_names", model.tag_names, NAME_SIZE)
    frames = model.frame_count
    if frames == 0:
        raise Md3Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    model.check_arrays(F=frames, N=len(model.tag_names))
    if not isinstance(model.surfaces, list) or not all(isinstance(one, Surface) for one in model.surfaces):
        raise Md3Error("surfaces is not a list of surfaces")
    for number, surface in enumerate(model.surfaces):
        place = f"surfaces[{number}]."
        arrays.check_integer(Md3Error, f"{place}flags", surface.flags, -arrays.MAX_INT32 - 1)
        arrays.check_encoded(Md3Error, f"{place}name", [surface.name], NAME_SIZE)
        arrays.check_encoded(Md3Error, f"{place}shaders", surface.shaders, NAME_SIZE)
        surface.check_arrays(place, F=frames)
        arrays.check_range(Md3Error, f"{place}vertices", surface.vertices, -(2**15), 2**15 - 1)
        arrays.check_range(Md3Error, f"{place}normals", surface.normals, 0, 255)
        arrays.check_indices(Md3Error, f"{place}triangles", surface.triangles, surface.vertex_count)


# Positions and normals to and from the grids of the file, boxes around frames, and merging of vertices

TURN_STEPS = 255.0
"""Steps of the angles of normals in a full turn."""

_LIMITS = np.iinfo(np.int16)


def positions(vertices: npt.ArrayLike) -> NDArray[np.float32]:
    """The positions in units, float32 and exact, of vertices (…, 3) int16, in 1/64 unit."""
    return np.asarray(vertices, np.float32) / np.float32(UNITS)


def quantise(points: npt.ArrayLike) -> NDArray[np.int16]:
    """The nearest positions on the grid of the file, int16, for points (…, 3) in units.

    Raises Md3Error if a position is not finite, or farther from the origin than 512 units.
    """
    steps = np.asarray(points, np.float64) * UNITS
    np.rint(steps, out=steps)
    # NaN fails every comparison, so the test is for what is valid.
    if not (steps.min(initial=0.0) >= _LIMITS.min and steps.max(initial=0.0) <= _LIMITS.max):
        found = float(np.abs(np.asarray(points, np.float64)).max())
        raise Md3Error("the model is too large", found=f"{found:.4g} units", expected="at most 511.98 from the origin")
    return steps.astype(np.int16)


def normal_vectors(normals: npt.ArrayLike, turn_steps: float = TURN_STEPS) -> NDArray[np.float32]:
    """The unit vectors (…, 3) of normals, (…, 2) uint8, where a game has so many steps in a full turn."""
    from_z, around_z = np.moveaxis(np.asarray(normals, np.float64) * (2.0 * np.pi / turn_steps), -1, 0)
    ring = np.sin(from_z)
    result = np.stack([np.cos(around_z) * ring, np.sin(around_z) * ring, np.cos(from_z)], axis=-1)
    return result.astype(np.float32)


def nearest_normals(vectors: npt.ArrayLike, turn_steps: float = TURN_STEPS) -> NDArray[np.uint8]:
    """The normals (…, 2) uint8 nearest to vectors (…, 3) in the axes of the file, for a game with so many steps in a
    turn. They need not have the length 1; that of no length points up.
    """
    vectors = np.asarray(vectors)
    if vectors.dtype != np.float32:
        vectors = vectors.astype(np.float64)
    x, y, z = np.moveaxis(vectors, -1, 0)
    ring = x * x + y * y
    length = np.sqrt(ring + z * z)
    with np.errstate(invalid="ignore", divide="ignore"):
        from_z = np.where(length > 0.0, np.arccos(np.clip(z / length, -1.0, 1.0)), 0.0)
    # Straight up and down have no angle around z.
    around_z = np.where(np.sqrt(ring) > 1e-6 * length, np.arctan2(y, x), 0.0)
    steps = np.stack([from_z, around_z], axis=-1) / (2.0 * np.pi / turn_steps)
    steps = np.where(steps < 0.0, steps + turn_steps, steps)
    # The last step may be shorter than the others.
    is_whole_turn = steps >= (np.ceil(turn_steps) - 1.0 + turn_steps) / 2.0
    return np.where(is_whole_turn, 0.0, np.rint(steps)).astype(np.uint8)


def frame_bounds(points: npt.ArrayLike) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The box around each frame, the center and the radius of the sphere around it, as Quake III culls models by.

    For points (F, V, 3) in units, ``bounds`` are (F, 2, 3), ``origins`` (F, 3) and ``radii`` (F,), all float32; zeros
    without vertices.
    """
    points = np.asarray(points, np.float64)
    if not points.size:
        count = len(points)
        return (np.zeros((count, 2, 3), np.float32), np.zeros((count, 3), np.float32), np.zeros(count, np.float32))
    # Axis by axis, which numpy does much faster than point by point.
    axes = np.ascontiguousarray(np.moveaxis(points, 2, 0))
    bounds = np.stack([axes.min(axis=2), axes.max(axis=2)]).transpose(2, 0, 1)
    origins = bounds.mean(axis=1)
    x, y, z = axes - origins.T[:, :, None]
    radii = np.sqrt((x * x + y * y + z * z).max(axis=1))
    return bounds.astype(np.float32), origins.astype(np.float32), radii.astype(np.float32)


def frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float = FRAMES_PER_SECOND, *, wrap: Wrap = "blend"
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The frames before and after some times, int32, and the fractions between them, float64, shaped as `seconds`.

    These count from the beginning of the sequence, ``last`` is included. Raises Md3Error if there are no frames, or the
    rate or a time is not valid."""
    return find_frame_pair(seconds, first, last, frame_rate, wrap, Md3Error)


def interpolate(start: npt.ArrayLike, end: npt.ArrayLike, fraction: float) -> NDArray[np.float64]:
    """Positions, or origins and axes of tags, at a fraction of the way between two frames: linearly, as Quake III
    does.
    """
    before, after = np.asarray(start, np.float64), np.asarray(end, np.float64)
    result: NDArray[np.float64] = before + (after - before) * fraction
    return result


def same_positions(vertices: NDArray[np.int16]) -> NDArray[np.int64]:
    """A number for each vertex of (F, V, 3), the same for those at one position in all frames, by first use, (V,)."""
    return distinct_rows(np.moveaxis(vertices, 1, 0))[1]


def first_frame(model: Model) -> Model:
    """The model with its first frame alone; it must have one."""
    names = ("frame_names", "bounds", "origins", "radii", "tag_origins", "tag_axes")
    surfaces = [replace(one, vertices=one.vertices[:1], normals=one.normals[:1]) for one in model.surfaces]
    return replace(model, **{name: getattr(model, name)[:1] for name in names}, surfaces=surfaces, preserved=None)
