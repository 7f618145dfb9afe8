"""Animations of another skeleton are transferred to an armature, by the import and by an operator."""

from __future__ import annotations

from dataclasses import replace

import bpy
import md5_scenes
import numpy as np
import pytest
from installed import read_empty_scene

from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skeleton import components, encode_poses, with_components
from io_idtech.io_md5.format import Joints, Model, poses, read_animation, write_animation, write_mesh

OTHER_NAMES = {"origin": "Root", "hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "head": "mixamorig:Head",
               "leg.L": "mixamorig:LeftLeg", "leg.R": "mixamorig:RightLeg"}  # fmt: skip
FRAMES = 6


def import_md5(path, **options):
    assert bpy.ops.import_scene.md5(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def write_other(folder, name="other", seed=8):
    """The sample's skeleton with other names and axes, and two animations of it; returns their poses on the sample."""
    folder.mkdir(exist_ok=True)
    joints = md5_scenes.skeleton()
    axes = md5_scenes.turns(len(joints), seed, 2.0)
    other = Joints([OTHER_NAMES[one] for one in joints.names], joints.parents, joints.positions, axes)
    write_mesh(Model(other, [md5_scenes.patch(other)]), folder / f"{name}.md5mesh")
    expected = {}
    for index, action in enumerate(("walk", "run")):
        turns = md5_scenes.turns(FRAMES * len(joints), seed + index, 0.2).reshape(FRAMES, -1, 4)
        offsets = md5_scenes.OFFSETS + np.linspace(0, 5, FRAMES)[:, None, None] * (np.arange(6) < 2)[None, :, None]
        places, spins = md5_scenes.compose(joints.parents, offsets, turns)
        expected[action] = places
        animation = encode_poses(other.names, other.parents, places, quat.multiply(spins, axes), frame_rate=24.0)
        write_animation(animation, folder / f"{action}.md5anim")
    return expected


def joint_places(armature, frame):
    bpy.context.scene.frame_set(frame)
    return {bone.name: np.array(bone.head) for bone in armature.pose.bones}


def assert_plays(armature, action, expected):
    armature.animation_data.action = bpy.data.actions[action]
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = bpy.data.actions[action].slots[0]
    for frame in range(FRAMES):
        found = joint_places(armature, frame)
        for index, name in enumerate(md5_scenes.NAMES):
            np.testing.assert_allclose(found[name], expected[frame, index], atol=0.04)


@pytest.fixture
def target(tmp_path):
    return import_md5(md5_scenes.write(tmp_path))


def test_importing_an_animation_of_another_skeleton_transfers_it(tmp_path, target):
    expected = write_other(tmp_path / "other")
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert_plays(target, "walk", expected["walk"])


def test_all_animations_of_a_folder_are_transferred_in_one_call(tmp_path, target):
    expected = write_other(tmp_path / "other")
    assert bpy.ops.armature.idtech_retarget(directory=str(tmp_path / "other")) == {"FINISHED"}
    for name in ("walk", "run"):
        assert_plays(target, name, expected[name])


def test_a_target_is_chosen_by_name(tmp_path, target):
    expected = write_other(tmp_path / "other")
    other = import_md5(tmp_path / "other" / "other.md5mesh")
    directory = str(tmp_path / "other")
    assert bpy.ops.armature.idtech_retarget(directory=directory, target=target.name) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == other
    assert other.animation_data is None or other.animation_data.action is None
    assert_plays(target, "walk", expected["walk"])


def test_the_list_of_the_import_says_how_few_joints_fit(tmp_path, target, part):
    joints = md5_scenes.skeleton(parents=[-1, 0, 1, 2, 1, 2])
    names = [name if name == "origin" else f"other {name}x" for name in joints.names]
    places, axes = joints.positions[None], joints.orientations[None]
    animation = encode_poses(names, joints.parents, places, axes, frame_rate=24.0)
    (tmp_path / "few").mkdir()
    write_animation(animation, tmp_path / "few" / "walk.md5anim")
    dialog = bpy.context.window_manager.operator_properties_last("import_scene.md5")
    bpy.context.view_layer.objects.active = target
    part("io_blender.skeletal.operators.import_models").fill(
        bpy.context, dialog, part("io_md5.format.files").FORMAT, tmp_path / "few", []
    )
    assert [item.detail.split(";")[0] for item in dialog.animation_list] == ["1 of 6 joints fit"]


def test_the_list_of_the_import_offers_animations_of_another_skeleton_that_are_transferred(
    tmp_path, target, part, monkeypatch
):
    expected = write_other(tmp_path / "other")
    import_md5 = part("io_blender.skeletal.operators.import_models")
    mapped = []
    count_mapped = import_md5.count_mapped
    monkeypatch.setattr(import_md5, "count_mapped", lambda *values: mapped.append(values) or count_mapped(*values))
    dialog = bpy.context.window_manager.operator_properties_last("import_scene.md5")
    bpy.context.view_layer.objects.active = target
    import_md5.fill(bpy.context, dialog, part("io_md5.format.files").FORMAT, tmp_path / "other", [])
    count = len(md5_scenes.NAMES)
    listed = [(item.name, item.fit, item.detail) for item in dialog.animation_list]
    detail = f"{count} of {count} joints fit, with another skeleton"
    assert listed == [(f"{name}.md5anim", "PART", detail) for name in sorted(expected)]
    assert len(mapped) == 1
    row = {
        "name": "walk.md5anim",
        "is_checked": True,
        "frame_count": 1,
        "frame_rate": 24.0,
        "fit": "PART",
        "detail": "",
    }
    options = {"directory": str(tmp_path / "other"), "animations": "CHOOSE", "animation_list": [row]}
    assert bpy.ops.import_scene.md5(**options) == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["walk"]
    assert_plays(target, "walk", expected["walk"])


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_actions_of_an_armature_are_transferred_whatever_its_scale(tmp_path, target, scale):
    expected = write_other(tmp_path / "other")
    source = import_md5(tmp_path / "other" / "other.md5mesh", animations="FOLDER")
    source.scale = 3 * [scale]
    for action in list(bpy.data.actions):
        action.name += " of the source"
    bpy.context.view_layer.objects.active = target
    bpy.context.view_layer.update()
    assert bpy.ops.armature.idtech_retarget(source=source.name, animation_filter="walk*") == {"FINISHED"}
    (made,) = (action for action in bpy.data.actions if "of the source" not in action.name or ".001" in action.name)
    assert_plays(target, made.name, expected["walk"])


@pytest.mark.parametrize("stored", [True, False])
def test_actions_of_the_scene_keep_their_frames_and_rate_and_files_begin_at_start_frame(tmp_path, target, stored):
    expected = write_other(tmp_path / "other")
    source = import_md5(tmp_path / "other" / "other.md5mesh")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "other" / "walk.md5anim"), frame_start=7)
    action, scene = bpy.data.actions["walk"], bpy.context.scene
    if not stored:
        del action["md5"]
    scene.render.fps, scene.frame_start, scene.frame_end = 30, 3, 99
    bpy.context.view_layer.objects.active = target
    assert bpy.ops.armature.idtech_retarget(source=source.name) == {"FINISHED"}
    made = bpy.data.actions["walk.001"]
    assert tuple(made.frame_range) == tuple(action.frame_range) == (7, 6 + FRAMES)
    assert (scene.render.fps, scene.frame_start, scene.frame_end) == (30, 3, 99)
    assert ("frame_rate" in made["md5"]) == stored
    folder = str(tmp_path / "other")
    assert bpy.ops.armature.idtech_retarget(directory=folder, animation_filter="run", frame_start=4) == {"FINISHED"}
    assert tuple(bpy.data.actions["run"].frame_range) == (4, 3 + FRAMES)
    for frame in range(FRAMES):
        found = joint_places(target, 4 + frame)
        np.testing.assert_allclose(found["head"], expected["run"][frame, 3], atol=0.04)


