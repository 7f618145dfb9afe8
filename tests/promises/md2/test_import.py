"""The options of the MD2 import, and what it refuses."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from md2_evaluated import distance, each_readable_file, expected_vertices, import_model, shown_vertices, size_of
from md2_samples import FRAME_NAMES, odd_model, write_sample

from io_idtech.io_md2.format import interpolate, normal_vectors, read_model, st_fractions


@pytest.fixture
def sample(tmp_path):
    return write_sample(tmp_path)


def test_every_frame_is_a_key_with_its_name(sample):
    keys = import_model(sample).data.shape_keys.key_blocks
    assert [key.name for key in keys] == [*FRAME_NAMES[:4], "run2.001", *FRAME_NAMES[5:]]


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("start", [0, 1, -17])
def test_frames_are_shown_from_the_start_frame_on_and_mixed_between(sample, kind, start):
    expected = expected_vertices(odd_model())
    obj = import_model(sample, animation=kind, frame_start=start)
    scene = bpy.context.scene
    limit = 1e-5 * size_of(expected)
    for frame in range(len(expected)):
        scene.frame_set(start + frame)
        assert distance(shown_vertices(obj), expected[frame]) <= limit
        if frame + 1 < len(expected):
            scene.frame_set(start + frame, subframe=0.25)
            assert distance(shown_vertices(obj), interpolate(expected[frame], expected[frame + 1], 0.25)) <= limit
    # Before and after, the first and the last frame stay.
    scene.frame_set(start - 5)
    assert distance(shown_vertices(obj), expected[0]) <= limit
    scene.frame_set(start + 100)
    assert distance(shown_vertices(obj), expected[-1]) <= limit


def test_a_relative_key_has_no_more_than_three_keyframes(sample, part):
    obj = import_model(sample)
    versions = part("io_blender.versions")
    curves = list(versions.action_fcurves(obj.data.shape_keys.animation_data.action, "KEY"))
    assert len(curves) == len(FRAME_NAMES) - 1
    assert max(len(curve.keyframe_points) for curve in curves) == 3


@pytest.mark.corpus
@pytest.mark.parametrize("name", each_readable_file()[::20])
def test_absolute_keys_show_real_models(corpus, name):
    expected = expected_vertices(read_model(corpus / name))
    obj = import_model(corpus / name, animation="ABSOLUTE")
    assert not obj.data.shape_keys.use_relative
    for frame in range(len(expected)):
        bpy.context.scene.frame_set(frame)
        assert distance(shown_vertices(obj), expected[frame]) <= 1e-5 * size_of(expected)


def test_no_animation_is_the_first_frame_without_keys(sample):
    obj = import_model(sample, animation="NONE")
    assert obj.data.shape_keys is None
    assert distance(shown_vertices(obj), expected_vertices(odd_model())[0]) == 0
    assert not bpy.data.actions
    assert not bpy.context.scene.timeline_markers


def test_the_scene_plays_the_file(sample):
    scene = bpy.context.scene
    import_model(sample, frame_start=3, fps=12.5)
    assert (scene.frame_start, scene.frame_end) == (3, 3 + len(FRAME_NAMES) - 1)
    assert scene.render.fps / scene.render.fps_base == pytest.approx(12.5)


def test_the_scene_plays_ten_frames_a_second_unless_asked_otherwise(sample):
    import_model(sample)
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(10.0)


def test_the_scene_keeps_its_timing_on_request(sample):
    scene = bpy.context.scene
    before = (scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base)
    import_model(sample, use_scene_timing=False)
    assert (scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base) == before


def test_sequences_are_marked_once_each(sample):
    scene = bpy.context.scene
    for _ in range(2):
        import_model(sample, frame_start=10)
    markers = sorted((marker.frame, marker.name) for marker in scene.timeline_markers)
    assert markers == [(10, "stand"), (12, "run"), (15, "pain1"), (17, 'odd "\\name')]


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
def test_each_sequence_has_an_action_that_shows_it_and_nothing_of_another(sample, kind, part):
    versions = part("io_blender.versions")
    expected = expected_vertices(odd_model())
    obj = import_model(sample, animation=kind, sequence_actions=True, frame_start=5)
    actions = {action.name: action for action in bpy.data.actions}
    assert sorted(actions) == sorted(["sample", "stand", "run", "pain1", 'odd "\\name'])
    keys, scene = obj.data.shape_keys, bpy.context.scene
    assert keys.animation_data.action == actions["sample"]
    for name, first, last in (("run", 2, 4), ("pain1", 5, 6), ("stand", 0, 1)):
        scene.frame_set(9)
        action = actions[name]
        assert action.use_fake_user
        assert tuple(action.frame_range) == (5, 5 + last - first)
        versions.assign_action(keys.animation_data, action, "KEY")
        for frame in range(first, last + 1):
            scene.frame_set(5 + frame - first)
            assert distance(shown_vertices(obj), expected[frame]) <= 1e-5 * size_of(expected)


def test_uvs_are_those_of_the_gl_commands(sample):
    model, mesh = odd_model(), import_model(sample).data
    uvs = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers.active.uv.foreach_get("vector", uvs)
    proper = [0, 1, 2, 3, 4, 6]
    corners = st_fractions(model.st, 64, 32)[model.triangle_st[proper][:, [0, 2, 1]]].reshape(-1, 2)
    assert np.allclose(uvs.reshape(-1, 2), np.column_stack([corners[:, 0], 1 - corners[:, 1]]), atol=1e-6)


def test_faces_look_outward(tmp_path):
    """A triangle that is clockwise seen from above faces up."""
    model = odd_model()
    model.triangles, model.triangle_st = np.array([[0, 1, 2]], np.int32), np.array([[0, 1, 2]], np.int32)
    model.vertices[0, :3] = [[0, 0, 0], [0, 10, 0], [10, 0, 0]]
    model.scale[0] = 1
    model.gl_commands = type(model.gl_commands)()
    mesh = import_model(write_sample(tmp_path, model)).data
    assert mesh.polygons[0].normal.z == pytest.approx(1)
    assert mesh.polygons[0].use_smooth


def test_all_but_degenerate_triangles_survive(sample):
    mesh = import_model(sample).data
    assert len(mesh.vertices) == 7
    assert len(mesh.polygons) == 6


def test_merging_is_off_by_default_and_merges_what_never_parts(sample):
    obj = import_model(sample, merge_vertices=True)
    assert len(obj.data.vertices) == 6
    expected = expected_vertices(odd_model())
    bpy.context.scene.frame_set(3)
    assert distance(shown_vertices(obj), expected[3][:6]) <= 1e-5 * size_of(expected)


def test_custom_normals_are_those_of_the_first_frame(tmp_path):
    model = odd_model()
    model.normals[0] = [0, 5, 10, 20, 30, 40, 50]
    mesh = import_model(write_sample(tmp_path, model), custom_normals=True, animation="NONE").data
    normals = np.empty(3 * len(mesh.loops), np.float32)
    mesh.corner_normals.foreach_get("vector", normals)
    vertices = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", vertices)
    expected = normal_vectors(model.normals[0])[vertices]
    assert np.degrees(np.arccos(np.clip((normals.reshape(-1, 3) * expected).sum(axis=1), -1, 1))).max() < 1


def test_normals_are_blenders_own_by_default(sample):
    assert not import_model(sample).data.has_custom_normals


def test_scale_and_axes(sample):
    expected = expected_vertices(odd_model())[0]
    obj = import_model(sample, global_scale=0.5, axis_forward="X", axis_up="Z")
    bpy.context.scene.frame_set(0)
    turned = 0.5 * np.column_stack([-expected[:, 1], expected[:, 0], expected[:, 2]])
    assert distance(shown_vertices(obj), turned) <= 1e-5 * size_of(expected)


def test_one_material_per_skin_and_the_first_one_is_used(sample):
    mesh = import_model(sample).data
    names = [material["md2"]["skin"] for material in mesh.materials]
    assert list(dict.fromkeys(names)) == ["players/test/one.pcx", "caf\xe9 \xff.pcx"]
    assert {polygon.material_index for polygon in mesh.polygons} == {0}


@pytest.mark.parametrize("use_textures", [True, False])
def test_beyond_64_skins_no_materials_are_made_and_an_export_keeps_the_names(tmp_path, capfd, use_textures):
    model = odd_model()
    model.skins = [f"players/test/{number}.pcx" for number in range(2_000)]
    path = write_sample(tmp_path, model)
    bpy.ops.import_scene.md2(filepath=str(path), use_textures=use_textures)
    assert "materials were made for the first 64 of 2,000 skins" in capfd.readouterr().out
    assert len(bpy.data.materials) == len(bpy.context.object.data.materials) == 64
    out = tmp_path / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(out), game="ANY")
    assert out.read_bytes() == path.read_bytes()
    bpy.data.materials[0].name = "new.pcx"
    bpy.ops.export_scene.md2(filepath=str(out), game="ANY")
    assert read_model(out).skins == ["new.pcx", *model.skins[1:]]


def test_a_model_without_skins_has_none(tmp_path):
    model = odd_model()
    model.skins = []
    assert len(import_model(write_sample(tmp_path, model)).data.materials) == 0


def test_several_files_at_once(tmp_path):
    for name in ("a.md2", "b.md2"):
        write_sample(tmp_path).rename(tmp_path / name)
    files = [{"name": "a.md2"}, {"name": "b.md2"}]
    assert bpy.ops.import_scene.md2(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert [obj.name for obj in bpy.context.selected_objects] == ["a", "b"]


def test_a_refused_file_leaves_everything_as_it_was(tmp_path, sample):
    mesh = bpy.data.meshes.new("before")
    obj = bpy.data.objects.new("before", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    (tmp_path / "broken.md2").write_bytes(sample.read_bytes()[:900])
    before = sorted((kind.name, len(getattr(bpy.data, kind.identifier))) for kind in collections())
    files = [{"name": "sample.md2"}, {"name": "broken.md2"}]
    with pytest.raises(RuntimeError, match=r"The file is incomplete .*broken\.md2"):
        bpy.ops.import_scene.md2(directory=str(tmp_path), files=files)
    assert sorted((kind.name, len(getattr(bpy.data, kind.identifier))) for kind in collections()) == before
    assert bpy.context.mode == "EDIT_MESH"
    assert bpy.context.selected_objects == [obj]
    assert not bpy.context.scene.timeline_markers


def collections():
    return [kind for kind in bpy.data.bl_rna.properties if kind.type == "COLLECTION"]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="nothing"):
        bpy.ops.import_scene.md2(filepath=str(tmp_path / "nothing.md2"))


def test_the_loader_works_without_the_operator(sample, part):
    importer = part("io_md2.importing")
    result = part("io_blender.reports").finish(importer.import_files(bpy.context, [sample], importer.ImportOptions()))
    assert result.report.counts["frames"] == len(FRAME_NAMES)
    assert any(
        "degenerate triangles, which Blender cannot hold, were left out of the mesh: 1" in text
        for text in result.report.warnings
    )
    assert len(result.objects) == len(result.actions) == 1
