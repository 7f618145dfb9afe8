"""The recipes of docs/recipes.md, with the operators that its steps call."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from paths import SAMPLES

OCTOPUS = SAMPLES / "models" / "octopus"


@pytest.fixture
def armature():
    bpy.ops.import_scene.md5(filepath=str(OCTOPUS / "octopus.md5mesh"), animations="FOLDER")
    return bpy.context.view_layer.objects.active


@pytest.fixture
def octopus_md2(armature, tmp_path):
    path = tmp_path / "octopus.md2"
    bpy.ops.export_scene.md2(filepath=str(path), frame_step=4)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def test_an_animation_is_chosen_and_played(armature):
    poses = {}
    for name in ("swim", "wave"):
        armature.animation_data.action = bpy.data.actions[name]
        bpy.context.scene.frame_set(12)
        poses[name] = np.array([bone.matrix for bone in armature.pose.bones])
    assert not np.allclose(poses["swim"], poses["wave"])


def test_a_key_on_one_frame_changes_this_frame_of_the_exported_animation_only(armature, part, tmp_path):
    read = part("io_md5.format").read_animation
    armature.animation_data.action = bpy.data.actions["wave"]
    bpy.context.scene.frame_set(10)
    bone = armature.pose.bones[3]
    bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1, 0, 0), 0.5)
    bone.keyframe_insert("rotation_quaternion", frame=10)
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "wave.md5anim"), actions="ACTIVE")
    before, after = read(str(OCTOPUS / "wave.md5anim")), read(str(tmp_path / "wave.md5anim"))
    differ = np.abs(before.frames - after.frames).max(axis=1) > 1e-4
    assert np.flatnonzero(differ).tolist() == [10]


def test_an_edited_shape_key_changes_its_frame_only(octopus_md2, part, tmp_path):
    read = part("io_md2.format").read_model
    bpy.ops.import_scene.md2(filepath=str(octopus_md2))
    key = bpy.context.view_layer.objects.active.data.shape_keys.key_blocks[4]
    key.data[0].co.z += 5.0
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "edited.md2"))
    before, after = read(str(octopus_md2)), read(str(tmp_path / "edited.md2"))
    changed = [
        frame
        for frame in range(len(before.vertices))
        if not np.array_equal(before.vertices[frame], after.vertices[frame])
    ]
    assert changed == [4]


def test_a_sequence_is_an_action_with_action_per_sequence(octopus_md2):
    bpy.ops.import_scene.md2(filepath=str(octopus_md2), sequence_actions=True)
    markers = {marker.name for marker in bpy.context.scene.timeline_markers}
    assert markers
    assert markers <= {action.name for action in bpy.data.actions}


def test_the_shader_is_the_new_name_of_the_material(armature, part, tmp_path):
    bpy.data.materials["models/octopus/eye"].name = "models/octopus/blue"
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "blue.md5mesh"))
    model = part("io_md5.format").read_mesh(str(tmp_path / "blue.md5mesh"))
    assert {mesh.shader for mesh in model.meshes} == {"models/octopus/skin", "models/octopus/blue"}


def test_the_skin_is_the_new_name_of_the_material(octopus_md2, part, tmp_path):
    bpy.ops.import_scene.md2(filepath=str(octopus_md2))
    bpy.context.view_layer.objects.active.data.materials[0].name = "players/robot/blue.pcx"
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "blue.md2"))
    assert "players/robot/blue.pcx" in part("io_md2.format").read_model(str(tmp_path / "blue.md2")).skins


def test_the_active_action_is_written_and_no_other_file_is_touched(armature, tmp_path):
    other = tmp_path / "swim.md5anim"
    other.write_text("kept")
    armature.animation_data.action = bpy.data.actions["wave"]
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "wave.md5anim"), actions="ACTIVE")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["swim.md5anim", "wave.md5anim"]
    assert other.read_text() == "kept"


def test_an_animation_goes_onto_the_active_armature():
    bpy.ops.import_scene.md5(filepath=str(OCTOPUS / "octopus.md5mesh"))
    armature = bpy.context.view_layer.objects.active
    bpy.ops.import_scene.md5(filepath=str(OCTOPUS / "swim.md5anim"))
    assert armature.animation_data.action.name == "swim"
