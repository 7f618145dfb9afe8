"""IQM in Blender: untouched files come back byte for byte, and what was edited is exported as Blender shows it."""

from __future__ import annotations

import bmesh
import bpy
import iqm_samples
import iqm_shown
import iqm_specification as specification
import numpy as np
import pytest
import scripted_scenes
from engines import iqm as engines
from iqm_shown import assert_shows

from io_idtech.io_iqm.format import (
    Extension,
    Game,
    VertexArray,
    animations_alone,
    check_iqm,
    format_iqm,
    from_model,
    read_iqm,
    write_iqm,
)


@pytest.fixture
def sample(tmp_path):
    """The path of a model of two meshes with colors, two animations, extensions and a comment."""
    path = tmp_path / "arm.iqm"
    path.write_bytes(format_iqm(iqm_samples.iqm()))
    return path


def load(path, **options):
    options = {"animations": "NONE"} | options
    assert bpy.ops.import_scene.iqm(filepath=str(path), **options) == {"FINISHED"}
    return {obj.name: obj for obj in bpy.context.selected_objects}


def save(tmp_path, **options):
    path = tmp_path / "out.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(path), **options) == {"FINISHED"}
    return path


def said(capfd):
    return capfd.readouterr().out


# Import


def test_a_model_is_an_armature_with_its_meshes_and_an_action_for_each_animation(sample):
    found = load(sample)
    armature = found["arm"]
    assert [bone.name for bone in armature.data.bones] == iqm_samples.NAMES
    assert {obj.name for obj in armature.children} == {"body", "belt"}
    assert found["body"].data.materials[0]["md5"]["shader"] == "models/body"
    actions = {action.name: action for action in bpy.data.actions}
    assert {name: action.use_cyclic for name, action in actions.items()} == {"walk": False, "grow": True}
    assert all(action["md5"]["frame_rate"] == 24.0 for action in actions.values())
    assert bpy.context.scene.render.fps == 24
    bone = armature.pose.bones["arm"].bone
    assert bone.inherit_scale == "NONE"


@pytest.mark.parametrize("merge", [False, True])
def test_a_model_shows_what_the_file_does(sample, merge):
    # Random normals cannot be shown at vertices that faces of all directions share.
    found = load(sample, merge_vertices=merge)
    spec = specification.read(sample.read_bytes())
    armature, bind = found["arm"], spec.bind()
    for name, (_, first, count, *_) in (("walk", spec.anims[0]), ("grow", spec.anims[1])):
        armature.animation_data.action = bpy.data.actions[name]
        for frame in range(count):
            bpy.context.scene.frame_set(frame)
            expected = iqm_shown.file_corners(spec, spec.skinned(first + frame, bind))
            shown = iqm_shown.corners([found["body"], found["belt"]])
            iqm_shown.assert_same_corners(shown, expected, 100.0, shading=False)


@pytest.mark.parametrize("animations", ["NONE", "FOLDER"])
def test_animations_in_the_file_of_a_model_are_those_of_this_model(tmp_path, sample, animations):
    other = iqm_samples.iqm()
    other.animations[0].name = "jump"
    write_iqm(other, tmp_path / "other.iqm")
    files = [{"name": "arm.iqm"}, {"name": "other.iqm"}]
    assert bpy.ops.import_scene.iqm(directory=str(tmp_path), files=files, animations=animations) == {"FINISHED"}
    assert sorted(action.name for action in bpy.data.actions) == ["grow", "grow.001", "jump", "walk"]
    for name, data in (("arm", sample.read_bytes()), ("other", format_iqm(other))):
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        assert save(tmp_path).read_bytes() == data


def test_animations_of_the_folder_are_found_by_the_number_and_parents_of_their_joints(tmp_path, sample):
    model = iqm_samples.iqm()
    write_iqm(animations_alone(model, 1), tmp_path / "grow_alone.iqm")
    other = from_model(iqm_samples.model(), [iqm_samples.animation()])
    other.pose_parents = np.array([-1, 0, 0, 0], np.int32)
    write_iqm(animations_alone(other), tmp_path / "other.iqm")
    load(sample, animations="FOLDER")
    assert sorted(action.name for action in bpy.data.actions) == ["grow", "grow_alone", "walk"]
    assert [one.name for one in read_iqm(save(tmp_path)).animations] == ["walk", "grow", "grow_alone"]


