"""Mesh blocks into mesh objects that an armature deforms.

Data that a Blender mesh cannot hold is stored on it: see `source.meshes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import numpy.typing as npt

from ...io_blender import versions
from ...io_blender.scene import mesh_data, names
from ...io_common.triangles import FLIPPED_WINDING, flip_v, is_degenerate
from ..format import Mesh
from ..format.merging import find_merged_vertices
from ..format.model import Floats
from ..format.skinning import position_ids, vertex_normals, vertex_weights
from ..records import store_mesh

if TYPE_CHECKING:
    from bpy.types import Material, Object


def build_mesh(
    name: str,
    index: int,
    mesh: Mesh,
    vertices: Floats,
    armature: Object,
    bone_names: list[str],
    material: Material | None,
    *,
    merge_vertices: bool,
) -> Object:
    """A mesh object, bound and parented to the armature; it is not in a collection yet.

    `index` is that of the mesh in the file. `vertices` are those of the bind pose in the coordinates of the scene, (V,
    3); `bone_names` has Blender's name of each joint. `merge_vertices` merges vertices that the file splits along UV
    seams.
    """
    firsts = find_merged_vertices(mesh, vertices) if merge_vertices else np.arange(mesh.vertex_count)
    is_first = firsts == np.arange(mesh.vertex_count)
    file_vertices = np.flatnonzero(is_first)
    is_flat = is_degenerate(mesh.triangles)
    corners = mesh.triangles[~is_flat][:, FLIPPED_WINDING]
    data = mesh_data.new_triangle_mesh(
        names.for_blender(name, versions.MAX_ID_NAME, "Mesh"),
        vertices[file_vertices],
        (np.cumsum(is_first) - 1)[firsts][corners],
        flip_v(mesh.uvs).astype(np.float32)[corners.ravel()],
    )
    store_mesh(data, index, mesh, first_copies=firsts, degenerate=is_flat)
    if not merge_vertices:
        _smooth_seams(data, mesh, vertices)
    if material is not None:
        data.materials.append(material)

    obj = bpy.data.objects.new(data.name, data)
    add_vertex_groups(obj, mesh, file_vertices, bone_names)
    obj.parent = armature
    modifier = obj.modifiers.new(armature.name, "ARMATURE")
    assert isinstance(modifier, bpy.types.ArmatureModifier)
    modifier.object = armature
    return obj


def _smooth_seams(data: bpy.types.Mesh, mesh: Mesh, vertices: Floats) -> None:
    """Sets custom normals as in the games on a mesh with split seams; where they cancel out, Blender's are used."""
    if len(np.unique(position_ids(vertices))) < len(vertices) and len(mesh.triangles):
        normals = vertex_normals(vertices, mesh.triangles)
        data.normals_split_custom_set_from_vertices(normals.tolist())


def add_vertex_groups(
    obj: Object, mesh: Mesh, file_vertices: npt.NDArray[np.int64], bone_names: list[str]
) -> None:
    """A vertex group for each joint that has a weight, in the order of the joints. `obj` must be in Object Mode.

    `file_vertices` has the vertex of the file for each vertex of the object, rising (n,), `bone_names` Blender's name
    of each joint.
    """
    rows = vertex_weights(mesh)
    object_vertices = np.full(mesh.vertex_count, -1)
    object_vertices[file_vertices] = np.arange(len(file_vertices))
    vertices = object_vertices[rows.vertices]
    is_used = vertices >= 0
    vertices, weights = vertices[is_used], rows.weights[is_used]
    if not len(vertices):
        return
    # Smaller integers are sorted faster.
    joints = mesh.weight_joints[weights].astype(np.min_scalar_type(len(bone_names)))
    joints, vertices, biases = _one_weight_per_joint(joints, vertices, mesh.weight_biases[weights])
    # One call for all vertices that have the same weight for the same joint.
    order = np.lexsort((biases, joints))
    joints, biases, vertices = joints[order], biases[order], vertices[order]
    changes = (joints[1:] != joints[:-1]) | (biases[1:] != biases[:-1])
    starts = np.append(0, np.flatnonzero(changes) + 1)
    owners = joints[starts].tolist()
    # The method is looked up once for each group: for the many calls of few vertices, that takes as long as the call.
    add = {joint: obj.vertex_groups.new(name=bone_names[joint]).add for joint in dict.fromkeys(owners)}
    ends = [*starts[1:].tolist(), len(vertices)]
    members = vertices.tolist()
    for joint, start, end, bias in zip(owners, starts.tolist(), ends, biases[starts].tolist(), strict=True):
        add[joint](members[start:end], bias, "REPLACE")


def _one_weight_per_joint(
    joints: npt.NDArray[np.unsignedinteger], vertices: npt.NDArray[np.int64], biases: Floats
) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.int64], Floats]:
    """Weights sorted by joint, then by vertex (rising already); weights of one joint on one vertex are added."""
    order = np.argsort(joints, kind="stable")
    joints, vertices, biases = joints[order], vertices[order], biases[order]
    repeated = (joints[1:] == joints[:-1]) & (vertices[1:] == vertices[:-1])
    if repeated.any():
        firsts = np.append(0, np.flatnonzero(~repeated) + 1)
        joints, vertices, biases = joints[firsts], vertices[firsts], np.add.reduceat(biases, firsts)
    return joints, vertices, biases
