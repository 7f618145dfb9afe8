"""Armatures made of joints in the bind pose, and the mesh objects that they deform."""
# Bones get lengths in proportion to the skeleton, and either the axes of the joint or, to look like a skeleton, axes
# with +Y pointing to the child with the longest chain.

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from bpy.types import Collection, Context, Material, Object
from mathutils import Matrix

from ....io_common import names
from ....io_common.skeletal import quaternions as quat
from ....io_common.skeletal import skinning
from ....io_common.skeletal.model import ROOT, Floats, Joints, Mesh, Model
from ....io_common.skeletal.skeleton import depths
from ....io_common.texts import counted
from ....io_common.triangles import FLIPPED_WINDING, flip_v, is_degenerate
from ... import state, versions
from ...materials.library import MaterialLibrary
from ...reports import ImportResult, Job, Progress, Report
from ...scene import mesh_data
from ...verification import diagonal
from ..options import ImportOptions
from ..records import COMMANDLINE, CONVERSION, GROUP, SAME_NORMAL, SHOWN_NORMALS, store_bones, store_mesh
from ..rig import convert_joints
from .sources import ImportSkeleton

# Lengths as fractions of the size of the model.
_SINGLE_JOINT = 0.25
_MIN_LENGTH = 0.005
# The length of a leaf as a fraction of the distance from its parent.
_LEAF = 0.5
# Axes with a larger cosine between them are nearly parallel.
_NEARLY_PARALLEL = 0.9


def build_armature(
    context: Context, name: str, joints: Joints, collection: Collection, *, size: float, direction: str
) -> tuple[Object, list[str]]:
    """An armature with a bone for each joint, given in scene coordinates, and the names of its bones."""
    # Blender must be in Object Mode, and `context` of the view layer that shows the collection. `size` is that of the
    # model, for the lengths of bones; `direction` is 'CHILD' or 'JOINT'.
    armature = bpy.data.armatures.new(names.for_blender(name, versions.MAX_ID_NAME, "Armature"))
    obj = bpy.data.objects.new(armature.name, armature)
    collection.objects.link(obj)
    # Most bones are inside of the mesh. Sticks cover least of it.
    armature.display_type = "STICK"
    obj.show_in_front = True
    orientations, lengths = bone_axes(joints, size, point_to_children=direction == "CHILD")
    bone_names = _add_bones(context, obj, joints, orientations, lengths)
    _store_joints(obj, joints, bone_names)
    return obj, bone_names


def bone_axes(joints: Joints, size: float, *, point_to_children: bool) -> tuple[Floats, Floats]:
    """Axes of the bones as quaternions w x y z (J, 4), and their lengths (J,)."""
    targets = _targets(joints)
    parents = joints.parents
    positions = joints.positions
    size = size if size > 0.0 else 1.0
    shortest = _MIN_LENGTH * size

    from_parent = np.zeros_like(positions)
    children = parents != ROOT
    from_parent[children] = positions[children] - positions[parents[children]]
    steps = np.linalg.norm(from_parent, axis=1)
    to_target = targets - positions
    reach = np.linalg.norm(to_target, axis=1)
    has_target = reach > shortest
    leaf_lengths = np.where(steps > shortest, _LEAF * steps, _SINGLE_JOINT * size if len(joints) == 1 else 2 * shortest)
    lengths = np.maximum(np.where(has_target, reach, leaf_lengths), shortest)
    if not point_to_children:
        return joints.orientations, lengths

    # A leaf continues the direction from its parent; a joint at the position of its parent keeps its own axis.
    axes = quat.to_matrices(joints.orientations)
    along = np.where(has_target[:, None], to_target, np.where((steps > shortest)[:, None], from_parent, axes[:, :, 1]))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    parallel = np.abs(np.einsum("ji,ji->j", along, axes[:, :, 2])) > _NEARLY_PARALLEL
    side = np.where(parallel[:, None], axes[:, :, 0], axes[:, :, 2])
    side = side - along * np.einsum("ji,ji->j", along, side)[:, None]
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    matrices = np.stack([np.cross(along, side), along, side], axis=2)
    return quat.from_matrices(matrices), lengths


