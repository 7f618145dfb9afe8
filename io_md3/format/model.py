"""An MD3 model as numpy arrays, and the dtypes of its file's sections (id's `qfiles.h`, version 15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.arrays import (
    MAX_INT32,
    are_same,
    as_list,
    check_array,
    check_encoded,
    check_indices,
    check_integer,
    check_names,
    check_range,
    floats,
    integers,
)
from ...io_common.errors import FormatError
from ...io_common.frame_names import FRAME_NAME_SIZE


class Md3Error(FormatError):
    """An MD3 file that cannot be understood, or a model that cannot be written."""

    file_format = "MD3"


MAGIC = b"IDP3"
"""The first four bytes of a file, and of each surface."""

VERSION = 15
"""The version in the header."""

FRAMES_PER_SECOND = 10.0
"""How fast models play without an `animation.cfg`."""

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
class Surface:
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
    triangles: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    st: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    vertices: NDArray[np.int16] = field(default_factory=lambda: np.zeros((0, 0, 3), np.int16))
    normals: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0, 2), np.uint8))
    flags: int = 0

    def __post_init__(self) -> None:
        self.shaders = as_list(self.shaders)
        self.triangles = integers(Md3Error, "triangles", self.triangles, np.int32, (0, 3))
        self.st = floats(Md3Error, "st", self.st, (0, 2))
        self.vertices = integers(Md3Error, "vertices", self.vertices, np.int16, (0, 0, 3))
        self.normals = integers(Md3Error, "normals", self.normals, np.uint8, (0, 0, 2))

    def __eq__(self, other: object) -> bool:
        return _are_equal(self, other) if isinstance(other, Surface) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def vertex_count(self) -> int:
        """Number of vertices in a frame."""
        return len(self.st)

    @property
    def triangle_count(self) -> int:
        """Number of triangles."""
        return len(self.triangles)


@dataclass(eq=False)
class Model:
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
    bounds: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2, 3), np.float32))
    origins: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    radii: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    tag_names: list[str] = field(default_factory=list)
    tag_origins: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 3), np.float32))
    tag_axes: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 3, 3), np.float32))
    surfaces: list[Surface] = field(default_factory=list)
    flags: int = 0
    warnings: list[str] = field(default_factory=list, compare=False)
    preserved: bytes | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.frame_names, self.tag_names = as_list(self.frame_names), as_list(self.tag_names)
        self.surfaces = as_list(self.surfaces)
        frames = len(self.frame_names)
        self.bounds = floats(Md3Error, "bounds", self.bounds, (0, 2, 3))
        self.origins = floats(Md3Error, "origins", self.origins, (0, 3))
        self.radii = floats(Md3Error, "radii", self.radii, (0,))
        # Without tags, the arrays need not be given.
        if not self.tag_names:
            self.tag_origins = np.zeros((frames, 0, 3), np.float32)
            self.tag_axes = np.zeros((frames, 0, 3, 3), np.float32)
        self.tag_origins = floats(Md3Error, "tag_origins", self.tag_origins, (0, 0, 3))
        self.tag_axes = floats(Md3Error, "tag_axes", self.tag_axes, (0, 0, 3, 3))

    def __eq__(self, other: object) -> bool:
        return _are_equal(self, other) if isinstance(other, Model) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

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


def _are_equal(one: Any, other: Any) -> bool:
    return all(are_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)


def validate_model(model: Model) -> None:
    """Checks that a model can be written.

    Args:
        model: it is not changed.

    Raises:
        Md3Error: it cannot; the message begins with the attribute.
    """
    check_integer(Md3Error, "flags", model.flags, -MAX_INT32 - 1)
    _check_names("name", "name", [model.name], NAME_SIZE)
    _check_names("frame_names", "frame name", model.frame_names, FRAME_NAME_SIZE)
    _check_names("tag_names", "tag name", model.tag_names, NAME_SIZE)
    frames, tags = model.frame_count, len(model.tag_names)
    if frames == 0:
        raise Md3Error("frame_names is empty: the model has no frames", found="0", expected="1 or more")
    check_array(Md3Error, "bounds", model.bounds, (frames, 2, 3), "float32")
    check_array(Md3Error, "origins", model.origins, (frames, 3), "float32")
    check_array(Md3Error, "radii", model.radii, (frames,), "float32")
    check_array(Md3Error, "tag_origins", model.tag_origins, (frames, tags, 3), "float32")
    check_array(Md3Error, "tag_axes", model.tag_axes, (frames, tags, 3, 3), "float32")
    if not isinstance(model.surfaces, list) or not all(isinstance(one, Surface) for one in model.surfaces):
        raise Md3Error("surfaces is not a list of surfaces")
    for number, surface in enumerate(model.surfaces):
        place = f"surfaces[{number}]."
        check_integer(Md3Error, f"{place}flags", surface.flags, -MAX_INT32 - 1)
        _check_names(f"{place}name", "surface name", [surface.name], NAME_SIZE)
        _check_names(f"{place}shaders", "shader name", surface.shaders, NAME_SIZE)
        for name, shape, kind, limits in _arrays(surface, frames):
            array = getattr(surface, name)
            check_array(Md3Error, place + name, array, shape, kind)
            if limits:
                check_range(Md3Error, place + name, array, *limits)
        check_indices(Md3Error, f"{place}triangles", surface.triangles, surface.vertex_count)


def _arrays(surface: Surface, frames: int) -> Iterator[tuple[str, Any, str, tuple[int, int] | None]]:
    count = surface.vertex_count if isinstance(surface.st, np.ndarray) else None
    yield "triangles", (None, 3), "integers", None
    yield "st", (None, 2), "float32", None
    yield "vertices", (frames, count, 3), "integers", (-(2**15), 2**15 - 1)
    yield "normals", (frames, count, 2), "integers", (0, 255)


def _check_names(attribute: str, kind: str, names: Any, size: int) -> None:
    check_names(Md3Error, attribute, names)
    check_encoded(Md3Error, attribute, kind, names, size)
