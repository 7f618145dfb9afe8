"""The contents of MD5 files, as dataclasses of numpy arrays.

Axes are the game's: +X forward, +Y left, +Z up, right-handed; lengths are in the game's units (about an inch).
Quaternions are rows w, x, y, z with w <= 0, as the specification computes them; those of three columns are x, y, z, as
they are in a file.
Warnings are sentences about problems in a file; they are not part of the model.

Lists, and arrays of other dtypes, become arrays of the stated dtype when a dataclass is made. An array that has that
dtype already is kept, not copied: changing it later changes the model, and two models made of one array share it. The
readers share no arrays between models. Attributes may be replaced and arrays changed at any time; `validate_model`,
`validate_animation` and `validate_camera` check the result, and writing does so too.
Two models are equal (``==``) if they hold the same values; warnings are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .errors import Md5Error

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

ROOT = -1
"""The parent index of a root joint."""

MAGIC = "MD5Version"
"""The word that every MD5 file begins with."""

VERSION = 10
"""The version of Doom 3 and all later games."""

OLD_VERSION = 6
"""The version before Doom 3's release, with `bone` and `channel` blocks; it is read, not written."""

LARGEST = float(np.finfo(np.float32).max)
"""The largest value of the 32-bit floats of the games and of Blender."""

DECIMALS = 10
"""Digits after the point, as in the files of id's exporter."""


