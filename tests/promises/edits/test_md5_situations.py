"""Scenes in which something changes on a few frames, or plays otherwise than its keys alone tell."""

from __future__ import annotations

import bpy
import md5_compare
import numpy as np
import pytest
import scene_edits
import scene_state
import scripted_scenes
import workbench
from animation_edits import HAS_SLOTS, bags_of, curves_of
from md5_compare import compared, said
from workbench import Bench

pytestmark = pytest.mark.slow


def exported(folder, bench: Bench, verify="", **options) -> md5_compare.Comparison:
    """Exports, by the default of Verify unless told otherwise; nothing but the files may change."""
    folder = folder / "out"
    folder.mkdir(exist_ok=True)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = bench.armature
    bpy.context.scene.frame_set(1)
    result = md5_compare.export(folder, verify=verify, **options)
    assert result.findings == []
    return result


def key(owner, path: str, *values: tuple[int, object]) -> None:
    """Keys a property: frames and values."""
    for frame, value in values:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def lasting(frames: int) -> Bench:
    """A rig and a tube whose action goes on for that many frames."""
    bench = workbench.made()
    for curve in curves_of(bench):
        curve.keyframe_points[-1].co.x = frames
        curve.update()
    bpy.context.scene.frame_end = frames
    return bench


def prop(bench: Bench):
    """A cube that is no part of the rig yet."""
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(2.0, 0.0, 0.0))
    cube = bpy.context.object
    cube.data.materials.append(bpy.data.materials.new("Prop"))
    return cube


# On a few frames


def _blink(bench: Bench) -> str:
    mesh = bench.mesh
    mesh.shape_key_add(name="Basis")
    lid = mesh.shape_key_add(name="Blink")
    for point in lid.data:
        point.co.x *= 1.5
    key(lid, "value", (1, 0.0), (24, 0.0), (26, 1.0), (28, 0.0), (60, 0.0))
    return "shape keys are animated"


def _driven_blink(bench: Bench) -> str:
    _blink(bench)
    keys = bench.mesh.data.shape_keys
    keys.animation_data_clear()
    keys.key_blocks["Blink"].driver_add("value").driver.expression = "24 < frame < 28"
    return "shape keys are animated"


def _pop(bench: Bench) -> str:
    even = [(frame, (size, size, size)) for frame, size in ((1, 1.0), (5, 1.0), (8, 1.6), (11, 1.0))]
    key(bench.armature.pose.bones["tip"], "scale", *even)
    return "bones are scaled, which joints cannot be: tip"


def _jump(bench: Bench) -> str:
    bench.mesh.modifiers.clear()
    bench.mesh.parent_type, bench.mesh.parent_bone = "BONE", "mid"
    key(bench.mesh, "location", (1, (0, 0, 0)), (33, (0, 0, 0)), (36, (1, 1, 0)), (39, (0, 0, 0)))
    return "the object or one of its modifiers is animated"


def _late_hook(bench: Bench) -> str:
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    key(hook, "location", (1, (0, 0, 0)), (44, (0, 0, 0)), (46, (1, 0, 0)), (48, (0, 0, 0)))
    modifier = bench.mesh.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set(range(20))
    bench.mesh.modifiers.move(1, 0)
    return "modifiers that depend on other objects: Hook"


def _wave(bench: Bench) -> str:
    modifier = bench.mesh.modifiers.new("Ripple", "WAVE")
    modifier.time_offset = 20.0
    bench.mesh.modifiers.move(1, 0)
    return "modifiers change the mesh over time: Ripple"


def _keyed_nodes(bench: Bench) -> str:
    scene_edits.node_group(bench.mesh, _moved_by_a_key)
    return "Geometry Nodes change the mesh: Nodes"


