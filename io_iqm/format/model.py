"""An IQM file as numpy arrays (iqm.txt of lsalzman/iqm, version 2), in the types of its sections.

`convert` makes the joints, meshes and animations of `io_common.skeletal` of it, as an MD5 file has them, and back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.arrays import ArrayOf, Record, check_array, check_range
from ...io_common.skeletal.model import LARGEST, ROOT, SkeletalError
from ...io_common.skeletal.skeleton import CyclicHierarchyError, depths
from ...io_common.texts import counted

IqmError = SkeletalError
"""An IQM file that cannot be understood, or a model that cannot be written."""

MAGIC = b"INTERQUAKEMODEL\0"
"""The first 16 bytes of a file."""

VERSION = 2
"""The version in the header."""

CHANNELS = 10
"""Of a joint: translation x y z, rotation x y z w, scale x y z, all relative to its parent."""

LOOP = 1
"""The flag of an animation that repeats."""


class ArrayType(IntEnum):
    """What a vertex array holds; larger types than CUSTOM have a name."""

    POSITION = 0
    TEXCOORD = 1
    NORMAL = 2
    TANGENT = 3  # w is the sign of the bitangent, cross(normal, tangent) · w
    BLEND_INDEXES = 4
    BLEND_WEIGHTS = 5
    COLOR = 6
    CUSTOM = 16


FORMATS = tuple(np.dtype(name) for name in ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<f2", "<f4", "<f8"))
"""The types of the components of vertex arrays, by their numbers in files."""

PORTABLE = {
    ArrayType.POSITION: (7, 3), ArrayType.TEXCOORD: (7, 2), ArrayType.NORMAL: (7, 3), ArrayType.TANGENT: (7, 4),
    ArrayType.BLEND_INDEXES: (1, 4), ArrayType.BLEND_WEIGHTS: (1, 4), ArrayType.COLOR: (1, 4),
}  # fmt: skip
"""The format and the number of components that iqm.txt recommends for each type."""


@dataclass(eq=False)
class VertexArray(Record):
    """One array of all vertices."""

    type: int  # one of `ArrayType`, or reserved
    values: NDArray[Any]  # (V, n), of one of `FORMATS`
    flags: int = 0  # in files of the compiler
    name: str = ""  # of a CUSTOM array

    ERROR = IqmError


@dataclass
class MeshRange:
    """A mesh: the part of the vertices and triangles that has one material."""

    name: str
    material: str
    first_vertex: int
    vertex_count: int
    first_triangle: int
    triangle_count: int


@dataclass
class FrameRange:
    """An animation: frames one after another, of which several animations may have the same."""

    name: str
    first_frame: int
    frame_count: int
    frame_rate: float  # 0 leaves it to the game
    flags: int = 0

    @property
    def is_loop(self) -> bool:
        """Whether it repeats."""
        return bool(self.flags & LOOP)


@dataclass
class Extension:
    """A part of a file that only some programs know; names in it are offsets into the text of the file."""

    name: str
    data: bytes


@dataclass(eq=False)
class Iqm(Record):
    """The contents of an IQM file. V vertices, T triangles, J joints, P poses, F frames, C channels of a frame.

    Two are equal if everything but their warnings and preserved bytes is; floats are compared byte for byte.

    Attributes:
        meshes: parts of the vertices and triangles.
        arrays: of the vertices, at most one of each type but CUSTOM, in the order of their types.
        triangles: (T, 3) int32, indices of vertices of the whole file, clockwise seen from outside.
        adjacency: (T, 3) int32, the triangle at the edge from each corner to the next, -1 for none; (0, 3) without.
        joint_names: J names.
        joint_parents: (J,) int32, -1 for a root.
        joint_channels: (J, 10) float32, the bind pose.
        pose_parents: (P,) int32. Files of animations alone have poses and no joints.
        pose_masks: (P,) int32, bit i is set where channel i differs between frames.
        pose_offsets: (P, 10) float32.
        pose_scales: (P, 10) float32; a channel is its offset plus its scale times the value in the frame.
        frames: (F, C) uint16, the channels in the masks, in order.
        animations: parts of the frames.
        bounds: (F, 8) float32: lower corner, upper corner, radius around the z axis, radius; (0, 8) without.
        comment: bytes, text by convention.
        extensions: in order.
        flags: of the header.
        text: the names of the file, each with NUL; names it does not have are added when it is written.
        warnings: sentences about what was unusual in the file.
        preserved: the bytes of the file, if it was read to preserve them.
    """

    meshes: list[MeshRange] = field(default_factory=list)
    arrays: list[VertexArray] = field(default_factory=list)
    triangles: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "T", 3))
    adjacency: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "A", 3))
    joint_names: list[str] = field(default_factory=list)
    joint_parents: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "J"))
    joint_channels: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "J", CHANNELS))
    pose_parents: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "P"))
    pose_masks: NDArray[np.int32] = field(default_factory=ArrayOf(np.int32, "P"))
    pose_offsets: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "P", CHANNELS))
    pose_scales: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "P", CHANNELS))
    frames: NDArray[np.uint16] = field(default_factory=ArrayOf(np.uint16, "F", "C"))
    animations: list[FrameRange] = field(default_factory=list)
    bounds: NDArray[np.float32] = field(default_factory=ArrayOf(np.float32, "B", 8))
    comment: bytes = b""
    extensions: list[Extension] = field(default_factory=list)
    flags: int = 0
    text: bytes = field(default=b"\0", compare=False, repr=False)
    warnings: list[str] = field(default_factory=list, compare=False)
    preserved: bytes | None = field(default=None, compare=False, repr=False)

    ERROR = IqmError

    @property
    def vertex_count(self) -> int:
        """The number of vertices, V."""
        return len(self.arrays[0].values) if self.arrays else 0

    @property
    def holds_model(self) -> bool:
        """Whether it holds more than animations for another file."""
        return bool(self.meshes or self.joint_names)

    @property
    def moving_channels(self) -> NDArray[np.bool_]:
        """Which channels of each pose differ between frames, (P, 10)."""
        return np.asarray(self.pose_masks[:, None] & (1 << np.arange(CHANNELS)) != 0)

    def array(self, kind: ArrayType) -> NDArray[Any] | None:
        """The values (V, n) of the array of a type that is not CUSTOM, None without one."""
        return next((one.values for one in self.arrays if one.type == kind), None)

    def channels(self, first: int = 0, count: int | None = None) -> NDArray[np.float64]:
        """The channels of all poses in some frames, (n, P, 10)."""
        frames = self.frames[first : None if count is None else first + count]
        result = np.repeat(self.pose_offsets[None].astype(np.float64), len(frames), axis=0)
        poses, columns = np.nonzero(self.moving_channels)
        result[:, poses, columns] += frames * self.pose_scales[poses, columns].astype(np.float64)
        return result


Problem = tuple[str, int, str, object, str]
"""What is wrong with a value: the attribute of an `Iqm`, the index in it, the reason, what is there and what may be."""

MAX_NAME = 4096
"""The most bytes of a name that are read."""


def validate_iqm(iqm: Iqm) -> None:
    """Raises IqmError unless a file can be written, and read again; the message begins with the attribute."""
    iqm.check_arrays(J=len(iqm.joint_names), P=len(iqm.pose_parents))
    check_range(IqmError, "frames", iqm.frames, 0, 2**16 - 1)
    for number, array in enumerate(iqm.arrays):
        what, values = f"arrays[{number}].values", array.values
        if not isinstance(values, np.ndarray) or values.dtype not in FORMATS:
            raise IqmError(f"{what} has a type that files cannot hold", expected="an array of one of FORMATS")
        kind = "integers" if values.dtype.kind in "iu" else str(values.dtype)
        check_array(IqmError, what, values, (iqm.vertex_count, None), kind)
        if array.type not in range(ArrayType.CUSTOM + 1):
            raise IqmError(f"arrays[{number}].type is not valid", found=repr(array.type), expected="0 to 16")
    parts: list[Any] = [*iqm.arrays, *iqm.animations]
    for value in (iqm.flags, *(one.flags for one in parts)):
        if not isinstance(value, int) or not 0 <= value < 2**32:
            raise IqmError("flags do not fit", found=repr(value), expected="an integer of 32 bits")
    parts += [*iqm.meshes, *iqm.extensions]
    for name in [*iqm.joint_names, *(one.name for one in parts), *(one.material for one in iqm.meshes)]:
        if not isinstance(name, str) or "\0" in name or len(encode_name(name)) > MAX_NAME:
            raise IqmError("a name cannot be written", found=repr(name)[:99], expected=f"{MAX_NAME} bytes, none NUL")
    for attribute, index, reason, found, expected in find_problems(iqm):
        raise IqmError(f"{attribute}[{index}]: {reason}", found=str(found), expected=expected)


def encode_name(name: str) -> bytes:
    """A name as bytes of a file; those that are not UTF-8 are escaped as in names of files."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise IqmError("a name has half a character", found=ascii(name), expected="UTF-8") from None


