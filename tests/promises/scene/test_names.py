"""Names that Blender cannot hold are made unique and exported unchanged; names that a file cannot hold are reported."""

from __future__ import annotations

import bpy
import md2_samples
import md5_scenes
import needs
import numpy as np
import pytest
from scripted_scenes import rig, tube

from io_idtech.io_md2.format import read_model
from io_idtech.io_md5.format import Model, read_animation, read_mesh, write_animation, write_mesh

LONG = "a" * 62
# What a string of an MD5 file can hold, and Blender cannot, or not beside the others.
JOINT_NAMES = [
    LONG + "bcd", LONG + "bce", "a" * 300 + "1", "a" * 300 + "2",  # equal where Blender cuts them
    "é" * 40, "é" * 41, "x" + "é" * 40,  # cut within a letter
    "head", "Head", "HEAD",
    "", "origin", "origin.001", "origin.002", "bone", "bone.001",
    "twin", "twin",  # the games take the first
    " leading", "trailing ", "two words", "tab\there", "it's", "back\\slash", "[0]", "a.b/c:d*e?f|g<h>i", "{", "}",
    "//",
    "\x01\x02", "caf\udce9", "\udcff\udcfe", "🦴" * 20, "\N{RIGHT-TO-LEFT OVERRIDE}kcab",
]  # fmt: skip
SHADERS = ["models/" + "s" * 300 + "/one", "models/" + "s" * 300 + "/two", "skin", "Skin", "", "it's", "skin.001",
           "caf\udce9", "with space", "C:\\maps\\skin.tga"]  # fmt: skip


def model_with_names():
    """A chain of joints with odd names, and a tube for each shader, some with names of their own."""
    count = len(JOINT_NAMES)
    parents = np.arange(-1, count - 1, dtype=np.int32)
    offsets = np.tile([0.0, 0.0, 3.0], (count, 1))
    joints = md5_scenes.skeleton(JOINT_NAMES, parents, offsets)
    meshes = [
        md5_scenes.patch(joints, shader=shader, joint=2 * index, other=2 * index + 1)
        for index, shader in enumerate(SHADERS)
    ]
    for mesh, name in zip(meshes, ["body", "Body", "body", LONG + "bcd", LONG + "bce"], strict=False):
        mesh.name = name
    return Model(joints, meshes, commandline='from "'.replace('"', "'") + "caf\udce9")


def test_odd_names_of_joints_shaders_and_meshes_come_back(tmp_path):
    source, target = tmp_path / "odd.md5mesh", tmp_path / "out.md5mesh"
    model = model_with_names()
    write_mesh(model, source)
    write_animation(md5_scenes.animation(model.joints, moving=("head", "Head")), tmp_path / "walk.md5anim")
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": "odd.md5mesh"}, {"name": "walk.md5anim"}])
    (armature,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    assert len(armature.data.bones) == len(JOINT_NAMES)
    assert len({bone.name for bone in armature.data.bones}) == len(JOINT_NAMES)
    bpy.data.actions["walk"].name = "out"
    bpy.ops.export_scene.md5mesh(filepath=str(target), actions="ACTIVE")
    before, after = read_mesh(source), read_mesh(target)
    assert after.joints.names == before.joints.names == JOINT_NAMES
    assert after.joints.parents.tolist() == before.joints.parents.tolist()
    assert [mesh.shader for mesh in after.meshes] == [mesh.shader for mesh in before.meshes] == SHADERS
    assert [mesh.name for mesh in after.meshes] == [mesh.name for mesh in before.meshes]
    for old, new in zip(before.meshes, after.meshes, strict=True):
        assert new.weight_joints.tolist() == old.weight_joints.tolist()
    assert after.commandline == before.commandline
    assert read_animation(tmp_path / "out.md5anim").names == JOINT_NAMES


def test_two_files_whose_names_are_cut_to_the_same_one_stay_two_models(tmp_path):
    names = [f"{'long' * 60}{ending}" for ending in ("a", "b", "c" if needs.IS_WINDOWS else "A")]
    for name in names:
        md5_scenes.write(tmp_path, name)
    files = [{"name": f"{name}.md5mesh"} for name in names]
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=files)
    assert len([obj for obj in bpy.data.objects if obj.type == "ARMATURE"]) == 3
    assert len(bpy.data.collections) == 3


@pytest.mark.parametrize(
    "stem",
    [
        *(pytest.param(stem, marks=needs.any_name) for stem in ('quo"te', "new\nline", "tab\there")),
        *("it's", "a%sb{0}", "🦴", " blank ", "-rf", "{x}.y"),
    ],
)
def test_files_of_any_name(tmp_path, stem):
    path = md5_scenes.write(tmp_path, stem)
    assert bpy.ops.import_scene.md5(filepath=str(path)) == {"FINISHED"}
    path.unlink()
    assert bpy.ops.export_scene.md5mesh(filepath=str(path)) == {"FINISHED"}
    assert list(tmp_path.iterdir()) == [path]
    sample = md2_samples.write_sample(tmp_path).rename(tmp_path / f"{stem}.md2")
    assert bpy.ops.import_scene.md2(filepath=str(sample)) == {"FINISHED"}