def _moved_by_a_key(tree, geometry):
    """Keys of a node, in the action of the node group."""
    node = tree.nodes.new("GeometryNodeSetPosition")
    tree.links.new(geometry, node.inputs["Geometry"])
    still = (0.0, 0.0, 0.0)
    key(node.inputs["Offset"], "default_value", (1, still), (24, still), (26, (1.0, 0.0, 0.0)), (28, still))
    return node.outputs[0]


@pytest.mark.parametrize("change", [_blink, _driven_blink, _pop, _jump, _late_hook, _wave, _keyed_nodes])
def test_a_difference_on_a_few_frames_is_named_with_its_cause(tmp_path, change):
    bench = lasting(60)
    cause = change(bench)
    warnings = exported(tmp_path, bench, actions="ACTIVE").warnings
    assert said(warnings, bench.mesh.name, "off from what Blender shows on frame", f"Likely cause: {cause}")


# With a few frames verified, as large as with all of them


def _flick(bench: Bench, bone: str, frame: int, turn=(0.0, 1.0, 0.0, 0.0)) -> None:
    """Turns a bone on one frame and the two beside it; on most others, all bones rest."""
    posed = bench.armature.pose.bones[bone]
    rest = (1.0, 0.0, 0.0, 0.0)
    key(posed, "rotation_quaternion", (1, rest), (frame - 2, rest), (frame, turn), (frame + 2, rest), (100, rest))


def _hop(bench: Bench, owner=None) -> None:
    """Moves the root, or another owner, on one frame and those beside it."""
    owner = owner or bench.armature.pose.bones["root"]
    still = (0.0, 0.0, 0.0)
    key(owner, "location", (1, still), (35, still), (37, (0.5, 2.0, 1.0)), (39, still), (100, still))


def _loose_mesh_of_a_moving_rig(bench: Bench) -> None:
    bench.mesh.parent = None
    _hop(bench, bench.armature)


def _limited_modifier(bench: Bench) -> None:
    half = bench.mesh.vertex_groups.new(name="half")
    half.add(range(20), 0.5, "REPLACE")
    bench.mesh.modifiers[0].vertex_group = "half"
    _hop(bench)


def _cast(bench: Bench) -> None:
    bench.mesh.modifiers.new("Cast", "CAST").factor = 0.4
    _hop(bench)


def _displaced_in_the_scene(bench: Bench) -> None:
    bench.mesh.modifiers.new("Displace", "DISPLACE").texture_coords = "GLOBAL"
    bench.mesh.modifiers["Displace"].texture = bpy.data.textures.new("Clouds", "CLOUDS")
    _hop(bench)


def _wrapped(bench: Bench) -> None:
    still = prop(bench)
    bench.mesh.modifiers.new("Shrinkwrap", "SHRINKWRAP").target = still
    _hop(bench)


def _unweighted(bench: Bench) -> None:
    for group in bench.mesh.vertex_groups:
        group.remove(range(4))
    _hop(bench)


def _bendy_handle(bench: Bench) -> None:
    bench.armature.data.bones["mid"].bbone_segments = 8
    bone = bench.armature.pose.bones["mid"]
    key(bone, "bbone_curveinx", (1, 0.0), (35, 0.0), (37, 1.5), (39, 0.0), (100, 0.0))


def _bendy_neighbor(bench: Bench) -> None:
    bones = bench.armature.data.bones
    bones["mid"].bbone_segments = 8
    bones["mid"].bbone_handle_type_end, bones["mid"].bbone_custom_handle_end = "ABSOLUTE", bones["tip"]
    for bone, frame in (("tip", 71), ("root", 20)):
        _flick(bench, bone, frame, (0.92, 0.38, 0.0, 0.0))