def test_a_file_of_animations_alone_moves_the_active_armature(tmp_path, sample, capfd):
    alone = animations_alone(iqm_samples.iqm(), 0)
    (tmp_path / "alone").mkdir()
    write_iqm(alone, tmp_path / "alone" / "strike.iqm")
    armature = load(sample)["arm"]
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    bpy.context.view_layer.objects.active = armature
    said(capfd)
    load(tmp_path / "alone" / "strike.iqm")
    assert armature.animation_data.action.name == "strike"
    assert "Warning" not in said(capfd)


def test_a_file_of_animations_alone_has_the_joints_of_its_model(tmp_path, sample):
    alone = tmp_path / "strike.iqm"
    write_iqm(animations_alone(iqm_samples.iqm(), 0), alone)
    armature = load(alone)["strike"]
    assert [bone.name for bone in armature.data.bones] == iqm_samples.NAMES
    sample.unlink()
    bpy.ops.wm.read_homefile(use_empty=True)
    with pytest.raises(RuntimeError, match=r"import its model first; found 4 joints .*strike\.iqm"):
        load(alone)
    assert not bpy.data.objects
    bpy.ops.object.armature_add()
    with pytest.raises(RuntimeError, match="import its model first"):
        load(alone)


def test_a_loop_that_ends_one_step_before_its_first_frame_is_played_whole(tmp_path, sample):
    closed = iqm_samples.iqm()
    closed.frames[-1] = closed.frames[7]
    write_iqm(closed, tmp_path / "closed.iqm")
    for path, is_closed in ((sample, False), (tmp_path / "closed.iqm", True)):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.view_layer.objects.active = load(path)[path.stem]
        assert bpy.ops.object.md5_play_animation(action="grow") == {"FINISHED"}
        assert bpy.context.scene.use_preview_range == is_closed


# Untouched


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        format_iqm(iqm_samples.iqm()),
        iqm_samples.odd_bytes(),
        format_iqm(iqm_samples.unusual()),
        format_iqm(iqm_samples.unusual(["", "grow", "grow"])),
    ],
)
def test_an_untouched_file_comes_back_byte_for_byte(tmp_path, data, merge):
    (tmp_path / "arm.iqm").write_bytes(data)
    load(tmp_path / "arm.iqm", merge_vertices=merge)
    assert save(tmp_path).read_bytes() == data


def test_with_other_scale_and_axes_an_untouched_file_comes_back(tmp_path, sample):
    load(sample, global_scale=0.03125, axis_forward="X")
    assert save(tmp_path).read_bytes() == sample.read_bytes()


def test_a_file_without_joints_comes_back(tmp_path):
    iqm = from_model(iqm_samples.model())
    iqm.joint_names, iqm.joint_parents, iqm.joint_channels = [], np.zeros(0, np.int32), np.zeros((0, 10), np.float32)
    iqm.arrays = iqm.arrays[:4]
    write_iqm(iqm, tmp_path / "a.iqm")
    load(tmp_path / "a.iqm")
    assert save(tmp_path).read_bytes() == (tmp_path / "a.iqm").read_bytes()


@pytest.mark.parametrize(("game", "lacks"), [("ANY", True), ("GZDOOM", False), ("QUAKE3", False)])
def test_what_a_game_needs_is_added_to_an_imported_file(tmp_path, sample, game, lacks):
    iqm = read_iqm(sample)
    iqm.arrays = [one for one in iqm.arrays if one.type not in (2, 3)]
    iqm.adjacency, iqm.bounds = iqm.adjacency[:0], iqm.bounds[:0]
    sample.write_bytes(format_iqm(iqm))
    load(sample)
    path = save(tmp_path, game=game)
    assert (path.read_bytes() == sample.read_bytes()) == lacks
    found = [one.code for one in check_iqm(read_iqm(path), Game(game))]
    assert not {"parts_missing", "arrays_missing"} & set(found)


# Edits


def test_normals_that_were_edited_are_written_though_the_file_had_none(tmp_path, sample):
    iqm = read_iqm(sample)
    iqm.arrays = [one for one in iqm.arrays if one.type not in (2, 3)]
    write_iqm(iqm, sample)
    found = load(sample, merge_vertices=False)
    meshes = [found["body"], found["belt"]]
    for obj in meshes:
        obj.data.normals_split_custom_set([(0, 0, 1)] * len(obj.data.loops))
    assert_shows(save(tmp_path), meshes)


