"""Deform Bones Only on rigs whose deforming bones hang on controls: one skeleton instead of many roots."""

from __future__ import annotations

import re
from math import cos, degrees, pi, sin

import addon_utils
import bpy
import md5_scenes
import numpy as np
import pytest
from clouds import farthest
from installed import read_empty_scene
from mathutils import Vector

from io_idtech.io_md5.format import Joints, Model, read_mesh, write_mesh


def bone(armature, name, parent, z, deforms=False):
    made = armature.data.edit_bones.new(name)
    made.head, made.tail = (0, 0, z), (0, 0, z + 1)
    made.parent = armature.data.edit_bones.get(parent)
    made.use_deform = deforms


def rig_of(*bones):
    """An armature with a cube on its first deforming bone, of names, parents, heights and whether bones deform."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for one in bones:
        bone(armature, *one)
    bpy.ops.object.mode_set(mode="OBJECT")
    add_cube(armature)
    return armature


def add_cube(armature):
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    name = next(one.name for one in armature.data.bones if one.use_deform)
    cube.vertex_groups.new(name=name).add(range(8), 1.0, "REPLACE")
    cube.parent = armature
    cube.modifiers.new("Armature", "ARMATURE").object = armature


def follow(armature, name, control, kind="COPY_TRANSFORMS"):
    constraint = armature.pose.bones[name].constraints.new(kind)
    constraint.target, constraint.subtarget = armature, control


def exported(folder, **options):
    path = folder / "rig.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(path), deform_only=True, actions="NONE", **options)
    joints = read_mesh(path).joints
    parents = [joints.names[parent] if parent >= 0 else "" for parent in joints.parents]
    assert all(parent < index for index, parent in enumerate(joints.parents.tolist()))
    return dict(zip(joints.names, parents, strict=True))


CHAIN = (
    ("spine_control", "", 0),
    ("leg_control", "spine_control", 1),
    ("leg", "leg_control", 1, True),
    ("spine", "", 0, True),
)


def test_a_bone_hangs_on_the_bone_that_its_control_moves(tmp_path):
    armature = rig_of(*CHAIN)
    follow(armature, "spine", "spine_control")
    assert exported(tmp_path, rebuild_hierarchy=False) == {"leg": "", "spine": ""}
    assert exported(tmp_path) == {"spine": "", "leg": "spine"}


def test_a_bone_that_lies_on_its_control_follows_it_without_a_constraint(tmp_path):
    rig_of(*CHAIN[:3], ("spine", "spine_control", 0, True))
    assert exported(tmp_path) == {"spine": "", "leg": "spine"}


def test_bones_that_follow_each_others_controls_make_no_cycle(tmp_path):
    armature = rig_of(
        ("a_control", "", 0), ("b_control", "", 1), ("a", "b_control", 2, True), ("b", "a_control", 3, True)
    )
    follow(armature, "a", "a_control")
    follow(armature, "b", "b_control")
    assert sorted(exported(tmp_path).values()) in (["", "a"], ["", "b"])


def test_a_rig_without_controls_keeps_its_joints(tmp_path):
    rig_of(("root", "", 0, True), ("tip", "root", 1, True), ("other", "", 5, True))
    assert list(exported(tmp_path).items()) == [("root", ""), ("tip", "root"), ("other", "")]


def test_a_root_that_no_control_links_hangs_on_the_bone_that_it_moves_with(tmp_path):
    armature = rig_of(("body", "", 0, True), ("arm", "body", 1, True), ("still", "", 5, True), ("pouch", "", 2, True))
    empty = bpy.data.objects.new("hook", None)
    bpy.context.collection.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = armature, "BONE", "arm"
    constraint = armature.pose.bones["pouch"].constraints.new("CHILD_OF")
    constraint.target = empty
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    arm = armature.pose.bones["arm"]
    for frame, angle in ((1, 0.0), (12, 1.0), (24, 0.3)):
        scene.frame_set(frame)
        arm.rotation_mode = "XYZ"
        arm.rotation_euler = (angle, 0.5 * angle, 0)
        arm.keyframe_insert("rotation_euler", frame=frame)
    assert exported(tmp_path) == {"body": "", "arm": "body", "pouch": "arm", "still": ""}
    assert scene.frame_current == 24


FRAMES = 8


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A file with Rigify's generated human, with a box on each deforming bone, that takes a step in eight frames."""
    read_empty_scene()
    rig = generate("human")
    add_boxes(rig)
    for side, sign in (("L", 1), ("R", -1)):
        foot, arm = rig.pose.bones[f"foot_ik.{side}"], rig.pose.bones[f"upper_arm_fk.{side}"]
        rig.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
        arm.rotation_mode = "XYZ"
        for frame in range(1, FRAMES + 2, 2):
            phase = 2 * pi * (frame - 1) / FRAMES
            foot.location = (0, 0.2 * sign * sin(phase), max(0, 0.1 * sign * cos(phase)))
            foot.keyframe_insert("location", frame=frame)
            arm.rotation_euler = (0.4 * sign * sin(phase), 0, 0)
            arm.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    path = tmp_path_factory.mktemp("rigify") / "walk.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def human(walk):
    """The walking human of the file."""
    bpy.ops.wm.open_mainfile(filepath=str(walk))
    rig = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    return rig