# What is drawn and posed has to be finite as 32-bit floats, which games and Blender have.
_FINITE = (ArrayType.POSITION, ArrayType.TEXCOORD, ArrayType.BLEND_WEIGHTS)
# The parts of an `Iqm` that are ranges of others, and the fields of the range.
_RANGES = (
    ("meshes", "vertices", "first_vertex", "vertex_count"),
    ("meshes", "triangles", "first_triangle", "triangle_count"),
    ("animations", "frames", "first_frame", "frame_count"),
)
# So many poses of joints may be of any file, and so many more for each byte of its frames.
_FEWEST_POSES, _POSES_PER_BYTE = 1 << 17, 4


def find_problems(iqm: Iqm) -> Iterator[Problem]:
    """What is wrong in arrays that have valid shapes; nothing that comes after a problem can be relied on."""
    floats = [(name, getattr(iqm, name)) for name in ("joint_channels", "pose_offsets", "pose_scales")]
    floats += [(f"arrays[{n}]", one.values) for n, one in enumerate(iqm.arrays) if one.type in _FINITE]
    for what, values, low, high, reason in (
        ("triangles", iqm.triangles, 0, iqm.vertex_count - 1, "a vertex that does not exist"),
        ("joint_parents", iqm.joint_parents, ROOT, len(iqm.joint_parents) - 1, "a parent does not exist"),
        ("pose_parents", iqm.pose_parents, ROOT, len(iqm.pose_parents) - 1, "a parent does not exist"),
        ("pose_masks", iqm.pose_masks, 0, (1 << CHANNELS) - 1, "a mask has unknown bits"),
        *((what, one, -LARGEST, LARGEST, "a number is not finite") for what, one in floats if one.dtype.kind == "f"),
    ):
        # NaN is not within any limits. Most arrays are, and comparing each value takes longer.
        if values.size and not (float(values.min()) >= low and float(values.max()) <= high):
            index = int((~((values >= np.float64(low)) & (values <= np.float64(high)))).ravel().argmax())
            yield what, index, reason, values.ravel()[index], f"{low:g} to {high:g}"
    yield from find_blend_problems(iqm)
    for what in ("joint_parents", "pose_parents"):
        try:
            depths(getattr(iqm, what))
        except CyclicHierarchyError as cycle:
            parent = getattr(iqm, what)[cycle.joint]
            yield what, cycle.joint, "a joint is its own ancestor", parent, "another joint, or -1"
    counts = {"vertices": iqm.vertex_count, "triangles": len(iqm.triangles), "frames": len(iqm.frames)}
    channels = int(iqm.moving_channels.sum())
    if iqm.frames.shape[1] != channels:
        yield "frames", 0, "a frame has other channels than the poses", iqm.frames.shape[1], str(channels)
    for what, of in (("adjacency", "triangles"), ("bounds", "frames")):
        if (size := len(getattr(iqm, what))) not in (0, counts[of]):
            yield what, 0, f"there are others than {of}", size, str(counts[of])
    for what, of, first_field, count_field in _RANGES:
        total, most = 0, counted(counts[of], of)
        for number, one in enumerate(getattr(iqm, what)):
            first, count = getattr(one, first_field), getattr(one, count_field)
            if first < 0 or count < 0 or first + count > counts[of]:
                found = f"{counted(count, of)} from {first} on"
                yield what, number, f"it has {of} that do not exist", found, f"a range within {most}"
            total += count
        if what == "meshes" and total > counts[of]:
            yield what, 0, f"meshes share {of}", counted(total, of), f"at most {most}"
    for number, animation in enumerate(iqm.animations):
        if not 0.0 <= animation.frame_rate <= LARGEST:
            yield "animations", number, "its frame rate is not valid", animation.frame_rate, "0 or more"
    # Frames without channels take no bytes, and animations may share frames.
    total = max(counts["frames"], sum(one.frame_count for one in iqm.animations)) * max(len(iqm.pose_parents), 1)
    largest = _FEWEST_POSES + _POSES_PER_BYTE * (iqm.frames.nbytes + iqm.bounds.nbytes)
    if total > largest:
        yield "animations", 0, "animations have too many poses of joints", total, f"at most {largest}"


def find_blend_problems(iqm: Iqm) -> Iterator[Problem]:
    """Weights of joints that do not exist; the index is that of the blend index."""
    kinds, count = [one.type for one in iqm.arrays], len(iqm.joint_names)
    indexes, weights = iqm.array(ArrayType.BLEND_INDEXES), iqm.array(ArrayType.BLEND_WEIGHTS)
    if count and indexes is not None and weights is not None and indexes.size:
        if indexes.min() >= 0 and indexes.max() < count:
            return
        width = min(indexes.shape[1], weights.shape[1])
        is_wrong = (weights[:, :width] > 0) & ~((indexes[:, :width] >= 0) & (indexes[:, :width] < count))
        for vertex, column in np.argwhere(is_wrong)[:1].tolist():
            what, index = f"arrays[{kinds.index(ArrayType.BLEND_INDEXES)}]", vertex * indexes.shape[1] + column
            reason = f"vertex {vertex} has a weight of a joint that does not exist"
            yield what, index, reason, indexes[vertex, column], f"0 to {count - 1}"