def test_a_source_that_is_turned_and_in_edit_mode_gives_the_same_actions(tmp_path, target):
    expected = write_other(tmp_path / "other")
    source = import_md5(tmp_path / "other" / "other.md5mesh")
    import_md5(tmp_path / "other" / "walk.md5anim")
    source.rotation_euler = (0.3, 0.2, 0.7)
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.armature.idtech_retarget(source=source.name) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_ARMATURE"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_plays(target, "walk.001", expected["walk"])


def test_a_transferred_action_is_exported_with_the_joints_of_the_target(tmp_path, target):
    expected = write_other(tmp_path / "other")
    import_md5(tmp_path / "other" / "walk.md5anim")
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "out.md5anim"))
    animation = read_animation(tmp_path / "out.md5anim")
    assert animation.names == md5_scenes.NAMES
    np.testing.assert_allclose(poses(animation)[0], expected["walk"], atol=0.04)


def test_the_map_is_found_for_the_other_selected_armature(tmp_path, target):
    write_other(tmp_path / "other")
    source = import_md5(tmp_path / "other" / "other.md5mesh")
    bpy.context.view_layer.objects.active = target
    source.select_set(False)
    with pytest.raises(RuntimeError, match="Select the armature with the joints as well, or choose"):
        bpy.ops.armature.idtech_find_joint_map()
    source.select_set(True)
    assert bpy.ops.armature.idtech_find_joint_map() == {"FINISHED"}
    assert {bone.name: bone.md5_source_joint for bone in target.data.bones} == OTHER_NAMES