def generate(metarig):
    """A rig that Rigify generates."""
    addon_utils.enable("rigify", default_set=True)
    try:
        getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
        plan = bpy.context.object
        bpy.ops.pose.rigify_generate()
        rig = bpy.context.object
        bpy.data.objects.remove(plan)
    finally:
        addon_utils.disable("rigify", default_set=True)
    return rig


def add_boxes(rig):
    bones = [one for one in rig.data.bones if one.use_deform]
    corners = np.array([(x, y, z) for y in (0, 1) for x in (-1, 1) for z in (-1, 1)], dtype=float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    points = []
    for one in bones:
        matrix = np.array(one.matrix_local)
        width = 0.15 * one.length
        points += ((corners * (width, one.length, width)) @ matrix[:3, :3].T + matrix[:3, 3]).tolist()
    mesh = bpy.data.meshes.new("boxes")
    mesh.from_pydata(points, [], [[8 * i + corner for corner in face] for i in range(len(bones)) for face in faces])
    mesh.materials.append(bpy.data.materials.new("models/boxes"))
    boxes = bpy.data.objects.new("boxes", mesh)
    bpy.context.collection.objects.link(boxes)
    boxes.parent = rig
    boxes.modifiers.new("Armature", "ARMATURE").object = rig
    for index, one in enumerate(bones):
        boxes.vertex_groups.new(name=one.name).add(range(8 * index, 8 * index + 8), 1.0, "REPLACE")


def shown():
    """The vertices of the only mesh on each frame, (F, V, 3)."""
    (obj,) = (one for one in bpy.context.scene.objects if one.type == "MESH" and not one.name.startswith("WGT"))
    result = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        result.append([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])
    return np.array(result)


# Name, parent, height and distance from the middle of a body.
BODY = (
    ("origin", -1, 0, 0), ("Hips", 0, 40, 0), ("Spine", 1, 50, 0), ("Neck", 2, 64, 0), ("Head", 3, 68, 0),
    *(
        (f"{name}.{side}", parent + first, height, sign * across)
        for side, sign, first in (("L", 1, 5), ("R", -1, 11))
        for name, parent, height, across in (
            ("Bicep", 2 - first, 60, 8), ("Forearm", 0, 60, 20), ("Hand", 1, 60, 32),
            ("Thigh", 1 - first, 38, 5), ("Shin", 3, 20, 5), ("Foot", 4, 3, 5),
        )
    ),
)  # fmt: skip


@pytest.mark.slow
def test_a_walk_of_rigifys_human_is_transferred_to_the_skeleton_of_a_game(tmp_path, human):
    names, parents, heights, across = zip(*BODY, strict=True)
    places = np.column_stack([0 * np.array(heights), across, heights])
    joints = Joints(list(names), np.array(parents, np.int32), places, np.tile([1.0, 0, 0, 0], (len(names), 1)))
    write_mesh(Model(joints, [md5_scenes.patch(joints)]), tmp_path / "body.md5mesh")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "body.md5mesh"))
    target = bpy.context.view_layer.objects.active
    human.select_set(True)
    assert bpy.ops.armature.idtech_find_joint_map() == {"FINISHED"}
    sources = {bone.name: bone.md5_source_joint for bone in target.data.bones}
    assert sources.pop("origin") == ""
    assert all(source.startswith("DEF-") for source in sources.values())
    assert bpy.ops.armature.idtech_retarget(source=human.name) == {"FINISHED"}
    for frame in range(FRAMES):
        bpy.context.scene.frame_set(1 + frame)
        ours = {bone.name: bone.head.copy() for bone in target.pose.bones}
        theirs = {bone.name: bone.head.copy() for bone in human.pose.bones}
        for side in "LR":
            for name, other in (("Bicep", "Forearm"), ("Forearm", "Hand"), ("Thigh", "Shin"), ("Shin", "Foot")):
                start, end = f"{name}.{side}", f"{other}.{side}"
                line = theirs[sources[end]] - theirs[sources[start]]
                # The game's model looks along +X, Rigify's along -Y.
                line = Vector((-line.y, line.x, line.z))
                assert degrees(line.angle(ours[end] - ours[start])) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("game", ["DOOM3", "SAUERBRATEN", "QUAKE2"])