def _twists(bench: Bench) -> None:
    bench.mesh.modifiers[0].use_deform_preserve_volume = True
    other = scripted_scenes.tube(bench.armature, "Other", rows=3)
    other.modifiers[0].use_deform_preserve_volume = True
    for group in other.vertex_groups:
        group.remove(range(len(other.data.vertices)))
    for index, group in enumerate(("root", "mid")):
        other.vertex_groups[group].add(range(len(other.data.vertices)), 0.4 + 0.2 * index, "REPLACE")
    for frame, turn in ((8, 0.9), (22, 1.0), (36, 0.8), (50, 0.95)):
        _flick(bench, "tip", frame, (np.cos(turn), 0.0, np.sin(turn), 0.0))
    _flick(bench, "mid", 64, (np.cos(0.5), 0.0, np.sin(0.5), 0.0))


def _keyed_shape(bench: Bench) -> None:
    mesh = bench.mesh
    mesh.shape_key_add(name="Basis")
    fat = mesh.shape_key_add(name="Fat")
    for point in fat.data:
        point.co.x *= 2.0
    key(fat, "value", (1, 0.0), (11, 0.3), (13, 1.0), (15, 0.3), (100, 0.0))


@pytest.mark.parametrize(
    "change",
    [
        _loose_mesh_of_a_moving_rig, _limited_modifier, _cast, _displaced_in_the_scene, _wrapped, _unweighted,
        _bendy_handle, _bendy_neighbor, _twists, _keyed_shape,
    ],
)  # fmt: skip
def test_a_difference_that_is_told_is_the_largest_of_all_frames(tmp_path, change):
    bench = lasting(100)
    change(bench)
    some = differences(exported(tmp_path, bench, actions="ACTIVE").warnings)
    every = differences(exported(tmp_path, bench, actions="ACTIVE", verify="ALL").warnings)
    assert some
    assert some == every


def differences(warnings: list[str]) -> list[str]:
    """The warnings that tell how far an export is off."""
    return sorted(text for text in warnings if "off from what Blender shows on frame" in text)


def test_a_script_that_moves_a_mesh_on_one_frame_is_noticed(tmp_path, on_each_frame):
    bench = lasting(100)
    bench.mesh.parent = None

    def shake(scene, *_):
        bench.mesh.location.x = 2.0 if scene.frame_current == 4 else 0.0

    on_each_frame(shake)
    warnings = exported(tmp_path, bench, actions="ACTIVE").warnings
    assert said(warnings, bench.mesh.name, "off from what Blender shows on frame 4 ", "a script, as of an add-on")


def test_a_script_that_moves_a_bone_on_one_frame_is_exported(tmp_path, on_each_frame):
    bench = lasting(100)
    bone = bench.armature.pose.bones["tip"]

    def shake(scene, *_):
        bone.location.x = 2.0 if scene.frame_current == 4 else 0.0

    on_each_frame(shake)
    md5_compare.assert_exact(compared(tmp_path, bench, step=1.0))


def test_smooth_by_angle_is_no_cause_of_a_difference(tmp_path):
    bench = lasting(100)
    modifier = scene_edits.node_group(bench.mesh, _smooth_by_angle, first=False)
    bench.mesh.modifiers[0].use_deform_preserve_volume = True
    _flick(bench, "mid", 50, (0.5, 0.0, 0.866, 0.0))
    warnings = exported(tmp_path, bench, actions="ACTIVE").warnings
    assert said(warnings, "Likely cause: Preserve Volume")
    assert not said(warnings, modifier.name)


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL", "SCENE"])
def test_an_armature_in_rest_position_is_named(tmp_path, actions):
    bench = workbench.made()
    bench.armature.data.pose_position = "REST"
    result = exported(tmp_path, bench, actions=actions)
    assert said(result.warnings, bench.armature.name, "is in Rest Position", "as in Pose Position")
    assert not np.array_equal(*next(iter(result.clips.values())).positions[[0, -1]])


def test_a_mesh_of_bones_that_do_not_deform_is_bound_to_the_root(tmp_path):
    bench = workbench.made()
    for bone in bench.armature.data.bones:
        bone.use_deform = False
    warnings = exported(tmp_path, bench).warnings
    assert said(warnings, bench.mesh.name, "without weights of deforming bones: bound to the root")


