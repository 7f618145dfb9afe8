"""Exports for each game: its rules are kept, and its loader gives what Blender shows."""

from __future__ import annotations

import csv
import json

import bpy
import md2_samples
import numpy as np
import pytest
from clouds import distance
from engines import loaders, md2
from engines.posing import Refused
from installed import read_empty_scene
from mathutils import Quaternion, Vector
from md2_evaluated import each_readable_file
from md5_deviation import file_vertices, meshes_of
from paths import CORPUS
from scripted_scenes import FRAMES, attach, rig, shown_vertices, tube

from io_idtech.io_common.skeletal import skeleton
from io_idtech.io_common.skeletal.skinning import bind_pose
from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import Game

pytestmark = pytest.mark.slow

GAMES = [game.value for game in Game]
UNITS = 0.01
# What a warning tells of the pose or of the loading.
WARNED = {"influences", "bias_sums", "root_away", "base_root_away"}


@pytest.fixture
def scene():
    armature = rig()
    return armature, tube(armature)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "model.md5mesh"


def export(out, game, **options):
    assert bpy.ops.export_scene.md5mesh(filepath=str(out), game=game, **options) == {"FINISHED"}
    return read_mesh(out)


def reports_of(capfd):
    return capfd.readouterr().out


# The animation beside


def test_quake_gets_the_rest_pose_beside_the_mesh_with_a_warning(scene, out, capfd):
    model = export(out, "QUAKE")
    animation = read_animation(out.with_suffix(".md5anim"))
    assert "model.md5anim was written with the rest pose" in reports_of(capfd)
    assert (animation.frame_count, (animation.flags == 63).all()) == (1, True)
    assert check_animation(animation, model.joints, Game.QUAKE) == []
    positions, _ = skeleton.poses(animation)
    np.testing.assert_allclose(positions[0], model.joints.positions, atol=1e-6)
    assert animation.bounds[0, 1, 2] == pytest.approx(4.0, abs=1e-5)


def test_one_action_takes_the_name_of_the_mesh(scene, out):
    export(out, "QUAKE", actions="ACTIVE")
    assert {path.name for path in out.parent.iterdir()} == {"model.md5mesh", "model.md5anim"}
    assert read_animation(out.with_suffix(".md5anim")).frame_count == FRAMES[1] - FRAMES[0] + 1
    export(out.with_name("other.md5mesh"), "DOOM3", actions="ACTIVE")
    assert (out.parent / "Bend.md5anim").exists()


def test_an_existing_animation_file_is_not_overwritten(scene, out, capfd):
    export(out, "QUAKE2", actions="ACTIVE")
    before = out.with_suffix(".md5anim").read_bytes()
    capfd.readouterr()
    export(out, "QUAKE2")
    assert out.with_suffix(".md5anim").read_bytes() == before
    assert "not overwritten" not in reports_of(capfd)


def test_one_that_does_not_fit_is_left_alone_with_a_warning(scene, out, capfd):
    beside = out.with_suffix(".md5anim")
    beside.write_text("nonsense")
    export(out, "QUAKE")
    assert beside.read_text() == "nonsense"
    assert "not overwritten, but the game will refuse it" in reports_of(capfd)
    armature, _ = scene
    beside.unlink()
    export(out, "QUAKE", actions="ACTIVE")
    armature.data.bones["tip"].name = "point"
    export(out, "QUAKE")
    assert "its joints are not those of the mesh" in reports_of(capfd)


@pytest.mark.parametrize("game", ["ANY", "DOOM3", "SAUERBRATEN", "UNVANQUISHED"])
def test_other_games_get_no_animation_by_default(scene, out, game):
    export(out, game)
    assert [path.name for path in out.parent.iterdir()] == ["model.md5mesh"]


# Names