def as_singles(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Numbers as 32-bit floats; those beyond their range become the largest."""
    singles: npt.NDArray[np.float32] = np.clip(values, -LARGEST, LARGEST).astype(np.float32)
    return singles


# The dtype and the axes after the first of each array of a dataclass, by attribute.
_Arrays = dict[str, tuple[type[np.generic], tuple[int, ...]]]


def _as_array(value: Any, dtype: type[np.generic], tail: tuple[int, ...], what: str) -> Any:
    """A value as an array of a dtype, the same object if it is one already; an empty list has the shape (0, *tail).

    Raises Md5Error if the value is not a table of numbers, or not of whole numbers where these are needed.
    """
    if isinstance(value, np.ndarray) and value.dtype == dtype:
        return value
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        raise Md5Error(f"{what} is not a table of numbers", expected="rows of equal length") from None
    if given.size == 0 and given.ndim == 1:
        return np.zeros((0, *tail), dtype=dtype)
    if given.dtype.kind not in "biuf":
        raise Md5Error(
            f"{what} holds something other than numbers", found=str(given.dtype), expected="numbers"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        array = given.astype(dtype)
    if array.dtype.kind == "i" and not np.array_equal(array, given):
        raise Md5Error(f"{what} holds a number that is not a whole number of 32 bits", expected="int32")
    return array


class _Record:
    """A dataclass of arrays: arrays are converted when it is made, and compared by value."""

    _ARRAYS: ClassVar[_Arrays] = {}

    def __post_init__(self) -> None:
        for name, (dtype, tail) in self._ARRAYS.items():
            array = _as_array(getattr(self, name), dtype, tail, f"{type(self).__name__}.{name}")
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _equal(getattr(self, item.name), getattr(other, item.name))
            for item in fields(self)  # type: ignore[arg-type]
            if item.name != "warnings"
        )

    __hash__ = None  # type: ignore[assignment]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


@dataclass(eq=False)
class Joints(_Record):
    """A skeleton in a pose: the transform of every joint in the space of the model.

    Attributes:
        names: J names.
        parents: the index of each joint's parent, or -1, int32 (J,).
        positions: float64 (J, 3).
        orientations: unit quaternions w x y z, float64 (J, 4).
    """

    names: list[str]
    parents: Ints
    positions: Floats
    orientations: Floats

    _ARRAYS: ClassVar[_Arrays] = {
        "parents": (np.int32, ()),
        "positions": (np.float64, (3,)),
        "orientations": (np.float64, (4,)),
    }

    def __len__(self) -> int:
        return len(self.names)


@dataclass(eq=False)
class Mesh(_Record):
    """One mesh block: vertices that are sums of weights, triangles over them, one shader.

    Attributes:
        shader: the name of the material, often the path of its image without extension.
        uvs: s and t of each vertex, (0, 0) in the upper left corner of the image, float64 (V, 2).
        weight_starts: the first weight of each vertex, int32 (V,).
        weight_counts: the number of weights of each vertex, int32 (V,).
        triangles: vertex indices, clockwise seen from outside, int32 (T, 3).
        weight_joints: the joint of each weight, int32 (W,).
        weight_biases: its share of the vertex, float64 (W,).
        weight_positions: the position of the vertex in the space of that joint, float64 (W, 3).
        name: the name of the mesh; empty if the file has none.
        comment_name: the name in the comment ``// meshes: NAME`` of the block, which Sauerbraten and iqm's compiler
            use; empty if there is no such comment.
    """

    shader: str
    uvs: Floats
    weight_starts: Ints
    weight_counts: Ints
    triangles: Ints
    weight_joints: Ints
    weight_biases: Floats
    weight_positions: Floats
    name: str = ""
    comment_name: str = ""

    _ARRAYS: ClassVar[_Arrays] = {
        "uvs": (np.float64, (2,)),
        "weight_starts": (np.int32, ()),
        "weight_counts": (np.int32, ()),
        "triangles": (np.int32, (3,)),
        "weight_joints": (np.int32, ()),
        "weight_biases": (np.float64, ()),
        "weight_positions": (np.float64, (3,)),
    }

    @property
    def vertex_count(self) -> int:
        """The number of vertices, V."""
        return len(self.uvs)


@dataclass(eq=False)
class Model(_Record):
    """An .md5mesh file.

    Attributes:
        joints: the bind pose.
        meshes: the mesh blocks in order.
        commandline: the arguments of id's exporter.
        warnings: about problems in the file.
    """

    joints: Joints
    meshes: list[Mesh]
    commandline: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def vertex_count(self) -> int:
        """The number of vertices of all meshes."""
        return sum(mesh.vertex_count for mesh in self.meshes)


@dataclass(eq=False)
class Animation(_Record):
    """An .md5anim file.

    A joint's six components Tx Ty Tz Qx Qy Qz, relative to its parent, are those of the base frame, except the ones
    with a flag: these are taken from the frame, in order, beginning at the joint's start.

    Attributes:
        names: J names of joints.
        parents: int32 (J,); -1 for a root.
        flags: bit i is set where component i is animated, int32 (J,).
        starts: the joint's first component in a frame, int32 (J,).
        bounds: the lower and upper corner of the box around the model in each frame, float64 (F, 2, 3).
        base_positions: float64 (J, 3).
        base_orientations: x y z of unit quaternions as in the file, float64 (J, 3).
        frames: the animated components of each frame, float64 (F, C).
        frame_rate: frames per second.
        commandline: the arguments of id's exporter.
        has_hierarchy: whether the file has parents; the oldest layout has none, and all are -1.
        warnings: about problems in the file.
    """

    names: list[str]
    parents: Ints
    flags: Ints
    starts: Ints
    bounds: Floats
    base_positions: Floats
    base_orientations: Floats
    frames: Floats
    frame_rate: float = 24.0
    commandline: str = ""
    has_hierarchy: bool = True
    warnings: list[str] = field(default_factory=list)

    _ARRAYS: ClassVar[_Arrays] = {
        "parents": (np.int32, ()),
        "flags": (np.int32, ()),
        "starts": (np.int32, ()),
        "bounds": (np.float64, (2, 3)),
        "base_positions": (np.float64, (3,)),
        "base_orientations": (np.float64, (3,)),
        "frames": (np.float64, (0,)),
    }

    @property
    def frame_count(self) -> int:
        """The number of frames, F."""
        return len(self.frames)


@dataclass(eq=False)
class Camera(_Record):
    """An .md5camera file.

    Its entries are not the frames of the timeline: see `cuts.timeline`.

    Attributes:
        cuts: the last entry of each shot except the last shot, int32 (K,).
        positions: float64 (N, 3).
        orientations: x y z of unit quaternions as in the file, float64 (N, 3); they rotate +X to the
            camera's forward, +Y to its left and +Z to its up.
        fields_of_view: horizontal angles of a 4:3 picture in degrees, float64 (N,).
        frame_rate: frames per second.
        cut_groups: the text after each cut, such as ``pos ( 1 2 3 ) rotA ( 0 90 0 )``; K texts, or an
            empty list if there are none.
        commandline: the arguments of id's exporter.
        warnings: about problems in the file.
    """

    cuts: Ints
    positions: Floats
    orientations: Floats
    fields_of_view: Floats
    frame_rate: float = 24.0
    cut_groups: list[str] = field(default_factory=list)
    commandline: str = ""
    warnings: list[str] = field(default_factory=list)

    _ARRAYS: ClassVar[_Arrays] = {
        "cuts": (np.int32, ()),
        "positions": (np.float64, (3,)),
        "orientations": (np.float64, (3,)),
        "fields_of_view": (np.float64, ()),
    }

    @property
    def entry_count(self) -> int:
        """The number of entries, N: the frames of the timeline and one more for each cut."""
        return len(self.positions)