def _targets(joints: Joints) -> Floats:
    """Where bones point: to the child with the longest chain, the mean of several, or the joint itself."""
    count = len(joints)
    heights = np.zeros(count, dtype=np.int64)
    order = np.argsort(depths(joints.parents), kind="stable")
    for joint in order[::-1].tolist():
        parent = joints.parents[joint]
        if parent != ROOT:
            heights[parent] = max(heights[parent], heights[joint] + 1)
    children = np.flatnonzero(joints.parents != ROOT)
    parents_of_children = joints.parents[children]
    chosen = heights[children] + 1 == heights[parents_of_children]
    children, parents_of_children = children[chosen], parents_of_children[chosen]
    shares = np.bincount(parents_of_children, minlength=count)[:, None]
    sums = np.zeros((count, 3))
    np.add.at(sums, parents_of_children, joints.positions[children])
    return np.where(shares > 0, sums / np.maximum(shares, 1), joints.positions)


def _add_bones(context: Context, obj: Object, joints: Joints, orientations: Floats, lengths: Floats) -> list[str]:
    matrices = quat.transforms(joints.positions, orientations)
    armature: Any = obj.data
    with state.edit_mode(context, obj):
        bone_names = [names.for_blender(name, versions.MAX_NAME, "Bone") for name in joints.names]
        bones = [armature.edit_bones.new(name) for name in names.distinct(bone_names, versions.MAX_NAME)]
        for bone, parent, matrix, length in zip(
            bones, joints.parents.tolist(), matrices.tolist(), lengths.tolist(), strict=True
        ):
            bone.length = 1.0
            bone.matrix = Matrix(matrix)
            bone.length = length
            if parent != ROOT:
                bone.parent = bones[parent]
        # Edit bones are invalid after Edit Mode.
        return [bone.name for bone in bones]


def _store_joints(obj: Object, joints: Joints, bone_names: list[str]) -> None:
    armature: Any = obj.data
    bones = [armature.bones[name] for name in bone_names]
    rest = np.array([bone.matrix_local.to_3x3() for bone in bones], dtype=np.float64).reshape(len(bones), 3, 3)
    axes = quat.multiply(quat.conjugate(quat.from_matrices(rest)), joints.orientations)
    store_bones(bones, joints, axes)


def build_mesh(
    name: str,
    index: int,
    mesh: Mesh,
    vertices: Floats,
    armature: Object,
    bone_names: list[str],
    material: Material,
    *,
    merge_vertices: bool,
) -> Object:
    """A mesh object, in no collection yet, bound and parented to the armature."""
    # `vertices` are those of the bind pose in scene coordinates. `merge_vertices` merges those that the file splits
    # along UV seams.
    firsts = skinning.find_merged_vertices(mesh, vertices) if merge_vertices else np.arange(mesh.vertex_count)
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
    if not merge_vertices and len(mesh.triangles) and len(np.unique(skinning.position_ids(vertices))) < len(vertices):
        # As in the games, split seams are smooth; where normals cancel out, Blender's are used.
        normals = skinning.vertex_normals(vertices, mesh.triangles)
        data.normals_split_custom_set_from_vertices(normals.tolist())
    data.materials.append(material)
    obj = bpy.data.objects.new(data.name, data)
    add_vertex_groups(obj, mesh, file_vertices, bone_names)
    obj.parent = armature
    modifier: Any = obj.modifiers.new(armature.name, "ARMATURE")
    modifier.object = armature
    return obj


def set_normals(data: Any, mesh: Mesh, normals: Floats, colors: npt.NDArray[np.uint8] | None) -> None:
    """Gives what `build_mesh` made of a mesh block the normals of its vertices, in the scene, and their colors."""
    corners = mesh.triangles[~is_degenerate(mesh.triangles)][:, FLIPPED_WINDING].ravel()
    if not len(corners):
        return
    wanted = np.nan_to_num(normals[corners], posinf=0.0, neginf=0.0)
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    data.normals_split_custom_set(wanted.tolist())
    shown = mesh_data.corner_normals(data, np.eye(4))
    if (np.einsum("ci,ci->c", shown, wanted) < SAME_NORMAL).any():
        SHOWN_NORMALS.write(data, shown)
    if colors is not None:
        mesh_data.set_corner_colors(data, colors[corners])