def test_actions_whose_names_differ_only_in_case_get_different_files(tmp_path):
    armature = rig()
    tube(armature)
    action = armature.animation_data.action
    action.name = "walk"
    for name in ("Walk", "WALK", "run"):
        action.copy().name = name
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "x.md5anim"), actions="ALL")
    written = [path.name for path in tmp_path.iterdir()]
    assert len(written) == 4
    assert len({name.lower() for name in written}) == 4


def test_names_that_the_file_cannot_hold_are_refused_or_replaced_with_a_warning(tmp_path, capfd):
    armature = rig()
    mesh = tube(armature)
    armature.data.bones["mid"].name = 'qu"ote'
    armature.data.bones["tip"].name = "new\nline"
    mesh.data.materials[0].name = 'ma"te\nrial'
    path = tmp_path / "out.md5mesh"
    with pytest.raises(RuntimeError, match="its shader or name contains a double quote or a line break"):
        bpy.ops.export_scene.md5mesh(filepath=str(path))
    assert not path.exists()
    mesh.data.materials[0].name = "material"
    bpy.ops.export_scene.md5mesh(filepath=str(path))
    assert read_mesh(path).joints.names == ["root", "qu'ote", "new_line"]
    told = capfd.readouterr().out
    for name in ('qu"ote', "new\\nline"):
        assert name in told


MD2_SKINS = ["s" * 63 + "a", "s" * 63 + "b", "S" * 63 + "a", "skin.pcx", "SKIN.PCX", 'qu"ote.pcx', "new\nline",
             "caf\xe9.pcx", "\xff\xfe"]  # fmt: skip
MD2_FRAMES = ["a" * 16, "a" * 15 + "b", "A" * 16, "run1", "run1", "Run1", "", 'qu"ote', "new\nline",
              "caf\xe9", "\xff\xfe", "run1.001"]  # fmt: skip


def odd_md2():
    model = md2_samples.odd_model()
    rng = np.random.default_rng(5)
    count = len(MD2_FRAMES)
    model.skins = list(MD2_SKINS)
    model.frame_names = list(MD2_FRAMES)
    model.vertices = rng.integers(0, 256, (count, 7, 3)).astype(np.uint8)
    model.normals = rng.integers(0, 162, (count, 7)).astype(np.uint8)
    model.scale = np.ones((count, 3), np.float32)
    model.translate = np.zeros((count, 3), np.float32)
    return model


def test_odd_names_of_skins_and_frames_come_back(tmp_path):
    source = md2_samples.write_sample(tmp_path, odd_md2())
    bpy.ops.import_scene.md2(filepath=str(source))
    (obj,) = bpy.context.selected_objects
    assert len({key.name for key in obj.data.shape_keys.key_blocks}) == len(MD2_FRAMES)
    assert len(obj.data.materials) == len(MD2_SKINS)
    assert len(set(obj.data.materials)) == len(MD2_SKINS)
    target = tmp_path / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(target), game="ANY")
    after = read_model(target)
    assert after.frame_names == MD2_FRAMES
    assert after.skins == MD2_SKINS


def test_names_of_frames_that_the_file_cannot_hold_are_replaced_and_said(tmp_path, capfd):
    mesh = tube(None, bind=False)
    for name in ("basis", "a key whose name is much too long", "日本", 'fine"1'):
        mesh.shape_key_add(name=name)
    path = tmp_path / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(path), frames="SHAPE_KEYS")
    names = read_model(path).frame_names
    assert len(set(names)) == 4
    assert all(len(name) < 16 and name.isascii() for name in names)
    assert names[3] == 'fine"1'
    told = capfd.readouterr().out
    assert "a key whose name is much too long" in told
    assert "fine" not in told


def test_names_of_skins_that_the_file_cannot_hold_are_refused_or_replaced_and_said(tmp_path, capfd):
    mesh = tube(None, bind=False)
    path = tmp_path / "out.md2"
    mesh.data.materials[0].name = "日本.pcx"
    bpy.ops.export_scene.md2(filepath=str(path))
    assert read_model(path).skins == ["__.pcx"]
    assert "characters that are not in Latin-1" in capfd.readouterr().out
    mesh.data.materials[0]["md2"] = {"skin": "x" * 70, "skin_shown": mesh.data.materials[0].name}
    with pytest.raises(RuntimeError, match="does not fit into 64 bytes"):
        bpy.ops.export_scene.md2(filepath=str(path))
    assert read_model(path).skins == ["__.pcx"]
