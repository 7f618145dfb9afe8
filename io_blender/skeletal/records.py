"""What the import of a skeletal model stores in the property group ``md5`` and in two attributes, and how it is read.
Values that are loaded are valid, but may no longer describe what Blender shows: exporters verify that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from bpy.types import Action, Armature, Bone, Mesh

from ...io_common.skeletal.model import Floats, Joints, SkeletalError
from ...io_common.skeletal.model import Mesh as MeshBlock
from ...io_common.skeletal.validation import validate_mesh
from ...io_common.triangles import FLIPPED_WINDING, is_degenerate
from ..records import NONE, Bytes, ConversionField, Integer, MaterialRecord, Name, Number, Table, Text, match_elements
from ..scene import mesh_data

Integers = npt.NDArray[np.int64]

GROUP = "md5"  # the name of the property group
SAME_NORMAL = math.cos(math.radians(0.25))  # the cosine of the angle that Blender's custom normals may be off
_MAX_JOINTS = 1 << 16

SHADERS = MaterialRecord(GROUP, "shader")
"""What is stored on materials: the shader is a declaration or the path of an image without its extension."""

# Of armatures and meshes; of cameras as well.
CONVERSION = ConversionField(GROUP)
# Of armatures, actions and cameras.
COMMANDLINE = Text(GROUP, "commandline")

# Of bones: the joint's index in the file, its name, its axes in the space of the bone (w x y z), and its position and
# orientation in that of the armature, so that the rounding of Blender's matrices does not count as an edit.
JOINT_INDEX = Integer(GROUP, "index", highest=_MAX_JOINTS)
JOINT_NAME = Name(GROUP, "name")
# The joint of other skeletons whose motion a bone takes, and how it was found.
SOURCE_JOINT = Name(GROUP, "source_joint")
SOURCE_HOW = Text(GROUP, "source_how")
_JOINT_AXES = Table(GROUP, "axes", "f8", 4, rows=1)
_JOINT_BIND = Table(GROUP, "bind", "f8", 7, rows=1)
_UNIT_TOLERANCE = 1e-3

# Of meshes: index and name in the file, the name in a comment, and what the mesh cannot hold itself: rows of joint,
# bias and position; start and count for each vertex; number and vertices of triangles; vertex, s and t.
MESH_INDEX = Integer(GROUP, "index")
MESH_NAME = Text(GROUP, "name")
_COMMENT_NAME = Name(GROUP, "comment_name")
_WEIGHTS = Table(GROUP, "weights", "f8", 5)
_WEIGHT_RANGES = Table(GROUP, "weight_ranges", "i4", 2, lowest=0)
_DEGENERATE = Table(GROUP, "degenerate_triangles", "i4", 4, lowest=0)
_UNUSED = Table(GROUP, "unused_vertices", "f8", 3)
# By which normals Blender shades corners, in the space of the object, where it cannot show those of the file.
SHOWN_NORMALS = Bytes(GROUP, "shown_normals", "f4", 3)
# The vertex of the file, of vertices, and of face corners where vertices were merged along a UV seam.
_VERTEX = "md5_vertex"
_CORNER_VERTEX = "md5_corner_vertex"

# Of actions; `frame_range` is what the import set, `scale_positions` the joints whose scale also applies to their
# translation. Names that can be quoted hold no line break, but may hold anything else.
ACTION_RATE = Number(GROUP, "frame_rate", 1e-6, 1e6)
ACTION_NAME = Name(GROUP, "name")
_FRAME_RANGE = Table(GROUP, "frame_range", "i4", 2, rows=1)
_SCALES_POSITION = Text(GROUP, "scale_positions")
_SEPARATOR = "\t"
# A longer one cannot be the name of a file.
_LONGEST_NAME = 240


def store_bones(bones: list[Bone], joints: Joints, joint_axes: Floats) -> None:
    """Stores the joint of each bone, with its bind pose in armature space; not possible in Edit Mode."""
    # `joint_axes` are the quaternions of the joints in the space of their bones, (J, 4).
    binds = np.column_stack([joints.positions, joints.orientations])
    for index, (bone, name) in enumerate(zip(bones, joints.names, strict=True)):
        bone[GROUP] = {}
        JOINT_INDEX.write(bone, index)
        _JOINT_AXES.write(bone, joint_axes[index])
        _JOINT_BIND.write(bone, binds[index])
        if name != bone.name:
            JOINT_NAME.store(bone, name, bone.name)


def load_bones(bones: list[Bone]) -> tuple[Integers, list[str], Floats, Floats]:
    """The indices, names, axes in the bone, and bind poses of the stored joints of bones."""
    # Unknown indices are -1, unknown bind poses NaN, (n, 7): position and quaternion in the space of the armature. A
    # copy of a bone has the same index; it is treated as a new bone, because each joint is one bone.
    count = len(bones)
    names = [JOINT_NAME.current(bone, bone.name) for bone in bones]
    indices = np.full(count, -1, dtype=np.int64)
    known: set[int] = set()
    # Blender adds a suffix to the names of copies, so the bone with the shortest name is the original.
    for number in sorted(range(count), key=lambda number: (len(bones[number].name), number)):
        index = JOINT_INDEX.read(bones[number])
        if index in known:
            names[number] = bones[number].name
        elif index is not None:
            known.add(index)
            indices[number] = index
    joint_axes, binds = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.full((count, 7), np.nan)
    for number, bone in enumerate(bones):
        turn, bind = _JOINT_AXES.read(bone), _JOINT_BIND.read(bone)
        if turn is not None and _is_unit(turn):
            joint_axes[number] = turn
        if bind is not None and _is_unit(bind[:, 3:]):
            binds[number] = bind
    return indices, names, joint_axes, binds


def load_joint_map(armature: Armature) -> dict[str, str]:
    """The map that is stored with an armature: joints of other skeletons by its own."""
    pairs = ((JOINT_NAME.current(bone, bone.name), SOURCE_JOINT.read(bone)) for bone in armature.bones)
    return {name: source for name, source in pairs if source}


def store_joint_map(armature: Armature, pairs: Mapping[str, tuple[str, str]]) -> None:
    """Replaces the map of an armature by joints and how each was found, by its own joints."""
    for bone in armature.bones:
        source, how = pairs.get(JOINT_NAME.current(bone, bone.name), (None, None))
        SOURCE_JOINT.write(bone, source)
        SOURCE_HOW.write(bone, how)


def _is_unit(quaternion: Floats) -> bool:
    return abs(float(np.linalg.norm(quaternion)) - 1.0) <= _UNIT_TOLERANCE


@dataclass(eq=False)
class StoredMesh:
    """A stored mesh block."""

    block: MeshBlock  # in the units of the armature, without texture coordinates
    degenerate: Integers  # index in the file and vertices of triangles that Blender cannot hold, (n, 4)
    unused: Integers  # vertices without a triangle, (m,)
    unused_uvs: Floats  # s and t, (m, 2)


def store_mesh(
    data: Mesh, index: int, mesh: MeshBlock, *, first_copies: Integers, degenerate: npt.NDArray[np.bool_]
) -> None:
    """Stores a mesh block on the mesh made of it."""
    # The vertices of `data` are the first copies in ascending order, its faces the triangles that are not degenerate.
    # `first_copies` has for each vertex of the file the one that it is merged with, (V,).
    vertices = np.flatnonzero(first_copies == np.arange(mesh.vertex_count))
    mesh_data.set_integers(data, _VERTEX, "POINT", vertices)
    if len(vertices) < mesh.vertex_count:
        corners = mesh.triangles[~degenerate][:, FLIPPED_WINDING]
        mesh_data.set_integers(data, _CORNER_VERTEX, "CORNER", corners)
    data[GROUP] = {}
    MESH_INDEX.write(data, index)
    if mesh.vertex_count:
        _WEIGHT_RANGES.write(data, np.column_stack([mesh.weight_starts, mesh.weight_counts]))
    if len(mesh.weight_joints):
        _WEIGHTS.write(data, np.column_stack([mesh.weight_joints, mesh.weight_biases, mesh.weight_positions]))
    if degenerate.any():
        numbers = np.flatnonzero(degenerate)
        _DEGENERATE.write(data, np.column_stack([numbers, mesh.triangles[numbers]]))
    unused = np.flatnonzero(~mesh_data.in_triangles(mesh.triangles[~degenerate], mesh.vertex_count))
    if len(unused):
        _UNUSED.write(data, np.column_stack([unused, mesh.uvs[unused]]))
    MESH_NAME.write(data, mesh.name or None)
    if mesh.comment_name:
        _COMMENT_NAME.store(data, mesh.comment_name, data.name)


def load_comment_name(data: Mesh, object_name: str) -> str | None:
    """The name in the comment of a mesh block, or that of a renamed object; None if it had none."""
    return _COMMENT_NAME.current(data, object_name) if _COMMENT_NAME.read(data) else None


def renamed_mesh(data: Mesh, object_name: str) -> tuple[str, str] | None:
    """The name in the comment of the imported mesh block, and the one that it has now; None if it had none."""
    imported, current = _COMMENT_NAME.read(data), load_comment_name(data, object_name)
    return (imported, current) if imported and current else None


def load_mesh(data: Mesh) -> StoredMesh | None:
    """The stored mesh block; None if there is none, or if its tables are not valid."""
    ranges, weights = _WEIGHT_RANGES.read_rows(data), _WEIGHTS.read_rows(data)
    degenerate, unused = _DEGENERATE.read_rows(data), _UNUSED.read_rows(data)
    if MESH_INDEX.read(data) is None or ranges is None or weights is None or degenerate is None or unused is None:
        return None
    try:
        block = MeshBlock(
            shader="",
            uvs=np.zeros((len(ranges), 2)),
            weight_starts=ranges[:, 0],
            weight_counts=ranges[:, 1],
            triangles=degenerate[:, 1:],
            weight_joints=weights[:, 0],
            weight_biases=weights[:, 1],
            weight_positions=weights[:, 2:],
        )
        validate_mesh(block, _MAX_JOINTS)
    except SkeletalError:
        return None
    if not is_degenerate(block.triangles).all() or not np.isin(unused[:, 0], np.arange(len(ranges))).all():
        return None
    return StoredMesh(block, degenerate.astype(np.int64), unused[:, 0].astype(np.int64), unused[:, 1:])


def load_vertices(mesh: Mesh, stored: StoredMesh) -> tuple[Integers, Integers]:
    """The stored file vertex of each vertex and of each face corner of an evaluated mesh, or NONE."""
    # Modifiers and edits copy and mix these indices, so they may be wrong.
    count = stored.block.vertex_count
    vertices = match_elements(mesh_data.integers(mesh, _VERTEX, "POINT"), len(mesh.vertices), count)
    of_vertices = vertices[mesh_data.corner_vertices(mesh)]
    corners = match_elements(mesh_data.integers(mesh, _CORNER_VERTEX, "CORNER"), len(mesh.loops), count)
    return vertices.astype(np.int64), np.where(corners == NONE, of_vertices, corners).astype(np.int64)


@dataclass(frozen=True)
class StoredAction:
    """The stored data of an action."""

    name: str  # of the file without its extension; the action's name unless Blender could not hold it
    commandline: str
    frame_rate: float | None
    frame_range: tuple[int, int] | None  # as set by the import
    scales_position: frozenset[str] = frozenset()  # joints whose scale also applies to their translation


def store_action(
    action: Action, name: str, commandline: str, frame_rate: float, scales_position: Iterable[str] = ()
) -> None:
    """Stores the data of a file on its action, whose name and frame range must be set."""
    action[GROUP] = {}
    ACTION_RATE.write(action, frame_rate)
    _FRAME_RANGE.write(action, np.round([action.frame_start, action.frame_end]))
    # Always, as Blender renames an action that is appended to a file with another of its name.
    ACTION_NAME.store(action, name, action.name)
    COMMANDLINE.write(action, commandline or None)
    _SCALES_POSITION.write(action, _SEPARATOR.join(scales_position) or None)


def load_action(action: Action) -> StoredAction:
    """The stored data of an action."""
    stored = ACTION_NAME.read(action) or ""
    is_short = len(stored.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME
    frames = _FRAME_RANGE.read(action)
    joints = _SCALES_POSITION.read(action) or ""
    return StoredAction(
        name=ACTION_NAME.current(action, action.name) if is_short else action.name,
        commandline=COMMANDLINE.read(action) or "",
        frame_rate=ACTION_RATE.read(action),
        frame_range=(int(frames[0, 0]), int(frames[0, 1])) if frames is not None else None,
        scales_position=frozenset(filter(None, joints.split(_SEPARATOR))),
    )
