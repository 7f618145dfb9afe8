"""What Blender shows, compared with what the file says."""

from __future__ import annotations

import bpy
import numpy as np

from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_common.skeletal.skinning import bind_pose, skin
from io_idtech.io_md5.format import Animation, Model


def meshes_of(armature):
    """The mesh objects of an imported model in the order of the file."""
    children = [child for child in armature.children if child.type == "MESH"]
    return sorted(children, key=lambda child: child.data["md5"]["index"])


def file_vertices(obj):
    """For each vertex of the file, its place in the space of the scene; and which of them Blender has."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = obj.evaluated_get(graph)
    mesh = evaluated.data
    count = len(mesh.vertices)
    places = np.empty(count * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", places)
    matrix = np.array(evaluated.matrix_world)
    places = places.reshape(count, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    file_count = len(obj.data["md5"].get("weight_ranges", [])) // 2
    result = np.full((file_count, 3), np.nan)
    numbers = np.empty(count, dtype=np.int32)
    obj.data.attributes["md5_vertex"].data.foreach_get("value", numbers)
    result[numbers] = places
    corners = obj.data.attributes.get("md5_corner_vertex")
    if corners is not None:
        loops = len(obj.data.loops)
        loop_vertices = np.empty(loops, dtype=np.int32)
        obj.data.loops.foreach_get("vertex_index", loop_vertices)
        loop_numbers = np.empty(loops, dtype=np.int32)
        corners.data.foreach_get("value", loop_numbers)
        result[loop_numbers] = places[loop_vertices]
    return result


def expected_vertices(model: Model, animation: Animation | None = None, frame: int = 0):
    """The vertices of each mesh by the specification's formula; in the bind pose without an animation."""
    if animation is None:
        positions, orientations = model.joints.positions, model.joints.orientations
    else:
        order = [animation.names.index(name) for name in model.joints.names]
        all_positions, all_orientations = poses(animation)
        positions, orientations = all_positions[frame][order], all_orientations[frame][order]
    return [skin(mesh, positions, orientations) for mesh in model.meshes]


def size_of(model: Model) -> float:
    """The diagonal of the box around the vertices in the bind pose."""
    cloud = np.concatenate(expected_vertices(model))
    return float(np.linalg.norm(np.ptp(cloud, axis=0)))


def worst_error(armature, model: Model, animation: Animation | None = None, frame: int = 0) -> float:
    """The greatest distance of a vertex from the formula, beyond what linear blend skinning cannot help."""
    worst = 0.0
    expected = expected_vertices(model, animation, frame)
    for obj, vertices, mesh in zip(meshes_of(armature), expected, model.meshes, strict=True):
        seen = file_vertices(obj)
        assert not np.isnan(seen).any(), f"{obj.name} misses vertices of the file"
        if not len(vertices):
            continue
        excuse = bind_pose(mesh, model.joints.positions, model.joints.orientations)[1] if animation else 0.0
        distances = np.linalg.norm(seen - vertices, axis=1) - excuse
        worst = max(worst, float(distances.max()))
    return worst