def test_a_walk_of_rigifys_human_plays_as_shown_or_a_warning_says_how_far_it_is_off(tmp_path, human, capfd, game):
    expected = shown()
    path = tmp_path / "walk.md5mesh"
    bpy.ops.export_scene.md5mesh(
        filepath=str(path), game=game, actions="SCENE", deform_only=True, verify="ALL", global_scale=40.0
    )
    told = float(re.search(r"up to ([\d.]+) units", capfd.readouterr().out).group(1))
    read_empty_scene()
    bpy.ops.import_scene.md5(
        filepath=str(path), directory=str(tmp_path), files=[{"name": path.name}, {"name": "walk.md5anim"}],
        frame_start=1, use_textures=False, merge_vertices=False, use_companions=False,
    )  # fmt: skip
    found = shown()
    distances = [farthest(40.0 * one, other) for one, other in zip(expected, found, strict=True)]
    assert max(distances) <= told * 1.01
    assert told < 0.01 * np.ptp(found.reshape(-1, 3), axis=0).max()


@pytest.mark.slow
def test_the_refusal_of_too_many_joints_says_how_many_would_be_left(tmp_path, human):
    del human
    with pytest.raises(
        RuntimeError, match=r"706 joints.*Deform Bones Only \(160 joints, 35 without fingers and face\)"
    ):
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "a.md5mesh"), game="QUAKE2", actions="NONE")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metarig", "count"), [("human", 160), ("basic_human", 35), ("basic_quadruped", 46), ("bird", 79)]
)
def test_a_rig_of_rigify_has_one_root(request, tmp_path, metarig, count):
    if metarig == "human":
        request.getfixturevalue("human")
    else:
        add_cube(generate(metarig))
    parents = exported(tmp_path)
    assert len(parents) == count
    assert sum(not parent for parent in parents.values()) == 1
    assert parents["DEF-shin.L"] == "DEF-thigh.L.001"
    assert parents["DEF-thigh.L.001"] == "DEF-thigh.L"
    assert parents["DEF-thigh.L"].startswith("DEF-spine")
    if "human" in metarig:
        assert parents["DEF-upper_arm.L"] == "DEF-shoulder.L"
        assert parents["DEF-shoulder.L"] == "DEF-spine.003"
    if metarig == "human":
        assert parents["DEF-jaw"] == "DEF-spine.006"