def test_the_panel_is_there_for_any_armature_with_bones(target):
    assert bpy.types.VIEW3D_PT_idtech_retarget.poll(bpy.context)
    plain = bpy.data.objects.new("plain", bpy.data.armatures.new("plain"))
    bpy.context.collection.objects.link(plain)
    bpy.context.view_layer.objects.active = plain
    assert not bpy.types.VIEW3D_PT_idtech_retarget.poll(bpy.context)


def test_the_map_is_found_edited_saved_and_loaded(tmp_path, target):
    write_other(tmp_path / "other")
    walk = str(tmp_path / "other" / "walk.md5anim")
    assert bpy.ops.armature.idtech_find_joint_map(filepath=walk) == {"FINISHED"}
    bones = target.data.bones
    assert {bone.name: bone.md5_source_joint for bone in bones} == OTHER_NAMES
    bones["head"].md5_source_joint = ""
    path = str(tmp_path / "map.json")
    assert bpy.ops.armature.idtech_save_joint_map(filepath=path) == {"FINISHED"}
    bones["spine"].md5_source_joint = "nothing"
    assert bpy.ops.armature.idtech_load_joint_map(filepath=path) == {"FINISHED"}
    assert {bone.name: bone.md5_source_joint for bone in bones} == OTHER_NAMES | {"head": ""}
    # What is not mapped follows its parent, whatever pose another action left it in.
    target.pose.bones["head"].rotation_mode = "QUATERNION"
    target.pose.bones["head"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
    import_md5(walk)
    bpy.context.scene.frame_set(3)
    head, rest = target.pose.bones["head"], bones["head"]
    relative = target.pose.bones["spine"].matrix.inverted() @ head.matrix
    np.testing.assert_allclose(relative, rest.parent.matrix_local.inverted() @ rest.matrix_local, atol=1e-4)


def test_an_import_stores_the_map_that_it_found_and_does_not_use_that_of_another_source(tmp_path, target):
    bones = target.data.bones
    for bone in bones:
        bone.md5_source_joint = f"Bip01 {bone.name}"
    write_other(tmp_path / "other")
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert {bone.md5_source_joint for bone in bones} == {f"Bip01 {name}" for name in OTHER_NAMES}
    for bone in bones:
        bone.md5_source_joint = ""
    import_md5(tmp_path / "other" / "run.md5anim")
    assert {bone.name: bone.md5_source_joint for bone in bones} == OTHER_NAMES


def warnings_of(capfd):
    return capfd.readouterr().out


def test_joints_of_the_map_that_do_not_exist_are_a_warning(tmp_path, target, capfd):
    write_other(tmp_path / "other")
    walk = tmp_path / "other" / "walk.md5anim"
    bpy.ops.armature.idtech_find_joint_map(filepath=str(walk))
    target.data.bones["head"].md5_source_joint = "Kopf"
    import_md5(walk)
    assert "walk: joints of the map that it does not have: Kopf" in warnings_of(capfd)


def test_bones_whose_roll_was_edited_take_the_motion_without_a_warning(tmp_path, target, capfd):
    expected = write_other(tmp_path / "other")
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in target.data.edit_bones:
        bone.roll += 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert_plays(target, "walk", expected["walk"])
    assert "off from" not in warnings_of(capfd)


@pytest.mark.parametrize("is_of_folder", [False, True])
def test_renamed_joints_in_the_same_order_move_as_with_their_own_names(tmp_path, capfd, is_of_folder):
    joints = md5_scenes.skeleton()
    animation = md5_scenes.animation(joints, frames=FRAMES)
    # The base frame is not the rest pose.
    animation = with_components(animation, components(animation)[::-1])
    expected = poses(animation)[0]
    animation.names[2:] = ["bendy", "wobble", "x", "y"]
    path = md5_scenes.write(tmp_path, walk=animation)
    if is_of_folder:
        armature = import_md5(path, animations="FOLDER")
    else:
        armature = import_md5(path)
        import_md5(tmp_path / "walk.md5anim")
    assert_plays(armature, "walk", expected)
    shown = warnings_of(capfd)
    text = "walk: 4 joints with other names than the bones were matched by their order: bendy, wobble, x, y"
    assert text in shown
    assert "rest pose" not in shown


def test_a_skeleton_whose_model_is_not_in_the_folder_is_a_warning(tmp_path, target, capfd):
    write_other(tmp_path / "other")
    (tmp_path / "other" / "other.md5mesh").unlink()
    walk = read_animation(tmp_path / "other" / "walk.md5anim")
    write_animation(replace(walk, parents=np.array([-1, 0, 1, 2, 1, 2])), tmp_path / "other" / "walk.md5anim")
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert "walk: its rest pose is not known, so its base frame is used" in warnings_of(capfd)


def test_an_animation_that_fits_another_armature_than_the_active_one_is_a_warning(tmp_path, target, capfd):
    write_other(tmp_path / "other")
    source = import_md5(tmp_path / "other" / "other.md5mesh")
    bpy.context.view_layer.objects.active = target
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert source.animation_data.action.name == "walk"
    assert "imported onto other, which has its joints. To transfer it to test, select both" in warnings_of(capfd)


def test_one_equal_name_does_not_take_an_animation_from_the_active_armature(tmp_path, target):
    write_other(tmp_path / "other")
    third = bpy.data.objects.new("third", bpy.data.armatures.new("third"))
    bpy.context.collection.objects.link(third)
    bpy.context.view_layer.objects.active = third
    bpy.ops.object.mode_set(mode="EDIT")
    third.data.edit_bones.new("Root").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target
    import_md5(tmp_path / "other" / "walk.md5anim")
    assert target.animation_data.action.name == "walk"
    assert third.animation_data is None


def test_a_folder_without_fitting_animations_is_a_warning_with_the_remedy(tmp_path, target, capfd):
    write_other(tmp_path / "other")
    bpy.ops.import_scene.md5(directory=str(tmp_path / "other"), animations="FOLDER")
    assert "none in the folder fits. Animation Between Skeletons" in warnings_of(capfd)


def test_the_map_cannot_be_changed_in_edit_mode_whose_end_would_undo_it(target):
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("find", "load", "save"):
        assert not getattr(bpy.ops.armature, f"idtech_{name}_joint_map").poll()
    assert bpy.ops.armature.idtech_retarget.poll()


def test_a_map_that_names_nothing_is_an_error(tmp_path, target):
    write_other(tmp_path / "other")
    (tmp_path / "map.json").write_text('{"joints": {"nobody": "nothing"}}')
    options = {"joint_map": str(tmp_path / "map.json")}
    with pytest.raises(RuntimeError, match="names none of its joints"):
        import_md5(tmp_path / "other" / "walk.md5anim", **options)
    assert not bpy.data.actions
    with pytest.raises(RuntimeError, match="names none of the bones"):
        bpy.ops.armature.idtech_load_joint_map(filepath=options["joint_map"])


def test_an_armature_that_cannot_be_moved_is_an_error(tmp_path, target):
    write_other(tmp_path / "other")
    target.scale = (1, 0, 1)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="has a scale of 0"):
        bpy.ops.armature.idtech_retarget(directory=str(tmp_path / "other"))


