"""Edited MD2 models and models made in Blender, exported and read again."""

from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import pytest
from installed import read_empty_scene
from md2_evaluated import distance, expected_vertices, import_model, shown_vertices, size_of
from md2_samples import FRAME_NAMES, odd_model, write_sample
from paths import SAMPLES

from io_idtech.io_md2.format import check_model, decompress, drawn_triangles, normal_indices, read_model, write_model


def export(path, **options):
    assert bpy.ops.export_scene.md2(filepath=str(path), **options) == {"FINISHED"}
    model = read_model(path)
    assert [f for f in check_model(model) if f.is_error] == []
    drawn, _st = drawn_triangles(model.gl_commands)
    assert sorted(sorted(t) for t in drawn.tolist()) == sorted(sorted(t) for t in model.triangles.tolist())
    return model


def new_mesh(name, vertices, faces, uvs=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    if uvs is not None:
        layer = mesh.uv_layers.new(name="UVMap")
        layer.uv.foreach_set("vector", np.array(uvs, np.float32).ravel())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def cube(name="cube", uvs=True):
    """A cube of quads with its faces laid out side by side on the skin."""
    vertices = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    layout = [
        (face / 6 + dx / 6, dy) for face in range(6) for dx, dy in ((0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9))
    ]
    return new_mesh(name, vertices, faces, layout if uvs else None)


def steps_of(model):
    """How far a vertex may be from its place after quantising: half a step on each axis, (F, 1, 3)."""
    return np.abs(model.scale[:, None, :]) * 0.5001 + 1e-5


def outward(model, frame=0):
    """The volume inside, positive if triangles are clockwise seen from outside."""
    a, b, c = expected_vertices(model)[frame][model.triangles].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(c, b))) / 6


@pytest.fixture
def sample(tmp_path):
    return write_sample(tmp_path)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.md2"


def assert_same_but(after, before, frames=()):
    """Everything equal but some frames."""
    for name in ("triangles", "triangle_st", "st", "skins", "frame_names", "skin_width", "skin_height"):
        assert np.array_equal(getattr(after, name), getattr(before, name)), name
    differing = [
        frame
        for frame in range(before.frame_count)
        if any(
            getattr(after, name)[frame].tobytes() != getattr(before, name)[frame].tobytes()
            for name in ("scale", "translate", "vertices", "normals")
        )
    ]
    assert differing == list(frames)


