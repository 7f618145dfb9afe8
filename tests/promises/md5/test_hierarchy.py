"""Deform Bones Only on rigs whose deforming bones hang on controls: one skeleton instead of many roots."""

from __future__ import annotations

import addon_utils
import bpy
import pytest

from io_idtech.io_md5.format import read_mesh


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metarig", "count"), [("human", 160), ("basic_human", 35), ("basic_quadruped", 46), ("bird", 79)]
)
def test_a_rig_of_rigify_has_one_root(tmp_path, metarig, count):
    addon_utils.enable("rigify", default_set=True)
    try:
        getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
        plan = bpy.context.object
        bpy.ops.pose.rigify_generate()
        rig = bpy.context.object
        bpy.data.objects.remove(plan)
        add_cube(rig)
        parents = exported(tmp_path)
    finally:
        addon_utils.disable("rigify", default_set=True)
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
