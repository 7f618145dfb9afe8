"""Frames of MD2 models that are retimed, mixed, added, deleted, or animated by other means than shape keys."""

from __future__ import annotations

import bpy
import md2_compare
import numpy as np
import pytest
import scene_state
from md2_compare import assert_matches_blender, bench_of, compare, export, put_with
from scripted_scenes import cube
from workbench import activate

pytestmark = pytest.mark.slow

NAMES = ["wave1", "wave2", "wave3", "wave4", "wave5"]


@pytest.fixture(params=["RELATIVE", "ABSOLUTE"])
def tube(request, tmp_path):
    setting = "plain" if request.param == "RELATIVE" else "absolute keys"
    return bench_of(tmp_path, "tube", setting).mesh


@pytest.fixture
def relative(tmp_path):
    return bench_of(tmp_path).mesh


def curves(part, obj):
    keys = obj.data.shape_keys
    return list(part("io_blender.versions").action_fcurves(keys.animation_data.action, "KEY"))


def retime(part, obj, change):
    """Moves every keyframe of the shape keys."""
    for curve in curves(part, obj):
        for point in curve.keyframe_points:
            point.co.x = change(point.co.x)
        curve.update()


def replace_curve(curve, values):
    """Gives a curve a keyframe on each frame."""
    while len(curve.keyframe_points):
        curve.keyframe_points.remove(curve.keyframe_points[0])
    for frame, value in enumerate(values):
        curve.keyframe_points.insert(frame, value).interpolation = "LINEAR"
    curve.update()


TWO_SEQUENCES = ["stand1", "stand2", "run1", "run2", "run3"]


def import_two_sequences(folder):
    """A tube with an action for each of its sequences."""
    model = md2_compare.tube_model()
    model.frame_names = TWO_SEQUENCES
    md2_compare.write_model(model, folder / "two.md2")
    bpy.ops.import_scene.md2(filepath=str(folder / "two.md2"), sequence_actions=True)
    return bpy.context.view_layer.objects.active


