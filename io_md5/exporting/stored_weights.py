"""The weights of an imported file, for vertices that were not changed since.

A vertex of the file is used for a vertex of the evaluated mesh only if it reproduces it: its position, its vertex
groups, and the point of each of its weights, in the current bind pose of the armature. Stored indices alone are not
enough: modifiers and edits copy them to other vertices, and joined meshes bring indices of other files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.records import NONE
from ...io_blender.scene import mesh_data
from ..format import quaternions as quat
from ..format.model import Floats, Ints, as_singles
from ..records import StoredMesh, load_mesh, load_vertices
from .skeleton import Skeleton
from .weight_table import Integers, WeightTable

if TYPE_CHECKING:
    from bpy.types import Object

Booleans = npt.NDArray[np.bool_]

# The tolerance of a position as a fraction of the largest coordinate: the precision of 32-bit floats.
_SAME_POSITION = 1e-6
# The tolerance of a weight's point as a fraction of the largest coordinate: files have ten digits.
_SAME_POINT = 1e-5
_SAME_BIAS = 1e-5
# Biases of a vertex must sum to 1 within this for Blender to move it as the game does.
_BIAS_SUM = 1e-4


@dataclass(eq=False)
class SourceMesh:
    """The imported mesh block of an object.

    Attributes:
        stored: the stored data.
        weights: of the V vertices of the file, in the current bind pose of the armature.
        vertices: the candidate vertex of the file for each vertex of the evaluated mesh, or `NONE`, int64.
        corners: the same for each corner, int64.
        disagreements: how much the weights of each vertex of the file disagree about its position, which limits the
            difference between the game and Blender, float64 (V,); infinite if the biases do not sum to 1.
    """

    stored: StoredMesh
    weights: WeightTable
    vertices: Integers
    corners: Integers
    disagreements: Floats


def load_source(obj: Object, mesh: mesh_data.TriangleMesh, skeleton: Skeleton) -> SourceMesh | None:
    """The imported mesh block of an object; None if it was not imported.

    `obj` is the original object, `mesh` its evaluated mesh at rest; `skeleton` has the joints of the file to write.
    """
    stored = load_mesh(obj.data)
    if stored is None or skeleton.armature is None:
        return None
    vertices, corners = load_vertices(mesh.mesh, stored)
    joints = _current_joints(stored, skeleton)
    weights = WeightTable(
        stored.starts, stored.counts, joints, stored.biases, _points(stored.positions, joints, skeleton)
    )
    return SourceMesh(stored, weights, vertices, corners, _disagreements(weights))


def _current_joints(stored: StoredMesh, skeleton: Skeleton) -> Ints:
    """The current index of the joint of each weight, -1 if the joint no longer exists, int32 (W,)."""
    result = np.full(int(stored.joints.max(initial=-1)) + 1, -1, dtype=np.int32)
    indices = skeleton.rig.indices
    known = (indices >= 0) & (indices < len(result)) & (skeleton.joint_of_bone >= 0)
    result[indices[known]] = skeleton.joint_of_bone[known]
    return result[stored.joints]


def _points(positions: Floats, joints: Ints, skeleton: Skeleton) -> Floats:
    """The position that each weight gives its vertex in the bind pose, in the coordinates of the file, (W, 3).

    `positions` are in the space of the joints, in the units of the armature.
    """
    bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
    bind = skeleton.rig.joints
    local = bind.positions[bones] + quat.rotate(bind.orientations[bones], positions)
    if not np.array_equal(skeleton.world, np.eye(4)):
        local = local @ skeleton.world[:3, :3].T + skeleton.world[:3, 3]
    return skeleton.conversion.points(local)


def _disagreements(weights: WeightTable) -> Floats:
    count = len(weights.counts)
    rows = weights.rows(np.arange(count))
    owners = np.repeat(np.arange(count), weights.counts)
    offsets = np.linalg.norm(weights.points[rows] - weights.positions[owners], axis=1)
    disagreements = np.bincount(owners, np.abs(weights.biases[rows]) * offsets, minlength=count)
    sums = np.bincount(owners, weights.biases[rows], minlength=count)
    return np.where(np.abs(sums - 1.0) > _BIAS_SUM, np.inf, disagreements)


def verified_sources(
    source: SourceMesh,
    skeleton: Skeleton,
    vertices: Integers,
    candidates: Integers,
    positions: Floats,
    current: WeightTable,
) -> Integers:
    """The vertex of the file whose weights can be used for each copy of a vertex, or `NONE`, int64 (K,).

    `vertices` are of the evaluated mesh, (K,); those split along UV seams occur several times. `candidates` has the
    candidate vertex of the file for each, (K,). `positions` are those of the evaluated vertices in the coordinates of
    the file, (n, 3), and `current` their weights.
    """
    pairs, inverse = _distinct_pairs(vertices, candidates)
    owners, file_vertices = pairs
    is_valid = file_vertices != NONE
    is_valid[is_valid] = _reproduces(
        source, skeleton, owners[is_valid], file_vertices[is_valid], positions, current
    )
    verified = np.where(is_valid, file_vertices, NONE)
    return _one_position_per_vertex(source, owners, verified)[inverse]


def _distinct_pairs(a: Integers, b: Integers) -> tuple[tuple[Integers, Integers], Integers]:
    """The distinct pairs in the order of `a`, then `b`, and the index of each row's pair."""
    width = int(b.max(initial=0)) + 2
    keys, inverse = np.unique(a * width + (b + 1), return_inverse=True)
    first, second = np.divmod(keys, width)
    return (first, second - 1), inverse.ravel()


