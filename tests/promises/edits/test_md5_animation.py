"""Actions, slots, the NLA and scenes are exported as Blender plays them."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import md5_compare
import numpy as np
import pytest
import scene_state
import workbench
from animation_edits import HAS_SLOTS, SITUATIONS, curves_of, last_bone, pose, remove_curves
from workbench import Bench

pytestmark = pytest.mark.slow

POINTS = workbench.starting_points(("sample", "flag", "made"))
needs_slots = pytest.mark.skipif(not HAS_SLOTS, reason="action slots are of Blender 4.4 and later")


def compared(folder, bench: Bench, actions="ACTIVE", **options) -> md5_compare.Comparison:
    folder = folder / "out"
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.update()
    result = md5_compare.export_and_compare(
        folder, bench.armature, actions=actions, **{"frames": 5, **bench.options, **options}
    )
    assert result.clips
    return result


@pytest.mark.parametrize(("name", "setting"), POINTS)
@pytest.mark.parametrize("what", SITUATIONS)
def test_the_active_action_is_exported_as_evaluated(tmp_path, name, setting, what):
    bench = workbench.bench_of(tmp_path, name, setting)
    SITUATIONS[what](bench)
    result = compared(tmp_path, bench)
    bench.armature.data.pose_position = "POSE"
    assert_moving_as_shown(result, bench, tmp_path, what)


def assert_moving_as_shown(result, bench, tmp_path, what) -> None:
    """Exact; at rest position the file moves all the same, which the judge cannot see."""
    if what == "rest position":
        moving = compared(tmp_path, bench)
        (frozen,), (clip,) = result.clips.values(), moving.clips.values()
        md5_compare.assert_exact(moving)
        np.testing.assert_allclose(frozen.positions, clip.positions, atol=1e-4)
        np.testing.assert_allclose(np.abs(frozen.turns), np.abs(clip.turns), atol=1e-4)
    else:
        md5_compare.assert_exact(result)


@pytest.mark.parametrize("what", sorted(set(SITUATIONS) - {"rest position"}))
def test_the_scene_is_exported_as_it_plays_and_all_actions_from_the_rest_pose(tmp_path, what):
    bench = workbench.sample(tmp_path)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = -2, 7
    SITUATIONS[what](bench)
    for actions in ("SCENE", "ALL"):
        (tmp_path / actions).mkdir()
        result = compared(tmp_path / actions, bench, actions)
        md5_compare.assert_matches_blender(result)
        if actions == "SCENE":
            md5_compare.assert_exact(result)
        else:
            assert {"walk", "wave"} <= set(result.clips)


def test_rest_position_does_not_freeze_all_actions_nor_the_scene(tmp_path):
    bench = workbench.sample(tmp_path)
    bench.armature.data.pose_position = "REST"
    for actions in ("ALL", "SCENE"):
        folder = tmp_path / actions
        folder.mkdir()
        result = md5_compare.export(folder, actions=actions)
        md5_compare.assert_matches_blender(result)
        for clip in result.clips.values():
            assert np.ptp(clip.positions, axis=0).max() > 0.1


def test_unkeyed_channels_of_all_actions_are_at_rest_whatever_was_exported_before(tmp_path):
    bench = workbench.sample(tmp_path)
    for action in bpy.data.actions:
        remove_curves(bench, "head" if action.name == "walk" else "leg.L", action)
    pose(bench.armature.pose.bones["head"])
    pose(bench.armature.pose.bones["leg.L"])
    result = compared(tmp_path, bench, "ALL")
    md5_compare.assert_exact(result)
    assert set(result.clips) == {"walk", "wave"}


# NLA


def _push_down(bench: Bench):
    data = bench.armature.animation_data
    action = data.action
    track = data.nla_tracks.new()
    strip = track.strips.new(action.name, 2, action)
    if HAS_SLOTS and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    data.action = None
    return track, strip


def _tweak(bench: Bench) -> None:
    data = bench.armature.animation_data
    data.nla_tracks.active = data.nla_tracks[0]
    data.nla_tracks[0].strips[0].select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("kind", ["strip", "scaled strip", "two strips", "reversed", "half influence", "with action"])
def test_the_nla_is_exported_with_the_scene(tmp_path, setting, kind):
    bench = workbench.sample(tmp_path, setting)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 12
    action = bench.armature.animation_data.action
    _, strip = _push_down(bench)
    if kind == "scaled strip":
        strip.scale = 1.7
    elif kind == "reversed":
        strip.use_reverse = True
    elif kind == "half influence":
        strip.influence = 0.5
    elif kind == "two strips":
        other = next(one for one in bpy.data.actions if one != action)
        second = bench.armature.animation_data.nla_tracks.new().strips.new("second", 4, other)
        second.blend_type = "ADD"
        if HAS_SLOTS and second.action_slot is None:
            second.action_slot = other.slots[0]
    elif kind == "with action":
        bench.armature.animation_data.action = action
        bench.armature.animation_data.action_blend_type = "ADD"
    md5_compare.assert_exact(compared(tmp_path, bench, "SCENE"))


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_exports_in_nla_tweak_mode_keep_the_mode(tmp_path, actions):
    bench = workbench.sample(tmp_path)
    _push_down(bench)
    _tweak(bench)
    result = md5_compare.export(tmp_path, actions=actions)
    md5_compare.assert_matches_blender(result)
    assert bench.armature.animation_data.use_tweak_mode
    assert set(result.clips) >= ({"walk", "wave"} if actions == "ALL" else set())
    for clip in result.clips.values():
        assert np.ptp(clip.positions, axis=0).max() > 0.1


def test_the_scene_in_nla_tweak_mode_is_exported_as_evaluated(tmp_path):
    bench = workbench.sample(tmp_path)
    _push_down(bench)
    _tweak(bench)
    md5_compare.assert_exact(compared(tmp_path, bench, "SCENE"))


# The scene


def test_drivers_that_read_keyed_properties_of_the_scene_work(tmp_path):
    bench = workbench.sample(tmp_path)
    scene = bpy.context.scene
    bone = last_bone(bench)
    remove_curves(bench, bone.name)
    for frame, value in ((0, 0.0), (5, 2.0)):
        scene["reach"] = value
        scene.keyframe_insert('["reach"]', frame=frame)
    driver = bone.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "reach"
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id, variable.targets[0].data_path = scene, '["reach"]'
    driver.expression = "reach"
    scene.frame_set(0)
    for actions in ("SCENE", "ACTIVE"):
        folder = tmp_path / actions
        folder.mkdir()
        result = compared(folder, bench, actions)
        md5_compare.assert_exact(result)


@pytest.mark.parametrize("actions", ["ACTIVE", "SCENE"])
@pytest.mark.parametrize("old", [50, 100, 200])
def test_time_remapping_is_taken_along(tmp_path, actions, old):
    bench = workbench.sample(tmp_path)
    bpy.context.scene.render.frame_map_old = old
    bpy.context.scene.render.frame_map_new = 100
    md5_compare.assert_exact(compared(tmp_path, bench, actions))


@pytest.mark.parametrize("target", ["modifier", "shape key", "material"])
def test_other_animation_in_the_scene_does_not_disturb(tmp_path, target):
    bench = workbench.sample(tmp_path)
    if target == "modifier":
        modifier = bench.mesh.modifiers.new("Push", "DISPLACE")
        modifier.strength = 0.0
        modifier.keyframe_insert("strength", frame=0)
    elif target == "shape key":
        bench.mesh.shape_key_add(name="Basis")
        key = bench.mesh.shape_key_add(name="Key")
        key.value = 0.0
        key.keyframe_insert("value", frame=0)
    else:
        bench.mesh.data.materials[0].roughness = 0.3
        bench.mesh.data.materials[0].keyframe_insert("roughness", frame=0)
    for actions in ("SCENE", "ALL"):
        folder = tmp_path / actions
        folder.mkdir()
        result = compared(folder, bench, actions)
        md5_compare.assert_matches_blender(result)
        assert len(result.clips) == (1 if actions == "SCENE" else 2)


# Steps and rates


@pytest.mark.parametrize("actions", ["ACTIVE", "SCENE"])
@pytest.mark.parametrize(
    ("frame_step", "frame_rate", "step", "rate"),
    [(1, 0.0, 1.0, 24.0), (2, 0.0, 2.0, 12.0), (1, 48.0, 0.5, 48.0), (2, 48.0, 1.0, 24.0), (3, 12.0, 6.0, 4.0)],
)
def test_frame_step_and_frame_rate_combine(tmp_path, actions, frame_step, frame_rate, step, rate):
    """The animation is sampled anew at the rate, and every so many frames of that are written."""
    bench = workbench.sample(tmp_path)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 12
    bpy.data.actions["walk"].frame_end = 12
    result = compared(tmp_path, bench, actions, step=step, frame_step=frame_step, frame_rate=frame_rate)
    md5_compare.assert_matches_blender(result)
    (clip,) = result.clips.values()
    assert clip.frame_rate == pytest.approx(rate)


def test_the_speed_of_an_animation_stays_the_same_with_every_step_and_rate(tmp_path):
    bench = workbench.sample(tmp_path)
    bpy.context.scene.render.fps = 30
    (tmp_path / "a").mkdir()
    lengths = []
    for frame_step, frame_rate in ((1, 0.0), (2, 0.0), (1, 60.0), (2, 60.0)):
        result = md5_compare.export(tmp_path / "a", actions="SCENE", frame_step=frame_step, frame_rate=frame_rate)
        (clip,) = result.clips.values()
        lengths.append((len(clip.positions) - 1) / clip.frame_rate)
    assert max(lengths) - min(lengths) <= 2.0 / 30.0
    del bench


# Slots


def _two_slots(bench: Bench):
    """An action with a slot for another object before that of the armature."""
    first, second = (bpy.data.actions[name] for name in ("walk", "wave"))
    action = bpy.data.actions.new("both")
    other = action.slots.new("OBJECT", "Other")
    mine = action.slots.new("OBJECT", "Mine")
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    for slot, source in ((other, first), (mine, second)):
        bag = strip.channelbag(slot, ensure=True)
        for curve in curves_of(bench, source):
            made = bag.fcurves.new(curve.data_path, index=curve.array_index)
            for point in curve.keyframe_points:
                made.keyframe_points.insert(*point.co).interpolation = "LINEAR"
    return action, other, mine


@pytest.mark.every_version
@needs_slots
@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
@pytest.mark.parametrize("number", [0, 1])
def test_the_slot_that_is_assigned_counts(tmp_path, setting, actions, number):
    bench = workbench.sample(tmp_path, setting)
    action, *slots = _two_slots(bench)
    data = bench.armature.animation_data
    data.action, data.action_slot = action, slots[number]
    bpy.context.scene.frame_set(0)
    result = compared(tmp_path, bench, actions)
    md5_compare.assert_exact(result)
    if actions == "ALL":
        assert set(result.clips) == {"walk", "wave", "both"}


@pytest.mark.every_version
@needs_slots
def test_an_action_without_a_slot_for_the_armature_is_no_animation_of_it(tmp_path):
    bench = workbench.sample(tmp_path)
    action = bpy.data.actions.new("Light")
    slot = action.slots.new("LIGHT", "Lamp")
    bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    bag.fcurves.new("energy").keyframe_points.insert(1, 1)
    assert set(md5_compare.export(tmp_path, actions="ALL").clips) == {"walk", "wave"}
    del bench


@pytest.mark.every_version
@needs_slots
@pytest.mark.parametrize("assigned", [True, False])
def test_of_two_armatures_in_one_action_each_gets_its_own_slot(tmp_path, assigned):
    bench = workbench.sample(tmp_path)
    workbench.activate(bench.armature, *bench.meshes)
    bpy.ops.object.duplicate()
    copy = next(obj for obj in bpy.context.selected_objects if obj.type == "ARMATURE")
    copy.animation_data_clear()
    action = bpy.data.actions.new("together")
    for obj, angle in ((copy, 0.4), (bench.armature, 0.9)):
        data = obj.animation_data_create()
        data.action = action
        data.action_slot = action.slots.new("OBJECT", obj.name)
        bone = obj.pose.bones["spine"]
        bone.rotation_mode = "QUATERNION"
        for frame, share in ((0, 0.0), (5, angle)):
            bone.rotation_quaternion = (1.0, share, 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    if not assigned:
        bench.armature.animation_data.action = bpy.data.actions["walk"]
    for obj in list(bpy.context.view_layer.objects):
        if obj == copy or obj.parent == copy:
            obj.hide_set(True)
    workbench.activate(bench.armature)
    result = md5_compare.export(tmp_path, actions="ALL")
    (spine,) = [number for number, name in enumerate(result.model.names) if name == "spine"]
    clip = result.clips["together"]
    first, last = clip.turns[0, spine], clip.turns[-1, spine]
    hips = result.model.parents[spine]
    assert np.allclose(clip.turns[0, hips], clip.turns[-1, hips], atol=1e-6)
    angle = 2.0 * np.arccos(min(abs(float(first @ last)), 1.0))
    assert angle == pytest.approx(2.0 * np.arctan(0.9), abs=1e-3)


def _root_motion(armature, name="stroll"):
    """An action that keys the armature object alone, as root motion does, and that plays on nothing."""
    before = armature.animation_data.action
    action = bpy.data.actions.new(name)
    armature.animation_data.action = action
    for frame, x in ((0, 0.0), (4, 3.0)):
        armature.location.x = x
        armature.keyframe_insert("location", frame=frame)
    armature.location.x = 0.0
    armature.animation_data.action = before
    return action


def test_all_actions_include_root_motion_that_plays_nowhere(tmp_path):
    bench = workbench.sample(tmp_path)
    _root_motion(bench.armature)
    bpy.context.scene.frame_set(0)
    result = compared(tmp_path, bench, "ALL")
    md5_compare.assert_exact(result)
    assert set(result.clips) == {"walk", "wave", "stroll"}
    assert result.clips["stroll"].positions[-1, 0, 0] == pytest.approx(
        result.clips["stroll"].positions[0, 0, 0] + 3.0, abs=1e-4
    )
    assert result.warnings == []


def _copy_of(bench: Bench):
    """A bone that copies the location of an empty; the values of the constraint, to be keyed."""
    target = bpy.data.objects.new("target", None)
    target.location = (1.0, 2.0, 30.0)
    bpy.context.scene.collection.objects.link(target)
    constraint = last_bone(bench).constraints.new("COPY_LOCATION")
    constraint.target, constraint.influence = target, 0.25
    return constraint


def _key_influence(bench: Bench):
    constraint = _copy_of(bench)
    for frame, value in ((0, 0.5), (4, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    constraint.influence = 0.25


def _key_property(bench: Bench):
    constraint, bone = _copy_of(bench), bench.armature.pose.bones[0]
    driver = constraint.driver_add("influence").driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.targets[0].id = bench.armature
    variable.targets[0].data_path = f'pose.bones["{bone.name}"]["follows"]'
    for frame, value in ((0, 0.5), (4, 1.0)):
        bone["follows"] = value
        bone.keyframe_insert('["follows"]', frame=frame)
    bone["follows"] = 0.25


def _key_object(bench: Bench):
    for frame, value in ((0, 1.0), (4, 3.0)):
        bench.armature.location.x = value
        bench.armature.keyframe_insert("location", frame=frame)
    bench.armature.location.x = 0.0


@pytest.mark.parametrize("key", [_key_influence, _key_property, _key_object])
@pytest.mark.parametrize("name", ["a first", "z last"])
def test_what_one_of_all_actions_sets_does_not_last_into_the_others(tmp_path, key, name):
    bench = workbench.sample(tmp_path)
    data = bench.armature.animation_data
    before = data.action
    data.action = bpy.data.actions.new(name)
    key(bench)
    data.action = before
    bpy.context.scene.frame_set(0)
    result = compared(tmp_path, bench, "ALL")
    md5_compare.assert_exact(result)
    assert set(result.clips) == {"walk", "wave", name}


def _for_a_crate(bench: Bench):
    crate = bpy.data.objects.new("Crate", None)
    bpy.context.scene.collection.objects.link(crate)
    crate.keyframe_insert("location", frame=0)
    return crate.animation_data.action, "plays on Crate"


def _of_a_crate_in_the_nla(bench: Bench):
    action, reason = _for_a_crate(bench)
    crate = bpy.data.objects["Crate"]
    crate.animation_data.nla_tracks.new().strips.new("still", 0, action)
    crate.animation_data.action = None
    return action, reason


def _of_other_bones(bench: Bench):
    action = bpy.data.actions["walk"].copy()
    for curve in curves_of(bench, action):
        curve.data_path = curve.data_path.replace('["', '["other ')
    return action, "bones that"


def _of_nothing_there(bench: Bench):
    action = _root_motion(bench.armature)
    for curve in curves_of(bench, action):
        curve.data_path = "energy"
    return action, "sets nothing"


@pytest.mark.parametrize("kind", [_for_a_crate, _of_a_crate_in_the_nla, _of_other_bones, _of_nothing_there])
def test_actions_that_are_not_the_armatures_are_left_out_by_name_and_reason(tmp_path, kind):
    bench = workbench.sample(tmp_path)
    action, reason = kind(bench)
    action.use_fake_user = True
    action.name = "stray"
    result = md5_compare.export(tmp_path, actions="ALL")
    assert set(result.clips) == {"walk", "wave"}
    (told,) = result.warnings
    assert "not exported: stray (" in told
    assert reason in told


@pytest.mark.every_version
@needs_slots
def test_the_action_of_another_object_is_not_taken_for_root_motion_when_nothing_plays_it(tmp_path):
    bench = workbench.sample(tmp_path)
    _for_a_crate(bench)
    crate = bpy.data.objects["Crate"]
    crate.animation_data.action.use_fake_user = True
    crate.animation_data_clear()
    result = md5_compare.export(tmp_path, actions="ALL")
    assert set(result.clips) == {"walk", "wave"}
    assert "its slot is for Crate" in result.warnings[0]


def test_without_any_action_of_the_armature_the_animation_operator_tells_why(tmp_path):
    bench = workbench.sample(tmp_path)
    bench.armature.animation_data_clear()
    for name in ("walk", "wave"):
        bpy.data.actions.remove(bpy.data.actions[name])
    _for_a_crate(bench)
    with pytest.raises(RuntimeError, match=r"plays on Crate.*; no action moves"):
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "a.md5anim"), actions="ALL")


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_without_an_armature_the_animation_operator_names_that_cause(tmp_path, actions):
    bench = workbench.sample(tmp_path)
    bpy.data.objects.remove(bench.armature)
    for frame, x in ((0, 0.0), (4, 3.0)):
        bench.mesh.location.x = x
        bench.mesh.keyframe_insert("location", frame=frame)
    with pytest.raises(RuntimeError, match="there is no armature to export"):
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "a.md5anim"), actions=actions, objects_as_joints=False)


# Switching and assigning


@pytest.mark.parametrize("setting", workbench.SETTINGS)
def test_switching_between_imported_actions_plays_them(tmp_path, setting):
    bench = workbench.sample(tmp_path, setting)
    data = bench.armature.animation_data
    seen = {}
    for name in ("walk", "wave", "walk"):
        data.action = bpy.data.actions[name]
        if HAS_SLOTS:
            assert data.action_slot is not None
        bpy.context.scene.frame_set(3)
        matrices = [np.array(bone.matrix) for bone in bench.armature.pose.bones]
        if name in seen:
            np.testing.assert_allclose(matrices, seen[name], atol=1e-5)
        seen[name] = matrices
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        result = compared(folder, bench)
        md5_compare.assert_exact(result)
        assert list(result.clips) == [name]
    assert not np.allclose(seen["walk"], seen["wave"], atol=1e-2)


@pytest.mark.parametrize("way", ["duplicate", "second import", "made alike"])
def test_an_imported_action_plays_on_another_armature_with_the_same_bones(tmp_path, way):
    bench = workbench.sample(tmp_path)
    bpy.context.scene.frame_set(3)
    expected = {bone.name: np.array(bone.matrix) for bone in bench.armature.pose.bones}
    walk = bpy.data.actions["walk"]
    bench.armature.animation_data.action = walk
    bpy.context.scene.frame_set(3)
    expected = {bone.name: np.array(bone.matrix) for bone in bench.armature.pose.bones}
    if way == "duplicate":
        bench.armature.animation_data.action = bpy.data.actions["wave"]
        workbench.activate(bench.armature)
        bpy.ops.object.duplicate()
        other = bpy.context.view_layer.objects.active
    elif way == "second import":
        other = workbench.load([tmp_path / "sample.md5mesh"]).armature
    else:
        other = bpy.data.objects.new("Alike", bench.armature.data.copy())
        bpy.context.scene.collection.objects.link(other)
        bpy.context.view_layer.update()
    other.animation_data_create().action = walk
    if HAS_SLOTS and way == "made alike":
        # Blender picks slots by their names only for what had one before.
        other.animation_data.action_slot = other.animation_data.action_suitable_slots[0]
    elif HAS_SLOTS:
        assert other.animation_data.action_slot is not None
    for bone in other.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(3)
    for bone in other.pose.bones:
        np.testing.assert_allclose(np.array(bone.matrix), expected[bone.name], atol=1e-4)


# Visibility


def _exclude(bench: Bench) -> None:
    collection = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(collection)
    for owner in bench.armature.users_collection:
        owner.objects.unlink(bench.armature)
    collection.objects.link(bench.armature)
    bpy.context.view_layer.layer_collection.children["Rigs"].exclude = True


def _elsewhere_entirely(bench: Bench) -> None:
    for owner in bench.armature.users_collection:
        owner.objects.unlink(bench.armature)
    bench.armature.use_fake_user = True


HIDING: dict[str, Callable[[Bench], None]] = {
    "hidden": lambda bench: bench.armature.hide_set(True),
    "disabled in viewports": lambda bench: setattr(bench.armature, "hide_viewport", True),
    "in an excluded collection": _exclude,
    "in no scene": _elsewhere_entirely,
}


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
@pytest.mark.parametrize("hiding", HIDING)
def test_an_armature_that_is_not_visible_exports_the_motion_of_its_visible_mesh(tmp_path, setting, hiding, actions):
    bench = workbench.sample(tmp_path, setting)
    workbench.activate(bench.mesh)
    HIDING[hiding](bench)
    result = compared(tmp_path, bench, actions)
    md5_compare.assert_exact(result)
    assert any(np.ptp(clip.positions, axis=0).max() > 0.1 for clip in result.clips.values())


# State


@pytest.mark.parametrize("actions", ["NONE", "ACTIVE", "ALL", "SCENE"])
@pytest.mark.parametrize("what", SITUATIONS)
def test_an_export_has_no_side_effects(tmp_path, actions, what):
    bench = workbench.sample(tmp_path)
    SITUATIONS[what](bench)
    bpy.context.view_layer.update()
    md5_compare.assert_matches_blender(md5_compare.export(tmp_path, actions=actions))


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
@pytest.mark.parametrize("what", ["an unkeyed pose", "rest position", "not at the first frame", "in pose mode"])
def test_a_failed_export_has_no_side_effects(tmp_path, actions, what):
    bench = workbench.sample(tmp_path)
    SITUATIONS[what](bench)
    bpy.context.view_layer.update()
    before = scene_state.everything()
    for options in ({"filepath": str(tmp_path / "nowhere" / "a.md5mesh")}, _refused(tmp_path)):
        with pytest.raises(RuntimeError):
            bpy.ops.export_scene.md5mesh(actions=actions, **options)
        changed = scene_state.differences(before, scene_state.everything())
        assert not changed, "; ".join(changed)
    del bench


def _refused(folder):
    """A collection that is not there."""
    return {"filepath": str(folder / "a.md5mesh"), "collection": "nowhere"}


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_an_export_with_nla_has_no_side_effects(tmp_path, actions):
    bench = workbench.sample(tmp_path)
    action = bench.armature.animation_data.action
    track, _ = _push_down(bench)
    bench.armature.animation_data.action = action
    track.is_solo = True
    bpy.context.scene.frame_set(2)
    md5_compare.assert_matches_blender(md5_compare.export(tmp_path, actions=actions))