def test_a_linked_armature_is_an_error_as_its_actions_would_not_be_saved(tmp_path, target):
    write_other(tmp_path / "other")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "linked.blend"))
    name = target.name
    read_empty_scene()
    with bpy.data.libraries.load(str(tmp_path / "linked.blend"), link=True) as (_, wanted):
        wanted.objects = [name]
    linked = bpy.data.objects[name]
    bpy.context.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    with pytest.raises(RuntimeError, match="is linked"):
        bpy.ops.armature.idtech_retarget(directory=str(tmp_path / "other"))
    with pytest.raises(RuntimeError, match="is linked: make it local"):
        bpy.ops.armature.idtech_find_joint_map(filepath=str(tmp_path / "other" / "walk.md5anim"))


def test_a_map_in_a_file_is_used_instead(tmp_path, target):
    write_other(tmp_path / "other")
    (tmp_path / "map.json").write_text('{"joints": {"hips": "mixamorig:Spine", "origin": "Root"}}')
    import_md5(tmp_path / "other" / "walk.md5anim", joint_map=str(tmp_path / "map.json"))
    moved, still = (joint_places(target, frame) for frame in (0, 3))
    assert not np.allclose(moved["hips"], still["hips"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"source": "nobody"}, "no armature nobody"),
        ({"source": "walker"}, "choose another armature|no armature"),
        ({}, "No animation was chosen"),
    ],
)
def test_a_transfer_without_a_source_is_an_error(target, options, text):
    target.name = "walker"
    with pytest.raises(RuntimeError, match=text):
        bpy.ops.armature.idtech_retarget(**options)


def test_a_model_of_a_folder_that_the_map_is_not_for_is_imported_without_animations(tmp_path, capfd):
    write_other(tmp_path / "other")
    (tmp_path / "map.json").write_text('{"joints": {"nobody": "Root"}}')
    import_md5(md5_scenes.write(tmp_path / "other"), joint_map=str(tmp_path / "map.json"), animations="FOLDER")
    assert not bpy.data.actions
    assert "the joint map names none of their joints and the bones of the model" in warnings_of(capfd)
