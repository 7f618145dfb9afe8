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
    """One array of all vertices.

    Attributes:
        type: one of `ArrayType`, or reserved.
        values: (V, n), of one of `FORMATS`.
        flags: 0 in files of the compiler.
        name: of a CUSTOM array.
    """

    type: int
    values: NDArray[Any]
    flags: int = 0
    name: str = ""

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
    """An animation: frames one after another, of which several animations may have the same.

    A rate of 0 leaves it to the game.
    """

    name: str
    first_frame: int
    frame_count: int
    frame_rate: float
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

    def array(self, kind: ArrayType) -> NDArray[Any] | None:
        """The values (V, n) of the array of a type that is not CUSTOM, None without one."""
        return next((one.values for one in self.arrays if one.type == kind), None)

    def channels(self, first: int = 0, count: int | None = None) -> NDArray[np.float64]:
        """The channels of all poses in some frames, (n, P, 10)."""
        frames = self.frames[first : None if count is None else first + count]
        result = np.repeat(self.pose_offsets[None].astype(np.float64), len(frames), axis=0)
        poses, columns = np.nonzero(masked(self.pose_masks))
        result[:, poses, columns] += frames * self.pose_scales[poses, columns].astype(np.float64)
        return result


def masked(masks: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which channels of each pose differ between frames, (P, 10)."""
    return np.asarray(masks[:, None] & (1 << np.arange(CHANNELS)) != 0)


Problem = tuple[str, int, str, object, str]
"""What is wrong with a value: the attribute of an `Iqm`, the index in it, the reason, what is there and what may be."""

MAX_NAME = 4096
"""The most bytes of a name that are read."""


def validate_iqm(iqm: Iqm) -> None:
    """Checks that a file can be written, and read again.

    Raises:
        IqmError: it cannot; the message begins with the attribute.
    """
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
    for value in (iqm.flags, *(one.flags for one in iqm.arrays), *(one.flags for one in iqm.animations)):
        if not isinstance(value, int) or not 0 <= value < 2**32:
            raise IqmError("flags do not fit", found=repr(value), expected="an integer of 32 bits")
    parts: list[Any] = [*iqm.arrays, *iqm.meshes, *iqm.animations, *iqm.extensions]
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


# So many poses of joints may be of any file, and so many more for each byte of its frames.
_FEWEST_POSES, _POSES_PER_BYTE = 1 << 17, 4


def find_problems(iqm: Iqm) -> Iterator[Problem]:
    """What is wrong in arrays that have valid shapes; nothing that comes after a problem can be relied on."""
    sizes = {"vertices": iqm.vertex_count, "triangles": len(iqm.triangles), "frames": len(iqm.frames)}
    finite = [(f"arrays[{n}]", one.values) for n, one in enumerate(iqm.arrays) if one.type in _FINITE]
    yield from _outside("triangles", iqm.triangles, 0, iqm.vertex_count - 1, "a vertex that does not exist")
    for what, parents in (("joint_parents", iqm.joint_parents), ("pose_parents", iqm.pose_parents)):
        yield from _outside(what, parents, ROOT, len(parents) - 1, "a parent does not exist")
        try:
            depths(parents)
        except CyclicHierarchyError as cycle:
            yield what, cycle.joint, "a joint is its own ancestor", parents[cycle.joint], "another joint, or -1"
    finite += [(what, getattr(iqm, what)) for what in ("joint_channels", "pose_offsets", "pose_scales")]
    for what, values in finite:
        if values.dtype.kind == "f":
            # As 32-bit floats, which games and Blender have.
            yield from _outside(what, values, -LARGEST, LARGEST, "a number is not finite")
    yield from _outside("pose_masks", iqm.pose_masks, 0, (1 << CHANNELS) - 1, "a mask has unknown bits")
    for what, size, wanted, reason in (
        ("frames", iqm.frames.shape[1], int(masked(iqm.pose_masks).sum()), "a frame has other channels than the poses"),
        ("adjacency", len(iqm.adjacency), sizes["triangles"], "there are other neighbors than triangles"),
        ("bounds", len(iqm.bounds), sizes["frames"], "there are other bounds than frames"),
    ):
        if size != wanted and (size or what == "frames"):
            yield what, 0, reason, size, str(wanted)
    for what, of, rows in (
        ("meshes", "vertices", [(one.first_vertex, one.vertex_count) for one in iqm.meshes]),
        ("meshes", "triangles", [(one.first_triangle, one.triangle_count) for one in iqm.meshes]),
        ("animations", "frames", [(one.first_frame, one.frame_count) for one in iqm.animations]),
    ):
        for number, (first, count) in enumerate(rows):
            if first < 0 or count < 0 or first + count > sizes[of]:
                found, wanted_range = (
                    f"{counted(count, of)} from {first} on",
                    f"a range within {counted(sizes[of], of)}",
                )
                yield what, number, f"it has {of} that do not exist", found, wanted_range
        total = sum(count for _, count in rows)
        if what == "meshes" and total > sizes[of]:
            yield what, 0, f"meshes share {of}", counted(total, of), f"at most {sizes[of]}"
    for number, one in enumerate(iqm.animations):
        if not 0.0 <= one.frame_rate <= LARGEST:
            yield "animations", number, "its frame rate is not valid", one.frame_rate, "0 or more"
    # Frames without channels take no bytes, and animations may share frames.
    total = max(sizes["frames"], sum(one.frame_count for one in iqm.animations)) * max(len(iqm.pose_parents), 1)
    most = _FEWEST_POSES + _POSES_PER_BYTE * (iqm.frames.nbytes + iqm.bounds.nbytes)
    if total > most:
        yield "animations", 0, "animations have too many poses of joints", total, f"at most {most}"


_FINITE = (ArrayType.POSITION, ArrayType.TEXCOORD, ArrayType.BLEND_WEIGHTS)


def _outside(what: str, values: NDArray[Any], low: float, high: float, reason: str) -> Iterator[Problem]:
    # NaN is not within any limits. Most arrays are, and comparing each value takes longer.
    if values.size and not (values.min() >= low and values.max() <= high):
        index = int((~((values >= low) & (values <= high))).ravel().argmax())
        yield what, index, reason, values.ravel()[index], f"{low:g} to {high:g}"
