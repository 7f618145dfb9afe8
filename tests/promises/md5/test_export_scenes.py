"""Scenes made in Blender are exported correctly without preparation."""

from __future__ import annotations

import re

import bmesh
import bpy
import md5_scenes
import numpy as np
import pytest
import scripted_scenes
from clouds import distance
from installed import read_empty_scene
from mathutils import Matrix
from scripted_scenes import FRAMES, file_vertices, shown_vertices

from io_idtech.io_common.skeletal.skinning import face_normals
from io_idtech.io_md5.format import read_animation, read_mesh, write_animation
from io_idtech.io_md5.format.check import check_animation, check_model

TOLERANCE = 1e-4


def export(folder, name="model", **options):
    """Exports the model and its active action; both pass the checker."""
    path = folder / f"{name}.md5mesh"
    assert bpy.ops.export_scene.md5mesh(filepath=str(path), **options) == {"FINISHED"}
    model = read_mesh(path)
    assert not [finding for finding in check_model(model) if finding.is_error]
    clips = {file.stem: read_animation(file) for file in folder.glob("*.md5anim")}
    for clip in clips.values():
        assert check_animation(clip, model.joints) == []
    return model, clips


def assert_matches_blender(folder, armature, objects, *, in_motion=True, **options):
    """The file's vertices are those that Blender shows, at rest and over the action."""
    model, clips = export(folder, actions="ACTIVE", **options)
    rest = shown_vertices(objects, [armature])
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    assert distance(rest, file_vertices(model)) <= TOLERANCE * size
    if in_motion:
        (clip,) = clips.values()
        for frame in (0, 4, FRAMES[1] - FRAMES[0]):
            bpy.context.scene.frame_set(FRAMES[0] + frame)
            seen, written = shown_vertices(objects), file_vertices(model, clip, frame)
            assert distance(seen, written) <= TOLERANCE * size
            assert np.abs(clip.bounds[frame] - [seen.min(axis=0), seen.max(axis=0)]).max() <= TOLERANCE * size
    return model


def assert_faces_look_outwards(model, centre):
    for mesh in model.meshes:
        vertices = file_vertices(type(model)(model.joints, [mesh]))
        middle = vertices[mesh.triangles].mean(axis=1) - centre
        assert (np.einsum("ti,ti->t", face_normals(vertices, mesh.triangles), middle) > 0.0).all()


# Transforms