def _smooth_by_angle(tree, geometry):
    """As *Shade Auto Smooth* adds it."""
    angle = tree.nodes.new("GeometryNodeInputMeshEdgeAngle")
    smooth = tree.nodes.new("GeometryNodeSetShadeSmooth")
    tree.links.new(geometry, smooth.inputs[0])
    tree.links.new(angle.outputs[0], smooth.inputs[1])
    return smooth.outputs[0]


def test_envelopes_are_the_only_cause_that_is_named(tmp_path):
    bench = workbench.made()
    modifier = bench.mesh.modifiers[0]
    modifier.use_bone_envelopes, modifier.use_vertex_groups = True, False
    warnings = exported(tmp_path, bench, actions="ACTIVE").warnings
    assert said(warnings, "Likely cause: Bone Envelopes are on in the modifier Armature")
    assert not said(warnings, "add an Armature modifier")


def test_edges_that_a_modifier_splits_after_the_armature_are_no_difference(tmp_path):
    bench = workbench.made()
    triangulate = bench.mesh.modifiers.new("Triangulate", "TRIANGULATE")
    bench.mesh.modifiers.move(1, 0)
    bench.mesh.modifiers.new("Split", "EDGE_SPLIT").split_angle = 0.75
    assert triangulate.name == bench.mesh.modifiers[0].name
    result = compared(tmp_path, bench)
    md5_compare.assert_exact(result)
    assert result.warnings == []


# Props


@pytest.mark.parametrize("channel", ["influence", "mute"])
@pytest.mark.parametrize("frame", [1, 8])
def test_a_prop_that_is_picked_up_later_belongs_to_the_rig_on_every_frame(tmp_path, channel, frame):
    bench = workbench.made()
    cube = prop(bench)
    constraint = cube.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = bench.armature, "tip"
    constraint.set_inverse_pending = False
    values = ((1, True), (6, False)) if channel == "mute" else ((1, 0.0), (5, 0.0), (6, 1.0))
    key(constraint, channel, *values)
    bpy.context.view_layer.objects.active = bench.armature
    bpy.context.scene.frame_set(frame)
    (tmp_path / "out").mkdir()
    result = md5_compare.export(tmp_path / "out", actions="ACTIVE")
    assert result.findings == []
    assert {block.shader for block in result.model.blocks} >= {"Prop"}
    assert said(result.warnings, cube.name, "Likely cause", "the object has constraints")
    assert not said(result.warnings, "no bone of")


