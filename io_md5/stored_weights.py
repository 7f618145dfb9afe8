"""The weights of an imported file, for those vertices that still are what they were.

A vertex of the file stands for a vertex of the evaluated mesh only if it proves to reproduce it: its position, its
vertex groups, and the point of each of its weights, in the bind pose that the armature has now. Numbers alone prove
nothing: modifiers and edits copy them to other vertices, and a mesh that was joined to another brings those of its own
file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..io_common.scene import evaluated
from .export_skeleton import Skeleton
from .format import quaternions as quat
from .format.model import Floats, Ints
from .source.meshes import UNKNOWN, StoredMesh, read_mesh, read_vertices
from .weight_table import Integers, WeightTable

if TYPE_CHECKING:
    from bpy.types import Object

Booleans = npt.NDArray[np.bool_]

# A vertex is where it was if it is off by less than this part of the largest coordinate: 32-bit floats.
_SAME_POSITION = 1e-6
# A weight's point is that of its vertex if it is off by less than this part of it: numbers of ten digits.
_SAME_POINT = 1e-5
_SAME_BIAS = 1e-5
# A vertex of the file moves as Blender moves it if its biases add up to 1 but for this.
_BIAS_SUM = 1e-4


@dataclass(eq=False)
class SourceMesh:
    """The mesh block that an object came from.

    Attributes:
        stored: what was stored of it.
        weights: of the V vertices of the file, in the bind pose of the armature now.
        vertices: the vertex of the file that each vertex of the evaluated mesh may be, or `UNKNOWN`, int64.
        corners: the same of each corner, int64.
        slack: how far the weights of each vertex of the file are from agreeing about it, so how far the game may show
            it from where Blender does, float64 (V,); infinite where the biases do not add up to 1.
    """

    stored: StoredMesh
    weights: WeightTable
    vertices: Integers
    corners: Integers
    slack: Floats


def read_source(obj: Object, mesh: evaluated.TriangleMesh, skeleton: Skeleton) -> SourceMesh | None:
    """The mesh block that an object came from; None if it came from none.

    Args:
        obj: the object in the original data.
        mesh: its evaluated mesh at rest.
        skeleton: the joints of the file to write.
    """
    stored = read_mesh(obj.data)
    if stored is None or skeleton.armature is None:
        return None
    vertices, corners = read_vertices(mesh.mesh, stored)
    joints = _current_joints(stored, skeleton)
    weights = WeightTable(
        stored.starts, stored.counts, joints, stored.biases, _points(stored.positions, joints, skeleton)
    )
    return SourceMesh(stored, weights, vertices, corners, _slack(weights))


def _current_joints(stored: StoredMesh, skeleton: Skeleton) -> Ints:
    """The joint that the joint of each weight has become, -1 where it is gone, int32 (W,)."""
    result = np.full(int(stored.joints.max(initial=-1)) + 1, -1, dtype=np.int32)
    indices = skeleton.rig.indices
    known = (indices >= 0) & (indices < len(result)) & (skeleton.joint_of_bone >= 0)
    result[indices[known]] = skeleton.joint_of_bone[known]
    return result[stored.joints]


def _points(positions: Floats, joints: Ints, skeleton: Skeleton) -> Floats:
    """Where each weight puts its vertex in the bind pose, in the coordinates of the file, (W, 3).

    Args:
        positions: of the weights in the space of their joints, in the units of the armature.
        joints: of the weights.
        skeleton: the joints.
    """
    bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
    bind = skeleton.rig.joints
    local = bind.positions[bones] + quat.rotate(bind.orientations[bones], positions)
    if not np.array_equal(skeleton.world, np.eye(4)):
        local = local @ skeleton.world[:3, :3].T + skeleton.world[:3, 3]
    return skeleton.conversion.points(local)


def _slack(weights: WeightTable) -> Floats:
    count = len(weights.counts)
    rows = weights.rows(np.arange(count))
    owners = np.repeat(np.arange(count), weights.counts)
    offsets = np.linalg.norm(weights.points[rows] - weights.positions()[owners], axis=1)
    slack = np.bincount(owners, np.abs(weights.biases[rows]) * offsets, minlength=count)
    sums = np.bincount(owners, weights.biases[rows], minlength=count)
    return np.where(np.abs(sums - 1.0) > _BIAS_SUM, np.inf, slack)


def proven_sources(
    source: SourceMesh,
    skeleton: Skeleton,
    vertices: Integers,
    candidates: Integers,
    positions: Floats,
    current: WeightTable,
) -> Integers:
    """The vertex of the file whose weights may be used for each copy of a vertex, or `UNKNOWN`, int64 (K,).

    Args:
        source: the mesh block.
        skeleton: the joints.
        vertices: of the evaluated mesh, (K,); one that UV seams split stands here several times.
        candidates: the vertex of the file that each may be, (K,).
        positions: of the evaluated vertices in the coordinates of the file, (n, 3).
        current: weights of the evaluated vertices.
    """
    pairs, inverse = _distinct_pairs(vertices, candidates)
    owners, numbers = pairs
    good = numbers != UNKNOWN
    good[good] = _reproduces(source, skeleton, owners[good], numbers[good], positions, current)
    proven = np.where(good, numbers, UNKNOWN)
    return _one_position_per_vertex(source, owners, proven)[inverse]


def _distinct_pairs(a: Integers, b: Integers) -> tuple[tuple[Integers, Integers], Integers]:
    """The distinct pairs in the order of `a`, then `b`, and the number of each row's pair."""
    width = int(b.max(initial=0)) + 2
    keys, inverse = np.unique(a * width + (b + 1), return_inverse=True)
    first, second = np.divmod(keys, width)
    return (first, second - 1), inverse.ravel()