def add_vertex_groups(obj: Object, mesh: Mesh, file_vertices: npt.NDArray[np.int64], bone_names: list[str]) -> None:
    """A vertex group for each joint that has a weight, by joint; `obj` must be in Object Mode."""
    # `file_vertices` has the vertex of the file for each vertex of the object, ascending.
    rows = skinning.vertex_weights(mesh)
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
    """Weights by joint, then by vertex (ascending already); those of one joint on one vertex are added."""
    order = np.argsort(joints, kind="stable")
    joints, vertices, biases = joints[order], vertices[order], biases[order]
    repeated = (joints[1:] == joints[:-1]) & (vertices[1:] == vertices[:-1])
    if repeated.any():
        firsts = np.append(0, np.flatnonzero(~repeated) + 1)
        joints, vertices, biases = joints[firsts], vertices[firsts], np.add.reduceat(biases, firsts)
    return joints, vertices, biases


# Disagreements between the weights of a vertex are reported above this fraction of the model's size.
_DISAGREEMENT_TOLERANCE = 1e-5


def build_model(
    context: Context,
    skeleton: ImportSkeleton,
    options: ImportOptions,
    materials: MaterialLibrary,
    result: ImportResult,
    progress: Progress,
) -> Job[None]:
    """Builds a skeleton's armature, which it stores there, and meshes in a collection of their own."""
    conversion = options.conversion
    model = skeleton.model or Model(skeleton.joints, [])
    if not conversion.is_identity:
        meshes = [replace(mesh, weight_positions=mesh.weight_positions * conversion.scale) for mesh in model.meshes]
        model = replace(model, joints=convert_joints(model.joints, conversion), meshes=meshes)
    collection = bpy.data.collections.new(names.for_blender(skeleton.name, versions.MAX_ID_NAME, "Model"))
    state.target_collection(context).children.link(collection)
    joints = model.joints
    poses = [skinning.bind_pose(mesh, joints.positions, joints.orientations) for mesh in model.meshes]
    size = diagonal(np.concatenate([joints.positions, *(vertices for vertices, _ in poses)]))
    obj, bone_names = build_armature(
        context, skeleton.name, joints, collection, size=size, direction=options.bone_direction
    )
    armature: Any = obj.data
    armature[GROUP] = {}
    COMMANDLINE.write(armature, model.commandline or None)
    CONVERSION.write(armature, conversion)
    versions.prepare_slot(obj.animation_data_create())
    skeleton.obj = obj
    result.objects.append(obj)
    result.report.count("joints", len(joints))
    yield progress.step()
    _warn_of_disagreements([distances for _, distances in poses], size, skeleton.name, result.report)
    for index, mesh in enumerate(model.meshes):
        name = mesh.comment_name or mesh.name or _base_name(mesh.shader) or skeleton.name
        images = skeleton.images[index] if skeleton.images else None
        material = materials.get(mesh.shader, skeleton.name, images, os.fspath(skeleton.path or ""))
        mesh_obj = build_mesh(
            name, index, mesh, poses[index][0], obj, bone_names, material, merge_vertices=options.merge_vertices
        )
        CONVERSION.write(mesh_obj.data, conversion)
        for skin, found in skeleton.skins[index] if skeleton.skins else ():
            further = materials.get(skin, skeleton.name, found)
            if mesh_obj.data.materials.find(further.name) < 0:
                mesh_obj.data.materials.append(further)
        collection.objects.link(mesh_obj)
        result.objects.append(mesh_obj)
        result.report.count("meshes")
        result.report.count("vertices", len(mesh_obj.data.vertices))
        result.report.count("triangles", len(mesh_obj.data.polygons))
        yield progress.step()


def _base_name(shader: str) -> str:
    last = shader.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.rpartition(".")[0] or last


def _warn_of_disagreements(mesh_distances: list[Floats], size: float, name: str, report: Report) -> None:
    distances = np.concatenate([np.empty(0), *mesh_distances])
    notable = distances > _DISAGREEMENT_TOLERANCE * size
    if notable.any():
        report.add_fact(
            f"the file stores {counted(int(notable.sum()), 'vertices')} inconsistently: up to {distances.max():.4g} "
            f"units ({distances.max() / size:.2%} of the model) apart in animations. Unedited vertices export "
            "unchanged",
            name,
        )