def _reproduces(
    source: SourceMesh,
    skeleton: Skeleton,
    vertices: Integers,
    file_vertices: Integers,
    positions: Floats,
    current: WeightTable,
) -> Booleans:
    """Whether each vertex of the file reproduces an evaluated vertex in every pose, bool (K,)."""
    weights = source.weights
    extent = max(float(np.abs(positions).max(initial=0.0)), 1e-9)
    expected = positions[vertices]
    is_valid = np.linalg.norm(weights.positions[file_vertices] - expected, axis=1) <= _SAME_POSITION * extent
    is_valid &= weights.counts[file_vertices] > 0
    rows = weights.rows(file_vertices)
    owners = np.repeat(np.arange(len(file_vertices)), weights.counts[file_vertices])
    joints = weights.joints[rows]
    bones = skeleton.bones[np.where(joints >= 0, joints, 0)]
    # Weights that disagree about a vertex are valid as long as their joints were not moved.
    agrees = np.linalg.norm(weights.points[rows] - expected[owners], axis=1) <= _SAME_POINT * extent
    usable = (joints >= 0) & (agrees | skeleton.rig.is_unmoved[bones] | (weights.biases[rows] == 0.0))
    is_valid[owners[~usable]] = False
    is_valid[_groups_differ(weights, vertices, file_vertices, current)] = False
    return np.asarray(is_valid)


def _groups_differ(
    weights: WeightTable, vertices: Integers, file_vertices: Integers, current: WeightTable
) -> Integers:
    """The rows of `vertices` whose vertex groups differ from those that the import made of the file's vertex."""
    count = len(vertices)
    stored_rows, current_rows = weights.rows(file_vertices), current.rows(vertices)
    stored_owners = np.repeat(np.arange(count), weights.counts[file_vertices])
    current_owners = np.repeat(np.arange(count), current.counts[vertices])
    biases = weights.biases[stored_rows]
    sums = np.bincount(stored_owners, biases, minlength=count)
    normal = np.where(np.abs(sums) > 0.0, sums, 1.0)
    # A joint that no longer exists gets a column of its own.
    width = int(max(weights.joints.max(initial=0), current.joints.max(initial=0))) + 2
    keys = np.concatenate([
        stored_owners * width + weights.joints[stored_rows] + 1,
        current_owners * width + current.joints[current_rows] + 1,
    ])  # fmt: skip
    signed = np.concatenate([biases / normal[stored_owners], -current.biases[current_rows]])
    distinct, inverse = np.unique(keys, return_inverse=True)
    differences = np.abs(np.bincount(inverse.ravel(), signed, minlength=len(distinct)))
    return np.unique(distinct[differences > _SAME_BIAS] // width)


def _one_position_per_vertex(source: SourceMesh, vertices: Integers, verified: Integers) -> Integers:
    """The same, but with one vertex of the file for all copies of a vertex if their positions would differ.

    Exactly equal positions prevent cracks along seams, and the games shade such vertices as one.

    `vertices` are of the evaluated mesh, rising, (K,); `verified` has the vertex of the file of each, or `NONE`,
    (K,).
    """
    known = verified != NONE
    if not known.any():
        return verified
    firsts = np.append(0, np.flatnonzero(vertices[1:] != vertices[:-1]) + 1)
    groups = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(vertices))))
    exact = as_singles(source.weights.positions)
    same = (exact[verified] == exact[verified[firsts]][groups]).all(axis=1) & known
    is_split = np.zeros(len(firsts), dtype=bool)
    is_split[groups[~same]] = True
    # The first verified one, in the order of the file.
    chosen = np.full(len(firsts), len(source.weights.counts), dtype=np.int64)
    np.minimum.at(chosen, groups[known], verified[known])
    chosen[chosen == len(source.weights.counts)] = NONE
    return np.where(is_split[groups], chosen[groups], verified)