def _reproduces(
    source: SourceMesh,
    skeleton: Skeleton,
    vertices: Integers,
    numbers: Integers,
    positions: Floats,
    current: WeightTable,
) -> Booleans:
    """Whether each vertex of the file gives what Blender shows of an evaluated vertex, in every pose, bool (K,)."""
    weights = source.weights
    extent = max(float(np.abs(positions).max(initial=0.0)), 1e-9)
    wanted = positions[vertices]
    good = np.linalg.norm(weights.positions()[numbers] - wanted, axis=1) <= _SAME_POSITION * extent
    good &= weights.counts[numbers] > 0
    rows = weights.rows(numbers)
    owners = np.repeat(np.arange(len(numbers)), weights.counts[numbers])
    joints = weights.joints[rows]
    bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
    # Weights that never agreed about a vertex are good as long as the joints are where they were.
    agrees = np.linalg.norm(weights.points[rows] - wanted[owners], axis=1) <= _SAME_POINT * extent
    usable = (joints >= 0) & (agrees | skeleton.rig.is_unmoved[bones] | (weights.biases[rows] == 0.0))
    good[owners[~usable]] = False
    good[_groups_differ(weights, vertices, numbers, current)] = False
    return np.asarray(good)


def _groups_differ(
    weights: WeightTable, vertices: Integers, numbers: Integers, current: WeightTable
) -> Integers:
    """The rows of `vertices` whose vertex groups are not what the import made of the file's vertex."""
    count = len(vertices)
    stored_rows, current_rows = weights.rows(numbers), current.rows(vertices)
    stored_owners = np.repeat(np.arange(count), weights.counts[numbers])
    current_owners = np.repeat(np.arange(count), current.counts[vertices])
    biases = weights.biases[stored_rows]
    sums = np.bincount(stored_owners, biases, minlength=count)
    normal = np.where(np.abs(sums) > 0.0, sums, 1.0)
    # A joint that is gone gets a column of its own.
    width = int(max(weights.joints.max(initial=0), current.joints.max(initial=0))) + 2
    keys = np.concatenate([
        stored_owners * width + weights.joints[stored_rows] + 1,
        current_owners * width + current.joints[current_rows] + 1,
    ])  # fmt: skip
    signed = np.concatenate([biases / normal[stored_owners], -current.biases[current_rows]])
    distinct, inverse = np.unique(keys, return_inverse=True)
    differences = np.abs(np.bincount(inverse.ravel(), signed, minlength=len(distinct)))
    return np.unique(distinct[differences > _SAME_BIAS] // width)


def _one_position_per_vertex(source: SourceMesh, vertices: Integers, proven: Integers) -> Integers:
    """The same, but with one vertex of the file for all copies of a vertex where theirs would part them.

    Copies at exactly one position let no crack open along a seam, and the games shade them as one.

    Args:
        source: the mesh block.
        vertices: of the evaluated mesh, rising, (K,).
        proven: the vertex of the file of each, or `UNKNOWN`, (K,).
    """
    known = proven != UNKNOWN
    if not known.any():
        return proven
    firsts = np.append(0, np.flatnonzero(vertices[1:] != vertices[:-1]) + 1)
    groups = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(vertices))))
    exact = source.weights.positions().astype(np.float32)
    same = (exact[proven] == exact[proven[firsts]][groups]).all(axis=1) & known
    is_split = np.zeros(len(firsts), dtype=bool)
    is_split[groups[~same]] = True
    # The first proven one, in the order of the file.
    chosen = np.full(len(firsts), len(source.weights.counts), dtype=np.int64)
    np.minimum.at(chosen, groups[known], proven[known])
    chosen[chosen == len(source.weights.counts)] = UNKNOWN
    return np.where(is_split[groups], chosen[groups], proven)