def test_deform_bones_only_keeps_a_bone_whose_constraint_is_switched_on_later(tmp_path):
    bench = workbench.made()
    workbench.activate(bench.armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = bench.armature.data.edit_bones
    hand = bones.new("hand")
    hand.head, hand.tail, hand.parent = (0.0, 0.0, 4.0), (0.0, 0.0, 5.0), bones["tip"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bench.armature.data.bones["hand"].use_deform = False
    cube = prop(bench)
    cube.parent, cube.parent_type, cube.parent_bone = bench.armature, "BONE", "hand"
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    constraint = bench.armature.pose.bones["hand"].constraints.new("COPY_LOCATION")
    constraint.target = target
    path = f'pose.bones["hand"].constraints["{constraint.name}"].enabled'
    for frame, enabled in ((1, False), (6, True)):
        constraint.enabled = enabled
        bench.armature.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = bench.armature
    result = compared(tmp_path, bench, deform_only=True)
    md5_compare.assert_matches_blender(result)
    assert result.warnings == ["the bone hand is exported although Deform is off, because Cube is parented to it"]


# Hidden meshes


def _hide(bench: Bench) -> None:
    bench.mesh.hide_set(True)


def _disable(bench: Bench) -> None:
    bench.mesh.hide_viewport = True


def _exclude(bench: Bench) -> None:
    collection = bpy.data.collections.new("Meshes")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(bench.mesh)
    bpy.context.scene.collection.objects.unlink(bench.mesh)
    bpy.context.view_layer.layer_collection.children["Meshes"].exclude = True


@pytest.mark.parametrize(
    ("hide", "reason"), [(_hide, "hidden"), (_disable, "hidden"), (_exclude, "not in the view layer")]
)
@pytest.mark.parametrize("use_selection", [False, True])
def test_a_rig_whose_meshes_are_all_hidden_does_not_replace_a_model(tmp_path, hide, reason, use_selection):
    bench = workbench.made()
    exported(tmp_path, bench)
    path = tmp_path / "out" / "exported.md5mesh"
    before = path.read_bytes()
    hide(bench)
    workbench.activate(bench.armature)
    options = {"use_selection": use_selection}
    with pytest.raises(RuntimeError, match=f"there is no mesh to export; Tube: {reason}"):
        bpy.ops.export_scene.md5mesh(filepath=str(path), **options)
    assert path.read_bytes() == before
    with pytest.raises(RuntimeError, match="there is no mesh to export"):
        bpy.ops.object.md5_check_game(game="DOOM3")
    said_now = md5_compare.call(bpy.ops.export_scene.md5anim, filepath=str(tmp_path / "out.md5anim"), **options)
    assert said(said_now, "the bounds are those of the joints alone", f"Tube: {reason}")


def test_an_animation_without_its_model_is_exported_with_bounds_that_are_warned_about(tmp_path):
    bench = workbench.made()
    bpy.data.objects.remove(bench.mesh)
    told = md5_compare.call(bpy.ops.export_scene.md5anim, filepath=str(tmp_path / "out.md5anim"))
    assert said(told, "the bounds are those of the joints alone", "Import the md5mesh too")


def test_meshes_in_another_collection_than_the_one_exported_are_named(tmp_path):
    bench = workbench.made()
    rigs = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(rigs)
    rigs.objects.link(bench.armature)
    bpy.context.scene.collection.objects.unlink(bench.armature)
    path = str(tmp_path / "out.md5mesh")
    with pytest.raises(RuntimeError, match="Tube: not in the collection that is exported"):
        bpy.ops.export_scene.md5mesh(filepath=path, collection="Rigs")


def test_a_skeleton_without_any_mesh_is_exported(tmp_path):
    bench = workbench.made()
    bpy.data.objects.remove(bench.mesh)
    assert exported(tmp_path, bench).model.blocks == []


# What plays


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_bones_whose_curves_name_them_by_number_move(tmp_path, actions):
    bench = workbench.made()
    number = bench.armature.pose.bones.find("mid")
    for curve in curves_of(bench):
        curve.data_path = curve.data_path.replace('["mid"]', f"[{number}]")
    md5_compare.assert_exact(compared(tmp_path, bench, actions))


def test_an_action_whose_curves_name_bones_by_number_alone_is_one_of_all(tmp_path):
    bench = workbench.made()
    pose = bench.armature.pose.bones
    for curve in curves_of(bench):
        for number, bone in enumerate(pose):
            curve.data_path = curve.data_path.replace(f'["{bone.name}"]', f"[{number}]")
    bench.armature.animation_data.action.use_fake_user = True
    bench.armature.animation_data.action = None
    assert set(exported(tmp_path, bench, actions="ALL").clips) == {"Bend"}


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_motion_by_modifiers_of_curves_beyond_a_single_key_is_named(tmp_path, actions):
    bench = workbench.made()
    for curve in curves_of(bench):
        curve.keyframe_points.remove(curve.keyframe_points[-1])
    assert exported(tmp_path, bench, actions=actions).warnings == []
    curves_of(bench)[0].modifiers.new("NOISE")
    result = exported(tmp_path, bench, actions=actions)
    assert said(result.warnings, "Bend", "only one frame", "Manual Frame Range")
    bench.armature.animation_data.action.use_frame_range = True
    bench.armature.animation_data.action.frame_end = 10
    result = compared(tmp_path, bench, actions)
    md5_compare.assert_exact(result)
    assert len(result.clips["Bend"].positions) == 10


@pytest.mark.every_version
@pytest.mark.skipif(not HAS_SLOTS, reason="before Blender 4.4 there are no slots")
@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_the_range_of_an_action_is_that_of_the_slot_of_the_rig(tmp_path, actions):
    bench = workbench.made()
    action = bench.armature.animation_data.action
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.animation_data_create().action = action
    camera.animation_data.action_slot = action.slots.new("OBJECT", "Camera")
    key(camera, "location", (-20, (0, 0, 0)), (100, (5, 0, 0)))
    assert tuple(action.frame_range) == (-20, 100)
    assert len(bags_of(action)) == 2
    clip = exported(tmp_path, bench, actions=actions).clips["Bend"]
    assert len(clip.positions) == 10


@pytest.mark.parametrize("side", ["frame_start", "frame_end"])
def test_a_strip_that_is_longer_than_its_action_plays_it_again(tmp_path, side):
    bench = workbench.made()
    data = bench.armature.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("Long", 11, action)
    if HAS_SLOTS:
        strip.action_slot = action.slots[0]
    data.action = None
    setattr(strip, side, 5 if side == "frame_start" else 26)
    bpy.context.scene.frame_end = 26
    strip.name = "Long"
    workbench.activate(bench.armature)
    bpy.ops.object.io_idtech_list_animations(source="STRIPS")
    chosen = exported(tmp_path, bench, actions="LIST").clips["Long"]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = map(int, (strip.frame_start, strip.frame_end))
    (played,) = exported(tmp_path, bench, actions="SCENE").clips.values()
    assert len(chosen.positions) == len(played.positions) > 10
    assert chosen.positions == pytest.approx(played.positions, abs=1e-5)


@pytest.mark.parametrize("actions", ["ACTIVE", "ALL"])
def test_time_stretching_is_named_where_it_moves_the_keys_of_an_action(tmp_path, actions):
    bench = workbench.made()
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    result = compared(tmp_path, bench, actions)
    md5_compare.assert_exact(result)
    assert said(result.warnings, "Bend", "Time Stretching", "frames 1 to 10 are exported")
    assert compared(tmp_path, bench, "SCENE").warnings == []


# State


@pytest.mark.parametrize("is_selected", [True, False])
def test_weight_paint_with_the_rig_in_pose_mode_stays(tmp_path, is_selected):
    bench = workbench.made()
    workbench.activate(bench.armature)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.view_layer.objects.active = bench.mesh
    bench.mesh.select_set(True)
    bench.armature.select_set(is_selected)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    for operator, name in ((bpy.ops.export_scene.md5mesh, "out.md5mesh"), (bpy.ops.export_scene.md2, "out.md2")):
        before = scene_state.everything()
        md5_compare.call(operator, filepath=str(tmp_path / name))
        assert scene_state.differences(before, scene_state.everything()) == []
        assert (bench.armature.mode, bench.mesh.mode) == ("POSE", "WEIGHT_PAINT")
        assert bench.armature.select_get() == is_selected


@pytest.mark.parametrize("has_action_behind", [True, False])
def test_the_action_behind_nla_tweak_mode_is_kept(tmp_path, has_action_behind):
    bench = workbench.made()
    data = bench.armature.animation_data
    tweaked, behind = data.action, data.action.copy()
    other = tweaked.copy()
    other.name = "Last of all"
    for action in (behind, other):
        action.use_fake_user = True
    data.action = behind if has_action_behind else None
    track = data.nla_tracks.new()
    strip = track.strips.new("Bend", 1, tweaked)
    if HAS_SLOTS:
        strip.action_slot = tweaked.slots[0]
    data.nla_tracks.active = track
    strip.select = True
    data.use_tweak_mode = True
    exported(tmp_path, bench, actions="ALL")
    data.use_tweak_mode = False
    assert data.action == (behind if has_action_behind else None)