PLACES = {
    "as made": (Matrix(), Matrix()),
    "moved and turned": (scripted_scenes.transform(), Matrix()),
    "scaled": (scripted_scenes.transform() @ Matrix.Scale(2.5, 4), Matrix()),
    "mirrored": (scripted_scenes.transform() @ Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0)), Matrix()),
    "mirrored in all axes and small": (Matrix.Scale(-0.1, 4), Matrix()),
    "mesh moved": (scripted_scenes.transform(), Matrix.Translation((0.2, 0.1, 0.3))),
    "mesh scaled unevenly": (Matrix(), Matrix.Diagonal((1.5, 0.5, 1.0, 1.0))),
    "mesh mirrored": (Matrix(), Matrix.Diagonal((1.0, -1.0, 1.0, 1.0))),
    "both": (
        scripted_scenes.transform(0.6) @ Matrix.Scale(0.3, 4),
        scripted_scenes.transform(0.1) @ Matrix.Scale(1.7, 4),
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_transforms_need_not_be_applied(tmp_path, place):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    armature.matrix_world, obj.matrix_local = PLACES[place]
    bpy.context.view_layer.update()
    model = assert_matches_blender(tmp_path, armature, [obj])
    # The tube is convex, so its faces look away from its middle.
    assert_faces_look_outwards(model, shown_vertices([obj], [armature]).mean(axis=0))


def test_parents_may_be_rotated_and_scaled(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.matrix_world = scripted_scenes.transform() @ Matrix.Scale(3.0, 4)
    armature.parent = empty
    bpy.context.view_layer.update()
    assert_matches_blender(tmp_path, armature, [obj])


def test_an_unevenly_scaled_armature_gives_a_warning(tmp_path, capfd):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    armature.scale = (1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    export(tmp_path)
    assert "scaled unevenly" in "".join(capfd.readouterr())


def test_scale_and_axes_of_the_export(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    model, _ = export(tmp_path, global_scale=10.0, axis_forward="X", axis_up="Z")
    seen = shown_vertices([obj], [armature]) @ np.array(Matrix.Rotation(-np.pi / 2, 3, "Z")).T * 10.0
    assert distance(seen, file_vertices(model)) <= 1e-3


# Meshes


def test_modifiers_are_applied_on_request(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    mirror = obj.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis = (False, True, False)
    mirror.use_bisect_axis = (False, True, False)
    array = obj.modifiers.new("Array", "ARRAY")
    array.count, array.relative_offset_displace = 2, (1.5, 0.0, 0.0)
    for index, name in enumerate(("Mirror", "Array")):
        obj.modifiers.move(obj.modifiers.find(name), index)
    with_modifiers = assert_matches_blender(tmp_path, armature, [obj])
    without, _ = export(tmp_path, "plain", apply_modifiers=False)
    assert without.vertex_count < with_modifiers.vertex_count
    assert len(without.meshes[0].triangles) == 2 * len(obj.data.polygons)
    assert all(modifier.show_viewport for modifier in obj.modifiers)


def test_subdivision_is_exported_as_evaluated_at_rest(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    model = assert_matches_blender(tmp_path, armature, [obj], in_motion=False)
    assert len(model.meshes[0].triangles) == 8 * len(obj.data.polygons)


def test_shape_keys_are_exported_as_evaluated(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Fat")
    for point in key.data:
        point.co.x *= 1.8
    key.value = 0.5
    assert_matches_blender(tmp_path, armature, [obj])


def test_ngons_and_quads_are_triangulated_as_blender_does(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    mesh = obj.data
    with_caps = bpy.data.meshes.new("caps")
    faces = [tuple(polygon.vertices) for polygon in mesh.polygons]
    faces += [tuple(range(7, -1, -1)), tuple(range(len(mesh.vertices) - 8, len(mesh.vertices)))]
    with_caps.from_pydata([vertex.co for vertex in mesh.vertices], [], faces)
    obj.data = with_caps
    obj.vertex_groups.clear()
    scripted_scenes.weigh(obj)
    model = assert_matches_blender(tmp_path, armature, [obj])
    with_caps.calc_loop_triangles()
    assert len(model.meshes[0].triangles) == len(with_caps.loop_triangles)


def test_each_material_is_a_mesh_of_its_own(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    for name in ("unused", "models/test/second"):
        obj.data.materials.append(bpy.data.materials.new(name))
    for polygon in obj.data.polygons:
        polygon.material_index = 2 if polygon.index % 3 == 0 else 0
    model = assert_matches_blender(tmp_path, armature, [obj])
    assert [mesh.shader for mesh in model.meshes] == ["Tube skin", "models/test/second"]
    assert [len(mesh.triangles) for mesh in model.meshes] == [64, 32]


def test_without_a_uv_map_coordinates_are_zero(tmp_path, capfd):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    obj.data.uv_layers.remove(obj.data.uv_layers[0])
    model = assert_matches_blender(tmp_path, armature, [obj])
    assert not model.meshes[0].uvs.any()
    assert "no UV map" in "".join(capfd.readouterr())


def test_loose_vertices_and_edges_are_left_out(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    mesh = obj.data
    mesh.vertices.add(3)
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (len(mesh.vertices) - 2, len(mesh.vertices) - 1)
    assert_matches_blender(tmp_path, armature, [obj])


def test_hidden_objects_are_left_out(tmp_path):
    armature = scripted_scenes.rig()
    shown, hidden = scripted_scenes.tube(armature, "Shown"), scripted_scenes.tube(armature, "Hidden")
    hidden.hide_set(True)
    model, _ = export(tmp_path)
    assert [mesh.shader for mesh in model.meshes] == ["Shown skin"]
    assert shown.visible_get()


def test_linked_duplicates_are_both_exported(tmp_path):
    armature = scripted_scenes.rig()
    first = scripted_scenes.tube(armature)
    second = first.copy()
    second.name = "Twin"
    bpy.context.scene.collection.objects.link(second)
    second.location.x = 3.0
    bpy.context.view_layer.update()
    model = assert_matches_blender(tmp_path, armature, [first, second])
    assert len(model.meshes) == 2


def test_names_of_objects_and_data_may_differ(tmp_path):
    armature = scripted_scenes.rig('The "rig"')
    obj = scripted_scenes.tube(armature, "Tube.001")
    armature.data.name, obj.data.name = "something", "else"
    assert_matches_blender(tmp_path, armature, [obj])


def test_seams_are_copies_that_share_their_weights(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    model, _ = export(tmp_path)
    (mesh,) = model.meshes
    assert mesh.vertex_count == 7 * 9
    ranges = list(zip(mesh.weight_starts.tolist(), mesh.weight_counts.tolist(), strict=True))
    assert len(set(ranges)) == 7 * 8
    places = file_vertices(model)
    for shared in set(ranges):
        members = [vertex for vertex, own in enumerate(ranges) if own == shared]
        assert (places[members] == places[members[0]]).all()


# Weights


def test_weights_are_normalised(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    for vertex in obj.data.vertices:
        for group in vertex.groups:
            group.weight *= 0.35
    model = assert_matches_blender(tmp_path, armature, [obj])
    (mesh,) = model.meshes
    for start, count in zip(mesh.weight_starts, mesh.weight_counts, strict=True):
        assert mesh.weight_biases[start : start + count].sum() == pytest.approx(1.0, abs=1e-6)


def test_the_largest_weights_are_kept(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    for group in obj.vertex_groups:
        group.add(range(len(obj.data.vertices)), 0.05, "ADD")
    model, _ = export(tmp_path)
    assert model.meshes[0].weight_counts.max() == 3
    model, _ = export(tmp_path, max_influences=2)
    assert model.meshes[0].weight_counts.max() == 2
    model, _ = export(tmp_path, min_weight=0.06)
    assert model.meshes[0].weight_counts.max() == 2
    assert model.meshes[0].weight_biases.min() > 0.06


def test_vertices_without_weights_hang_on_the_nearest_bone_and_are_counted(tmp_path, capfd):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    for group in obj.vertex_groups:
        group.remove([0, 1, len(obj.data.vertices) - 1])
    model, _ = export(tmp_path)
    assert "Tube: 3 vertices without weights of deforming bones: bound to the nearest of them" in "".join(
        capfd.readouterr()
    )
    (mesh,) = model.meshes
    places = file_vertices(model)
    for vertex, bone in ((0, "root"), (len(obj.data.vertices) - 1, "tip")):
        lengths = np.linalg.norm(places - obj.data.vertices[vertex].co, axis=1)
        joints = mesh.weight_joints[mesh.weight_starts[int(lengths.argmin())]]
        assert model.joints.names[joints] == bone


def test_bones_that_do_not_deform_are_left_out_on_request(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    armature.data.bones["mid"].use_deform = False
    # A vertex that no deforming bone moves would stay where it is in Blender.
    obj.vertex_groups["root"].add(range(len(obj.data.vertices)), 0.1, "ADD")
    model, _ = export(tmp_path)
    assert model.joints.names == ["root", "mid", "tip"]
    assert model.joints.names.index("mid") not in model.meshes[0].weight_joints
    model, clips = export(tmp_path, "few", deform_only=True, actions="ACTIVE")
    assert (model.joints.names, model.joints.parents.tolist()) == (["root", "tip"], [-1, 0])
    bpy.context.scene.frame_set(6)
    assert distance(shown_vertices([obj]), file_vertices(model, clips["Bend"], 5)) < 1e-3


def test_objects_parented_to_a_bone_follow_it(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature, bind=False)
    obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", "tip"
    bpy.context.view_layer.update()
    assert_matches_blender(tmp_path, armature, [obj])


def test_a_mesh_without_armature_gets_one_joint(tmp_path, capfd):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature, bind=False)
    bpy.data.objects.remove(armature)
    model, _ = export(tmp_path)
    assert model.joints.names == ["origin"]
    assert distance(shown_vertices([obj]), file_vertices(model)) < 1e-5
    assert "there is no armature to export" in "".join(capfd.readouterr())


def test_several_roots_get_an_origin_for_doom_3(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["tip"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    model, _ = export(tmp_path)
    assert model.joints.parents.tolist().count(-1) == 2
    with pytest.raises(RuntimeError, match="2 root bones: root, tip; Doom 3 needs one"):
        bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "bad.md5anim"), game="DOOM3", add_origin="NEVER")
    assert not (tmp_path / "bad.md5anim").exists()
    model = assert_matches_blender(tmp_path, armature, [obj], game="DOOM3")
    assert model.joints.names[0] == "origin"
    assert model.joints.parents.tolist().count(-1) == 1


# The user's state


def state():
    view_layer = bpy.context.view_layer
    active = view_layer.objects.active
    data = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "scenes", "actions", "collections")}
    armature = bpy.data.objects["Rig"]
    return {
        "mode": bpy.context.mode,
        "active": active.name,
        "selected": sorted(obj.name for obj in view_layer.objects if obj.select_get()),
        "frame": (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe),
        "pose": [tuple(value for row in bone.matrix_basis for value in row) for bone in armature.pose.bones],
        "position": armature.data.pose_position,
        "action": armature.animation_data.action.name,
        "nla": armature.animation_data.use_nla,
        "visible": [modifier.show_viewport for modifier in bpy.data.objects["Tube"].modifiers],
        "data": data,
    }


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT", "EDIT_MESH", "WEIGHT_PAINT"])
def test_the_rest_pose_is_exported_and_the_pose_is_restored(tmp_path, mode):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    rest = shown_vertices([obj], [armature])
    bpy.context.scene.frame_set(7, subframe=0.25)
    is_mesh = mode in ("EDIT_MESH", "WEIGHT_PAINT")
    for other in bpy.context.view_layer.objects:
        other.select_set(other == (obj if is_mesh else armature))
    bpy.context.view_layer.objects.active = obj if is_mesh else armature
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode=mode.removesuffix("_MESH"))
    before = state()
    model, clips = export(tmp_path, actions="ALL")
    assert state() == before
    assert distance(rest, file_vertices(model)) < 1e-4
    assert list(clips) == ["Bend"]
    with pytest.raises(RuntimeError, match=r"[Nn]o such file"):
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "nowhere" / "a.md5mesh"))
    assert state() == before


def test_a_failed_export_leaves_the_old_file_and_no_temporary_files(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    target = tmp_path / "old.md5anim"
    target.write_text("week's work", encoding="utf-8")
    armature.animation_data.action = None
    with pytest.raises(RuntimeError, match=r"no active action: choose .* Scene Playback"):
        bpy.ops.export_scene.md5anim(filepath=str(target))
    assert target.read_text(encoding="utf-8") == "week's work"
    assert [file.name for file in tmp_path.iterdir()] == ["old.md5anim"]


# Scope


def test_selection_collections_and_all_visible(tmp_path):
    armature = scripted_scenes.rig()
    one, two = scripted_scenes.tube(armature, "One"), scripted_scenes.tube(armature, "Two")
    scripted_scenes.tube(armature, "Floor", bind=False)
    collection = bpy.data.collections.new("Parts")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(two)

    def shaders(**options):
        return [mesh.shader for mesh in export(tmp_path, **options)[0].meshes]

    assert shaders() == ["One skin", "Two skin"]
    assert shaders(collection="Parts") == ["Two skin"]
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["Parts"]
    assert shaders(use_active_collection=True) == ["Two skin"]
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == one)
    assert shaders(use_selection=True) == ["One skin"]
    one.select_set(False)
    armature.select_set(True)
    assert shaders(use_selection=True) == ["One skin", "Two skin"]


def _hide(obj):
    obj.hide_set(True)


def _disable(obj):
    obj.hide_viewport = True


def _exclude(obj):
    collection = bpy.data.collections.new("Parts")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Parts"].exclude = True


def _instance(*objects):
    collection = bpy.data.collections.new("Character")
    for obj in objects:
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    empty = bpy.data.objects.new("Doll", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(empty)


@pytest.mark.parametrize(
    ("leave_out", "told"),
    [
        (_hide, r"Rig: hidden\. Show it"),
        (_disable, r"Rig: hidden\. Show it"),
        (_exclude, r"Rig: not in the view layer\. Tick its collection"),
        (_instance, r"Doll: an instance of the collection Character\. .*Make Instances Real"),
    ],
)
@pytest.mark.parametrize("operator", ["md5mesh", "md5anim"])
def test_what_is_there_but_not_exported_is_named_with_the_remedy(tmp_path, leave_out, told, operator):
    leave_out(scripted_scenes.rig())
    with pytest.raises(RuntimeError, match=f"no armature and no mesh to export; {told}"):
        getattr(bpy.ops.export_scene, operator)(filepath=str(tmp_path / "a.md5mesh"))


@pytest.mark.parametrize(
    ("leave_out", "told"),
    [
        (_hide, "Tube: hidden"),
        (_exclude, "Tube: not in the view layer"),
        (_instance, "Doll: an instance of"),
        (lambda obj: None, "Tube: not selected"),
    ],
)
def test_md2_names_what_is_there_too(tmp_path, leave_out, told):
    tube = scripted_scenes.tube(scripted_scenes.rig(), "Tube")
    leave_out(tube)
    if tube.visible_get():
        tube.select_set(False)
    with pytest.raises(RuntimeError, match=f"no mesh to export; {told}"):
        bpy.ops.export_scene.md2(filepath=str(tmp_path / "a.md2"), use_selection="selected" in told)


def test_an_empty_scene_has_nothing_to_name(tmp_path):
    with pytest.raises(RuntimeError, match=r"no armature and no mesh to export$"):
        bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "a.md5mesh"))


# Animations


def test_every_action_that_fits_is_a_file_of_its_name(tmp_path, part):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    armature.animation_data.action = armature.animation_data.action.copy()
    armature.animation_data.action.name = 'Walk: "slow"/2'
    other = bpy.data.actions.new("Light")
    part("io_blender.versions").ActionCurves(other, "OBJECT").new("energy", 0, "x").keyframe_points.insert(1, 1)
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "ignored.md5anim"), actions="ALL")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["Bend.md5anim", "Walk_ _slow__2.md5anim"]


@pytest.mark.parametrize("suffix", ["md5mesh", "md5anim"])
def test_a_file_of_another_name_than_its_action_is_told(tmp_path, capfd, suffix):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    action = armature.animation_data.action
    action.copy().name = "bend"
    action.copy().name = "Walk: slow"
    getattr(bpy.ops.export_scene, suffix)(filepath=str(tmp_path / f"model.{suffix}"), actions="ALL")
    told = capfd.readouterr().out.splitlines()
    assert "Warning: bend is written to bend_2.md5anim, because another file has this name" in told
    assert (
        "Warning: Walk: slow is written to Walk_ slow.md5anim, because file names cannot have all of its characters"
        in told
    )
    assert not any("Bend is written" in line for line in told)


def test_the_scene_is_exported_as_it_plays_with_constraints_drivers_and_nla(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, x in ((1, 0.0), (10, 3.0)):
        target.location = (x, 1.0, 4.0)
        target.keyframe_insert("location", frame=frame)
    reach = armature.pose.bones["tip"].constraints.new("IK")
    reach.target, reach.chain_count = target, 2
    driver = armature.pose.bones["root"].driver_add("rotation_quaternion", 1).driver
    driver.expression = "frame / 20"
    strip = armature.animation_data.nla_tracks.new().strips.new("Bend", 1, armature.animation_data.action)
    strip.influence = 0.5
    armature.animation_data.action = None
    model, _ = export(tmp_path)
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "scene.md5anim"), actions="SCENE")
    clip = read_animation(tmp_path / "scene.md5anim")
    assert clip.frame_count == 10
    for frame in (1, 5, 10):
        bpy.context.scene.frame_set(frame)
        assert distance(shown_vertices([obj]), file_vertices(model, clip, frame - 1)) < 1e-3


KINDS = [
    "bezier",
    "muted",
    "modifier",
    "euler",
    "scale of rest",
    "connected",
    "no inheritance",
    "object",
    "parent",
    "gaps",
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_action_is_exported_as_blender_plays_it(tmp_path, part, kind):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    action = armature.animation_data.action
    curves = list(part("io_blender.versions").action_fcurves(action, "OBJECT"))
    turned = [curve for curve in curves if "mid" in curve.data_path]
    if kind == "muted":
        for curve in turned:
            curve.mute = True
    elif kind == "modifier":
        turned[0].modifiers.new("CYCLES")
        curves[0].extrapolation = "LINEAR"
    elif kind == "euler":
        bone = armature.pose.bones["mid"]
        bone.rotation_mode = "ZXY"
        for frame, angle in ((1, 0.0), (10, 1.0)):
            bone.rotation_euler = (angle, 0.5 * angle, -angle)
            bone.keyframe_insert("rotation_euler", frame=frame)
    elif kind == "connected":
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        armature.data.edit_bones["mid"].use_connect = True
        bpy.ops.object.mode_set(mode="OBJECT")
    elif kind == "no inheritance":
        armature.data.bones["mid"].use_inherit_rotation = False
        armature.data.bones["tip"].use_local_location = False
    elif kind == "object":
        for frame, x in ((1, 0.0), (10, 5.0)):
            armature.location.x = x
            armature.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_set(FRAMES[0])
    elif kind == "parent":
        empty = bpy.data.objects.new("Empty", None)
        bpy.context.scene.collection.objects.link(empty)
        empty.matrix_world = scripted_scenes.transform()
        armature.parent = empty
    elif kind == "gaps":
        for curve in turned:
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"
    elif kind == "scale of rest":
        armature.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert_matches_blender(tmp_path, armature, [obj])


def test_joints_that_an_action_leaves_alone_stay_at_rest_index_by_index(tmp_path, part):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    curves = part("io_blender.versions").action_fcurves(armature.animation_data.action, "OBJECT")
    for curve in list(curves):
        if "tip" in curve.data_path or "root" in curve.data_path:
            curves.remove(curve)
    armature.pose.bones["tip"].location.x = 5.0
    model, clips = export(tmp_path, actions="ACTIVE")
    clip = clips["Bend"]
    assert clip.names == model.joints.names
    assert clip.flags.tolist()[0] == clip.flags.tolist()[2] == 0
    assert armature.pose.bones["tip"].location.x == 5.0


def test_rates_ranges_and_steps(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    path = tmp_path / "a.md5anim"

    def exported(**options):
        bpy.ops.export_scene.md5anim(filepath=str(path), **options)
        return read_animation(path)

    clip = exported()
    assert clip.frame_rate == pytest.approx(30 / 1.001)
    assert clip.frame_count == 10
    assert exported(frame_step=3).frame_count == 4
    assert exported(frame_step=3).frame_rate == pytest.approx(10 / 1.001)
    resampled = exported(frame_rate=60 / 1.001)
    assert resampled.frame_count == 19
    np.testing.assert_allclose(scripted_scenes.poses(resampled)[0][::2], scripted_scenes.poses(clip)[0], atol=1e-4)
    armature.animation_data.action["md5"] = {"frame_rate": 15.0}
    assert exported().frame_rate == 15.0
    scene.frame_start, scene.frame_end = 3, 6
    assert exported(actions="SCENE").frame_count == 4


def test_static_components_are_left_out_within_the_given_precision(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    _, clips = export(tmp_path, actions="ACTIVE")
    fine = clips["Bend"].frames.shape[1]
    _, clips = export(tmp_path, actions="ACTIVE", position_precision=10.0, orientation_precision=0.05)
    coarse = clips["Bend"].frames.shape[1]
    assert coarse < fine <= 3 * 6


def test_text_is_laid_out_as_ids_exporter_does(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    export(tmp_path, actions="ACTIVE")
    mesh, clip = ((tmp_path / name).read_text(encoding="utf-8") for name in ("model.md5mesh", "Bend.md5anim"))
    assert re.match(
        r'MD5Version 10\ncommandline "io_idtech \d+\.\d+\.\d+"\n\nnumJoints 3\nnumMeshes 1\n\njoints \{\n', mesh
    )
    assert '\t"tip"\t1 ( ' in mesh
    assert "\t\t// mid\n" in mesh
    assert re.search(r'\t"mid"\t0 \d+ \d+\t// root \( .*Qx', clip)
    assert not re.search(r"\d\.\d*0[ \n]|-0[ \n]|\d[eE]", mesh + clip)


# Imports that were edited


def imported(folder):
    path = md5_scenes.write(folder, "in")
    bpy.ops.import_scene.md5(filepath=str(path))
    armature = bpy.context.view_layer.objects.active
    return read_mesh(path), armature, next(child for child in armature.children if child.type == "MESH")


def test_only_the_vertex_that_was_moved_differs(tmp_path):
    before, _, obj = imported(tmp_path)
    obj.data.vertices[5].co.z += 1.0
    after, _ = export(tmp_path)
    (old,), (new,) = before.meshes, after.meshes
    np.testing.assert_array_equal(new.triangles, old.triangles)
    np.testing.assert_allclose(new.uvs, old.uvs, atol=1e-6)
    moved = np.linalg.norm(file_vertices(after) - file_vertices(before), axis=1)
    assert (moved > 1e-5).sum() == 1
    assert moved.max() == pytest.approx(1.0, abs=1e-4)


def test_a_renamed_bone_and_a_deleted_face_are_all_that_differs(tmp_path):
    before, armature, obj = imported(tmp_path)
    armature.data.bones["head"].name = "skull"
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    edited.faces.ensure_lookup_table()
    bmesh.ops.delete(edited, geom=[edited.faces[3]], context="FACES_ONLY")
    edited.to_mesh(obj.data)
    edited.free()
    after, _ = export(tmp_path)
    assert after.joints.names == ["skull" if name == "head" else name for name in before.joints.names]
    (old,), (new,) = before.meshes, after.meshes
    assert new.vertex_count == old.vertex_count
    np.testing.assert_array_equal(new.triangles, np.delete(old.triangles, 3, axis=0))
    np.testing.assert_array_equal(new.weight_starts, old.weight_starts)


def test_a_repainted_weight_and_a_subdivided_mesh_are_exported_as_evaluated(tmp_path):
    _, armature, obj = imported(tmp_path)
    obj.vertex_groups["spine"].add([0, 1], 0.3, "REPLACE")
    obj.vertex_groups["head"].add([0, 1], 0.7, "REPLACE")
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    bmesh.ops.subdivide_edges(edited, edges=edited.edges[:6], cuts=1)
    edited.to_mesh(obj.data)
    edited.free()
    write_animation(md5_scenes.animation(read_mesh(tmp_path / "in.md5mesh").joints), tmp_path / "in.md5anim")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "in.md5anim"))
    model, clips = export(tmp_path, actions="ACTIVE")
    assert distance(shown_vertices([obj], [armature]), file_vertices(model)) < 1e-4
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        assert distance(shown_vertices([obj]), file_vertices(model, clips["in"], frame)) < 1e-3


def test_a_moved_bone_takes_its_joint_along(tmp_path):
    before, armature, _ = imported(tmp_path)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones["leg.L"]
    bone.matrix = Matrix.Translation((0.0, 0.0, -2.0)) @ bone.matrix
    bpy.ops.object.mode_set(mode="OBJECT")
    after, _ = export(tmp_path)
    joint = before.joints.names.index("leg.L")
    expected = before.joints.positions.copy()
    expected[joint, 2] -= 2.0
    np.testing.assert_allclose(after.joints.positions, expected, atol=1e-3)
    unmoved = np.arange(len(before.joints)) != joint
    np.testing.assert_array_equal(after.joints.positions[unmoved], before.joints.positions[unmoved])


def test_a_library_override_is_exported_like_the_original(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    original, _ = export(tmp_path, "original")
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {bpy.context.scene.collection, armature, bpy.data.objects["Tube"]})
    read_empty_scene()
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.objects = ["Rig", "Tube"]
    for obj in into.objects:
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    into.objects[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, reference=into.objects[0])
    for obj in list(bpy.context.scene.collection.objects):
        if obj.library is not None:
            bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.update()
    armature = next(obj for obj in bpy.context.view_layer.objects if obj.type == "ARMATURE")
    assert armature.override_library is not None
    copied, _ = export(tmp_path, "copied")
    assert copied.joints.names == original.joints.names
    np.testing.assert_allclose(file_vertices(copied), file_vertices(original), atol=1e-6)
