"""Bones turned by half a turn: games, which compute with 32-bit floats, show them as Blender does."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from clouds import farthest
from engines import loaders
from mathutils import Quaternion
from scripted_scenes import attach

from io_idtech.io_md5.format import read_mesh

GAMES = ["ANY", "DOOM3", "SAUERBRATEN", "UNVANQUISHED", "QUAKE2"]
FRAMES = 24
LENGTH = 6.0


@pytest.fixture
def scene():
    """A chain of three bones that are turned by 180° about other axes on each frame, and a mesh of their ends."""
    data = bpy.data.armatures.new("Chain")
    armature = bpy.data.objects.new("Chain", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index in range(3):
        bone = data.edit_bones.new(f"bone{index}")
        bone.head, bone.tail, bone.parent = ((0, LENGTH / 3 * index, 0), (0, LENGTH / 3 * (index + 1), 0), parent)
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Ends")
    mesh.from_pydata([(0, LENGTH, 0), (2, LENGTH, 0), (0, LENGTH, 2)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("Ends", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.vertex_groups.new(name="bone2").add([0, 1, 2], 1.0, "REPLACE")
    attach(obj, armature)
    rng = np.random.default_rng(11)
    for frame in range(FRAMES):
        for bone in armature.pose.bones:
            axis = rng.normal(size=3)
            bone.rotation_quaternion = Quaternion((0.0, *(axis / np.linalg.norm(axis))))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    armature.animation_data.action.name = "Turns"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, FRAMES - 1
    return obj


def shown(obj):
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])


def export(tmp_path, game="ANY"):
    out = tmp_path / "chain.md5mesh"
    assert bpy.ops.export_scene.md5mesh(filepath=str(out), game=game, actions="ACTIVE", verify="ALL") == {"FINISHED"}
    assert len(read_mesh(out).joints) == 3
    (animation,) = tmp_path.glob("*.md5anim")
    return out.read_bytes(), animation.read_bytes()


def errors(obj, load, files):
    """How far the game's vertices are from Blender's on each frame."""
    loaded = load(*files)
    assert loaded.frame_count == FRAMES
    result = []
    for frame in range(FRAMES):
        bpy.context.scene.frame_set(frame)
        own, theirs = shown(obj), loaded.vertices(frame)[0]
        result.append(farthest(own, theirs))
    return np.array(result)


@pytest.mark.parametrize("game", GAMES)
def test_half_turns_are_shown_by_the_game_as_by_blender(scene, tmp_path, game):
    files = export(tmp_path, game)
    for engine, load in loaders.MD5[game].items():
        assert errors(scene, load, files).max() < 1e-4 * LENGTH, engine


def test_verify_reads_32_bit_floats_as_games_do(part, scene, tmp_path, capfd, monkeypatch):
    export(tmp_path)
    assert "off from what Blender shows" not in capfd.readouterr().out
    monkeypatch.setattr(part("io_common.skeletal.quaternions"), "readable", lambda xyz, w, may_be_read: xyz)
    files = export(tmp_path)
    assert errors(scene, loaders.MD5["DOOM3"]["Doom 3"], files).max() > 3e-4 * LENGTH
    said = capfd.readouterr().out
    assert "off from what Blender shows" in said
    assert "Likely cause: games compute rotations by almost 180° with 32-bit floats" in said


def test_half_turns_are_the_cause_even_where_a_parent_is_animated(part, scene, tmp_path, capfd, monkeypatch):
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    carrier.keyframe_insert("location", frame=0)
    scene.parent.parent = carrier
    monkeypatch.setattr(part("io_common.skeletal.quaternions"), "readable", lambda xyz, w, may_be_read: xyz)
    export(tmp_path)
    said = capfd.readouterr().out
    assert "Likely cause: games compute rotations by almost 180° with 32-bit floats" in said
    assert "Carrier" not in said
