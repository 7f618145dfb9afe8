"""Camera paths imported into Blender match Doom 3's rule, and are exported unchanged."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from md5_cameras import (
    DIRECTION,
    NINE,
    PLACE,
    assert_matches_blender,
    assert_plays_as_in_the_game,
    assert_same,
    exported,
    fcurves,
    imported,
    key,
    make_camera,
    mark,
    matrix_rows,
    new_camera,
    set_range,
    view_of,
)
from md5_samples import ANIMATION, MESH

from io_idtech.io_md5.format import Camera, read_camera, write_camera

# In


@pytest.mark.parametrize("rate", [24, 30, 60])
@pytest.mark.parametrize("cuts", [[], [17], NINE], ids=["no cut", "one cut", "nine cuts"])
def test_every_frame_is_what_the_game_shows_and_the_file_comes_back(part, tmp_path, cuts, rate):
    camera = make_camera(cuts, 80, rate, seed=rate + len(cuts))
    obj = imported(tmp_path, camera)
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (0, 79 - len(cuts))
    assert scene.render.fps / scene.render.fps_base == pytest.approx(rate)
    assert scene.camera == obj
    assert obj.name == "intro"
    assert obj.rotation_mode == "QUATERNION"
    assert_plays_as_in_the_game(obj, camera)
    assert sorted(marker.frame for marker in scene.timeline_markers) == [cut - i for i, cut in enumerate(cuts)]
    assert {marker.name for marker in scene.timeline_markers} <= {"cut intro"}
    assert_same(exported(tmp_path), camera)


def test_nothing_is_interpolated_across_a_cut(part, tmp_path):
    camera = make_camera(NINE, 80, 24)
    obj = imported(tmp_path, camera)
    before_cuts = {cut - 1 - index for index, cut in enumerate(NINE)}
    curves = fcurves(part, obj, "OBJECT")
    assert len(curves) == 7
    for curve in curves:
        assert [key.co.x for key in curve.keyframe_points] == list(range(71))
        stepped = {int(key.co.x) for key in curve.keyframe_points if key.interpolation == "CONSTANT"}
        assert stepped == before_cuts
        assert {key.interpolation for key in curve.keyframe_points} <= {"CONSTANT", "LINEAR"}
    (lens,) = fcurves(part, obj.data, "CAMERA")
    scene = bpy.context.scene
    for frame in before_cuts:
        assert lens.evaluate(frame + 0.99) == pytest.approx(lens.evaluate(frame))
        scene.frame_set(frame)
        here = obj.matrix_world.copy()
        scene.frame_set(frame, subframe=0.9)
        assert (obj.matrix_world.to_translation() - here.to_translation()).length < PLACE


def test_signs_of_rotations_are_continuous_within_shots(part, tmp_path):
    obj = imported(tmp_path, make_camera([40], 120, 24, seed=5))
    curves = [curve for curve in fcurves(part, obj, "OBJECT") if curve.data_path == "rotation_quaternion"]
    keys = np.array([[key.co.y for key in curve.keyframe_points] for curve in curves]).T
    assert (np.einsum("ni,ni->n", keys[1:], keys[:-1])[np.arange(118) != 39] > 0.5).all()


def test_the_field_of_view_is_keyed_where_it_changes(part, tmp_path):
    camera = make_camera([8], 20, 24, zoom=False)
    assert fcurves(part, imported(tmp_path, camera, "still").data, "CAMERA") == []
    # Frames 0 … 18: it changes between 3, 4 and 5, and at the cut before frame 8.
    camera.fields_of_view[4], camera.fields_of_view[5:9], camera.fields_of_view[9:] = 60, 50, 90
    obj = imported(tmp_path, camera, "zoom")
    (lens,) = fcurves(part, obj.data, "CAMERA")
    assert lens.data_path == "lens"
    assert [key.co.x for key in lens.keyframe_points] == [3, 4, 5, 7, 8]
    assert_plays_as_in_the_game(obj, camera)


def test_a_static_camera_has_one_key(part, tmp_path):
    camera = make_camera([], 10, 24)
    camera.positions[:] = camera.positions[0]
    camera.orientations[:] = camera.orientations[0]
    obj = imported(tmp_path, camera)
    assert [len(curve.keyframe_points) for curve in fcurves(part, obj, "OBJECT")] == [1] * 7
    assert_plays_as_in_the_game(obj, camera)
    assert_same(exported(tmp_path), camera)


def test_a_camera_of_one_frame(tmp_path):
    camera = make_camera([], 1, 24)
    obj = imported(tmp_path, camera)
    assert_plays_as_in_the_game(obj, camera)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 0)
    assert_same(exported(tmp_path), camera)


def test_looking_along_x_with_y_on_the_left(tmp_path):
    camera = Camera(np.empty(0, np.int32), np.array([[1.0, 2, 3]]), np.zeros((1, 3)), np.array([90.0]))
    obj = imported(tmp_path, camera)
    bpy.context.view_layer.update()
    place, forward, left, up, _ = view_of(obj)
    assert place == Vector((1, 2, 3))
    assert (forward - Vector((1, 0, 0))).length < DIRECTION
    assert (left - Vector((0, 1, 0))).length < DIRECTION
    assert (up - Vector((0, 0, 1))).length < DIRECTION


def test_scene_timing_and_render_size_are_set_on_request(tmp_path):
    scene = bpy.context.scene
    size = scene.render.resolution_x, scene.render.resolution_y
    timing = scene.render.fps, scene.frame_start, scene.frame_end
    camera = make_camera([3], 20, 60)
    obj = imported(tmp_path, camera, use_scene_timing=False, frame_start=101)
    assert (scene.render.fps, scene.frame_start, scene.frame_end) == timing
    assert (scene.render.resolution_x, scene.render.resolution_y) == size
    assert_plays_as_in_the_game(obj, camera, 101)
    assert [marker.frame for marker in scene.timeline_markers] == [104]
    scene.frame_start, scene.frame_end = 101, 119
    assert_same(exported(tmp_path), camera)
    imported(tmp_path, camera, "again", use_render_size=True)
    assert scene.render.resolution_x * 3 == scene.render.resolution_y * 4
    assert scene.render.resolution_y == size[1]
    assert scene.render.fps == 60


def test_the_render_size_does_not_change_the_file(tmp_path):
    camera = make_camera([7], 20, 24)
    imported(tmp_path, camera)
    render = bpy.context.scene.render
    for render.resolution_x, render.resolution_y in ((640, 480), (1920, 800), (480, 640)):
        assert_same(exported(tmp_path), camera)


def test_scale_and_axes_there_and_back(tmp_path):
    camera = make_camera([7], 20, 24)
    obj = imported(tmp_path, camera, global_scale=0.5, axis_forward="X", axis_up="Z")
    bpy.context.scene.frame_set(0)
    place, forward, left, up, _ = view_of(obj)
    rows = matrix_rows(*camera.orientations[0])
    # The file's +X is now Blender's +Y, its +Y Blender's -X.
    for seen, told in zip((place * 2, forward, left, up), (camera.positions[0], *rows), strict=True):
        assert (seen - Vector((-told[1], told[0], told[2]))).length < PLACE
    assert_same(exported(tmp_path, global_scale=2.0, axis_forward="X", axis_up="Z"), camera)
    assert_same(exported(tmp_path), camera)
    plain = exported(tmp_path, global_scale=1.0, axis_forward="Y", axis_up="Z")
    turned = np.stack([-camera.positions[:, 1], camera.positions[:, 0], camera.positions[:, 2]], axis=1) * 0.5
    np.testing.assert_allclose(plain.positions, turned, atol=1e-6)
    np.testing.assert_array_equal(plain.fields_of_view, camera.fields_of_view)
    for seen, told in zip(plain.orientations, camera.orientations, strict=True):
        for now, before in zip(matrix_rows(*seen), matrix_rows(*told), strict=True):
            np.testing.assert_allclose(now, (-before[1], before[0], before[2]), atol=1e-6)


def test_groups_and_odd_cuts_come_back(tmp_path):
    camera = make_camera([0, 9, 10], 20, 24)
    camera.cut_groups = ["pos ( 243.9 3552.7 39.0 ) rotA ( 0 -132.22 0 )", "", "rot ( 1 2 3 )"]
    obj = imported(tmp_path, camera)
    assert sorted(marker.frame for marker in bpy.context.scene.timeline_markers) == [0, 8, 8]
    assert_plays_as_in_the_game(obj, camera)
    path = tmp_path / "out.md5camera"
    bpy.ops.export_scene.md5camera(filepath=str(path))
    assert_same(read_camera(path), camera)
    assert path.read_bytes() == (tmp_path / "intro.md5camera").read_bytes()


@pytest.mark.parametrize("cuts", [[19], [5, 19], [5, 5], [9, 4], [0], [1]])
def test_cuts_at_odd_places_come_back(tmp_path, cuts):
    camera = make_camera(cuts, 20, 24)
    obj = imported(tmp_path, camera)
    assert_plays_as_in_the_game(obj, camera)
    path = tmp_path / "out.md5camera"
    bpy.ops.export_scene.md5camera(filepath=str(path))
    assert_same(read_camera(path), camera)


def test_fields_of_view_at_the_limits(tmp_path):
    camera = make_camera([], 6, 24)
    camera.fields_of_view[:] = 0, 1, 90, 175, 179.5, 200
    obj = imported(tmp_path, camera)
    for frame, angle in ((1, 1), (2, 90), (3, 175), (4, 179.5)):
        bpy.context.scene.frame_set(frame)
        assert view_of(obj)[-1] == pytest.approx(angle, abs=1e-3)
    assert_same(exported(tmp_path), camera)


def test_of_several_files_the_first_camera_sets_the_timing(tmp_path):
    (tmp_path / "box.md5mesh").write_text(MESH)
    (tmp_path / "walk.md5anim").write_text(ANIMATION)
    write_camera(make_camera([], 30, 25), tmp_path / "a.md5camera")
    write_camera(make_camera([], 40, 50), tmp_path / "b.md5camera")
    names = ["walk.md5anim", "a.md5camera", "box.md5mesh", "b.md5camera"]
    bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": name} for name in names])
    scene = bpy.context.scene
    assert {obj.name for obj in bpy.context.selected_objects} >= {"a", "b", "box"}
    assert (scene.render.fps, scene.frame_end) == (25, 29)
    assert scene.camera.name == "b"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("numCuts 1\n\ncuts {\n\t7", "numCuts 1\n\ncuts {\n\t20", r"A cut is not at one of.*line 9\)"),
        ("camera {", "camera", "is not opened"),
    ],
)
def test_a_bad_file_changes_nothing(tmp_path, old, new, words):
    path = tmp_path / "bad.md5camera"
    write_camera(make_camera([7], 20, 24), path)
    write_camera(make_camera([7], 20, 24), tmp_path / "good.md5camera")
    path.write_text(path.read_text().replace(old, new))
    before = {name: len(getattr(bpy.data, name)) for name in ("objects", "cameras", "actions", "collections")}
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.import_scene.md5(directory=str(tmp_path), files=[{"name": "good.md5camera"}, {"name": "bad.md5camera"}])
    assert {name: len(getattr(bpy.data, name)) for name in before} == before
    assert len(bpy.context.scene.timeline_markers) == 0
    assert bpy.context.scene.camera is None
    assert bpy.context.scene.frame_end == 250


def test_the_real_file_with_a_cut_behind_its_end_is_refused(corpus):
    (path,) = corpus.rglob("InvalidCameraCut.md5camera")
    with pytest.raises(RuntimeError, match="cut is not at one of the camera's frames; found 8"):
        bpy.ops.import_scene.md5(filepath=str(path))
    assert len(bpy.data.cameras) == 0


# Out


@pytest.mark.parametrize("rate", [24, 30, 60])
def test_a_camera_with_parent_constraint_and_driven_lens(tmp_path, rate):
    set_range(12, rate)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 800, 600
    dolly = bpy.data.objects.new("dolly", None)
    target = bpy.data.objects.new("target", None)
    for obj in (dolly, target):
        scene.collection.objects.link(obj)
    dolly.scale = (2, 2, 2)
    for frame, x in ((0, 0), (12, 120)):
        key(dolly, "location", frame, (x, 40, 10))
        key(target, "location", frame, (60, -x, 5))
        key(dolly, "rotation_euler", frame, (0, 0, x / 100))
    obj = new_camera()
    obj.parent = dolly
    obj.location = (3, 4, 5)
    constraint = obj.constraints.new("TRACK_TO")
    constraint.target, constraint.track_axis, constraint.up_axis = target, "TRACK_NEGATIVE_Z", "UP_Y"
    for frame, lens in ((0, 20), (12, 80)):
        key(obj.data, "lens", frame, lens)
    scene.frame_set(5, subframe=0.25)
    camera = exported(tmp_path)
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)
    assert camera.frame_rate == rate
    assert camera.cuts.tolist() == []
    assert camera.entry_count == 13
    assert_matches_blender(camera, [obj] * 13)


@pytest.mark.parametrize("fit", ["AUTO", "HORIZONTAL", "VERTICAL"])
@pytest.mark.parametrize("size", [(36, 24), (20, 30)])
def test_field_of_view_from_lens_sensor_and_fit(tmp_path, fit, size):
    set_range(0)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 640, 480
    obj = new_camera()
    obj.data.sensor_fit, obj.data.lens = fit, 40
    obj.data.sensor_width, obj.data.sensor_height = size
    assert_matches_blender(exported(tmp_path), [obj])


def test_a_cut_of_one_camera_ends_where_its_motion_leads(tmp_path):
    set_range(9)
    obj = new_camera()
    for frame, x in ((0, 0), (4, 40), (5, 1000), (9, 1000)):
        key(obj, "location", frame, (x, 0, 0))
    for frame, turn in ((0, 0.0), (4, 0.4), (5, 3.0), (9, 3.0)):
        key(obj, "rotation_euler", frame, (1.5, 0, turn))
    # Blender's new keys are Bézier; between frames nothing is read.
    new_camera("someone else")
    mark("Cut to the door", 5)
    mark("cutscene starts", 2)
    mark("cut someone else", 3)
    mark("cut", 0)
    mark("cut", 10)
    camera = exported(tmp_path)
    assert camera.cuts.tolist() == [5]
    assert camera.entry_count == 11
    assert_matches_blender(camera, [obj] * 10)
    last, before = camera.positions[4], camera.positions[3]
    np.testing.assert_allclose(camera.positions[5], 2 * last - before, atol=1e-4)
    turns = [Quaternion((-math.sqrt(1 - np.square(q).sum()), *q)) for q in camera.orientations[3:6]]
    step, end = turns[1] @ turns[0].inverted(), turns[2] @ turns[1].inverted()
    assert step.rotation_difference(end).angle == pytest.approx(0, abs=1e-3)


def test_a_shot_of_one_frame_ends_where_it_is(tmp_path):
    set_range(3)
    obj = new_camera()
    for frame in range(4):
        key(obj, "location", frame, (frame * frame, 0, 0))
    mark("cut", 1)
    mark("cut.001", 2)
    camera = exported(tmp_path)
    assert camera.cuts.tolist() == [1, 3]
    np.testing.assert_allclose(camera.positions[:, 0], [0, 0, 1, 1, 4, 9], atol=1e-6)


def test_cameras_that_markers_bind(tmp_path):
    set_range(11, 30)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 640, 480
    first, second = new_camera("first"), new_camera("second")
    for obj, y in ((first, 0), (second, 500)):
        for frame in (0, 11):
            key(obj, "location", frame, (frame, y, 0))
    second.data.lens = 90
    hidden = new_camera("hidden")
    hidden.hide_render = True
    mark("first", 0, first)
    mark("second", 4, second)
    mark("second, closer", 6, second)
    mark("hidden", 7, hidden)
    mark("back", 9, first)
    scene.camera = second
    scene.frame_set(3)
    scene.camera = second
    camera = exported(tmp_path)
    assert scene.camera == second
    assert scene.frame_current == 3
    # One each at frames 4, 6 and 9.
    assert camera.cuts.tolist() == [4, 7, 11]
    assert_matches_blender(camera, [first] * 4 + [second] * 5 + [first] * 3)
    # At the instant of each cut the old camera is where it really is.
    for entry, frame, y in ((4, 4, 0), (11, 9, 500)):
        scene.frame_set(frame)
        obj = first if y == 0 else second
        np.testing.assert_allclose(camera.positions[entry], obj.matrix_world.to_translation(), atol=1e-5)
        assert camera.positions[entry, 1] == y
    # Where a marker binds the same camera once more, its motion goes on.
    np.testing.assert_allclose(camera.positions[7], 2 * camera.positions[6] - camera.positions[5], atol=1e-5)
    assert exported(tmp_path, use_markers=False).cuts.tolist() == []


def test_only_edited_values_change_in_the_file(tmp_path, part):
    camera = make_camera([10, 20], 40, 24)
    camera.cut_groups = ["pos ( 1 2 3 )", ""]
    obj = imported(tmp_path, camera)
    for curve in fcurves(part, obj, "OBJECT"):
        if curve.data_path == "location":
            curve.keyframe_points[9].co.y += 5
            curve.update()
    edited = exported(tmp_path)
    changed = (edited.positions != camera.positions).any(axis=1)
    # The last frame of the first shot, and its end, which goes with it.
    assert np.flatnonzero(changed).tolist() == [9, 10]
    np.testing.assert_allclose(edited.positions[9], camera.positions[9] + 5, atol=PLACE)
    np.testing.assert_allclose(edited.positions[10], 2 * edited.positions[9] - edited.positions[8])
    np.testing.assert_array_equal(edited.orientations, camera.orientations)
    np.testing.assert_array_equal(edited.fields_of_view, camera.fields_of_view)
    assert edited.cut_groups == camera.cut_groups


def test_cuts_are_moved_added_and_removed_by_their_markers(tmp_path):
    camera = make_camera([10, 20], 40, 24)
    camera.cut_groups = ["pos ( 1 2 3 )", "pos ( 4 5 6 )"]
    obj = imported(tmp_path, camera)
    markers = sorted(bpy.context.scene.timeline_markers, key=lambda marker: marker.frame)
    bpy.context.scene.timeline_markers.remove(markers[0])
    mark("cut 7", 30)
    obj.name = "renamed"
    out = exported(tmp_path)
    assert out.cuts.tolist() == [19, 31]
    assert out.cut_groups == ["pos ( 4 5 6 )", ""]
    assert out.entry_count == 40
    np.testing.assert_array_equal(out.positions[:19], np.delete(camera.positions, 10, axis=0)[:19])
    np.testing.assert_array_equal(out.positions[19], camera.positions[20])


def test_part_of_the_range(tmp_path):
    camera = make_camera([10, 20], 40, 24)
    imported(tmp_path, camera)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 18
    out = exported(tmp_path)
    assert out.cuts.tolist() == []
    np.testing.assert_array_equal(out.positions, camera.positions[11:20])
    scene.frame_start, scene.frame_end = 9, 19
    out = exported(tmp_path)
    assert out.cuts.tolist() == [1, 11]
    np.testing.assert_array_equal(out.positions, camera.positions[9:22])


def test_cuts_of_two_imported_cameras_are_kept_apart(tmp_path):
    one, other = make_camera([10], 40, 24, seed=1), make_camera([20, 25], 40, 24, seed=2)
    first = imported(tmp_path, one, "one")
    imported(tmp_path, other, "other")
    scene = bpy.context.scene
    assert_same(exported(tmp_path), other)
    scene.camera, scene.frame_end = first, 38
    assert_same(exported(tmp_path), one)


def test_a_fractional_frame_rate(tmp_path):
    set_range(3)
    new_camera()
    bpy.context.scene.render.fps_base = 1.001
    assert exported(tmp_path).frame_rate == 24


def test_a_failed_export_leaves_no_file(tmp_path):
    set_range(3)
    path = tmp_path / "out.md5camera"
    with pytest.raises(RuntimeError, match="no active camera"):
        bpy.ops.export_scene.md5camera(filepath=str(path))
    obj = new_camera()
    obj.data.type = "ORTHO"
    with pytest.raises(RuntimeError, match=r"Camera is of the type Orthographic.*Perspective"):
        bpy.ops.export_scene.md5camera(filepath=str(path))
    obj.data.type = "PERSP"
    empty = bpy.data.objects.new("empty", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.scene.camera = empty
    with pytest.raises(RuntimeError, match="empty is not a camera"):
        bpy.ops.export_scene.md5camera(filepath=str(path))
    assert not list(tmp_path.iterdir())
    bpy.context.scene.camera = obj
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.md5camera(filepath=str(tmp_path / "missing" / "out.md5camera"))


def test_a_picture_is_neither_mirrored_nor_upside_down(tmp_path):
    """Red on the left, green on the right, blue above: as the game would draw it."""
    side = math.sin(math.pi / 4)
    camera = Camera(np.empty(0, np.int32), np.array([[100.0, -50, 25]]), np.array([[0, 0, side]]), np.array([90.0]))
    imported(tmp_path, camera, use_render_size=True)
    forward, left, up = (Vector(row) for row in matrix_rows(0, 0, side))
    scene = bpy.context.scene
    for name, color, aside in (("red", (1, 0, 0), left), ("green", (0, 1, 0), -left), ("blue", (0, 0, 1), up)):
        bpy.ops.mesh.primitive_uv_sphere_add(
            radius=1.5, location=Vector(camera.positions[0]) + 10 * forward + 4 * aside
        )
        ball = bpy.context.active_object
        material = bpy.data.materials.new(name)
        if material.node_tree is None:
            material.use_nodes = True
        tree = material.node_tree
        glow = tree.nodes.new("ShaderNodeEmission")
        glow.inputs["Color"].default_value = (*color, 1)
        output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
        tree.links.new(glow.outputs[0], output.inputs[0])
        ball.data.materials.append(material)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.device = 1, "CPU"
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 64, 48, 100
    scene.render.filepath = str(tmp_path / "picture.png")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    pixels = np.array(image.pixels[:]).reshape(48, 64, -1)
    rows, columns = np.mgrid[0:48, 0:64]
    # Rows count from below. 4 units aside at 10 units ahead, where the picture is 20 wide, are 12.8 of 64 pixels.
    for channel, column, row in ((0, 31.5 - 12.8, 23.5), (1, 31.5 + 12.8, 23.5), (2, 31.5, 23.5 + 12.8)):
        inside = (pixels[..., channel] > 0.5) & (pixels[..., :3].sum(axis=-1) < 1.5)
        assert inside.sum() > 20
        assert abs(columns[inside].mean() - column) < 1
        assert abs(rows[inside].mean() - row) < 1