class TestComingBack:
    @pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
    @pytest.mark.parametrize("frames", ["AUTO", "SHAPE_KEYS", "SCENE"])
    def test_untouched(self, sample, out, kind, frames):
        import_model(sample, animation=kind, frame_start=4)
        assert_same_but(export(out, frames=frames), odd_model())

    def test_untouched_after_the_blend_file_was_saved_and_opened(self, sample, out, tmp_path):
        import_model(sample)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
        assert_same_but(export(out), odd_model())

    def test_untouched_with_scale_and_axes_and_the_same_way_back(self, sample, out):
        import_model(sample, global_scale=0.37, axis_forward="X", axis_up="Y")
        assert_same_but(export(out, global_scale=1 / 0.37, axis_forward="X", axis_up="Y"), odd_model())

    def test_untouched_without_animation(self, sample, out):
        import_model(sample, animation="NONE")
        after, before = export(out), odd_model()
        assert after.frame_names == before.frame_names[:1]
        assert np.array_equal(after.vertices, before.vertices[:1])
        assert np.array_equal(after.normals, before.normals[:1])

    @pytest.mark.parametrize("frame", [0, 3, len(FRAME_NAMES) - 1])
    def test_a_moved_vertex_changes_its_frame_alone(self, sample, out, frame):
        obj = import_model(sample)
        obj.data.shape_keys.key_blocks[frame].data[1].co.x += 3.21
        after, before = export(out), odd_model()
        assert_same_but(after, before, [frame])
        expected = expected_vertices(before)
        expected[frame, 1, 0] += 3.21
        assert (np.abs(expected_vertices(after) - expected)[frame] <= steps_of(after)[frame]).all()
        # Vertices that have no triangle with the moved one keep their normals.
        computed = normal_indices(expected[frame : frame + 1], after.triangles)[0]
        computed[[3, 5, 6]] = before.normals[frame, [3, 5, 6]]
        assert np.array_equal(after.normals[frame], computed)

    def test_a_moved_vertex_in_edit_mode(self, sample, out):
        obj = import_model(sample)
        obj.active_shape_key_index = 3
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="DESELECT")
        mesh = bmesh.from_edit_mesh(obj.data)
        mesh.verts.ensure_lookup_table()
        mesh.verts[4].co.y += 5.4
        bmesh.update_edit_mesh(obj.data)
        assert_same_but(export(out), odd_model(), [3])
        assert bpy.context.mode == "EDIT_MESH"

    def test_a_renamed_frame_keeps_its_bytes(self, sample, out):
        obj = import_model(sample)
        obj.data.shape_keys.key_blocks[2].name = "walk 1"
        after, before = export(out), odd_model()
        before.frame_names[2] = "walk_1"
        assert_same_but(after, before)

    def test_removed_moved_and_new_frames(self, sample, out):
        obj = import_model(sample)
        keys = obj.data.shape_keys.key_blocks
        obj.shape_key_remove(keys["run1"])
        new = obj.shape_key_add(name="run1 of mine and long", from_mix=False)
        after, before = export(out), odd_model()
        order = [0, 1, 3, 4, 5, 6, 7]
        assert after.frame_names == [*(before.frame_names[i] for i in order), "run1_of_mine_an"]
        assert np.array_equal(after.vertices[:-1], before.vertices[order])
        assert np.array_equal(after.normals[:-1], before.normals[order])
        assert (np.abs(expected_vertices(after)[-1] - expected_vertices(before)[0]) <= steps_of(after)[-1]).all()
        assert new.name == "run1 of mine and long"

    def test_a_removed_vertex_leaves_the_others_on_their_grids(self, sample, out):
        obj = import_model(sample)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.data.vertices[3].select = True
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.delete(type="VERT")
        bpy.ops.object.mode_set(mode="OBJECT")
        after, before = export(out), odd_model()
        assert np.array_equal(after.vertices, np.delete(before.vertices, 3, axis=1))
        assert np.array_equal(after.scale, before.scale)
        # Three faces, and the triangle that Blender cannot have.
        assert len(after.triangles) == 4

    def test_moved_texture_coordinates_make_a_table_of_those_in_use(self, sample, out):
        obj = import_model(sample)
        obj.data.uv_layers.active.uv[0].vector = (10.5 / 64, 1 - 7.5 / 32)
        after, before = export(out), odd_model()
        expected = before.st[before.triangle_st]
        expected[0, 0] = (10, 7)
        assert np.array_equal(after.st[after.triangle_st], expected)
        assert len(after.st) == len(np.unique(expected.reshape(-1, 2), axis=0))
        assert np.array_equal(after.vertices, before.vertices)

    def test_faces_turned_over_get_new_normals_and_keep_their_vertices(self, sample, out):
        obj = import_model(sample)
        obj.data.flip_normals()
        after, before = export(out), odd_model()
        assert np.array_equal(after.vertices, before.vertices)
        assert not np.array_equal(after.normals, before.normals)
        computed = normal_indices(expected_vertices(after), after.triangles)
        # No triangle uses vertex 5.
        computed[:, 5] = before.normals[:, 5]
        assert np.array_equal(after.normals, computed)

    def test_another_skin_takes_the_place_of_the_first(self, sample, out):
        obj = import_model(sample)
        obj.data.materials[0] = bpy.data.materials.new("players/test/new.pcx")
        assert export(out).skins[0] == "players/test/new.pcx"

    def test_an_image_of_another_size_makes_a_skin_of_that_size(self, sample, out):
        obj = import_model(sample)
        material = obj.data.materials[0]
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.new("skin", 128, 96)
        after, before = export(out), odd_model()
        assert (after.skin_width, after.skin_height) == (128, 96)
        fractions = before.st[before.triangle_st[:1]] + 0.5
        assert np.array_equal(after.st[after.triangle_st[:1]], np.floor(fractions * (2, 3)))

    def test_merged_vertices_stay_merged(self, sample, out):
        import_model(sample, merge_vertices=True)
        after, before = export(out), odd_model()
        assert np.array_equal(after.vertices, before.vertices[:, :6])
        assert after.frame_names == before.frame_names

    def test_a_modifier_works_on_every_frame(self, sample, out):
        obj = import_model(sample)
        modifier = obj.modifiers.new("up", "DISPLACE")
        modifier.direction, modifier.mid_level, modifier.strength = "Z", 0.0, 2.0
        index, pinned = obj.active_shape_key_index, obj.show_only_shape_key
        after, before = export(out), odd_model()
        assert after.frame_names == before.frame_names
        difference = expected_vertices(after) - expected_vertices(before)
        assert (np.abs(difference - (0, 0, 2)) <= steps_of(after)).all()
        assert (obj.active_shape_key_index, obj.show_only_shape_key) == (index, pinned)
        assert_same_but(export(out, apply_modifiers=False), before)

    def test_one_box(self, sample, out):
        obj = import_model(sample)
        obj.data.shape_keys.key_blocks[3].data[1].co.x += 3.21
        after = export(out, one_box=True)
        assert len(np.unique(after.scale, axis=0)) == 1
        assert (np.abs(expected_vertices(after) - expected_vertices(odd_model()))[0] <= steps_of(after)[0]).all()


