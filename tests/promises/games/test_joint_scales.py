"""Scales of joints in the re-release of Quake II: imported as scaled bones and exported again."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from clouds import distance
from engines import q2pro
from md5_deviation import file_vertices, meshes_of, size_of
from md5_rerelease import generated, random_scales, write_rerelease
from scripted_scenes import FRAMES, rig, shown_vertices, tube

from io_idtech.io_common.skeletal.skeleton import components
from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.scale_file import read_scales

SEEDS = range(10)
# The joints are far from the meshes, and some turn by almost 180°, which engines compute with 32-bit floats.
SIZE = 4e-4


def shown_and_game(path, mesh_objects, model, first=0):
    """The greatest distance of a vertex that Blender shows from where q2pro shows it, over all frames."""
    scales = path.with_suffix(".md5scale")
    loaded = q2pro.load(
        path.read_bytes(), path.with_suffix(".md5anim").read_bytes(), scales.read_bytes() if scales.exists() else None
    )
    worst = 0.0
    for frame in range(loaded.frame_count):
        bpy.context.scene.frame_set(first + frame)
        for obj, vertices in zip(mesh_objects, loaded.vertices(frame), strict=True):
            worst = max(worst, float(np.linalg.norm(file_vertices(obj) - vertices, axis=1).max()))
    return worst


def imported(path, **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}
    return next(obj for obj in bpy.context.selected_objects if obj.type == "ARMATURE")


@pytest.mark.slow
@pytest.mark.parametrize("with_positions", [False, True], ids=["plain", "scale_positions"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_frame_is_that_of_the_game_and_comes_back(tmp_path, seed, with_positions):
    model, animation = generated(seed)
    table = random_scales(seed, len(model.joints), animation.frame_count, with_positions=with_positions)
    path = write_rerelease(tmp_path, model, animation, table)
    armature = imported(path, animations="FOLDER", bone_direction=("CHILD", "JOINT")[seed % 2])
    assert shown_and_game(path, meshes_of(armature), model) <= SIZE * size_of(model)

    out = tmp_path / "out" / "tris.md5mesh"
    out.parent.mkdir()
    assert bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2", actions="ACTIVE") == {"FINISHED"}
    before, after = (read_scales(one.with_suffix(".md5scale")) for one in (path, out))
    assert after.joints == before.joints
    assert after.scales_positions == before.scales_positions
    assert out.with_suffix(".md5scale").read_bytes() == path.with_suffix(".md5scale").read_bytes()
    found = read_animation(out.with_suffix(".md5anim"))
    wanted, got = components(animation), components(found)
    # The game multiplies these translations by 0, so they are lost.
    is_lost = (table.values == 0.0) & table.scales_position
    np.testing.assert_allclose(got[..., 3:], wanted[..., 3:], atol=2e-5)
    np.testing.assert_allclose(got[~is_lost][:, :3], wanted[~is_lost][:, :3], atol=1e-4)
    for mesh, original in zip(read_mesh(out).meshes, model.meshes, strict=True):
        np.testing.assert_allclose(mesh.weight_positions, original.weight_positions, atol=1e-6)


def test_scales_are_keyed_on_bones_that_inherit_none_and_held_between_frames(tmp_path):
    model, animation = generated(3)
    table = random_scales(3, len(model.joints), animation.frame_count, with_positions=False)
    armature = imported(write_rerelease(tmp_path, model, animation, table), animations="FOLDER")
    assert {bone.inherit_scale for bone in armature.data.bones} == {"NONE"}
    joint = int(np.flatnonzero((table.values != 1.0).any(axis=0))[0])
    for frame, wanted in enumerate(table.values[:, joint]):
        for part in (0.0, 0.5):
            bpy.context.scene.frame_set(frame, subframe=part)
            scale = armature.pose.bones[f"joint{joint}"].scale
            np.testing.assert_allclose(scale, wanted, atol=2e-6)


def test_an_animation_imported_onto_its_model_later_brings_its_scales(tmp_path, capfd):
    model, animation = generated(4)
    table = random_scales(4, len(model.joints), animation.frame_count, with_positions=True)
    path = write_rerelease(tmp_path, model, animation, table)
    armature = imported(path, use_companions=False)
    assert armature.animation_data.action is None
    capfd.readouterr()
    bpy.ops.import_scene.md5(filepath=str(path.with_suffix(".md5anim")))
    assert "off from the file" not in capfd.readouterr().out
    assert shown_and_game(path, meshes_of(armature), model) <= SIZE * size_of(model)


def test_invalid_scales_are_an_error_with_line_and_column_and_nothing_is_imported(tmp_path):
    path = write_rerelease(tmp_path, *generated(0))
    path.with_suffix(".md5scale").write_text('{\n "joint0": {"1": 1.5,}\n}')
    with pytest.raises(RuntimeError, match=r"md5scale, line 2, column 2[12]"):
        bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    assert not bpy.data.armatures


def test_unknown_joints_and_frames_are_warnings(tmp_path, capfd):
    path = write_rerelease(tmp_path, *generated(0))
    path.with_suffix(".md5scale").write_text('{"tail": {"1": 2}, "joint1": {"99": 2, "1": 0.5}}')
    imported(path, animations="FOLDER")
    output = capfd.readouterr().out
    assert "joints that the animation does not have: 'tail'" in output
    assert "frames that the animation does not have, it has 6: 99" in output


# Models made in Blender


@pytest.fixture
def scene():
    armature = rig()
    return armature, tube(armature)


def scale_mid(armature, how):
    """Scales a bone, by keyframes or by a constraint."""
    bone = armature.pose.bones["mid"]
    if how == "keyed":
        for frame, scale in ((FRAMES[0], 1.0), (FRAMES[0] + 4, 1.0), (FRAMES[1], 2.0)):
            bone.scale = (scale,) * 3
            bone.keyframe_insert("scale", frame=frame)
        return
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    target.scale = (1.6,) * 3
    constraint = bone.constraints.new("COPY_SCALE")
    constraint.target = target


@pytest.mark.parametrize("inherit", ["FULL", "NONE"])
@pytest.mark.parametrize("how", ["keyed", "constrained"])
def test_scaled_bones_are_exported_as_blender_shows_them(scene, tmp_path, capfd, how, inherit):
    armature, obj = scene
    for bone in armature.data.bones:
        bone.inherit_scale = inherit
    scale_mid(armature, how)
    out = tmp_path / "tris.md5mesh"
    assert bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2", actions="ACTIVE") == {"FINISHED"}
    output = capfd.readouterr().out
    assert "scaled" not in output
    assert "off from what Blender shows" not in output
    loaded = q2pro.load(*(out.with_suffix(suffix).read_bytes() for suffix in (".md5mesh", ".md5anim", ".md5scale")))
    for frame in range(loaded.frame_count):
        bpy.context.scene.frame_set(FRAMES[0] + frame)
        assert distance(shown_vertices([obj]), np.concatenate(loaded.vertices(frame))) <= 4 * SIZE
    scales = read_scales(out.with_suffix(".md5scale"))
    assert set(scales.joints) == ({"mid", "tip"} if inherit == "FULL" else {"mid"})
    if how == "keyed":
        assert min(scales.joints["mid"]) == 5
    first = out.with_suffix(".md5scale").read_bytes()
    bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2", actions="ACTIVE")
    assert out.with_suffix(".md5scale").read_bytes() == first


def test_without_scaled_bones_no_file_of_scales_is_written_and_an_old_one_is_emptied(scene, tmp_path, capfd):
    out = tmp_path / "tris.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2", actions="ACTIVE")
    assert not out.with_suffix(".md5scale").exists()
    out.with_suffix(".md5scale").write_text('{"mid": {"1": 5}}')
    bpy.ops.export_scene.md5mesh(filepath=str(out), game="QUAKE2", actions="ACTIVE")
    assert read_scales(out.with_suffix(".md5scale")).joints == {}
    assert "emptied" in capfd.readouterr().out


def test_uneven_scales_are_a_warning(scene, tmp_path, capfd):
    armature, _ = scene
    armature.pose.bones["mid"].scale = (1.0, 2.0, 1.0)
    armature.pose.bones["mid"].keyframe_insert("scale", frame=3)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "a.md5mesh"), game="QUAKE2", actions="ACTIVE")
    assert "bones are scaled unevenly" in capfd.readouterr().out


@pytest.mark.parametrize("game", ["ANY", "DOOM3", "QUAKE"])
def test_for_other_games_scaled_bones_are_a_warning(scene, tmp_path, capfd, game):
    scale_mid(scene[0], "keyed")
    out = tmp_path / "a.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(out), game=game, actions="ACTIVE")
    assert "bones are scaled" in capfd.readouterr().out
    assert not list(tmp_path.glob("*.md5scale"))
