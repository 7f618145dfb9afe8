"""A skeletal model and its animations, as dataclasses of numpy arrays; MD5 and IQM files are read into them.

Axes are the game's: +X forward, +Y left, +Z up; a unit is about an inch. Quaternions are rows w, x, y, z with w <= 0,
as the MD5 specification computes them; those of three columns are x, y, z, as in an MD5 file.
An array of the stated dtype is kept, not copied, when a dataclass is made; anything else is converted. Two models are
equal (``==``) if they hold the same values, whatever their warnings.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..arrays import ArrayOf, Record
from ..errors import FormatError


class SkeletalError(FormatError):
    """A file of a skeletal model that cannot be understood, or a model that cannot be written."""


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

ROOT = -1
"""The parent index of a root joint."""

LARGEST = float(np.finfo(np.float32).max)  # of the 32-bit floats of the games and of Blender
DECIMALS = 10  # digits after the point, as in the files of id's exporter


def as_singles(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Numbers as 32-bit floats; those beyond their range become the largest."""
    return np.asarray(np.clip(values, -LARGEST, LARGEST), dtype=np.float32)


@dataclass(eq=False)
class Joints(Record):
    """A skeleton in a pose: the transform of every joint in the space of the model.

    Attributes:
        names: J names.
        parents: the index of each joint's parent, or -1, int32 (J,).
        positions: float64 (J, 3).
        orientations: unit quaternions w x y z, float64 (J, 4).
    """

    names: list[str]
    parents: Ints = field(default_factory=ArrayOf(np.int32, "J"))
    positions: Floats = field(default_factory=ArrayOf(np.float64, "J", 3))
    orientations: Floats = field(default_factory=ArrayOf(np.float64, "J", 4))

    ERROR, PLACE = SkeletalError, "Joints."

    def __len__(self) -> int:
        return len(self.names)


@dataclass(eq=False)
class Mesh(Record):
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
    uvs: Floats = field(default_factory=ArrayOf(np.float64, "V", 2))
    weight_starts: Ints = field(default_factory=ArrayOf(np.int32, "V"))
    weight_counts: Ints = field(default_factory=ArrayOf(np.int32, "V"))
    triangles: Ints = field(default_factory=ArrayOf(np.int32, "T", 3))
    weight_joints: Ints = field(default_factory=ArrayOf(np.int32, "W"))
    weight_biases: Floats = field(default_factory=ArrayOf(np.float64, "W"))
    weight_positions: Floats = field(default_factory=ArrayOf(np.float64, "W", 3))
    name: str = ""
    comment_name: str = ""

    ERROR, PLACE = SkeletalError, "Mesh."

    @property
    def vertex_count(self) -> int:
        """The number of vertices, V."""
        return len(self.uvs)


@dataclass(eq=False)
class Model(Record):
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
    warnings: list[str] = field(default_factory=list, compare=False)

    ERROR = SkeletalError

    @property
    def vertex_count(self) -> int:
        """The number of vertices of all meshes."""
        return sum(mesh.vertex_count for mesh in self.meshes)


@dataclass(eq=False)
class Animation(Record):
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
    parents: Ints = field(default_factory=ArrayOf(np.int32, "J"))
    flags: Ints = field(default_factory=ArrayOf(np.int32, "J"))
    starts: Ints = field(default_factory=ArrayOf(np.int32, "J"))
    bounds: Floats = field(default_factory=ArrayOf(np.float64, "F", 2, 3))
    base_positions: Floats = field(default_factory=ArrayOf(np.float64, "J", 3))
    base_orientations: Floats = field(default_factory=ArrayOf(np.float64, "J", 3))
    frames: Floats = field(default_factory=ArrayOf(np.float64, "F", "C"))
    frame_rate: float = 24.0
    commandline: str = ""
    has_hierarchy: bool = True
    warnings: list[str] = field(default_factory=list, compare=False)

    ERROR, PLACE = SkeletalError, "Animation."

    @property
    def frame_count(self) -> int:
        """The number of frames, F."""
        return len(self.frames)


@dataclass(frozen=True, eq=False)
class AnimationHeader:
    """The head of an animation with J joints.

    Attributes:
        names: of the joints.
        parents: index of each joint's parent or `ROOT`, int32 (J,).
        frame_count: as declared; the number of frames if the whole file was read.
        frame_rate: frames per second.
        has_hierarchy: whether the file has parents, which the layout before Doom 3's release has not.
    """

    names: list[str]
    parents: Ints
    frame_count: int
    frame_rate: float
    has_hierarchy: bool = True
