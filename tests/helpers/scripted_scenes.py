"""Models made in Blender by script, as an artist would leave them, and what Blender shows of them."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_common.skeletal.skinning import skin

FRAMES = (1, 10)


def rig(name="Rig"):
    """An armature of three bones in a chain, 4 units high, with an action that turns and moves them."""
    armature = bpy.data.armatures.new(f"{name} data")
    obj = bpy.data.objects.new(name, armature)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index, bone_name in enumerate(("root", "mid", "tip")):
        bone = armature.edit_bones.new(bone_name)
        bone.head, bone.tail = (0.1 * index, 0.0, 1.4 * index), (0.1 * index + 0.1, 0.2, 1.4 * index + 1.3)
        bone.roll = 0.4 * index
        bone.parent = parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, angle in ((FRAMES[0], 0.0), (FRAMES[1], 0.9)):
        for factor, bone in enumerate(obj.pose.bones, 1):
            bone.rotation_quaternion = Quaternion((0.3, 1.0, 0.2), angle * 0.4 * factor)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        obj.pose.bones["root"].location = (0.0, angle, 0.3 * angle)
        obj.pose.bones["root"].keyframe_insert("location", frame=frame)
    obj.animation_data.action.name = "Bend"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES
    scene.frame_set(FRAMES[0])
    return obj


def tube(armature, name="Tube", rows=7, sides=8, bind=True):
    """A tube of quads around the bones, weighted by height, with a UV map whose seam runs along one side."""
    mesh = bpy.data.meshes.new(f"{name} data")
    vertices = [
        (np.cos(2 * np.pi * s / sides), 0.7 * np.sin(2 * np.pi * s / sides), 4.0 * r / (rows - 1))
        for r in range(rows)
        for s in range(sides)
    ]
    faces = [
        (r * sides + s, r * sides + (s + 1) % sides, (r + 1) * sides + (s + 1) % sides, (r + 1) * sides + s)
        for r in range(rows - 1)
        for s in range(sides)
    ]
    mesh.from_pydata(vertices, [], faces)
    layer = mesh.uv_layers.new(name="UVMap")
    for polygon in mesh.polygons:
        side, row = polygon.index % sides, polygon.index // sides
        for loop, (u, v) in zip(polygon.loop_indices, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
            layer.uv[loop].vector = ((side + u) / sides, (row + v) / (rows - 1))
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    mesh.materials.append(bpy.data.materials.new(f"{name} skin"))
    if bind:
        weigh(obj)
        attach(obj, armature)
    return obj


def weigh(obj):
    """Weights by height: each vertex hangs on the two nearest bones."""
    groups = [obj.vertex_groups.new(name=name) for name in ("root", "mid", "tip")]
    for vertex in obj.data.vertices:
        place = min(max(vertex.co.z / 1.6 - 0.25, 0.0), 1.999)
        lower = int(place)
        groups[lower].add([vertex.index], 1.0 - (place - lower), "REPLACE")
        groups[lower + 1 if lower < 2 else lower].add([vertex.index], place - lower, "ADD")


def attach(obj, armature):
    """Armature modifier and parent."""
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    obj.parent = armature


def shown_vertices(objects, rest=()):
    """The vertices of faces as Blender evaluates them, in the space of the scene (n, 3)."""
    for armature in rest:
        armature.data.pose_position = "REST"
    graph = bpy.context.evaluated_depsgraph_get()
    clouds = []
    for obj in objects:
        evaluated = obj.evaluated_get(graph)
        mesh = evaluated.data
        places = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices]).reshape(-1, 3)
        used = sorted({vertex for polygon in mesh.polygons for vertex in polygon.vertices})
        clouds.append(places[used])
    for armature in rest:
        armature.data.pose_position = "POSE"
    return np.concatenate(clouds)


def file_vertices(model, animation=None, frame=0):
    """The vertices of a file in its bind pose or a frame, (n, 3)."""
    if animation is None:
        positions, orientations = model.joints.positions, model.joints.orientations
    else:
        all_positions, all_orientations = poses(animation)
        positions, orientations = all_positions[frame], all_orientations[frame]
    return np.concatenate([skin(mesh, positions, orientations) for mesh in model.meshes])


def transform(seed=1.0) -> Matrix:
    """A turned and moved place."""
    return Matrix.Translation((3.0, -2.0, seed)) @ Quaternion((0.4, -0.3, 0.8), 1.1 * seed).to_matrix().to_4x4()


def cube(name="cube", x=30.0):
    """A cube with a side of 2 units and a UV map, without an armature."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        [(x + a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)],
        [],
        [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
    )
    mesh.uv_layers.new(name="UVMap")
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_camera(name="Camera"):
    """A camera, which becomes the active one of the scene."""
    camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    return camera
