"""Fit Weights: meshes that modifiers or vertex parents move with an armature are moved by joints."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from clouds import farthest

from io_idtech.io_md5.format import pose_bounds, poses, read_animation, read_mesh, skin

FRAMES = range(1, 25)


@pytest.fixture
def body():
    """A tall box on an armature of three bones, which bends."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number in range(3):
        bone = armature.data.edit_bones.new(f"bone{number}")
        bone.head, bone.tail, bone.parent = (0, 0, 2 * number), (0, 0, 2 * number + 2), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for number, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame in FRAMES[::6]:
            bone.rotation_euler = (0.4 * np.sin(frame / 4 + number), 0, 0.2 * np.cos(frame / 5))
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_cylinder_add(vertices=12, radius=1, depth=6, location=(0, 0, 3))
    body = bpy.context.object
    bpy.ops.object.transform_apply()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=3)
    bpy.ops.object.mode_set(mode="OBJECT")
    body.name = "Body"
    groups = [body.vertex_groups.new(name=f"bone{number}") for number in range(3)]
    for vertex in body.data.vertices:
        place = min(max(vertex.co.z / 2 - 0.5, 0.0), 2.0)
        low = min(int(place), 1)
        groups[low].add([vertex.index], 1 - (place - low), "REPLACE")
        groups[low + 1].add([vertex.index], place - low, "REPLACE")
    body.parent = armature
    body.modifiers.new("Armature", "ARMATURE").object = armature
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[0])
    return body


def add_skirt(body):
    bpy.ops.mesh.primitive_cylinder_add(vertices=16, radius=1.2, depth=3, location=(0, 0, 3))
    skirt = bpy.context.object
    skirt.name = "Skirt"
    bpy.ops.object.transform_apply()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    modifier = skirt.modifiers.new("Surface", "SURFACE_DEFORM")
    modifier.target = body
    body.parent.data.pose_position = "REST"
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=skirt, active_object=skirt):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    body.parent.data.pose_position = "POSE"
    assert modifier.is_bound
    return skirt


def add_belt(body):
    bpy.ops.mesh.primitive_torus_add(major_segments=12, minor_segments=4, major_radius=1.3, location=(0, 0, 3))
    belt = bpy.context.object
    belt.name = "Belt"
    vertices = sorted(body.data.vertices, key=lambda vertex: abs(vertex.co.z - 3))
    belt.parent = body
    belt.parent_type = "VERTEX_3"
    belt.parent_vertices = [vertex.index for vertex in (vertices[0], vertices[4], vertices[8])]
    return belt


def largest_error(folder, part, obj):
    """The largest distance of the vertices of a part of the file from an object, in sizes of the model."""
    model, animation = read_mesh(folder / "rig.md5mesh"), read_animation(folder / "rig.md5anim")
    mesh = next(mesh for mesh in model.meshes if mesh.shader == part)
    positions, orientations = poses(animation)
    found = skin(mesh, positions, orientations)
    low, high = pose_bounds(model.meshes, positions[:1], orientations[:1])[0]
    worst = 0.0
    for index, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])
        worst = max(worst, farthest(found[index], points))
    return worst / np.linalg.norm(high - low)


def export(folder, **options):
    path = folder / "rig.md5mesh"
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.export_scene.md5mesh(filepath=str(path), actions="SCENE", **options)


@pytest.mark.parametrize("add", [add_skirt, add_belt])
def test_what_no_bone_group_moves_is_fitted_to_less_than_a_hundredth_of_the_size(tmp_path, body, add):
    part = add(body)
    export(tmp_path, fit_weights=True)
    assert largest_error(tmp_path, part.name, part) < 0.01
    assert largest_error(tmp_path, "Body", body) < 1e-4


def test_the_warning_about_such_a_mesh_names_the_remedy(tmp_path, body, capfd):
    add_skirt(body)
    export(tmp_path)
    assert "Fit Weights" in "".join(capfd.readouterr())


def test_what_is_left_is_said(tmp_path, body, capfd):
    add_skirt(body)
    export(tmp_path, fit_weights=True)
    told = "".join(capfd.readouterr())
    assert "Skirt: its weights were fitted to its motion" in told
    assert "% of the model's size) is left" in told


def test_meshes_that_bones_move_are_written_the_same_with_and_without(tmp_path, body):
    export(tmp_path)
    before = (tmp_path / "rig.md5mesh").read_bytes()
    export(tmp_path, fit_weights=True)
    assert (tmp_path / "rig.md5mesh").read_bytes() == before