def new_ball(radius):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=radius)
    return bpy.context.object


def exported_text(out, capfd, **options):
    """What an export tells."""
    capfd.readouterr()
    export(out, **options)
    return capfd.readouterr().out


class TestFromNothing:
    def test_quads_and_a_still_scene(self, out):
        cube()
        model = export(out)
        assert model.frame_names == ["frame001"]
        assert model.vertex_count == 8
        assert model.triangle_count == 12
        assert outward(model) == pytest.approx(8)
        assert model.skins == []
        assert (model.skin_width, model.skin_height) == (256, 256)
        # A corner of a quad in two triangles is one entry.
        assert len(model.st) == 24
        assert np.array_equal(model.normals, normal_indices(expected_vertices(model), model.triangles))

    def test_a_shape_that_the_grid_is_too_coarse_for_is_told(self, out, capfd):
        ball = new_ball(radius=20)
        assert "which is visible" not in exported_text(out, capfd)
        stray = cube()
        stray.location.x = 20_000
        assert "Move objects that are far away closer" in exported_text(out, capfd)
        bpy.data.objects.remove(stray)
        ball.data.vertices[0].co.x = 20_000
        said = exported_text(out, capfd)
        assert "which is visible" in said
        assert "objects" not in said
        assert "Move parts that are far away closer to the others, or export them as a file of their own" in said
        ball.data.vertices[0].co.x = 0
        for frame, x in ((1, 0.0), (30, 2000.0)):
            ball.location.x = x
            ball.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_end = 30
        assert "which is visible" not in exported_text(out, capfd)
        assert "Turn off Prevent Vertex Wobble" in exported_text(out, capfd, one_box=True)

    def test_a_custom_range_is_exported_whole_even_if_it_is_still(self, out):
        obj = cube()
        for frame, x in ((1, 0.0), (4, 0.0), (8, 3.0)):
            obj.location.x = x
            obj.keyframe_insert("location", frame=frame)
        assert len(export(out, frame_start=1, frame_end=4).frame_names) == 4

    def test_concave_polygons_are_blenders_triangles(self, out):
        obj = new_mesh("arrow", [(0, 0, 0), (2, 0, 0), (1, 0.5, 0), (1, 3, 0)], [(0, 1, 2, 3)])
        obj.data.calc_loop_triangles()
        expected = sorted(sorted(t.vertices) for t in obj.data.loop_triangles)
        model = export(out)
        assert sorted(sorted(t) for t in model.triangles.tolist()) == expected

    @pytest.mark.parametrize("scale", [(2, 3, 0.5), (-1, 1, 1), (-1, -2, -1)])
    def test_unapplied_transforms(self, out, scale):
        obj = cube()
        parent = bpy.data.objects.new("parent", None)
        bpy.context.scene.collection.objects.link(parent)
        parent.rotation_euler = (0.3, 0.2, 0.1)
        obj.parent, obj.scale, obj.location = parent, scale, (5, -3, 2)
        obj.rotation_euler = (1, 0.5, 2)
        model = export(out)
        assert (np.abs(expected_vertices(model)[0] - shown_vertices(obj)) <= steps_of(model)[0]).all()
        assert outward(model) == pytest.approx(8 * abs(math.prod(scale)), rel=0.05)

    def test_scale_and_axes(self, out):
        obj = cube()
        obj.location = (1, 2, 3)
        model = export(out, global_scale=10, axis_forward="X", axis_up="Z")
        places = shown_vertices(obj)
        turned = 10 * np.column_stack([places[:, 1], -places[:, 0], places[:, 2]])
        assert (np.abs(expected_vertices(model)[0] - turned) <= steps_of(model)[0]).all()

    def test_several_objects_are_joined(self, out):
        first, second = cube("a"), cube("b")
        second.location.x = 5
        model = export(out)
        assert (model.vertex_count, model.triangle_count) == (16, 24)
        together = np.concatenate([shown_vertices(first), shown_vertices(second)])
        assert (np.abs(expected_vertices(model)[0] - together) <= steps_of(model)[0]).all()
        assert outward(model) == pytest.approx(16, rel=0.02)
        # Both have the same layout, and share its entries.
        assert len(model.st) == 24

    def test_no_uv_map(self, out):
        cube(uvs=False)
        model = export(out)
        assert model.st.tolist() == [[0, 0]] * 3

    def test_modifiers(self, out):
        cube().modifiers.new("fine", "SUBSURF")
        assert export(out).vertex_count == 26
        assert export(out, apply_modifiers=False).vertex_count == 8

    def test_loose_vertices_are_left_out(self, out):
        new_mesh("loose", [(9, 9, 9), (0, 0, 0), (1, 0, 0), (0, 1, 0), (8, 8, 8)], [(1, 2, 3)])
        assert export(out).vertex_count == 3

    def test_hidden_objects_are_left_out(self, out):
        cube("a")
        cube("b").hide_set(True)
        cube("c").hide_viewport = True
        assert export(out).vertex_count == 8

    @pytest.mark.slow
    def test_selection_and_collections(self, out):
        chosen, other = cube("chosen"), cube("other")
        new_mesh("third", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
        chosen.select_set(True)
        assert export(out, use_selection=True).vertex_count == 8
        collection = bpy.data.collections.new("kit")
        bpy.context.scene.collection.children.link(collection)
        collection.objects.link(other)
        assert export(out, collection="kit").vertex_count == 8
        bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["kit"]
        assert export(out, use_active_collection=True).vertex_count == 8
        assert export(out).vertex_count == 19

    def test_materials_are_skins(self, out, tmp_path):
        obj = cube()
        folder = tmp_path / "baseq2" / "players" / "crate"
        folder.mkdir(parents=True)
        image = bpy.data.images.new("red", 128, 64)
        image.filepath_raw, image.file_format = str(folder / "red.png"), "PNG"
        image.save()
        red = bpy.data.materials.new("red")
        if red.node_tree is None:
            red.use_nodes = True
        red.node_tree.nodes.new("ShaderNodeTexImage").image = image
        obj.data.materials.append(red)
        obj.data.materials.append(bpy.data.materials.new("players/crate/blue.pcx"))
        model = export(out)
        assert model.skins == ["players/crate/red.png", "players/crate/blue.pcx"]
        assert (model.skin_width, model.skin_height) == (128, 64)

    def test_materials_of_any_name_are_skins(self, out):
        cube().data.materials.append(bpy.data.materials.new("材質 caf\xe9"))
        assert export(out).skins == ["__ caf\xe9"]

    def test_the_size_of_the_skin_can_be_given(self, out):
        cube()
        model = export(out, skin_size=(300, 200))
        assert (model.skin_width, model.skin_height) == (300, 200)

    def test_shape_keys_are_frames(self, out):
        obj = cube()
        for number in range(3):
            key = obj.shape_key_add(name=f"Key {number}", from_mix=False)
            key.data[7].co.z += number
        obj.shape_key_add(name="Key 1 ", from_mix=False)
        obj.data.shape_keys.key_blocks[1].value = 0.5
        model = export(out)
        assert model.frame_names[:3] == ["Key_0", "Key_1", "Key_2"]
        assert len(set(model.frame_names)) == 4
        heights = expected_vertices(model)[:, 7, 2]
        assert np.allclose(heights, [1, 2, 3, 1], atol=0.02)

    def test_keys_of_several_objects_go_together_by_name(self, out):
        for name, keys in (("a", "xyz"), ("b", "zx"), ("c", "")):
            obj = cube(name)
            for key_name in keys:
                obj.shape_key_add(name=key_name, from_mix=False).data[7].co.z = ord(key_name) - 100
        model = export(out)
        assert model.frame_names == ["x", "y", "z"]
        heights = expected_vertices(model)[:, [7, 15, 23], 2]
        assert np.allclose(heights, [[20, 20, 1], [21, 22, 1], [22, 22, 1]], atol=0.1)

    def test_shape_keys_that_are_not_there_are_an_error(self, out):
        cube()
        with pytest.raises(RuntimeError, match="no shape keys"):
            export(out, frames="SHAPE_KEYS")

    @pytest.mark.slow
    def test_limits_are_errors_before_anything_is_written(self, out):
        cube().modifiers.new("fine", "SUBSURF").levels = 5
        bpy.context.scene.frame_end = 1
        out.write_bytes(b"before")
        with pytest.raises(RuntimeError, match="vertices; Quake II takes 2,048") as caught:
            export(out, game="QUAKE2")
        assert "triangles" not in str(caught.value)
        assert out.read_bytes() == b"before"
        assert [path.name for path in out.parent.iterdir()] == ["out.md2"]
        assert export(out, game="ANY").triangle_count == 6 * 4**5 * 2

    def test_nothing_to_export(self, out):
        with pytest.raises(RuntimeError, match="no mesh"):
            export(out)
        assert not out.exists()


class TestScene:
    def animated(self, frames=12):
        """A cube that slides and grows."""
        obj = cube()
        for frame in (1, frames):
            obj.location.x, obj.scale.z = frame, 1 + frame / 10
            obj.keyframe_insert("location", frame=frame)
            obj.keyframe_insert("scale", frame=frame)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
        obj.animation_data.action.name = "slide"
        return obj

    def test_every_frame_of_the_range_is_what_blender_shows(self, out):
        obj, scene = self.animated(), bpy.context.scene
        scene.frame_set(5, subframe=0.5)
        model = export(out)
        assert (scene.frame_current, scene.frame_subframe) == (5, 0.5)
        assert model.frame_names == [f"slide{number:02d}" for number in range(1, 13)]
        for frame, places in enumerate(expected_vertices(model)):
            scene.frame_set(1 + frame)
            assert (np.abs(places - shown_vertices(obj)) <= steps_of(model)[frame]).all()

    def test_steps_and_ranges(self, out):
        obj, scene = self.animated(), bpy.context.scene
        model = export(out, frame_step=4, frame_start=2, frame_end=11)
        assert model.frame_names == ["slide1", "slide2", "slide3"]
        for row, frame in enumerate((2, 6, 10)):
            scene.frame_set(frame)
            assert (np.abs(expected_vertices(model)[row] - shown_vertices(obj)) <= steps_of(model)[row]).all()

    def test_markers_name_the_frames(self, out):
        self.animated()
        for name, frame in (("run", 3), ("pain1", 6), ("run", 9)):
            bpy.context.scene.timeline_markers.new(name, frame=frame)
        assert export(out).frame_names == [
            *("slide1", "slide2", "run1", "run2", "run3", "pain101", "pain102", "pain103"),
            *("run4", "run5", "run6", "run7"),
        ]

    def test_long_names_of_markers_that_become_one_sequence_are_told(self, out, capfd):
        self.animated()
        for name, frame in (("run_with_rifle_high", 1), ("run_with_rifle_low", 9)):
            bpy.context.scene.timeline_markers.new(name, frame=frame)
        assert export(out).frame_names == [f"run_with_rifl{number:02d}" for number in range(1, 13)]
        said = capfd.readouterr().out
        assert "run_with_rifle_low: frame names can have only 15 Latin-1 characters" in said
        assert "several sequences have the same name, and their frames are numbered on: run_with_rifle" in said

    def test_a_static_scene_is_one_frame_by_default(self, out):
        cube()
        bpy.context.scene.frame_end = 7
        assert export(out).frame_count == 1
        assert export(out, frames="SCENE").frame_names == [f"frame{number:03d}" for number in range(1, 8)]

    def test_a_vertex_whose_position_is_not_finite_is_refused_with_its_frame(self, out):
        obj = self.animated()
        obj.shape_key_add(name="Basis")
        key = obj.shape_key_add(name="broken")
        key.data[0].co.z = float("nan")
        bpy.context.scene.timeline_markers.new("run", frame=4)
        for frame, value in ((4, 0.0), (5, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        with pytest.raises(RuntimeError, match=r"[Ii]n frame run2, 1 vertex has no finite position"):
            export(out)
        assert not out.exists()

    def test_a_mesh_that_changes_its_number_of_vertices_is_refused(self, out):
        obj = cube()
        modifier = obj.modifiers.new("grow", "ARRAY")
        for frame in (1, 3):
            modifier.count = frame
            modifier.keyframe_insert("count", frame=frame)
        bpy.context.scene.frame_end = 3
        with pytest.raises(RuntimeError, match="vertices in frame"):
            export(out)
        assert not out.exists()

    def rigged(self):
        """A beam of four segments on two bones, moved by an action of its own range."""
        rings = [(x, y, z) for x in range(5) for y, z in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))]
        faces = [(3, 2, 1, 0), (16, 17, 18, 19)]
        faces += [
            (4 * x + k, 4 * x + (k + 1) % 4, 4 * x + 4 + (k + 1) % 4, 4 * x + 4 + k) for x in range(4) for k in range(4)
        ]
        obj = new_mesh("beam", rings, faces, [(0.1, 0.1)] * 72)
        armature = bpy.data.armatures.new("rig")
        rig = bpy.data.objects.new("rig", armature)
        bpy.context.scene.collection.objects.link(rig)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        for name, x in (("low", 0), ("high", 2)):
            bone = armature.edit_bones.new(name)
            bone.head, bone.tail = (x, 0, 0), (x + 2, 0, 0)
        armature.edit_bones["high"].parent = armature.edit_bones["low"]
        bpy.ops.object.mode_set(mode="OBJECT")
        for index, (x, _y, _z) in enumerate(rings):
            for name, weight in (("low", 1 - x / 4), ("high", x / 4)):
                group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
                group.add([index], weight, "REPLACE")
        obj.modifiers.new("rig", "ARMATURE").object = rig
        obj.parent, rig.scale = rig, (2, 2, -2)
        for frame, angle in ((3, 0.0), (9, 1.2)):
            for bone in rig.pose.bones:
                bone.rotation_mode = "XYZ"
                bone.rotation_euler.x = angle
                bone.rotation_euler.z = angle / 2
                bone.keyframe_insert("rotation_euler", frame=frame)
        action = rig.animation_data.action
        action.name, action.use_frame_range = "swing2", True
        action.frame_start, action.frame_end = 3, 9
        return obj

    @pytest.mark.parametrize("apply_modifiers", [True, False])
    def test_a_rigged_model_becomes_frames_over_the_range_of_its_action(self, out, apply_modifiers):
        obj = self.rigged()
        model = export(out, apply_modifiers=apply_modifiers)
        assert model.frame_names == [f"swing2{number:02d}" for number in range(1, 8)]
        for row, places in enumerate(expected_vertices(model)):
            bpy.context.scene.frame_set(3 + row)
            assert (np.abs(places - shown_vertices(obj)) <= steps_of(model)[row]).all()
            assert outward(model, row) > 0
        assert size_of(expected_vertices(model)) > 5

    def test_an_exported_file_is_imported_and_exported_unchanged(self, out, tmp_path):
        self.rigged()
        first = export(out)
        read_empty_scene()
        import_model(out)
        again = export(tmp_path / "again.md2")
        assert again == first
        assert (tmp_path / "again.md2").read_bytes() == out.read_bytes()


@pytest.mark.slow
def test_an_md5_model_with_its_action_becomes_an_md2(out):
    folder = SAMPLES / "models" / "octopus"
    bpy.ops.import_scene.md5(filepath=str(folder / "octopus.md5mesh"))
    bpy.ops.import_scene.md5(filepath=str(folder / "swim.md5anim"))
    scene = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    # The range is that of the action, whatever the scene's is.
    scene.frame_end = last + 30
    meshes = sorted((obj for obj in scene.objects if obj.type == "MESH"), key=lambda obj: obj.name)
    model = export(out, game="ANY")
    assert model.frame_count == last - first + 1
    assert all(name.startswith("swim") for name in model.frame_names)
    for row, places in enumerate(expected_vertices(model)):
        scene.frame_set(first + row)
        shown = np.concatenate([shown_vertices(obj) for obj in meshes])
        assert (np.abs(places - shown) <= steps_of(model)[row]).all()
        assert outward(model, row) > 0
    assert len(model.skins) == len({material for obj in meshes for material in obj.data.materials})


@pytest.mark.parametrize("split", [False, True])
def test_frames_that_have_one_name_in_the_file_are_not_mentioned(sample, tmp_path, out, capfd, split):
    model = read_model(sample)
    model.frame_names = ["frame"] * model.frame_count
    write_model(model, tmp_path / "same.md2")
    obj = import_model(tmp_path / "same.md2")
    capfd.readouterr()
    bpy.ops.object.md2_check_game(game="ANY")
    bpy.ops.export_scene.md2(filepath=str(out), game="ANY", split_sharp=split)
    assert "of an earlier one" not in capfd.readouterr().out
    assert read_model(out).frame_names == model.frame_names
    obj.data.shape_keys.key_blocks[1].name = "other"
    bpy.ops.export_scene.md2(filepath=str(out), game="ANY")
    assert "of an earlier one" not in capfd.readouterr().out


def test_a_model_without_vertices_can_get_some(tmp_path, out):
    model = odd_model()
    model.vertices, model.normals = model.vertices[:, :0], model.normals[:, :0]
    model.triangles, model.triangle_st = np.zeros((0, 3), np.int32), np.zeros((0, 3), np.int32)
    model.gl_commands = type(model.gl_commands)()
    write_model(model, tmp_path / "empty.md2")
    cube().parent = import_model(tmp_path / "empty.md2")
    assert export(out).vertex_count == 8


def test_the_exporter_works_without_the_operator(sample, out, part):
    import_model(sample)
    exporter = part("io_md2.operators").FORMAT
    result = part("io_blender.reports").finish(exporter.export_model(bpy.context, out, exporter.export_options()))
    assert result.paths == [out]
    assert result.report.counts["unchanged"] == len(FRAME_NAMES)
    model = read_model(out)
    assert distance(expected_vertices(model)[0], decompress(model.vertices, model.scale, model.translate)[0]) == 0


def test_the_summary_says_how_many_of_the_frames_changed(sample, out, part):
    obj = import_model(sample)
    obj.data.shape_keys.key_blocks[2].data[0].co.x += 5.0
    exporter = part("io_md2.operators").FORMAT
    finish = part("io_blender.reports").finish
    report = finish(exporter.export_model(bpy.context, out, exporter.export_options())).report
    assert f": {len(FRAME_NAMES)} frames, 1 changed, " in report.summary("Exported", out.name, 0.1)


def test_a_model_whose_vertices_were_all_deleted_is_exported_with_a_warning(sample, out, capfd):
    import_model(sample)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export(out, game="ANY").vertex_count == 0
    assert "The model has no vertices" in capfd.readouterr().out


@pytest.mark.parametrize(("edited", "is_warned"), [("all", True), ("one", False), ("each", False), ("object", False)])
def test_an_edit_of_the_basis_is_a_warning_as_it_changes_all_frames(sample, out, part, edited, is_warned):
    obj = import_model(sample)
    keys = obj.data.shape_keys.key_blocks
    if edited == "object":
        obj.location.x = 5.0
        bpy.context.view_layer.update()
    for index, key in enumerate(keys if edited != "object" else ()):
        if edited != "one" or index == 2:
            key.data[0].co.x += 5.0 * (index if edited == "each" else 1)
    if edited == "each":
        keys[0].data[1].co.x += 5.0
    exporter = part("io_md2.operators").FORMAT
    report = (
        part("io_blender.reports").finish(exporter.export_model(bpy.context, out, exporter.export_options())).report
    )
    assert any("click Select Shape Key" in text for text in report.warnings) == is_warned
