"""Camera paths of edited and unusual cameras: the game plays what Blender shows, or a warning is given."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from engines import doom3
from installed import read_empty_scene
from mathutils import Vector
from md5_cameras import (
    assert_matches_blender,
    assert_plays_as_in_the_game,
    assert_same,
    exported,
    fcurves,
    imported,
    key,
    make_camera,
    mark,
    new_camera,
    set_range,
    view_of,
)

from io_idtech.io_md5.format import read_camera


def warnings_of(capfd, run):
    capfd.readouterr()
    run()
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning")]
    # The last report repeats the most important one.
    return [line for line in lines if "all in the Info editor" not in line]


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["AUTO", "HORIZONTAL", "VERTICAL"])
@pytest.mark.parametrize("picture", [(480, 640), (640, 480), (1920, 1080), (500, 500)])
@pytest.mark.parametrize("pixels", [(1.0, 1.0), (1.0, 2.0), (1.5, 1.0)])
def test_the_field_of_view_is_that_of_the_picture(tmp_path, capfd, fit, picture, pixels):
    set_range(0)
    render = bpy.context.scene.render
    render.resolution_x, render.resolution_y = picture
    render.pixel_aspect_x, render.pixel_aspect_y = pixels
    obj = new_camera()
    obj.data.sensor_fit, obj.data.lens = fit, 40
    obj.data.sensor_width, obj.data.sensor_height = 36, 20
    said = warnings_of(capfd, lambda: assert_matches_blender(exported(tmp_path), [obj]))
    assert said == []


def sheared_camera():
    """A camera that its parent shears."""
    parent = bpy.data.objects.new("parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (1, 2, 1)
    obj = new_camera()
    obj.parent = parent
    obj.rotation_euler = (0.9, 0.3, 0.5)
    return obj, parent


def looks(camera):
    """Forward and up of the first entry, as the game has it."""
    x, y, z = camera.orientations[0]
    # The game takes w as negative: so the rows of ToMat3 are forward, left and up.
    w = -math.sqrt(max(0.0, 1 - x * x - y * y - z * z))
    forward = Vector((1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)))
    return forward, Vector((2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)))


def test_a_sheared_camera_keeps_its_view_and_gives_a_warning(tmp_path, capfd):
    set_range(2)
    obj, parent = sheared_camera()
    said = warnings_of(capfd, lambda: exported(tmp_path))
    assert len(said) == 1
    assert "direction by" in said[0]
    assert "shear" in said[0]
    camera = read_camera(tmp_path / "out.md5camera")
    place, forward, *_rest = view_of(obj)
    assert (place - Vector(camera.positions[0])).length < 1e-4
    ahead, _up = looks(camera)
    assert (ahead - forward).length < 1e-5
    parent.scale = (2, 2, 2)
    assert warnings_of(capfd, lambda: exported(tmp_path)) == []


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-2, -2, -2)])
def test_a_mirrored_camera_looks_where_it_does_in_blender_and_only_its_mirroring_is_warned_about(
    tmp_path, capfd, scale
):
    set_range(0)
    obj = new_camera()
    obj.rotation_euler = (1.1, 0.2, 0.7)
    obj.scale = scale
    (said,) = warnings_of(capfd, lambda: exported(tmp_path))
    assert "mirror" in said
    assert "direction" not in said
    assert "°" not in said
    forward, up = looks(read_camera(tmp_path / "out.md5camera"))
    axes = obj.matrix_world.to_3x3().normalized()
    assert (forward + axes.col[2]).length < 1e-5
    assert (up - axes.col[1]).length < 1e-5


@pytest.mark.parametrize(("kind", "name"), [("ORTHO", "Orthographic"), ("PANO", "Panoramic")])
def test_a_camera_without_perspective_is_refused_with_the_remedy(tmp_path, kind, name):
    set_range(0)
    new_camera().data.type = kind
    with pytest.raises(RuntimeError, match=f"{name}.*set Type to Perspective"):
        exported(tmp_path)


def test_verification_can_be_switched_off(tmp_path, capfd):
    set_range(2)
    sheared_camera()
    path = str(tmp_path / "out.md5camera")
    assert warnings_of(capfd, lambda: bpy.ops.export_scene.md5camera(filepath=path, verify="NONE")) == []


@pytest.mark.parametrize(("last", "verify"), [(40, "SOME"), (500, "ALL")])
def test_one_frame_on_which_the_camera_differs_is_found(tmp_path, capfd, last, verify):
    """Up to 200 frames are compared by default, all on request."""
    set_range(last)
    _obj, parent = sheared_camera()
    for frame, scale in ((0, (1, 1, 1)), (16, (1, 1, 1)), (17, (1, 3, 1)), (18, (1, 1, 1))):
        key(parent, "scale", frame, scale)
    path = str(tmp_path / "out.md5camera")
    (said,) = warnings_of(capfd, lambda: bpy.ops.export_scene.md5camera(filepath=path, verify=verify))
    assert "on frame 17" in said


@pytest.mark.parametrize("has_parent", [False, True])
def test_jumps_without_a_cut_are_warned_about(tmp_path, capfd, part, has_parent):
    set_range(40)
    mover = obj = new_camera()
    if has_parent:
        mover = obj.parent = bpy.data.objects.new("dolly", None)
        bpy.context.scene.collection.objects.link(mover)
    for frame, x in ((0, 0.0), (10, 0.0), (20, 500.0), (30, 90.0)):
        key(mover, "location", frame, (x, 0.0, 0.0))
    for curve in fcurves(part, mover, "OBJECT"):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    path = str(tmp_path / "out.md5camera")

    def export():
        return warnings_of(capfd, lambda: bpy.ops.export_scene.md5camera(filepath=path))

    (said,) = export()
    assert "20, 30. Add markers named 'cut Camera'" in said
    mark("cut", 20)
    (said,) = export()
    assert ": 30. Add" in said
    mark("cut Camera", 30)
    assert export() == []


def test_a_deleted_cut_of_an_imported_camera_is_warned_about(tmp_path, capfd):
    imported(tmp_path, make_camera([20, 31], 60, 24))
    markers = bpy.context.scene.timeline_markers
    markers.remove(markers[0])
    (said,) = warnings_of(capfd, lambda: exported(tmp_path))
    assert "jumps on frames without a cut" in said


def test_an_imported_camera_keeps_its_frame_rate_or_takes_the_scenes(tmp_path, capfd):
    imported(tmp_path, make_camera([3], 20, 60))
    scene = bpy.context.scene
    assert exported(tmp_path).frame_rate == 60
    scene.render.fps = 30
    (said,) = warnings_of(capfd, lambda: exported(tmp_path))
    assert "60" in said
    assert "30" in said
    assert read_camera(tmp_path / "out.md5camera").frame_rate == 60
    said = warnings_of(capfd, lambda: exported(tmp_path, frame_rate_from="SCENE"))
    assert said == []
    assert read_camera(tmp_path / "out.md5camera").frame_rate == 30


def test_unkeyed_changes_survive_an_export(tmp_path):
    set_range(6)
    scene = bpy.context.scene
    obj = new_camera()
    obj["mood"] = 1.0
    for frame, x in ((0, 0.0), (6, 60.0)):
        key(obj, "location", frame, (x, 0, 0))
        obj["mood"] = x
        obj.keyframe_insert('["mood"]', frame=frame)
        key(obj.data, "lens", frame, 20 + x)
    scene.frame_set(3, subframe=0.5)
    obj.location, obj["mood"], obj.data.lens = (7, 8, 9), 5.0, 33
    action = obj.animation_data.action
    first = exported(tmp_path)
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)
    assert (tuple(obj.location), obj["mood"], obj.data.lens) == ((7, 8, 9), 5.0, 33)
    assert obj.animation_data.action == action
    np.testing.assert_array_equal(exported(tmp_path).positions, first.positions)
    obj.data.type = "PANO"
    with pytest.raises(RuntimeError):
        exported(tmp_path)
    assert (tuple(obj.location), obj["mood"], obj.data.lens) == ((7, 8, 9), 5.0, 33)


def test_a_moved_copy_of_an_imported_camera_is_exported_where_it_is(tmp_path):
    camera = make_camera([7], 20, 24)
    obj = imported(tmp_path, camera)
    copy = obj.copy()
    copy.data = obj.data.copy()
    copy.animation_data_clear()
    bpy.context.scene.collection.objects.link(copy)
    copy.location = (1, 2, 3)
    bpy.context.scene.camera = copy
    moved = exported(tmp_path)
    np.testing.assert_allclose(moved.positions[[0, 5, -1]], np.tile((1, 2, 3), (3, 1)), atol=1e-5)
    bpy.context.scene.camera = obj
    assert_same(exported(tmp_path), camera)


def test_an_imported_camera_comes_back_after_save_and_append(tmp_path):
    camera = make_camera([7], 20, 24)
    camera.cut_groups = ["rot ( 1 2 3 )"]
    obj = imported(tmp_path, camera, global_scale=0.5)
    assert list(obj.data.keys()) == ["md5"]
    blend = str(tmp_path / "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.ops.wm.open_mainfile(filepath=blend)
    assert_same(exported(tmp_path, global_scale=2.0), camera)
    read_empty_scene()
    with bpy.data.libraries.load(blend) as (there, here):
        here.objects = there.objects
    appended = bpy.data.objects["intro"]
    scene = bpy.context.scene
    scene.collection.objects.link(appended)
    scene.camera = appended
    scene.frame_start, scene.frame_end = 0, 18
    mark("cut intro", 7)
    scene.render.fps = 24
    assert_same(exported(tmp_path, global_scale=2.0), camera)


HOSTILE = [
    None, True, -1, 0, 2**31 - 1, -(2**31), 0.5, math.nan, math.inf, -math.inf, 1e300, "", "x" * 70000,
    'a "quote"', "\n", b"", b"\xff",
    b"\x00" * 56, b"\xff" * 56, b"\x00" * (56 * 19), [], [1], [1, 2, 3], [math.nan] * 140, [2**31 - 1] * 20, ["a"],
    {"a": 1}, np.full(7 * 20, 1e308).tobytes(), np.full(7 * 20, -5.0).tobytes(), np.arange(140.0).tobytes(),
]  # fmt: skip
KEYS = ["entries", "cuts", "cut_groups", "cut_marker", "frame_start", "frame_rate", "commandline", "scale", "axes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*KEYS, None])
def test_hostile_values_are_not_used(tmp_path, name):
    """Whatever the group of a camera says, what is exported is what Blender shows."""
    camera = make_camera([7], 20, 24)
    camera.cut_groups, camera.commandline = ["rot ( 1 2 3 )"], "maya"
    obj = imported(tmp_path, camera, global_scale=0.5)
    scene = bpy.context.scene
    good = obj.data["md5"].to_dict()
    for value in HOSTILE:
        if name is None:
            obj.data["md5"] = 0 if value is None else value
        else:
            group = dict(good)
            if value is None:
                group.pop(name, None)
            else:
                group[name] = value
            obj.data["md5"] = group
        try:
            found = exported(tmp_path, global_scale=2.0)
        except RuntimeError as error:
            pytest.fail(f"{name} = {value!r}: {error}")
        assert found.frame_rate > 0
        for frame in (scene.frame_start, 3, scene.frame_end):
            scene.frame_set(frame)
            entry = frame + (frame >= 7 and len(found.cuts) == 1)
            place = view_of(obj)[0] * 2.0
            assert (place - Vector(found.positions[entry])).length < 2e-3, f"{name} = {value!r}"


# Games


def test_any_game_warns_of_what_doom_3_stops_at(tmp_path, capfd):
    camera = make_camera([0, 9], 20, 24)
    camera.cut_groups = ["", "pos ( 243.9 3552.7 39.0 ) rot ( 0 -132.22 0 )"]
    imported(tmp_path, camera)
    path = str(tmp_path / "out.md5camera")
    said = "".join(warnings_of(capfd, lambda: bpy.ops.export_scene.md5camera(filepath=path, game="ANY")))
    assert "cut at frame 0; Doom 3 refuses" in said
    assert "1 cut has a position of the player" in said


def refused(tmp_path, match, game="DOOM3"):
    with pytest.raises(RuntimeError, match=match):
        exported(tmp_path, game=game)
    assert not (tmp_path / "out.md5camera").exists()


def test_a_cut_on_the_first_frame_is_refused_for_doom_3_until_its_marker_is_deleted(tmp_path):
    imported(tmp_path, make_camera([0, 9], 20, 24))
    refused(tmp_path, "A cut at frame 0; Doom 3 refuses the camera path: delete the marker on the first frame")
    markers = bpy.context.scene.timeline_markers
    markers.remove(next(marker for marker in markers if marker.frame == 0))
    assert exported(tmp_path, game="DOOM3").cuts.tolist() == [8]


def test_positions_of_the_player_are_refused_for_doom_3_until_the_imported_data_is_deleted(tmp_path):
    camera = make_camera([9], 20, 24)
    camera.cut_groups = ["pos ( 243.9 3552.7 39.0 ) rot ( 0 -132.22 0 )"]
    obj = imported(tmp_path, camera)
    refused(tmp_path, "1 cut has a position of the player.*delete the custom property md5 of the camera data")
    assert_same(exported(tmp_path), camera)
    del obj.data["md5"]
    out = exported(tmp_path, game="DOOM3")
    assert (out.cuts.tolist(), any(out.cut_groups)) == ([9], False)
    assert_plays_as_in_the_game(obj, out)
    assert doom3.load_camera((tmp_path / "out.md5camera").read_bytes())[0] == [9]


def test_fields_of_view_of_0_are_refused_for_doom_3(tmp_path):
    camera = make_camera([], 6, 24)
    camera.fields_of_view[2] = 0.0
    imported(tmp_path, camera)
    refused(tmp_path, "1 frame has a field of view of 0 or less")


def test_a_path_for_a_game_without_camera_paths_is_a_warning(tmp_path, capfd):
    set_range(3)
    new_camera()
    (said,) = warnings_of(capfd, lambda: exported(tmp_path, game="QUAKE"))
    assert "Quake reads none: export it for Doom 3" in said


def test_the_game_of_the_preferences_is_that_of_camera_paths_too(tmp_path):
    imported(tmp_path, make_camera([0, 9], 20, 24))
    preferences = bpy.context.preferences.addons["bl_ext.user_default.io_idtech"].preferences
    preferences.md5_game = "DOOM3"
    try:
        with pytest.raises(RuntimeError, match="A cut at frame 0"):
            bpy.ops.export_scene.md5camera(filepath=str(tmp_path / "out.md5camera"))
        bpy.ops.export_scene.md5camera(filepath=str(tmp_path / "out.md5camera"), game="ANY")
        assert read_camera(tmp_path / "out.md5camera").cuts.tolist() == [0, 9]
    finally:
        preferences.property_unset("md5_game")


def test_the_command_line_has_its_game_for_camera_paths_too(part, tmp_path):
    imported(tmp_path, make_camera([0, 9], 20, 24))
    path = tmp_path / "out.md5camera"
    for game in ("DOOM3", "ANY"):
        options = part("io_blender.options")
        words = (options.Settings(game=game), options.Scene(part("io_blender.scene.axes").identity()))
        if game == "ANY":
            part("io_md5.operators").save(bpy.context, path, *words)
            assert path.exists()
        else:
            with pytest.raises(part("io_md5.format").Md5Error, match="a cut at frame 0"):
                part("io_md5.operators").save(bpy.context, path, *words)
            assert not path.exists()
