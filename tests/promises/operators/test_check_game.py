"""Check for Game: what it lists, and what is selected for a finding."""

from __future__ import annotations

import json

import bpy
import md2_samples
import md5_scenes
import numpy as np
import pytest
from md5_rerelease import mdl
from scripted_scenes import rig, tube


def findings():
    return list(bpy.context.window_manager.io_idtech_findings)


def check(game, **options):
    assert bpy.ops.object.md5_check_game(game=game, **options) == {"FINISHED"}
    return {item.code: item for item in findings()}


@pytest.fixture
def scene():
    armature = rig()
    return armature, tube(armature)


def select(code):
    (index,) = (i for i, item in enumerate(findings()) if item.code == code)
    assert bpy.ops.object.io_idtech_select_finding(index=index) == {"FINISHED"}


def selected(mesh, what):
    bpy.ops.object.mode_set(mode="OBJECT")
    flags = np.empty(len(getattr(mesh, what)), dtype=bool)
    getattr(mesh, what).foreach_get("select", flags)
    return np.flatnonzero(flags).tolist()


def test_a_clean_model_has_no_findings_and_is_not_changed(scene):
    armature, _obj = scene
    bpy.context.view_layer.objects.active = armature
    before = (len(bpy.data.objects), len(bpy.data.meshes), bpy.context.mode)
    assert check("SAUERBRATEN") == {}
    assert before == (len(bpy.data.objects), len(bpy.data.meshes), bpy.context.mode)
    assert bpy.context.window_manager.io_idtech_checked_game == "Sauerbraten"


def test_selecting_a_finding_selects_its_vertices(scene):
    armature, obj = scene
    many = [obj.vertex_groups.new(name=f"extra{i}") for i in range(4)]
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for group in many:
        bone = armature.data.edit_bones.new(group.name)
        bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
        bone.parent = armature.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for group in many:
        group.add([5, 9], 0.2, "REPLACE")
    item = check("UNVANQUISHED")["influences"]
    assert item.is_error
    assert (item.object_name, item.kind) == (obj.name, "VERTICES")
    select("influences")
    assert bpy.context.mode == "EDIT_MESH"
    assert tuple(bpy.context.tool_settings.mesh_select_mode) == (True, False, False)
    assert selected(obj.data, "vertices") == [5, 9]


def test_selecting_a_finding_selects_its_faces(scene):
    _armature, obj = scene
    mesh = obj.data
    bpy.context.view_layer.objects.active = obj
    faces = [tuple(face.vertices) for face in mesh.polygons]
    copies = 6144 // (2 * len(faces)) + 1
    big = bpy.data.meshes.new("big")
    count = len(mesh.vertices)
    places = [tuple(vertex.co) for vertex in mesh.vertices] * copies
    big.from_pydata(places, [], [tuple(v + copy * count for v in face) for copy in range(copies) for face in faces])
    obj.data = big
    for index, name in enumerate(("root", "mid", "tip")):
        obj.vertex_groups.new(name=name).add(list(range(index, len(places), 3)), 1.0, "REPLACE")
    item = check("QUAKE2", split_surfaces=False)["triangle_count"]
    assert (item.kind, item.is_error) == ("FACES", True)
    select("triangle_count")
    assert tuple(bpy.context.tool_settings.mesh_select_mode) == (False, False, True)
    chosen = selected(big, "polygons")
    assert chosen == json.loads(item.elements)
    assert chosen == list(range(3072, len(big.polygons)))


def test_selecting_a_finding_selects_its_bones(scene):
    armature, _obj = scene
    armature.location.z = 32.0
    item = check("DOOM3", add_origin="NEVER")["root_away"]
    assert "Add Root Bone" in item.text
    select("root_away")
    assert bpy.context.mode == "EDIT_ARMATURE"
    assert [bone.name for bone in armature.data.edit_bones if bone.select] == ["root"]
    assert armature.data.edit_bones.active.name == "root"


def test_names_that_export_replaces_are_warnings_unless_they_are_not_replaced(scene):
    armature, _obj = scene
    armature.data.bones["mid"].name = "two words"
    item = check("SAUERBRATEN")["unsafe_names"]
    assert not item.is_error
    assert json.loads(item.elements) == ["two words"]
    assert check("SAUERBRATEN", make_names_safe=False)["unsafe_names"].is_error


def test_findings_of_animations_name_their_action(scene):
    _armature, _obj = scene
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24000, 1001.0
    item = check("DOOM3")["rate_fraction"]
    assert item.text.startswith("Bend: a frame rate of 23.976")
    assert "Doom 3 will play 23 frames per second" in item.text


def test_a_finding_of_a_mesh_with_modifiers_selects_the_object(scene):
    _armature, obj = scene
    obj.modifiers.new("fine", "SUBSURF").levels = 4
    obj.modifiers.move(1, 0)
    assert check("QUAKE2", split_surfaces=False)["triangle_count"].kind == "NOTHING"
    select("triangle_count")
    assert bpy.context.view_layer.objects.active == obj


def test_a_selection_can_be_undone_and_the_list_stays(scene):
    armature, obj = scene
    armature.location.z = 32.0
    bpy.context.view_layer.objects.active = obj
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.object.md5_check_game("EXEC_DEFAULT", True, game="DOOM3", add_origin="NEVER") == {"FINISHED"}
    count = len(findings())
    assert bpy.ops.object.io_idtech_select_finding("EXEC_DEFAULT", True, index=0) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_ARMATURE"
    bpy.ops.ed.undo()
    assert bpy.context.mode == "OBJECT"
    assert len(findings()) == count > 0


def test_choosing_a_row_of_the_list_selects(scene):
    armature, _obj = scene
    armature.location.z = 32.0
    check("DOOM3", add_origin="NEVER")
    bpy.context.window_manager.io_idtech_active_finding = 0
    assert bpy.context.mode == "EDIT_ARMATURE"