def test_names_are_made_safe_alike_in_mesh_and_animation(scene, out, capfd):
    armature, _ = scene
    armature.data.bones["mid"].name = "the middle"
    model = export(out, "SAUERBRATEN", actions="ACTIVE")
    animation = read_animation(out.parent / "Bend.md5anim")
    assert model.joints.names == animation.names == ["root", "the_middle", "tip"]
    assert "'the middle' became 'the_middle'" in reports_of(capfd)
    bpy.ops.export_scene.md5anim(filepath=str(out.with_name("alone.md5anim")), game="SAUERBRATEN")
    assert read_animation(out.with_name("alone.md5anim")).names == model.joints.names
    with pytest.raises(RuntimeError, match=r"(?i)joint names contain white space"):
        export(out, "SAUERBRATEN", make_names_safe=False)
    assert export(out, "ANY").joints.names[1] == "the middle"


def test_meshes_are_named_after_their_objects_for_sauerbraten(scene, out):
    armature, obj = scene
    obj.name = "Body"
    tube(armature, "Head")
    model = export(out, "SAUERBRATEN")
    assert [mesh.comment_name for mesh in model.meshes] == ["Body", "Head"]
    assert {mesh.comment_name for mesh in export(out, "DOOM3").meshes} == {""}


def test_mesh_names_in_comments_are_restored_and_follow_renamed_objects(scene, out):
    _armature, obj = scene
    obj.name = "Body"
    obj.data.materials[0].name = "models/imp/skin"
    export(out, "SAUERBRATEN")
    read_empty_scene()
    bpy.ops.import_scene.md5(filepath=str(out))
    (mesh,) = meshes_of(bpy.context.view_layer.objects.active)
    assert mesh.name == "Body"
    for game in ("ANY", "DOOM3", "SAUERBRATEN"):
        assert [part.comment_name for part in export(out, game).meshes] == ["Body"]
    mesh.name = "Torso"
    assert [part.comment_name for part in export(out, "ANY").meshes] == ["Torso"]


def test_a_second_material_of_an_object_is_told_apart(scene, out, capfd):
    _, obj = scene
    obj.data.materials.append(bpy.data.materials.new("second"))
    for face in list(obj.data.polygons)[::2]:
        face.material_index = 1
    assert [mesh.comment_name for mesh in export(out, "SAUERBRATEN").meshes] == ["Tube", "Tube_1"]
    assert "finds the meshes Tube, Tube_1" in reports_of(capfd)


def test_objects_keep_their_names_before_second_materials_of_others(scene, out):
    armature, obj = scene
    obj.data.materials.append(bpy.data.materials.new("second"))
    for face in list(obj.data.polygons)[::2]:
        face.material_index = 1
    tube(armature, "Tube_1")
    names = [mesh.comment_name for mesh in export(out, "SAUERBRATEN").meshes]
    assert sorted(names) == ["Tube", "Tube_1", "Tube_2"]
    # The meshes of an object are in a row.
    assert names.index("Tube_2") == names.index("Tube") + 1


@pytest.mark.parametrize("is_separated", [False, True])
def test_copies_and_separated_parts_of_an_imported_mesh_have_their_own_names(scene, out, is_separated):
    _, obj = scene
    obj.name = "Body"
    export(out, "SAUERBRATEN")
    read_empty_scene()
    bpy.ops.import_scene.md5(filepath=str(out))
    armature = bpy.context.view_layer.objects.active
    (mesh,) = meshes_of(armature)
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.object.select_all(action="DESELECT")
    mesh.select_set(True)
    if is_separated:
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        mesh.data.polygons[0].select = True
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.separate(type="SELECTED")
        bpy.ops.object.mode_set(mode="OBJECT")
    else:
        bpy.ops.object.duplicate()
    bpy.context.view_layer.objects.active = armature
    names = [part.comment_name for part in export(out.with_name("copy.md5mesh"), "SAUERBRATEN").meshes]
    assert sorted(names) == ["Body", "Body.001"]


# Files beside the export