def test_only_what_was_edited_changes(tmp_path):
    scene()
    path = tmp_path / "tube.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(path), actions="ACTIVE") == {"FINISHED"}
    before = read_iqm(path)
    before.extensions = [Extension("FTE_MESH", b"abc")]
    count = before.vertex_count
    before.arrays.append(VertexArray(16, np.arange(2.0 * count).reshape(count, 2), name="curvature"))
    write_iqm(before, path)
    bpy.ops.wm.read_homefile(use_empty=True)
    tube = load(path, merge_vertices=False)["Tube"]
    vertex = 7
    tube.data.vertices[vertex].co.x += 0.002
    after = read_iqm(save(tmp_path))
    moved = np.abs(after.array(0) - before.array(0)).max(axis=1)
    assert np.flatnonzero(moved).tolist() == [vertex]
    assert moved[vertex] == pytest.approx(0.002, abs=1e-6)
    for name in ("meshes", "animations", "extensions", "comment", "joint_names"):
        assert getattr(after, name) == getattr(before, name)
    for name in ("triangles", "frames", "pose_offsets", "pose_scales", "joint_channels"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    near = np.isin(np.arange(count), before.triangles[(before.triangles == vertex).any(axis=1)])
    for one, old in zip(after.arrays, before.arrays, strict=True):
        is_shading = one.type in (2, 3)
        others = ~near if is_shading else np.arange(count) != vertex
        assert np.array_equal(one.values[others], old.values[others])


def test_an_edited_key_changes_its_animation_alone(tmp_path, sample, part):
    before = read_iqm(sample)
    load(sample)
    action = bpy.data.actions["walk"]
    curves = part("io_blender.versions").action_fcurves(action, "OBJECT")
    curve = next(one for one in curves if "arm" in one.data_path)
    curve.keyframe_points[3].co.y += 0.5
    after = read_iqm(save(tmp_path))
    assert np.array_equal(after.array(0), before.array(0))
    channels = after.channels()
    assert np.abs(channels[7:] - before.channels()[7:]).max() < 2e-3
    changed = np.abs(channels[:7] - before.channels()[:7]).max(axis=(1, 2))
    assert np.flatnonzero(changed > 0.01).tolist() == [3]


def test_names_follow_blender(tmp_path, sample, capfd):
    found = load(sample)
    found["body"].name = "torso"
    found["body"].data.materials[0].name = "skin"
    bpy.data.actions["walk"].name = "run"
    bpy.ops.object.select_all(action="DESELECT")
    found["arm"].animation_data.action = bpy.data.actions["run"]
    found["arm"].data.bones["hand"].name = "palm"
    said(capfd)
    after = read_iqm(save(tmp_path))
    assert "grow: moves bones that arm does not have, which is left out: hand." in said(capfd)
    assert [(one.name, one.material) for one in after.meshes] == [("torso", "skin"), ("belt", "models/belt")]
    assert [one.name for one in after.animations] == ["run", "grow"]
    assert after.joint_names == ["root", "arm", "palm", "leg"]


def test_a_painted_color_is_written(tmp_path, sample):
    body = load(sample, merge_vertices=False)["body"]
    layer = body.data.color_attributes.active_color
    corner = 5
    vertex = body.data.loops[corner].vertex_index
    for index, one in enumerate(body.data.loops):
        if one.vertex_index == vertex:
            layer.data[index].color_srgb = (1.0, 0.0, 0.0, 1.0)
    after = read_iqm(save(tmp_path))
    assert after.array(6)[vertex].tolist() == [255, 0, 0, 255]
    assert np.array_equal(np.delete(after.array(6), vertex, 0), np.delete(read_iqm(sample).array(6), vertex, 0))


def test_a_deleted_face_and_a_removed_animation_leave_the_rest(tmp_path, sample):
    body = load(sample)["body"]
    bm = bmesh.new()
    bm.from_mesh(body.data)
    bm.faces.ensure_lookup_table()
    bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES_ONLY")
    bm.to_mesh(body.data)
    bm.free()
    bpy.data.actions.remove(bpy.data.actions["grow"])
    path = save(tmp_path)
    after = read_iqm(path)
    assert after.meshes[0].triangle_count == 39
    assert [one.name for one in after.animations] == ["walk"]
    assert_shows(path, [body, bpy.data.objects["belt"]], [(bpy.data.actions["walk"], "walk")])


PLACES = {
    "moved": {"location": (5, 0, 0)},
    "rotated": {"rotation_euler": (0.3, 0.4, 0.5)},
    "scaled": {"scale": (2, 2, 2)},
    "mirrored": {"scale": (-1, 1, 1)},
}


@pytest.mark.parametrize("place", [*PLACES, "applied", "without a bone", "below a new root"])
def test_an_imported_model_is_exported_where_blender_shows_it(tmp_path, sample, place):
    found, options = load(sample), {}
    armature, meshes = found["arm"], [found["body"], found["belt"]]
    for name, value in PLACES.get(place, {}).items():
        setattr(armature, name, value)
    if place == "applied":
        armature.location.x = 5
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.transform_apply(location=True)
    elif place == "without a bone":
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        armature.data.edit_bones.remove(armature.data.edit_bones["arm"])
        bpy.ops.object.mode_set(mode="OBJECT")
    elif place == "below a new root":
        options["add_origin"] = "ALWAYS"
    path = save(tmp_path, **options)
    assert np.array(specification.read(path.read_bytes()).arrays[4]).max() < len(read_iqm(path).joint_names)
    # Vertices that lost their only bone are moved by the nearest.
    assert_shows(path, meshes, [(bpy.data.actions["walk"], "walk")] if place != "without a bone" else [])


def test_a_mesh_of_another_imported_model_is_exported_as_blender_shows_it(tmp_path, sample):
    other = iqm_samples.iqm()
    other.array(0)[:] *= 0.5
    write_iqm(other, tmp_path / "other.iqm")
    borrowed = load(tmp_path / "other.iqm")["body"]
    found = load(sample)
    armature, meshes = found["arm"], [one for one in found.values() if one.type == "MESH"]
    for one in (borrowed, meshes[0]):
        one.modifiers[0].object, one.parent = armature, armature
    meshes[0].data = borrowed.data
    bpy.context.view_layer.objects.active = armature
    assert_shows(save(tmp_path), [*meshes, borrowed], [(bpy.data.actions["walk.001"], "walk")])


# Made in Blender


def scene():
    """A tube with sharp edges and colors on two bones that turn, bend and grow."""
    armature = scripted_scenes.rig()
    tube = scripted_scenes.tube(armature)
    tube.data.uv_layers.active or tube.data.uv_layers.new()
    tube.data.edges.foreach_set("use_edge_sharp", [number % 5 == 0 for number in range(len(tube.data.edges))])
    layer = tube.data.color_attributes.new("Color", "BYTE_COLOR", "CORNER")
    values = np.tile([1.0, 0.5, 0.0, 1.0], (len(tube.data.loops), 1))
    values[::7] = 0.0, 0.0, 1.0, 0.5
    layer.data.foreach_set("color_srgb", values.ravel())
    return armature, tube


@pytest.mark.parametrize("place", [{}, {"rotation_euler": (0.3, 0.5, 0.7)}, {"scale": (1, 2, 0.5)}])
def test_sharp_edges_seams_and_colors_are_exported_as_blender_shades_them(tmp_path, place):
    armature, tube = scene()
    for name, value in place.items():
        # Turning joints cannot follow an armature that is scaled unevenly.
        setattr(armature if name == "rotation_euler" else tube, name, value)
    path = save(tmp_path, actions="ACTIVE")
    action = armature.animation_data.action
    assert_shows(path, [tube], [(action, read_iqm(path).animations[0].name)])
    tangents = read_iqm(path).array(3)
    for values in (tangents[:, :3], read_iqm(path).array(2)):
        assert np.allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-4)
    assert set(np.unique(tangents[:, 3])) <= {-1.0, 1.0}