def test_findings_of_removed_objects_are_skipped(scene):
    armature, _obj = scene
    armature.location.z = 32.0
    check("DOOM3", add_origin="NEVER")
    bpy.data.objects.remove(armature)
    assert bpy.ops.object.io_idtech_select_finding(index=0) == {"CANCELLED"}
    with pytest.raises(RuntimeError, match="no such finding"):
        bpy.ops.object.io_idtech_select_finding(index=99)


def test_the_check_reports_that_there_is_nothing_to_check():
    with pytest.raises(RuntimeError, match="no armature and no mesh"):
        bpy.ops.object.md5_check_game(game="QUAKE")


def test_the_game_of_the_preferences_is_the_default(scene):
    addon = bpy.context.preferences.addons["bl_ext.user_default.io_idtech"]
    addon.preferences.md5_game = "UNVANQUISHED"
    try:
        bpy.ops.object.md5_check_game()
        assert bpy.context.window_manager.io_idtech_checked_game == "Unvanquished"
    finally:
        addon.preferences.property_unset("md5_game")


# MD2


def check_md2(game):
    assert bpy.ops.object.md2_check_game(game=game) == {"FINISHED"}
    assert bpy.context.window_manager.io_idtech_checked_family == "MD2"
    return {item.code: item for item in findings()}


def grid(name, size, place=0.0):
    """A flat mesh of size x size quads with a UV map."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=size, y_subdivisions=size, location=(place, 0, 0))
    obj = bpy.context.view_layer.objects.active
    obj.name = name
    return obj


def test_vertices_beyond_the_limit_are_selected_in_the_mesh_that_has_them():
    small, large = grid("A", 3), grid("B", 50, place=3.0)
    item = check_md2("QUAKE2")["too_many_vertices"]
    assert (item.is_error, item.object_name, item.kind) == (True, large.name, "VERTICES")
    select("too_many_vertices")
    count = len(small.data.vertices)
    assert selected(large.data, "vertices") == list(range(2048 - count, len(large.data.vertices)))
    assert "too_many_vertices" not in check_md2("ANY")


def test_triangles_beyond_the_limit_are_selected_as_faces():
    large = grid("B", 60)
    item = check_md2("QUAKE2_MODERN")["too_many_triangles"]
    assert (item.is_error, item.kind) == (True, "FACES")
    select("too_many_triangles")
    assert selected(large.data, "polygons") == list(range(3072, len(large.data.polygons)))


def test_degenerate_triangles_of_a_file_have_no_face(tmp_path):
    path = md2_samples.write_sample(tmp_path)
    bpy.ops.import_scene.md2(filepath=str(path))
    item = check_md2("ANY")["st_outside_skin"]
    assert item.kind == "FACES"
    select("st_outside_skin")
    faces = selected(bpy.context.view_layer.objects.active.data, "polygons")
    assert faces == json.loads(item.elements)
    assert faces


def test_the_check_reports_a_missing_mesh():
    with pytest.raises(RuntimeError, match="no mesh"):
        bpy.ops.object.md2_check_game(game="QUAKE2")


def add_actions(armature, lengths):
    """Actions of so many frames, none of which is active."""
    for name, length in lengths.items():
        armature.animation_data.action = None
        for frame in (0, length - 1):
            armature.pose.bones["mid"].keyframe_insert("rotation_quaternion", frame=frame)
        armature.animation_data.action.name = name
        armature.animation_data.action.use_fake_user = True


def test_frames_of_all_actions_count_together_for_a_game_that_takes_one_animation(scene):
    armature, _ = scene
    bpy.context.view_layer.objects.active = armature
    add_actions(armature, {"stand": 600, "run": 600})
    found = check("QUAKE2")
    assert "1,210 frames in all actions together" in found["frame_count"].text
    assert found["frame_count"].is_error
    assert "frame_count" not in check("QUAKE")


def test_sequences_that_do_not_fit_the_model_beside_the_blend_file_are_errors(scene, tmp_path):
    armature, _ = scene
    bpy.context.view_layer.objects.active = armature
    bpy.data.actions.remove(bpy.data.actions["Bend"])
    armature.name = "ogre"
    add_actions(armature, {"stand": 2, "run": 3})
    (tmp_path / "ogre.mdl").write_bytes(mdl(["stand1", "stand2", "run1", "run2", "pain1"]))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "work.blend"))
    assert check("QUAKE")
    texts = [item.text for item in findings() if item.code == "companion_frames"]
    assert [text.partition(";")[0] for text in texts] == [
        "run: 3 frames instead of 2",
        "pain: no animation, needs 1 frame",
    ]


@pytest.mark.parametrize("name", ["models/imp/skin", "imp.tga", "imp_00_00"])
def test_a_shader_that_quake_would_not_find_is_a_warning_with_a_name_that_it_would(scene, name):
    armature, obj = scene
    bpy.context.view_layer.objects.active = armature
    obj.data.materials[0].name = name
    finding = check("QUAKE")["skin_path"]
    assert not finding.is_error
    assert f"progs/{name}_00_00" in finding.text
    assert "rename the material to" in finding.text


def test_the_same_finding_about_several_animations_is_listed_once(tmp_path):
    names = {name: md5_scenes.animation(md5_scenes.skeleton()) for name in ("run", "walk")}
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "imp", **names)), animations="FOLDER")
    armature = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("stray").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.md5_check_game(game="DOOM3")
    texts = [item.text for item in bpy.context.window_manager.io_idtech_findings]
    assert [text for text in texts if text.startswith("run, walk: 2 root bones: ")]
    assert not [text for text in texts if text.startswith(("run:", "walk:"))]