@pytest.fixture
def longer(scene):
    """Adds a bone to the armature of the scene when called."""

    def add():
        armature, _ = scene
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        bone = armature.data.edit_bones.new("extra")
        bone.head, bone.tail = (0, 0, 6), (0, 0, 7)
        bone.parent = armature.data.edit_bones["tip"]
        bpy.ops.object.mode_set(mode="OBJECT")

    return add


@pytest.mark.parametrize("game", ["DOOM3", "SAUERBRATEN", "ANY"])
def test_animations_that_no_longer_fit_a_mesh_are_named(longer, out, capfd, game):
    export(out, game, actions="ACTIVE")
    export(out, game)
    assert "export them again" not in reports_of(capfd)
    longer()
    export(out, game)
    assert "games refuse the animations Bend.md5anim with it: export them again" in reports_of(capfd)
    export(out, game, actions="ACTIVE")
    assert "export them again" not in reports_of(capfd)


def test_animations_of_other_skeletons_are_not_told_of(longer, out, capfd):
    longer()
    export(out.with_name("other.md5mesh"), "DOOM3", actions="ACTIVE")
    armature = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.remove(armature.data.edit_bones["extra"])
    bpy.ops.object.mode_set(mode="OBJECT")
    export(out, "DOOM3")
    export(out, "DOOM3", add_origin="ALWAYS")
    assert "export them again" not in reports_of(capfd)


def test_a_damaged_mesh_that_is_replaced_is_not_told_of(scene, out, capfd):
    out.write_text("MD5Version 10\njoints {")
    export(out, "DOOM3")
    assert "refuse" not in reports_of(capfd)


@pytest.mark.parametrize("game", ["DOOM3", "QUAKE", "QUAKE2", "SAUERBRATEN"])
def test_an_animation_with_other_joints_than_the_mesh_beside_it_is_told(longer, out, capfd, game):
    def told(name):
        bpy.ops.export_scene.md5anim(filepath=str(out.with_name(name)), game=game)
        return "games refuse it with model.md5mesh" in reports_of(capfd)

    assert not told("model.md5anim")
    export(out, game)
    assert not told("model.md5anim")
    longer()
    assert told("longer.md5anim")
    export(out.with_name("other.md5mesh"), game)
    assert not told("longer.md5anim")


# All at once


def test_all_errors_of_a_game_are_told_at_once_with_names_and_options_and_nothing_is_written(scene, out):
    armature, _ = scene
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("stray", "root two"):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, 5), (0, 0, 6)
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError) as caught:
        export(out, "DOOM3", actions="ACTIVE", use_frame_rate=True, frame_rate=0.5, add_origin="NEVER")
    text = str(caught.value)
    assert "3 root bones: root, " in text
    assert "stray" in text
    assert "set Add Root Bone to Always" in text
    assert "set Frame Rate to 1 or more" in text
    assert not list(out.parent.iterdir())


def test_a_finding_about_a_mesh_names_the_object(scene, out):
    _, obj = scene
    obj.name = "Body"
    obj.data.materials[0].name = 'a"b'
    with pytest.raises(RuntimeError, match="Body: "):
        export(out, "DOOM3")


# Doom 3's root


def test_a_root_is_added_to_a_new_model_whose_root_is_away_from_the_origin(scene, out, capfd):
    armature, obj = scene
    armature.location.z = 32.0
    model = export(out, "DOOM3", actions="ACTIVE", add_origin="NEVER")
    assert "Add Root Bone" in reports_of(capfd)
    data = out.read_bytes(), (out.parent / "Bend.md5anim").read_bytes()
    shown = np.concatenate(loaders.MD5["DOOM3"]["Doom 3"](*data).vertices(0))
    assert shown[:, 2].max() < 16.0
    model = export(out, "DOOM3", actions="ACTIVE")
    assert model.joints.names[0] == "origin"
    assert "Add Root Bone" not in reports_of(capfd)
    data = out.read_bytes(), (out.parent / "Bend.md5anim").read_bytes()
    loaded = loaders.MD5["DOOM3"]["Doom 3"](*data)
    bpy.context.scene.frame_set(FRAMES[0])
    assert distance(np.concatenate(loaded.vertices(0)), shown_vertices([obj])) <= UNITS


