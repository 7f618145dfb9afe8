"""The re-releases take one animation: chosen actions in the order and with the frames of the MD2 or MDL."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from clouds import distance
from engines import loaders, q2pro
from md5_rerelease import generated, mdl, random_scales, write_md2, write_rerelease
from paths import CORPUS
from scripted_scenes import rig, shown_vertices, tube

from io_idtech.io_common.skeletal.skeleton import components
from io_idtech.io_md2.format import Md2Error, find_sequences, read_model
from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.check import check_model
from io_idtech.io_md5.format.games.profiles import Game
from io_idtech.io_md5.format.scale_file import read_scales

NAMES = ["stand01", "stand02", "run1", "run2", "run3", "pain101"]
SKINS = ["models/imp/skin.pcx"]
ACTIONS = {"run": 3, "pain1": 1, "stand": 2}


def make_actions(armature, lengths):
    """Actions of so many frames, each with a pose of its own on every frame; none is active."""
    bone = armature.pose.bones["mid"]
    bone.rotation_mode = "QUATERNION"
    for number, (name, length) in enumerate(lengths.items()):
        armature.animation_data.action = None
        for frame in range(length):
            bone.rotation_quaternion = (1.0, 0.1 * number, 0.05 * frame, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        armature.animation_data.action.name = name
        armature.animation_data.action.use_fake_user = True
    armature.animation_data.action = None
    bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture
def scene():
    armature = rig()
    obj = tube(armature)
    obj.data.materials[0].name = "imp"
    bpy.data.actions.remove(bpy.data.actions["Bend"])
    make_actions(armature, ACTIONS)
    return armature, obj


@pytest.fixture
def quake2(tmp_path):
    path = tmp_path / "models" / "imp" / "md5" / "tris.md5mesh"
    path.parent.mkdir(parents=True)
    write_md2(path.parent.parent / "tris.md2", NAMES, SKINS)
    return path


@pytest.fixture
def quake(tmp_path):
    path = tmp_path / "progs" / "imp.md5mesh"
    path.parent.mkdir(parents=True)
    path.with_suffix(".mdl").write_bytes(mdl(NAMES))
    return path


def export(path, game, **options):
    options = {"actions": "ALL"} | options
    assert bpy.ops.export_scene.md5mesh(filepath=str(path), game=game, **options) == {"FINISHED"}


def files(path):
    return {one.name for one in path.parent.iterdir() if one.suffix.startswith(".md5")}


def play(armature, name):
    action = bpy.data.actions[name]
    armature.animation_data.action = action
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = action.slots[0]


@pytest.mark.parametrize("game", ["QUAKE", "QUAKE2"])
def test_actions_follow_one_another_in_the_order_of_the_model_that_is_replaced(scene, game, request):
    armature, obj = scene
    path = request.getfixturevalue(game.lower())
    export(path, game)
    assert files(path) == {path.name, path.with_suffix(".md5anim").name}
    animations = [read_animation(path.with_suffix(".md5anim"))]
    findings = check_model(read_mesh(path), Game(game), animations=animations)
    for engine, load in loaders.MD5[game].items():
        loaded = load(path.read_bytes(), path.with_suffix(".md5anim").read_bytes())
        assert loaded.frame_count == len(NAMES)
        allowed = 1e-3 + loaders.told(findings, engine)
        frame = 0
        for name in ("stand", "run", "pain1"):
            play(armature, name)
            for own in range(ACTIONS[name]):
                bpy.context.scene.frame_set(own)
                assert distance(shown_vertices([obj]), np.concatenate(loaded.vertices(frame))) <= allowed
                frame += 1


def test_the_export_of_animations_alone_writes_the_same_animation(scene, quake2):
    export(quake2, "QUAKE2")
    beside = quake2.with_suffix(".md5anim")
    before = beside.read_bytes()
    beside.unlink()
    bpy.ops.export_scene.md5anim(filepath=str(beside), game="QUAKE2", actions="ALL")
    assert beside.read_bytes() == before
    assert files(quake2) == {"tris.md5mesh", "tris.md5anim"}


def test_what_does_not_fit_is_listed_by_sequence_and_nothing_is_written(scene, quake2):
    write_md2(quake2.parent.parent / "tris.md2", [*NAMES, "pain102", "death1", "death2"], SKINS)
    bpy.data.actions["run"].name = "walk"
    with pytest.raises(RuntimeError) as caught:
        export(quake2, "QUAKE2")
    text = str(caught.value)
    assert "do not fit tris.md2" in text
    assert "run: no animation, needs 3 frames, pain1: 1 frame instead of 2, death: no animation, needs 2 frames" in text
    assert "stand" not in text
    assert files(quake2) == set()


def test_match_md2_or_mdl_can_be_turned_off_and_the_order_is_that_of_the_names_then(scene, quake2):
    bpy.data.actions.remove(bpy.data.actions["run"])
    export(quake2, "QUAKE2", match_companion=False)
    assert read_animation(quake2.with_suffix(".md5anim")).frame_count == 3


def test_actions_that_are_no_sequence_are_left_out_with_a_warning(scene, quake2, capfd):
    make_actions(scene[0], {"dance": 4})
    export(quake2, "QUAKE2")
    assert read_animation(quake2.with_suffix(".md5anim")).frame_count == len(NAMES)
    assert "no sequences of tris.md2, so not exported: dance" in capfd.readouterr().out


def test_the_list_of_the_armature_chooses_and_orders_without_a_model_to_replace(scene, tmp_path):
    armature, _ = scene
    path = tmp_path / "imp.md5mesh"
    bpy.ops.object.io_idtech_list_animations(source="ACTIONS")
    listed = armature.io_idtech_animations
    listed.rows.move(listed.rows.find("run"), 0)
    for row in listed.rows:
        row.is_checked = row.name != "pain1"
    export(path, "QUAKE", actions="LIST")
    assert files(path) == {"imp.md5mesh", "imp.md5anim"}
    joined = components(read_animation(path.with_suffix(".md5anim")))
    assert len(joined) == 5
    play(armature, "stand")
    export(path.with_name("stand.md5mesh"), "QUAKE", actions="ACTIVE")
    stand = components(read_animation(path.with_name("stand.md5anim")))
    np.testing.assert_allclose(joined[3:], stand, atol=1e-6)


def test_one_action_with_all_frames_fits_and_one_with_fewer_tells_the_sequences_that_it_lacks(scene, quake2):
    armature, _ = scene
    make_actions(armature, {"everything": 6, "most": 4})
    play(armature, "everything")
    export(quake2, "QUAKE2", actions="ACTIVE")
    assert read_animation(quake2.with_suffix(".md5anim")).frame_count == 6
    play(armature, "most")
    with pytest.raises(RuntimeError, match="run: 2 frames instead of 3, pain1: 0 frames instead of 1"):
        export(quake2, "QUAKE2", actions="ACTIVE")


def test_other_games_still_get_a_file_for_each_action(scene, tmp_path):
    export(tmp_path / "imp.md5mesh", "DOOM3")
    assert files(tmp_path / "imp.md5mesh") == {"imp.md5mesh", *(f"{name}.md5anim" for name in ACTIONS)}


@pytest.mark.parametrize("seed", range(4))
def test_a_model_imported_as_sequences_is_written_as_it_was(tmp_path, seed):
    model, animation = generated(seed)
    table = random_scales(seed, len(model.joints), 6, with_positions=True)
    folder = tmp_path / "models" / "imp"
    path = write_rerelease(folder, model, animation, table)
    write_md2(folder / "tris.md2", NAMES, SKINS)
    bpy.ops.import_scene.md5(filepath=str(path), sequence_actions=True)
    out = tmp_path / "mod" / "imp" / "md5" / "tris.md5mesh"
    out.parent.mkdir(parents=True)
    write_md2(out.parent.parent / "tris.md2", NAMES, SKINS)
    export(out, "QUAKE2")
    before, after = (read_scales(one.with_suffix(".md5scale")) for one in (path, out))
    assert after.joints == before.joints
    first, second = (
        q2pro.load(*(one.with_suffix(f".md5{kind}").read_bytes() for kind in ("mesh", "anim", "scale")))
        for one in (path, out)
    )
    for frame in range(6):
        for wanted, got in zip(first.vertices(frame), second.vertices(frame), strict=True):
            # Turns by almost 180° are computed with 32-bit floats.
            np.testing.assert_allclose(got, wanted, atol=1e-2)
    wanted, got = components(animation), components(read_animation(out.with_suffix(".md5anim")))
    np.testing.assert_allclose(got[..., 3:], wanted[..., 3:], atol=2e-5)


# Names that the game expects


def test_quake_is_told_with_the_skin_that_it_looks_for(scene, quake, capfd):
    export(quake, "QUAKE")
    output = capfd.readouterr().out
    assert "Quake looks for progs/imp_00_00 (.tga, .png, .jpg or .lmp)" in output
    assert "rename the material" not in output


@pytest.mark.parametrize("name", ["models/imp/imp.tga", "imp_00_00", "imp.lmp", "progs\\imp_01_00"])
def test_for_quake_a_shader_with_a_path_or_numbers_gets_a_suggestion(scene, quake, capfd, name):
    scene[1].data.materials[0].name = name
    export(quake, "QUAKE")
    assert "rename the material to 'imp'" in capfd.readouterr().out


def test_for_quake_2_the_skins_of_the_md2_are_told(scene, quake2, capfd):
    export(quake2, "QUAKE2")
    assert "Quake II looks for the skins models/imp/md5/skin (.tga" in capfd.readouterr().out


def test_a_name_that_quake_2_does_not_look_for_is_a_warning(scene, quake2, capfd):
    export(quake2.with_name("imp.md5mesh"), "QUAKE2", actions="NONE")
    assert "Quake II looks for md5/tris.md5mesh, as the folder above has tris.md2" in capfd.readouterr().out


def test_shaders_of_the_written_mesh_stay_as_they_are(scene, quake):
    scene[1].data.materials[0].name = "models/imp/imp"
    export(quake, "QUAKE")
    assert [mesh.shader for mesh in read_mesh(quake).meshes] == ["models/imp/imp"]


# Real MD2 models


def real_md2_models():
    """Some real models with several sequences, of few frames and of many."""
    table = CORPUS / "catalog.tsv"
    if not table.is_file():
        return [pytest.param("", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    names = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.md2"))
    return [pytest.param(name, id=name.replace("/", "-")) for name in names[:: max(len(names) // 24, 1)]]


@pytest.mark.slow
@pytest.mark.parametrize("name", real_md2_models())
def test_sequences_of_a_real_md2_come_back_in_its_order(corpus, tmp_path, name):
    data = (corpus / name).read_bytes()
    try:
        names = read_model(data).frame_names
    except Md2Error:
        pytest.skip("no MD2")
    if len(names) > 1024:
        pytest.skip(f"{len(names)} frames, more than the game takes")
    model, animation = generated(5, frames=len(names))
    folder, out = tmp_path / "x", tmp_path / "y" / "md5" / "tris.md5mesh"
    out.parent.mkdir(parents=True)
    path = write_rerelease(folder, model, animation)
    for place in (folder, out.parent.parent):
        (place / "tris.md2").write_bytes(data)
    bpy.ops.import_scene.md5(filepath=str(path), sequence_actions=True)
    armature = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    if len(find_sequences(names)) > 1:
        bpy.data.actions.remove(armature.animation_data.action)
    export(out, "QUAKE2")
    wanted, got = components(animation), components(read_animation(out.with_suffix(".md5anim")))
    np.testing.assert_allclose(got, wanted, atol=1e-4)
