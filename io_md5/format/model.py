"""What MD5 files hold, as dataclasses of numpy arrays.

Axes are the game's: +X forward, +Y left, +Z up, right-handed; lengths are in the game's units (about an inch).
Quaternions are rows w, x, y, z with w <= 0, as the specification computes them.
Warnings are sentences on what was odd in a file; they are no part of a model's value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

ROOT = -1
"""The parent of a joint without parent."""

LARGEST = float(np.finfo(np.float32).max)
"""Values beyond this cannot be held in the 32-bit floats of the games and of Blender."""


@dataclass(eq=False)
class Joints:
    """A skeleton in a pose: every joint's place in the space of the model.

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

    def __len__(self) -> int:
        return len(self.names)


@dataclass(eq=False)
class Mesh:
    """One mesh block: vertices that are sums of weights, triangles over them, one shader.

    Attributes:
        shader: the name of the material, often the path of its image without extension.
        uvs: s and t of each vertex, (0, 0) in the upper left corner of the image, float64 (V, 2).
        weight_starts: the first weight of each vertex, int32 (V,).
        weight_counts: how many weights from there belong to it, int32 (V,).
        triangles: three vertices each, clockwise seen from outside, int32 (T, 3).
        weight_joints: the joint of each weight, int32 (W,).
        weight_biases: its share of the vertex, float64 (W,).
        weight_positions: the vertex's place in the space of that joint, float64 (W, 3).
        name: the name of the mesh where the file has one.
        comment_name: the name in the comment ``// meshes: NAME`` of the block, by which Sauerbraten and iqm's compiler
            know the mesh; nothing where there is no such comment.
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

    @property
    def vertex_count(self) -> int:
        """The number of vertices, V."""
        return len(self.uvs)


@dataclass(eq=False)
class Model:
    """An .md5mesh file.

    Attributes:
        joints: the bind pose.
        meshes: the mesh blocks in order.
        commandline: what id's exporter was called with.
        warnings: what was odd in the file.
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
class Animation:
    """An .md5anim file.

    A joint's six components Tx Ty Tz Qx Qy Qz, relative to its parent, are those of the base frame but for the
    ones that its flags name; these are taken from the frame, in order, from the joint's start on.

    Attributes:
        names: J names of joints.
        parents: int32 (J,); -1 for a root.
        flags: bit i is set where component i is animated, int32 (J,).
        starts: the joint's first component in a frame, int32 (J,).
        bounds: the lower and upper corner of the box around the model in each frame, float64 (B, 2, 3);
            B is F in good files.
        base_positions: float64 (J, 3).
        base_orientations: x y z of unit quaternions as in the file, float64 (J, 3).
        frames: the animated components of each frame, float64 (F, C).
        frame_rate: frames per second.
        commandline: what id's exporter was called with.
        has_hierarchy: whether the file tells parents; the oldest layout does not, and all are -1 then.
        warnings: what was odd in the file.
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

    @property
    def frame_count(self) -> int:
        """The number of frames, F."""
        return len(self.frames)


@dataclass(eq=False)
class Camera:
    """An .md5camera file.

    Its entries are not the frames of its playing time: see `cuts.timeline`.

    Attributes:
        cuts: the entry that ends each shot but the last, int32 (K,).
        positions: float64 (N, 3).
        orientations: x y z of unit quaternions as in the file, float64 (N, 3); they turn +X into where the camera
            looks, +Y into its left and +Z into its up.
        fields_of_view: horizontal angles of a 4:3 picture in degrees, float64 (N,).
        frame_rate: frames per second.
        cut_groups: the text behind each cut, such as ``pos ( 1 2 3 ) rotA ( 0 90 0 )``; a list of K, or an empty one
            if there is none.
        commandline: what id's exporter was called with.
        warnings: what was odd in the file.
    """

    cuts: Ints
    positions: Floats
    orientations: Floats
    fields_of_view: Floats
    frame_rate: float = 24.0
    cut_groups: list[str] = field(default_factory=list)
    commandline: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def entry_count(self) -> int:
        """The number of entries, N: the frames of the playing time and one more for each cut."""
        return len(self.positions)