@pytest.mark.parametrize("game", engines.READERS)
def test_engines_show_what_is_exported_for_them(tmp_path, game):
    armature, tube = scene()
    path = save(tmp_path, actions="ACTIVE", game=game, animation_files="MODEL")
    clips = [(armature.animation_data.action, read_iqm(path).animations[0].name)]
    assert_shows(path, [tube], clips, engines.READERS[game])


def test_scaled_bones_are_exported(tmp_path):
    armature, tube = scene()
    for name in [bone.name for bone in armature.pose.bones]:
        bone = armature.pose.bones[name]
        for frame, size in ((1, 1.0), (5, 1.6), (10, 0.7)):
            bone.scale = (size,) * 3
            bone.keyframe_insert("scale", frame=frame)
    path = save(tmp_path, actions="ACTIVE")
    action = armature.animation_data.action
    assert_shows(path, [tube], [(action, read_iqm(path).animations[0].name)])


def test_what_four_weights_of_bytes_cannot_show_is_told_in_units(tmp_path, capfd):
    armature, tube = scene()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(6):
        bone = armature.data.edit_bones.new(f"more{number}")
        bone.head, bone.tail = (number, 0, 0), (number, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for number in range(6):
        group = tube.vertex_groups.new(name=f"more{number}")
        group.add(range(len(tube.data.vertices)), 0.5, "REPLACE")
        bone = armature.pose.bones[f"more{number}"]
        bone.location.x = 0.4 * number
        bone.keyframe_insert("location", frame=5)
    said(capfd)
    save(tmp_path, actions="ACTIVE")
    assert "units" in said(capfd)


def test_animations_are_files_of_their_own_for_cube_engines(tmp_path, sample):
    load(sample)
    path = save(tmp_path, animation_files="SEPARATE")
    model = read_iqm(path)
    assert not model.animations
    for name in ("walk", "grow"):
        alone = read_iqm(tmp_path / f"{name}.iqm")
        assert [one.name for one in alone.animations] == [name]
        assert not alone.joint_names
        assert len(alone.bounds) == len(alone.frames) == 7


def test_a_game_splits_what_it_limits_and_refuses_the_rest(tmp_path):
    joints = iqm_samples.skeleton()
    big = iqm_samples.mesh(joints, "big", 4, vertices=1500)
    big.triangles = np.arange(1500, dtype=np.int32).reshape(-1, 3)
    write_iqm(from_model(iqm_samples.Model(joints, [big])), tmp_path / "big.iqm")
    load(tmp_path / "big.iqm", merge_vertices=False)
    after = read_iqm(save(tmp_path, game="QUAKE3"))
    assert len(after.meshes) == 2
    assert max(one.vertex_count for one in after.meshes) < 1000


def test_a_model_with_more_joints_than_a_byte_can_name_is_refused(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(260):
        bone = armature.data.edit_bones.new(f"more{number}")
        bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects["Tube"].vertex_groups.new(name="more259").add([0], 1.0, "REPLACE")
    with pytest.raises(RuntimeError, match="too many joints"):
        bpy.ops.object.iqm_check_game()
    with pytest.raises(RuntimeError, match="too many joints"):
        bpy.ops.export_scene.iqm(filepath=str(tmp_path / "out.iqm"))
    assert not (tmp_path / "out.iqm").exists()


def test_an_md5_model_becomes_an_iqm_that_shows_the_same(tmp_path):
    scene()
    assert bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "a.md5mesh"), actions="ALL") == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_empty=True)
    assert bpy.ops.import_scene.md5(filepath=str(tmp_path / "a.md5mesh"), animations="FOLDER") == {"FINISHED"}
    path = save(tmp_path)
    meshes = [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]
    assert_shows(path, meshes, [(one, one.name) for one in bpy.data.actions])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_is_imported_or_refused_with_nothing_left(tmp_path, seed):
    data, rng = bytearray(format_iqm(iqm_samples.iqm())), np.random.default_rng(seed)
    for _ in range(1 + seed % 3):
        data[rng.integers(16, len(data))] = rng.integers(256)
    (tmp_path / "bad.iqm").write_bytes(data)
    kinds = (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.materials)
    before = [len(kind) for kind in kinds]
    error = error_of(lambda: load(tmp_path / "bad.iqm"))
    if error:
        assert [len(kind) for kind in kinds] == before
    else:
        error = error_of(lambda: save(tmp_path))
    assert not error or ("Error: " in error and "Traceback" not in error)


def error_of(call):
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("data", [b"", b"INTERQUAKEMODEL", b"INTERQUAKEMODEL\0" + bytes(108)])
def test_what_is_no_iqm_is_refused(tmp_path, data):
    (tmp_path / "bad.iqm").write_bytes(data)
    with pytest.raises(RuntimeError, match="Error: "):
        load(tmp_path / "bad.iqm")
