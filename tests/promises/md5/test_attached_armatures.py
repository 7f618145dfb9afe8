"""Armatures that hang on a bone of another, such as a weapon in a hand, are exported with it as one model."""

from __future__ import annotations

import re
from math import radians

import bpy
import numpy as np
import pytest
from installed import read_empty_scene

from io_idtech.io_md5.format import read_animation, read_mesh

FRAMES = range(1, 49)


def add_armature(name, bones, location=(0, 0, 0)):
    """An armature of a chain of bones, with a box on each."""
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    obj.location = location
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index, bone_name in enumerate(bones):
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.parent = (index, 0, 0), (index + 1, 0.1, 0.2), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new(f"{name} mesh")
    corners = [(0, 0, 0), (0.9, 0, 0), (0, 0.9, 0), (0, 0, 0.9)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    points = [(x + index, y, z) for index in range(len(bones)) for x, y, z in corners]
    mesh.from_pydata(points, [], [tuple(4 * i + c for c in face) for i in range(len(bones)) for face in faces])
    mesh.uv_layers.new()
    mesh.materials.append(bpy.data.materials.new(f"models/{name}"))
    part = bpy.data.objects.new(f"{name} mesh", mesh)
    bpy.context.collection.objects.link(part)
    part.parent = obj
    part.modifiers.new("Armature", "ARMATURE").object = obj
    for index, bone_name in enumerate(bones):
        part.vertex_groups.new(name=bone_name).add(range(4 * index, 4 * index + 4), 1.0, "REPLACE")
    return obj


def key_bones(obj, angle):
    for index, bone in enumerate(obj.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame, turn in ((FRAMES[0], 0.0), (FRAMES[len(FRAMES) // 3], angle), (FRAMES[-1], -angle)):
            bone.rotation_euler = (turn, 0.3 * turn * index, 0.5 * turn)
            bone.keyframe_insert("rotation_euler", frame=frame)


def hang(obj, carrier, bone, way="PARENT"):
    if way == "PARENT":
        obj.parent, obj.parent_type, obj.parent_bone = carrier, "BONE", bone
        return
    owner = obj if way == "OBJECT" else obj.pose.bones[0]
    constraint = owner.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = carrier, bone
    # As *Set Inverse* does.
    constraint.inverse_matrix = (carrier.matrix_world @ carrier.data.bones[bone].matrix_local).inverted()


def add_fighter(way="PARENT", gun_bones=("grip", "slide"), scale=1.0):
    body = add_armature("body", ("hips", "arm", "hand"))
    gun = add_armature("gun", gun_bones, (0.2, 0.3, 0.1))
    gun.scale = (scale, scale, scale)
    key_bones(body, radians(70))
    key_bones(gun, radians(-50))
    hang(gun, body, "hand", way)
    bpy.context.view_layer.objects.active = body
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(17)
    return body, gun


def export(folder, actions="SCENE", **options):
    path = folder / "fighter.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(path), actions=actions, game="DOOM3", **options)
    return path


def parents_of(path):
    joints = read_mesh(path).joints
    return {
        name: joints.names[parent] if parent >= 0 else None
        for name, parent in zip(joints.names, joints.parents.tolist(), strict=True)
    }


def import_again(path):
    read_empty_scene()
    bpy.ops.import_scene.md5(
        filepath=str(path), directory=str(path.parent), files=[{"name": path.name}, {"name": f"{path.stem}.md5anim"}],
        frame_start=FRAMES[0], use_textures=False, merge_vertices=False,
    )  # fmt: skip


def without_bounds(path):
    """The bytes of an animation but for the boxes, whose last digit depends on Blender's single precision."""
    return re.sub(rb"bounds \{[^}]*\}", b"", path.read_bytes())


def shown():
    """The vertices of all meshes in the scene on each frame, sorted by object, (F, V, 3)."""
    result = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        meshes = sorted((obj for obj in bpy.context.scene.objects if obj.type == "MESH"), key=lambda obj: obj.name)
        evaluated = [obj.evaluated_get(graph) for obj in meshes]
        result.append([tuple(obj.matrix_world @ one.co) for obj in evaluated for one in obj.data.vertices])
    return np.array(result)


@pytest.mark.parametrize(("way", "scale"), [("PARENT", 1.0), ("OBJECT", 1.0), ("BONE", 1.0), ("PARENT", 0.5)])
def test_a_weapon_on_a_hand_is_one_model_that_plays_as_shown(tmp_path, capfd, way, scale):
    add_fighter(way, scale=scale)
    expected = shown()
    path = export(tmp_path)
    animation = path.with_suffix(".md5anim")
    assert "off from what Blender shows" not in capfd.readouterr().out
    assert parents_of(path) == {
        "hips": None, "arm": "hips", "hand": "arm", "grip": "hand", "slide": "grip"
    }  # fmt: skip
    assert len(read_mesh(path).meshes) == 2
    assert read_animation(animation).frame_count == len(FRAMES)
    import_again(path)
    found = shown()
    distances = np.linalg.norm(expected[:, :, None] - found[:, None], axis=3)
    assert distances.min(axis=2).max() < 1e-4
    assert distances.min(axis=1).max() < 1e-4
    before = path.read_bytes(), without_bounds(animation)
    export(tmp_path, "ALL")
    assert (path.read_bytes(), without_bounds(animation)) == before
    assert list(tmp_path.glob("*.md5anim")) == [animation]
    before = path.read_bytes(), animation.read_bytes()
    import_again(path)
    export(tmp_path, "ALL")
    assert (path.read_bytes(), animation.read_bytes()) == before


def test_the_weapon_may_be_the_active_object(tmp_path):
    _, gun = add_fighter()
    bpy.context.view_layer.objects.active = gun
    assert list(parents_of(export(tmp_path))) == ["hips", "arm", "hand", "grip", "slide"]


def test_without_an_active_armature_what_carries_all_is_exported(tmp_path):
    add_fighter()
    bpy.context.view_layer.objects.active = None
    assert len(parents_of(export(tmp_path))) == 5


@pytest.mark.parametrize("active", ["body", "gun"])
def test_separate_exports_the_active_armature_alone(tmp_path, capfd, active):
    add_fighter()
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    path = export(tmp_path, attached_armatures="SEPARATE", add_origin="NEVER")
    assert set(parents_of(path)) == ({"hips", "arm", "hand"} if active == "body" else {"grip", "slide"})
    assert ("set Attached Armatures to Merge" in capfd.readouterr().out) == (active == "body")


def test_a_selected_weapon_is_exported_alone(tmp_path):
    _, gun = add_fighter()
    bpy.ops.object.select_all(action="DESELECT")
    gun.select_set(True)
    assert set(parents_of(export(tmp_path, use_selection=True, add_origin="NEVER"))) == {"grip", "slide"}


@pytest.mark.parametrize(("choice", "count"), [("AUTOMATIC", 3), ("MERGE", 5)])
def test_imported_models_on_a_bone_stay_models_of_their_own_unless_merged(tmp_path, choice, count):
    add_fighter()
    weapon = tmp_path / "weapon.md5mesh"
    bpy.context.view_layer.objects.active = bpy.data.objects["gun"]
    bpy.ops.export_scene.md5mesh(filepath=str(weapon), actions="NONE", attached_armatures="SEPARATE")
    for name in ("gun", "gun mesh"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.import_scene.md5(filepath=str(weapon), use_textures=False)
    body = bpy.data.objects["body"]
    hang(bpy.context.view_layer.objects.active, body, "hand")
    bpy.context.view_layer.objects.active = body
    assert len(parents_of(export(tmp_path, attached_armatures=choice))) == count


def test_joints_with_a_name_that_is_taken_get_a_number_and_a_warning(tmp_path, capfd):
    add_fighter(gun_bones=("hand", "slide"))
    expected = shown()
    path = export(tmp_path)
    assert parents_of(path)["hand.001"] == "hand"
    out = capfd.readouterr().out
    assert "hand.001" in out
    assert "off from what Blender shows" not in out
    assert expected.shape[0] == len(FRAMES)


def test_a_weapon_in_two_hands_hangs_on_the_first_and_plays_as_shown(tmp_path, capfd):
    body, gun = add_fighter()
    hang(gun, body, "arm", "OBJECT")
    gun.constraints[0].influence = 0.5
    path = export(tmp_path)
    out = capfd.readouterr().out
    assert "follows several bones (arm, hand): its joints hang on arm" in out
    assert "off from what Blender shows" not in out
    assert parents_of(path)["grip"] == "arm"


def test_armatures_that_follow_each_other_are_an_error(tmp_path):
    body, gun = add_fighter()
    hang(body, gun, "grip", "OBJECT")
    with pytest.raises(RuntimeError, match="follow bones of each other"):
        export(tmp_path)


def test_too_many_joints_for_the_game_are_an_error(tmp_path):
    add_fighter(gun_bones=[f"b{number}" for number in range(255)])
    with pytest.raises(RuntimeError, match="258 joints"):
        bpy.ops.export_scene.md5mesh(
            filepath=str(tmp_path / "a.md5mesh"), actions="NONE", game="UNVANQUISHED", add_origin="NEVER"
        )


def test_bones_that_do_not_deform_are_left_out_of_all_armatures(tmp_path):
    body, gun = add_fighter()
    for obj, bone in ((body, "hand"), (gun, "grip")):
        obj.data.bones[bone].use_deform = False
        mesh = bpy.data.objects[f"{obj.name} mesh"]
        mesh.vertex_groups.remove(mesh.vertex_groups[bone])
        other = "arm" if obj is body else "slide"
        mesh.vertex_groups[other].add(range(len(mesh.data.vertices)), 1.0, "REPLACE")
    path = export(tmp_path, deform_only=True)
    assert parents_of(path) == {"hips": None, "arm": "hips", "slide": "arm"}


def test_two_weapons_of_one_armature_are_both_exported(tmp_path, capfd):
    body, gun = add_fighter()
    second = gun.copy()
    bpy.context.collection.objects.link(second)
    part = bpy.data.objects["gun mesh"].copy()
    bpy.context.collection.objects.link(part)
    part.parent = part.modifiers[0].object = second
    second.parent_bone = "arm"
    path = export(tmp_path)
    assert parents_of(path)["grip.001"] == "arm"
    assert parents_of(path)["slide.001"] == "grip.001"
    assert "off from what Blender shows" not in capfd.readouterr().out
    assert body.name in bpy.data.objects


@pytest.mark.parametrize(("choice", "count"), [("AUTOMATIC", 3), ("MERGE", 5)])
def test_an_armature_without_meshes_on_a_bone_is_exported_only_on_request(tmp_path, choice, count):
    add_fighter()
    bpy.data.objects.remove(bpy.data.objects["gun mesh"])
    assert len(parents_of(export(tmp_path, attached_armatures=choice))) == count


def test_with_all_actions_the_weapon_plays_its_own_in_each(tmp_path, capfd):
    add_fighter()
    export(tmp_path, actions="ALL")
    assert [path.name for path in tmp_path.glob("*.md5anim")] == ["bodyAction.md5anim"]
    assert "Warning" not in capfd.readouterr().out
    animation = read_animation(tmp_path / "bodyAction.md5anim")
    assert animation.flags[animation.names.index("slide")]


def test_what_hangs_on_the_weapon_becomes_a_child_of_the_weapon(tmp_path):
    body, gun = add_fighter()
    hang(add_armature("scope", ("lens",), (0.1, 0.1, 0.4)), gun, "slide")
    bpy.context.view_layer.objects.active = body
    assert parents_of(export(tmp_path))["lens"] == "slide"