def test_a_root_away_from_the_origin_is_told_once_with_one_remedy(scene, out, capfd):
    armature, _ = scene
    armature.location.z = 32.0
    bend = armature.animation_data.action
    for name in ("Turn", "Jump"):
        bend.copy().name = name
    export(out, "DOOM3", actions="ALL", add_origin="NEVER")
    said = reports_of(capfd)
    assert said.count("is not at the origin") == 1
    text = "the root joint 'root' is not at the origin; Doom 3 moves the model by its distance: set Add Root Bone"
    assert text in said
    alone = str(out.with_name("alone.md5anim"))
    bpy.ops.export_scene.md5anim(filepath=alone, game="DOOM3", actions="ALL", add_origin="NEVER")
    assert reports_of(capfd).count("is not at the origin") == 1
    bpy.ops.object.md5_check_game(game="DOOM3", actions="ALL", has_mesh=True, add_origin="NEVER")
    found = [one.text for one in bpy.context.window_manager.io_idtech_findings]
    assert len([one for one in found if "is not at the origin" in one]) == 1


@pytest.mark.parametrize(
    ("game", "added"), [("ANY", False), ("DOOM3", True), ("DOOM3_BFG", True), ("QUAKE", True), ("QUAKE2", False)]
)
def test_a_root_is_added_to_new_models_with_several_roots_and_not_to_imported_ones(scene, out, game, added):
    armature, _ = scene
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["mid"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    before = export(out, game, add_origin="NEVER").joints
    assert export(out, game).joints.names == [*(["origin"] if added else []), *before.names]
    export(out, game, add_origin="NEVER")
    read_empty_scene()
    bpy.ops.import_scene.md5(filepath=str(out), use_textures=False)
    again = export(out.with_name("again.md5mesh"), game).joints
    assert (again.names, again.parents.tolist()) == (before.names, before.parents.tolist())


def test_a_root_at_the_origin_stays_the_root_whatever_its_name(scene, out):
    assert export(out, "DOOM3").joints.names == ["root", "mid", "tip"]


# Meshes over a game's limits


@pytest.mark.parametrize("game", ["QUAKE2", "SAUERBRATEN"])
def test_meshes_over_the_limits_of_a_game_are_split_and_shown_as_by_blender(scene, out, capfd, game, part, monkeypatch):
    _armature, obj = scene
    obj.modifiers.new("fine", "SUBSURF").levels = 4 if game == "QUAKE2" else 1
    obj.modifiers.move(1, 0)
    if game == "SAUERBRATEN":
        limits = {"vertex_count": 60, "weight_count": 70}
        monkeypatch.setattr(part("io_md5.exporting.game"), "mesh_limits", lambda _game: limits)
    model = export(out, game, actions="ACTIVE")
    (animation,) = out.parent.glob("*.md5anim")
    assert len(model.meshes) > 1
    assert len({mesh.shader for mesh in model.meshes}) == 1
    # md5skin finds all of them by one name.
    assert len({mesh.comment_name for mesh in model.meshes}) == 1
    assert f"Over the game's limits, so split into parts: {obj.name} into {len(model.meshes)}" in reports_of(capfd)
    if game == "SAUERBRATEN":
        assert max(mesh.vertex_count for mesh in model.meshes) <= limits["vertex_count"]
        assert max(len(mesh.weight_joints) for mesh in model.meshes) <= limits["weight_count"]
    assert not [one for one in check_model(model, Game(game), has_animation=True) if one.is_error]
    loaded = next(iter(loaders.MD5[game].values()))(out.read_bytes(), animation.read_bytes())
    for frame in (0, loaded.frame_count - 1):
        bpy.context.scene.frame_set(FRAMES[0] + frame)
        assert distance(np.concatenate(loaded.vertices(frame)), shown_vertices([obj])) <= UNITS
    if game == "QUAKE2":
        with pytest.raises(RuntimeError, match="turn on Split Surfaces"):
            export(out, game, split_surfaces=False)


def test_an_origin_that_is_there_is_not_added_twice(out):
    armature = rig()
    tube(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["root"].name = "origin"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export(out, "DOOM3", add_origin="ALWAYS").joints.names == ["origin", "mid", "tip"]
    armature.location.x = 5.0
    assert export(out, "DOOM3", add_origin="ALWAYS").joints.names == ["origin_", "origin", "mid", "tip"]


# Options


@pytest.mark.slow
def test_the_game_of_the_preferences_is_the_default(scene, out):
    preferences = bpy.context.preferences.addons["bl_ext.user_default.io_idtech"].preferences
    preferences.md5_game, preferences.md2_game = "QUAKE", "QUAKE2"
    try:
        bpy.ops.export_scene.md5mesh(filepath=str(out))
        assert out.with_suffix(".md5anim").exists()
        bpy.data.objects["Tube"].modifiers.new("fine", "SUBSURF").levels = 4
        with pytest.raises(RuntimeError, match="Quake II takes 2,048"):
            bpy.ops.export_scene.md2(filepath=str(out.with_suffix(".md2")))
        bpy.ops.export_scene.md2(filepath=str(out.with_suffix(".md2")), game="ANY")
    finally:
        preferences.property_unset("md5_game")
        preferences.property_unset("md2_game")


def test_a_collections_exporter_has_a_game_of_its_own(scene, out):
    collection = bpy.data.collections.new("Models")
    bpy.context.scene.collection.children.link(collection)
    for obj in scene:
        collection.objects.link(obj)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["Models"]
    bpy.ops.collection.exporter_add(name="IO_FH_md5")
    options = collection.exporters[0].export_properties
    options.filepath, options.game = str(out), "QUAKE"
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    assert out.with_suffix(".md5anim").exists()


# The games' loaders


@pytest.mark.parametrize("game", GAMES)
def test_a_scene_is_shown_by_the_game_as_by_blender(scene, out, game):
    _armature, obj = scene
    model = export(out, game, actions="ACTIVE", add_origin="ALWAYS")
    (animation,) = out.parent.glob("*.md5anim")
    findings = check_model(model, Game(game), animations=[read_animation(animation)])
    for engine, load in loaders.MD5[game].items():
        allowed = UNITS + loaders.told(findings, engine)
        loaded = load(out.read_bytes(), animation.read_bytes())
        for frame in range(loaded.frame_count):
            bpy.context.scene.frame_set(FRAMES[0] + frame)
            shown = np.concatenate(loaded.vertices(frame))
            assert distance(shown, shown_vertices([obj])) <= allowed, f"{engine}, frame {frame}"


def branches(count, leaves):
    """An armature of a chain of bones that each have so many others, which move, and a mesh with a face on each."""
    data = bpy.data.armatures.new("Branches")
    armature = bpy.data.objects.new("Branches", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent, names, vertices = None, [], []
    for index in range(count):
        for leaf in range(leaves + 1):
            bone = data.edit_bones.new(f"b{index}_{leaf}")
            bone.head = (0.1 * leaf, 0.02 * leaf, 0.1 * index)
            bone.tail = bone.head[0], bone.head[1], bone.head[2] + 0.08
            bone.parent = parent if leaf == 0 else data.edit_bones[f"b{index}_0"]
            names.append(bone.name)
            vertices += [bone.head + Vector(offset) for offset in ((0, 0, 0), (0.05, 0, 0), (0, 0.05, 0))]
        parent = data.edit_bones[f"b{index}_0"]
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Faces")
    mesh.from_pydata(vertices, [], [(i, i + 1, i + 2) for i in range(0, len(vertices), 3)])
    obj = bpy.data.objects.new("Faces", mesh)
    bpy.context.scene.collection.objects.link(obj)
    for place, name in enumerate(names):
        obj.vertex_groups.new(name=name).add([3 * place + corner for corner in range(3)], 1.0, "REPLACE")
    attach(obj, armature)
    for frame, angle in ((1, 0.0), (4, 0.02)):
        for bone in armature.pose.bones:
            bone.rotation_quaternion = Quaternion((0.3, 1.0, 0.2), angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    armature.animation_data.action.name = "Sway"
    return armature, obj


def test_unvanquished_gets_joints_without_children_last(out, capfd):
    _, obj = branches(100, 1)
    model = export(out, "UNVANQUISHED", actions="ACTIVE")
    assert "export all animations of this model again" in reports_of(capfd)
    assert model.joints.parents.max() == 99
    assert export(out.with_name("any.md5mesh"), "ANY").joints.parents.max() > 127
    bpy.ops.export_scene.md5anim(filepath=str(out.with_name("alone.md5anim")), game="UNVANQUISHED")
    for name in ("Sway", "alone"):
        loaded = loaders.MD5["UNVANQUISHED"]["Daemon"](out.read_bytes(), out.with_name(f"{name}.md5anim").read_bytes())
        for frame in range(loaded.frame_count):
            bpy.context.scene.frame_set(1 + frame)
            assert distance(loaded.vertices(frame)[0], shown_vertices([obj])) < 1e-4


def test_parents_that_no_order_brings_among_the_first_128_are_an_error_for_unvanquished(out):
    branches(130, 0)
    with pytest.raises(RuntimeError, match="1 joint has a parent with an index over 127: b129_0"):
        export(out, "UNVANQUISHED")
    with pytest.raises(RuntimeError, match="a parent with an index over 127"):
        bpy.ops.export_scene.md5anim(filepath=str(out.with_suffix(".md5anim")), game="UNVANQUISHED")
    assert not list(out.parent.iterdir())


def test_findings_of_reordered_joints_name_their_own_bones(out):
    armature, _ = branches(100, 1)
    armature.data.bones["b3_1"].md5_joint_name = "b5_1"
    bpy.ops.object.md5_check_game(game="UNVANQUISHED")
    found = {item.code: item for item in bpy.context.window_manager.io_idtech_findings}
    assert set(json.loads(found["repeated_names"].elements)) == {"b3_1", "b5_1"}


def pairs():
    table = CORPUS / "pairs.tsv"
    if not table.is_file():
        return [pytest.param("", "", "ANY", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    # Each pair for one game, and a model once for each; all pairs for all games are judged without Blender.
    chosen = {(row["md5mesh"], GAMES[i % len(GAMES)]): row["md5anim"] for i, row in enumerate(rows)}
    return [pytest.param(mesh, anim, game, id=f"{game}-{anim.split('/')[-1]}") for (mesh, game), anim in chosen.items()]


@pytest.mark.parametrize(("mesh_path", "anim_path", "game"), pairs())
def test_a_real_model_is_shown_by_the_game_as_by_blender(corpus, out, mesh_path, anim_path, game):
    bpy.ops.import_scene.md5(filepath=str(corpus / mesh_path), use_textures=False)
    armature = bpy.context.view_layer.objects.active
    bpy.ops.import_scene.md5(filepath=str(corpus / anim_path))
    before = read_mesh(corpus / mesh_path)
    options = {"add_origin": "ALWAYS" if game in ("DOOM3", "DOOM3_BFG") else "NEVER", "split_surfaces": False}
    cut = False
    try:
        export(out, game, actions="ACTIVE", **options)
    except RuntimeError as error:
        if game == "QUAKE2":
            assert "Quake II takes 6,144 in a mesh" in str(error)  # noqa: PT017
            return
        assert "set Bone Influences to 4" in str(error)  # noqa: PT017
        export(out, game, actions="ACTIVE", max_influences=4, **options)
        cut = True
    (animation,) = out.parent.glob("*.md5anim")
    written = read_mesh(out), read_animation(animation)
    findings = check_model(written[0], Game(game), has_animation=True, animations=[written[1]])
    findings += check_animation(written[1], written[0].joints, Game(game))
    codes = {finding.code for finding in findings}
    slack = [bind_pose(mesh, before.joints.positions, before.joints.orientations)[1] for mesh in before.meshes]
    for engine, load in loaders.MD5[game].items():
        if {(engine, code) for code in codes} & loaders.REFUSED_WITH_WARNING:
            continue
        loaded = load(out.read_bytes(), animation.read_bytes())
        # The warning compares other frames.
        allowed = UNITS + 1.5 * loaders.told(findings, engine)
        for frame in sorted({0, loaded.frame_count // 2, loaded.frame_count - 1}):
            bpy.context.scene.frame_set(frame)
            for obj, shown, agreed in zip(meshes_of(armature), loaded.vertices(frame), slack, strict=True):
                wanted = file_vertices(obj)
                if len(wanted) != len(shown):
                    continue
                off = np.linalg.norm(wanted - shown, axis=1) - agreed
                assert off.max(initial=0.0) <= allowed or codes & WARNED or cut, f"{engine}, frame {frame}"


def md2_models():
    """Some models, each for one game; all models for all games are judged without Blender."""
    games = ("ANY", "QUAKE2", "QUAKE2_MODERN")
    return [
        pytest.param(games[i % 3], *param.values, id=f"{games[i % 3]}-{param.id}", marks=param.marks)
        for i, param in enumerate(each_readable_file()[::8])
    ]


@pytest.mark.parametrize(("game", "name"), md2_models())
def test_a_real_md2_is_drawn_by_the_game_as_by_blender(corpus, tmp_path, game, name):
    bpy.ops.import_scene.md2(filepath=str(corpus / name))
    obj = bpy.context.view_layer.objects.active
    path = tmp_path / "out.md2"
    loads = {"ANY": md2.cube, "QUAKE2": md2.quake2, "QUAKE2_MODERN": md2.q2pro}[game]
    try:
        bpy.ops.export_scene.md2(filepath=str(path), game=game)
    except RuntimeError as error:
        assert "q2pro refuses the model: shorten the name" in str(error)  # noqa: PT017
        with pytest.raises(Refused):
            loads((corpus / name).read_bytes())
        return
    try:
        drawn = loads(path.read_bytes())
    except Refused:
        # The imported file was beyond the same limit; that is a warning.
        with pytest.raises(Refused):
            loads((corpus / name).read_bytes())
        return
    for frame in sorted({0, len(drawn.frames) // 2, len(drawn.frames) - 1}):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        mesh = obj.evaluated_get(graph).data
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", places)
        np.testing.assert_allclose(drawn.frames[frame], places.reshape(-1, 3), atol=UNITS)


# MD2


def test_a_limit_that_the_imported_file_exceeded_is_a_warning(tmp_path, capfd):
    path, out = tmp_path / "tall.md2", tmp_path / "out.md2"
    model = md2_samples.odd_model()
    model.skin_height = 512
    md2_samples.write_sample(tmp_path, model).rename(path)
    bpy.ops.import_scene.md2(filepath=str(path))
    capfd.readouterr()
    assert bpy.ops.export_scene.md2(filepath=str(out), game="QUAKE2") == {"FINISHED"}
    assert "Quake II takes 480; the imported file already did" in reports_of(capfd)
    # A mesh of Blender's own has no such excuse.
    del bpy.context.view_layer.objects.active.data["md2"]
    with pytest.raises(RuntimeError, match="Quake II takes 480: use a lower image"):
        bpy.ops.export_scene.md2(filepath=str(out), game="QUAKE2", skin_size_from="CUSTOM", skin_size=(64, 600))