class TestPlaying:
    def test_frames_twice_as_long(self, tmp_path, part, tube):
        retime(part, tube, lambda x: 2 * x)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 9
        assert result.file.frame_names[::2] == NAMES
        assert len(set(result.file.frame_names)) == 9

    def test_frames_half_as_long(self, tmp_path, part, tube):
        retime(part, tube, lambda x: x / 2)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 3
        assert result.file.frame_names == NAMES[::2]
        assert any("does not play" in text for text in result.warnings)

    def test_frames_moved_to_later(self, tmp_path, part, tube):
        retime(part, tube, lambda x: x + 10)
        result = compare(tmp_path, frames=list(range(10, 15)))
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES

    def test_frames_played_backwards(self, tmp_path, part, tube):
        retime(part, tube, lambda x: 4 - x)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES[::-1]

    def test_a_retimed_frame_keeps_its_normals(self, tmp_path, part, tube):
        before, _ = export(tmp_path / "before.md2")
        retime(part, tube, lambda x: 2 * x)
        after = compare(tmp_path).file
        np.testing.assert_array_equal(after.normals[::2], before.normals)

    def test_mixed_frames(self, tmp_path, part, relative):
        third = next(curve for curve in curves(part, relative) if "wave3" in curve.data_path)
        replace_curve(third, [0.5, 0.25, 1.0, 0.0, 0.75])
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 5

    def test_a_muted_curve(self, tmp_path, part, relative):
        curves(part, relative)[1].mute = True
        assert_matches_blender(compare(tmp_path))

    def test_the_strip_of_an_action(self, tmp_path, relative):
        data = relative.data.shape_keys.animation_data
        action = data.action
        strip = data.nla_tracks.new().strips.new("all", 0, action)
        data.action = None
        strip.scale = 2.0
        result = compare(tmp_path, frames=list(range(9)))
        assert_matches_blender(result)

    def test_an_action_that_is_pushed_down_is_exported_as_before(self, tmp_path, tube):
        before, _ = export(tmp_path / "before.md2")
        data = tube.data.shape_keys.animation_data
        data.nla_tracks.new().strips.new("all", 0, data.action)
        data.action = None
        assert export(tmp_path / "after.md2")[1] == []
        assert before.frame_names == NAMES
        assert (tmp_path / "after.md2").read_bytes() == (tmp_path / "before.md2").read_bytes()

    def test_strips_of_sequences_in_another_order_keep_the_names_of_their_frames(self, tmp_path):
        data = import_two_sequences(tmp_path).data.shape_keys.animation_data
        data.action = None
        track = data.nla_tracks.new()
        for name, start in (("run", 0), ("stand", 3)):
            action = bpy.data.actions[name]
            strip = track.strips.new(name, start, action)
            if hasattr(strip, "action_slot"):
                strip.action_slot = action.slots[0]
        result = compare(tmp_path, frames=list(range(5)))
        assert_matches_blender(result)
        assert result.file.frame_names == ["run1", "run2", "run3", "stand1", "stand2"]

    def test_a_driver(self, tmp_path, relative):
        driver = relative.data.shape_keys.key_blocks["wave4"].driver_add("value").driver
        driver.expression = "frame * 0.1"
        assert_matches_blender(compare(tmp_path))

    def test_time_remapping(self, tmp_path, relative):
        bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 50
        assert_matches_blender(compare(tmp_path))

    def test_the_action_of_one_sequence(self, tmp_path):
        md2_compare.write_model(md2_compare.tube_model(), tmp_path / "tube.md2")
        obj = import_two_sequences(tmp_path)
        data = obj.data.shape_keys.animation_data
        slot = getattr(data, "action_slot", None)
        data.action = bpy.data.actions["run"]
        if slot is not None:
            data.action_slot = data.action.slots[0]
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == ["run1", "run2", "run3"]
        assert any(
            "the timeline does not play 2 frames of the 5 of the imported model" in text for text in result.warnings
        )
        file, _said = export(tmp_path / "all.md2", frames="SHAPE_KEYS")
        assert file.frame_names == TWO_SEQUENCES

    @pytest.mark.parametrize("source", ["AUTO", "SHAPE_KEYS"])
    def test_every_second_key(self, tmp_path, tube, source):
        result = compare(tmp_path, frames=[0, 2, 4], source=source, frame_step=2)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES[::2]

    def test_a_custom_range(self, tmp_path, tube):
        result = compare(tmp_path, frames=[1, 2, 3], frame_start=1, frame_end=3)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES[1:4]

    def test_a_start_frame(self, tmp_path):
        md2_compare.write_model(md2_compare.tube_model(), tmp_path / "tube.md2")
        bpy.ops.import_scene.md2(filepath=str(tmp_path / "tube.md2"), frame_start=7)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES


class TestKeys:
    def test_an_added_frame(self, tmp_path, tube):
        key = tube.shape_key_add(name="leap1", from_mix=False)
        key.value = 0.0
        for point in key.data:
            point.co.z += 9.0
        result = compare(tmp_path, frames=[0, 1, 2, 3, 4, 0])
        assert result.file.frame_names == [*NAMES, "leap1"]
        assert result.wrong == ["frame 5 (list)", "frame 5 (GL)"]
        moved = result.file.vertices[5] - result.file.vertices[0]
        assert (np.abs(moved - (0, 0, 9)) <= 2 * result.file.steps[[0, 5]].max()).all()

    def test_an_added_frame_that_is_played(self, tmp_path, relative):
        key = relative.shape_key_add(name="leap1", from_mix=False)
        for point in key.data:
            point.co.z += 9.0
        for frame, value in ((4, 0.0), (5, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        last = relative.data.shape_keys.key_blocks["wave5"]
        last.value = 0.0
        last.keyframe_insert("value", frame=5)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == [*NAMES, "leap1"]

    def test_an_added_frame_mixed_with_the_last_one(self, tmp_path, relative):
        key = relative.shape_key_add(name="leap1", from_mix=False)
        for point in key.data:
            point.co.z += 9.0
        for frame, value in ((4, 0.0), (5, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 6

    def test_an_added_key_as_blender_5_makes_it(self, tmp_path, relative):
        key = relative.shape_key_add(name="leap1", from_mix=False)
        for point in key.data:
            point.co.z += 9.0
        key.value = 1.0
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == len(NAMES)
        assert any("change every frame: leap1" in text and "values to 0" in text for text in result.warnings)
        assert not any("left out" in text for text in result.warnings)

    def test_an_added_key_that_shows_on_all_frames(self, tmp_path, relative):
        key = relative.shape_key_add(name="fat", from_mix=False)
        for point in key.data:
            point.co.y *= 1.5
        key.value = 0.5
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES

    def test_a_renamed_frame(self, tmp_path, relative):
        relative.data.shape_keys.key_blocks["wave3"].name = "blink"
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == [*NAMES[:2], "blink", *NAMES[3:]]
        assert not any("reordered" in text for text in result.warnings)

    def test_a_muted_frame(self, tmp_path, relative):
        relative.data.shape_keys.key_blocks["wave3"].mute = True
        result = compare(tmp_path, frames=[0, 1, 3, 4])
        assert_matches_blender(result)
        assert any("muted, deleted or reordered" in text for text in result.warnings)

    def test_a_deleted_frame(self, tmp_path, relative):
        relative.shape_key_remove(relative.data.shape_keys.key_blocks["wave3"])
        result = compare(tmp_path, frames=[0, 1, 3, 4])
        assert_matches_blender(result)
        assert result.file.frame_names == [NAMES[i] for i in (0, 1, 3, 4)]
        assert any("deleted or reordered" in text for text in result.warnings)

    def test_the_last_frame_deleted(self, tmp_path, relative):
        relative.shape_key_remove(relative.data.shape_keys.key_blocks["wave5"])
        result = compare(tmp_path, frames=[0, 1, 2, 3])
        assert_matches_blender(result)
        assert result.warnings == []

    def test_the_first_frame_deleted(self, tmp_path, relative):
        relative.shape_key_remove(relative.data.shape_keys.key_blocks["wave1"])
        result = compare(tmp_path, frames=[1, 2, 3, 4])
        assert result.file.frame_names == NAMES[1:]
        assert_matches_blender(result)

    def test_reordered_frames(self, tmp_path, relative):
        activate(relative)
        relative.active_shape_key_index = 3
        bpy.ops.object.shape_key_move(type="UP")
        result = compare(tmp_path, frames=[0, 1, 3, 2, 4])
        assert_matches_blender(result)
        assert result.file.frame_names == [NAMES[i] for i in (0, 1, 3, 2, 4)]
        assert any("deleted or reordered" in text for text in result.warnings)

    @pytest.mark.every_version
    def test_another_basis(self, tmp_path, relative):
        activate(relative)
        relative.active_shape_key_index = 2
        for _ in range(2):
            bpy.ops.object.shape_key_move(type="UP")
        if relative.data.shape_keys.key_blocks[0].name != "wave3":
            pytest.skip("this Blender keeps the basis first")
        assert_matches_blender(compare(tmp_path))

    @pytest.mark.parametrize("name", ["wave2", "wave4"])
    def test_a_muted_key_is_no_frame(self, tmp_path, relative, name):
        relative.data.shape_keys.key_blocks[name].mute = True
        result = compare(tmp_path, frames=[i for i in range(5) if NAMES[i] != name])
        assert_matches_blender(result)
        assert name not in result.file.frame_names

    @pytest.mark.parametrize("modified", [False, True])
    def test_a_vertex_group(self, tmp_path, relative, modified):
        group = relative.vertex_groups.new(name="half")
        for index in range(12):
            group.add([index], index / 11, "REPLACE")
        relative.data.shape_keys.key_blocks["wave3"].vertex_group = "half"
        if modified:
            relative.modifiers.new("up", "DISPLACE").strength = 0.5
        assert_matches_blender(compare(tmp_path))

    @pytest.mark.parametrize("modified", [False, True])
    @pytest.mark.parametrize("limits", [(0.0, 0.5), (0.0, 2.0), (-1.0, 0.25), (0.2, 1.0)])
    def test_a_range_of_values(self, tmp_path, relative, modified, limits):
        key = relative.data.shape_keys.key_blocks["wave3"]
        key.slider_min, key.slider_max = limits
        if modified:
            relative.modifiers.new("up", "DISPLACE").strength = 0.5
        assert_matches_blender(compare(tmp_path))

    @pytest.mark.parametrize("modified", [False, True])
    def test_values_beyond_one(self, tmp_path, part, relative, modified):
        key = relative.data.shape_keys.key_blocks["wave3"]
        key.slider_max = 3.0
        third = next(curve for curve in curves(part, relative) if "wave3" in curve.data_path)
        replace_curve(third, [0.0, 0.0, 2.5, 0.0, 0.0])
        if modified:
            relative.modifiers.new("up", "DISPLACE").strength = 0.5
        assert_matches_blender(compare(tmp_path))

    @pytest.mark.parametrize("modified", [False, True])
    def test_a_key_relative_to_another(self, tmp_path, relative, modified):
        blocks = relative.data.shape_keys.key_blocks
        blocks["wave4"].relative_key = blocks["wave2"]
        if modified:
            relative.modifiers.new("up", "DISPLACE").strength = 0.5
        assert_matches_blender(compare(tmp_path))

    def test_a_pinned_key_is_not_exported_as_a_frame_and_gives_a_warning(self, tmp_path, tube):
        tube.active_shape_key_index, tube.show_only_shape_key = 2, True
        file, said = export(tmp_path / "out.md2")
        assert file.frame_names == NAMES
        assert any("pinned" in text for text in said)
        tube.show_only_shape_key = False
        result = compare(tmp_path)
        assert_matches_blender(result)
        np.testing.assert_array_equal(file.vertices, result.file.vertices)
        tube.show_only_shape_key = True
        assert_matches_blender(compare(tmp_path, source="SCENE"))

    def test_a_mix_of_keys_that_nothing_animates_is_warned_about(self, tmp_path):
        obj = cube()
        for number in range(3):
            key = obj.shape_key_add(name=f"k{number}", from_mix=False)
            key.data[0].co.z -= number
            key.value = 0.5 * number
        file, said = export(tmp_path / "out.md2")
        assert len(file.frame_names) == 3
        assert any("mix" in text for text in said)
        bpy.context.scene.frame_end = 3
        assert_matches_blender(compare(tmp_path, source="SCENE"))

    def test_edited_frames(self, tmp_path, tube):
        for number, key in enumerate(tube.data.shape_keys.key_blocks):
            key.data[number].co.x += 2.0 + number
        assert_matches_blender(compare(tmp_path))

    def test_the_basis_edited_in_edit_mode(self, tmp_path, relative):
        activate(relative)
        relative.active_shape_key_index = 0
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.translate(value=(1.0, 2.0, 3.0))
        bpy.ops.object.mode_set(mode="OBJECT")
        assert_matches_blender(compare(tmp_path))


class TestMoving:
    def test_an_animated_object(self, tmp_path, tube):
        for frame, x in ((0, 0.0), (4, 20.0)):
            tube.location.x = x
            tube.keyframe_insert("location", frame=frame)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES

    def test_an_animated_parent(self, tmp_path, tube):
        parent = bpy.data.objects.new("parent", None)
        bpy.context.scene.collection.objects.link(parent)
        tube.parent = parent
        for frame, angle in ((0, 0.0), (4, 2.0)):
            parent.rotation_euler.z = angle
            parent.keyframe_insert("rotation_euler", frame=frame)
        assert_matches_blender(compare(tmp_path))

    def test_a_driven_object(self, tmp_path, tube):
        tube.driver_add("location", 1).driver.expression = "frame * 2"
        assert_matches_blender(compare(tmp_path))

    def test_a_constraint_to_an_animated_object(self, tmp_path, tube):
        target = bpy.data.objects.new("target", None)
        bpy.context.scene.collection.objects.link(target)
        tube.constraints.new("COPY_LOCATION").target = target
        for frame, x in ((0, 0.0), (4, 20.0)):
            target.location.x = x
            target.keyframe_insert("location", frame=frame)
        assert_matches_blender(compare(tmp_path))

    def test_an_animated_modifier(self, tmp_path, tube):
        modifier = tube.modifiers.new("up", "DISPLACE")
        for frame, strength in ((0, 0.0), (4, 3.0)):
            modifier.strength = strength
            modifier.keyframe_insert("strength", frame=frame)
        assert_matches_blender(compare(tmp_path))

    def test_an_animated_target_of_a_modifier(self, tmp_path, tube):
        target = bpy.data.objects.new("target", None)
        bpy.context.scene.collection.objects.link(target)
        tube.modifiers.new("cast", "CAST").object = target
        tube.modifiers["cast"].factor = 1.0
        for frame, x in ((0, 0.0), (4, 20.0)):
            target.location.x = x
            target.keyframe_insert("location", frame=frame)
        assert_matches_blender(compare(tmp_path))

    def test_another_object_that_moves(self, tmp_path, tube):
        other = cube()
        put_with(tube, other)
        for frame, z in ((0, 0.0), (4, 20.0)):
            other.location.z = z
            other.keyframe_insert("location", frame=frame)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES

    def test_another_object_that_does_not_move(self, tmp_path, tube):
        put_with(tube, cube())
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.frame_names == NAMES

    def test_another_object_with_keys_of_its_own(self, tmp_path, tube):
        other = cube()
        put_with(tube, other)
        for name in ("Basis", "wave2"):
            other.shape_key_add(name=name, from_mix=False).value = 0.0
        other.data.shape_keys.key_blocks[1].data[0].co.z -= 5
        other.data.shape_keys.key_blocks[1].value = 0.5
        assert_matches_blender(compare(tmp_path))

    def test_two_models_that_play_together(self, tmp_path):
        for name, frames in (("a", 5), ("b", 7)):
            model = md2_compare.tube_model(frames)
            model.translate[:, 1] += 30.0 * (name == "b")
            md2_compare.write_model(model, tmp_path / f"{name}.md2")
            bpy.ops.import_scene.md2(filepath=str(tmp_path / f"{name}.md2"))
        put_with(bpy.data.objects["b"], bpy.data.objects["a"])
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 7
        assert result.file.skin_size == (64, 48)

    def test_keys_of_a_model_made_in_blender_that_are_animated(self, tmp_path):
        obj = cube()
        obj.shape_key_add(name="Basis", from_mix=False)
        key = obj.shape_key_add(name="up", from_mix=False)
        key.data[0].co.z += 4
        for frame, value in ((1, 0.0), (6, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 6

    def test_keys_of_a_model_made_in_blender_that_moves(self, tmp_path):
        obj = cube()
        for name in ("Basis", "up"):
            obj.shape_key_add(name=name, from_mix=False).value = 0.0
        for frame, z in ((1, 0.0), (6, 20.0)):
            obj.location.z = z
            obj.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert len(result.file.frame_names) == 6


class TestFaces:
    def test_faces_that_change_between_frames_are_an_error(self, tmp_path):
        """A modifier that leaves the number of vertices, but not the faces."""
        obj = cube()
        modifier = obj.modifiers.new("swap", "NODES")
        modifier.node_group = flipping_group()
        bpy.context.scene.frame_end = 3
        before = scene_state.everything()
        with pytest.raises(RuntimeError, match="other faces in frame"):
            export(tmp_path / "out.md2")
        assert scene_state.differences(before, scene_state.everything()) == []
        assert not (tmp_path / "out.md2").exists()

    def test_decimate_after_an_animated_shape_is_an_error(self, tmp_path):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6)
        obj = bpy.context.object
        obj.shape_key_add(name="Basis", from_mix=False)
        rng = np.random.default_rng(1)
        key = obj.shape_key_add(name="hills", from_mix=False)
        for point in key.data:
            point.co.z += rng.uniform(0, 0.5)
        for frame, value in ((1, 0.0), (6, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        obj.modifiers.new("fewer", "DECIMATE").ratio = 0.5
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 6
        with pytest.raises(RuntimeError, match=r"(vertices|other faces) in frame"):
            export(tmp_path / "out.md2")

    def test_quads_that_bend_are_warned_about(self, tmp_path):
        obj = cube()
        obj.shape_key_add(name="Basis", from_mix=False)
        key = obj.shape_key_add(name="in", from_mix=False)
        # A corner of one side goes past the diagonal, so Blender cuts the side the other way.
        key.data[1].co = (29, 0.6, -0.6)
        for frame, value in ((1, 0.0), (2, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 2
        _file, said = export(tmp_path / "out.md2")
        (text,) = [text for text in said if "triangulated differently" in text]
        assert "cube" in text
        assert "frame 1" in text
        assert "%" in text
        _file, said = export(tmp_path / "out.md2", verify="NONE")
        assert not [text for text in said if "triangulated differently" in text]

    def test_a_face_that_bends_for_one_frame_is_found(self, tmp_path):
        obj = cube()
        obj.shape_key_add(name="Basis", from_mix=False)
        key = obj.shape_key_add(name="in", from_mix=False)
        key.data[1].co = (29, 0.6, -0.6)
        blink(key, "value", 0.0, 1.0)
        _file, said = export(tmp_path / "out.md2")
        (text,) = [text for text in said if "triangulated differently" in text]
        assert "frame 17 (" in text
        assert "Ctrl+T" in text

    def test_texture_coordinates_that_move_for_one_frame_are_found(self, tmp_path):
        obj = cube()
        warp = obj.modifiers.new("warp", "UV_WARP")
        warp.uv_layer = obj.data.uv_layers[0].name
        blink(warp, "offset", (0.0, 0.0), (0.5, 0.0))
        for frame, height in ((1, 0.0), (40, 5.0)):
            obj.location.z = height
            obj.keyframe_insert("location", frame=frame)
        _file, said = export(tmp_path / "out.md2")
        assert any("texture coordinates differ" in text and "frame 17 (" in text for text in said)

    def test_a_triangulate_modifier_on_shape_keys_has_to_be_fixed(self, tmp_path):
        """Its default goes by the shape, and Blender applies no modifier to a mesh with shape keys."""
        obj = cube()
        obj.shape_key_add(name="Basis", from_mix=False)
        key = obj.shape_key_add(name="in", from_mix=False)
        key.data[1].co = (29, 0.6, -0.6)
        blink(key, "value", 0.0, 1.0)
        modifier = obj.modifiers.new("triangles", "TRIANGULATE")
        modifier.quad_method = "BEAUTY"
        with pytest.raises(RuntimeError, match="Set Quad Method of the Triangulate modifier to Fixed"):
            export(tmp_path / "out.md2")
        modifier.quad_method = "FIXED"
        _file, said = export(tmp_path / "out.md2")
        assert not [text for text in said if "triangulated" in text]

    def test_decimate_on_an_imported_model_names_the_tools_that_work(self, tmp_path):
        obj = bench_of(tmp_path).mesh
        obj.modifiers.new("fewer", "DECIMATE").ratio = 0.6
        with pytest.raises(RuntimeError, match="edit the mesh in Edit Mode, such as with Mesh > Clean Up"):
            export(tmp_path / "out.md2")


def blink(owner, name, value, other):
    """Keys a property so that it has another value on frame 18 of 40."""
    for frame, one in ((1, value), (17, value), (18, other), (19, value)):
        setattr(owner, name, one)
        owner.keyframe_insert(name, frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    bpy.context.scene.frame_set(1)


def flipping_group():
    """Geometry nodes that turn the faces over on some frames."""
    group = bpy.data.node_groups.new("flip", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes, link = group.nodes, group.links.new
    start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    flip, switch = nodes.new("GeometryNodeFlipFaces"), nodes.new("GeometryNodeSwitch")
    time, odd = nodes.new("GeometryNodeInputSceneTime"), nodes.new("ShaderNodeMath")
    switch.input_type = "GEOMETRY"
    odd.operation = "MODULO"
    odd.inputs[1].default_value = 2.0
    link(time.outputs["Frame"], odd.inputs[0])
    link(odd.outputs[0], switch.inputs[0])
    link(start.outputs[0], flip.inputs[0])
    link(start.outputs[0], switch.inputs["False"])
    link(flip.outputs[0], switch.inputs["True"])
    link(switch.outputs["Output"], end.inputs[0])
    return group
