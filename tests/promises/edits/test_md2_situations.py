"""MD2 exports of unusual scenes match the evaluated meshes and have no side effects."""

from __future__ import annotations

import bpy
import md2_compare
import numpy as np
import pytest
import scene_state
from installed import read_empty_scene
from md2_compare import assert_matches_blender, bench_of, compare, export
from scripted_scenes import cube
from workbench import activate, edit_mesh

pytestmark = pytest.mark.slow


def import_models(folder, **options):
    """Two models side by side, with one skin of the same size."""
    objects = []
    for number, name in enumerate("ab"):
        model = md2_compare.tube_model()
        model.translate[:, 1] += 30.0 * number
        md2_compare.write_model(model, folder / f"{name}.md2")
        bpy.ops.import_scene.md2(filepath=str(folder / f"{name}.md2"), **options)
        objects.append(bpy.context.view_layer.objects.active)
    return objects


def node_group(*steps):
    """Geometry nodes, one after the other; each step gets the group and gives a node."""
    group = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    last = group.nodes.new("NodeGroupInput").outputs[0]
    for step in steps:
        node = step(group)
        group.links.new(last, node.inputs["Geometry"])
        last = node.outputs["Geometry"]
    group.links.new(last, group.nodes.new("NodeGroupOutput").inputs[0])
    return group


class TestSkins:
    def test_two_models_keep_their_common_skin_size_and_skins(self, tmp_path):
        one, other = import_models(tmp_path)
        other.parent = one
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.skin_size == (64, 48)
        assert result.file.skins == ["models/test/tube.pcx"]
        assert result.file.frame_names == ["wave1", "wave2", "wave3", "wave4", "wave5"]

    def test_parts_that_were_separated_keep_names_and_skin_size(self, tmp_path):
        bench = bench_of(tmp_path)
        with edit_mesh(bench.mesh, "two faces", "FACE"):
            bpy.ops.mesh.separate(type="SELECTED")
        assert len(md2_compare.visible_meshes()) == 2
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert result.file.skin_size == (64, 48)
        assert result.file.frame_names == ["wave1", "wave2", "wave3", "wave4", "wave5"]

    def test_a_size_that_no_texture_coordinate_proves_is_not_used(self, tmp_path):
        bench = bench_of(tmp_path)
        bench.mesh.data["md2"]["skin_size"] = [1, 1]
        assert compare(tmp_path).file.skin_size == (256, 256)

    def test_materials_of_geometry_nodes(self, tmp_path):
        bench = bench_of(tmp_path)
        material = bpy.data.materials.new("models/test/new.pcx")

        def set_material(group):
            node = group.nodes.new("GeometryNodeSetMaterial")
            node.inputs["Material"].default_value = material
            return node

        bench.mesh.modifiers.new("nodes", "NODES").node_group = node_group(set_material)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert "models/test/new.pcx" in result.file.skins

    def test_objects_that_are_joined_are_counted_and_their_materials_named_with_a_remedy(self, tmp_path, capfd):
        mesh = bench_of(tmp_path).mesh
        other = cube()
        other.data.materials.append(bpy.data.materials.new("Material"))
        md2_compare.put_with(mesh, other)
        bpy.ops.export_scene.md2(filepath=str(tmp_path / "out.md2"))
        said = capfd.readouterr().out
        assert "Exported out.md2: 2 objects, 5 frames" in said
        assert "s. Objects: cube, tube" in said
        assert "faces have 2 materials" in said
        assert "or leave objects out with Selected Only" in said

    def test_materials_of_the_object(self, tmp_path):
        obj = bench_of(tmp_path).mesh
        obj.material_slots[0].link = "OBJECT"
        obj.material_slots[0].material = bpy.data.materials.new("models/test/own.pcx")
        assert compare(tmp_path).file.skins == ["models/test/own.pcx"]


class TestShapes:
    def test_a_uv_map_of_geometry_nodes(self, tmp_path):
        """A mesh without a UV map, and a map that nothing made the active one."""
        obj = cube()
        obj.data.uv_layers.remove(obj.data.uv_layers[0])

        def store_uvs(group):
            node = group.nodes.new("GeometryNodeStoreNamedAttribute")
            node.data_type, node.domain = "FLOAT2", "CORNER"
            node.inputs["Name"].default_value = "Other"
            value = next(socket for socket in node.inputs if socket.name == "Value" and socket.enabled)
            position = group.nodes.new("GeometryNodeInputPosition")
            group.links.new(position.outputs[0], value)
            return node

        obj.modifiers.new("nodes", "NODES").node_group = node_group(store_uvs)
        assert_matches_blender(compare(tmp_path))

    def test_realised_instances(self, tmp_path):
        bench = bench_of(tmp_path)

        def on_points(group):
            node = group.nodes.new("GeometryNodeTransform")
            node.inputs["Translation"].default_value = (0, 0, 50)
            return node

        bench.mesh.modifiers.new("nodes", "NODES").node_group = node_group(on_points)
        assert_matches_blender(compare(tmp_path))

    @pytest.mark.parametrize(("frames", "setting"), [(1, "plain"), (5, "plain"), (5, "one frame")])
    def test_geometry_nodes_that_change_nothing_change_no_byte(self, tmp_path, frames, setting):
        """As the Smooth by Angle of Shade Auto Smooth, which each frame could evaluate otherwise."""
        importing, _ = md2_compare.SETTINGS[setting]
        md2_compare.write_model(md2_compare.tube_model(frames), tmp_path / "tube.md2")
        bpy.ops.import_scene.md2(filepath=str(tmp_path / "tube.md2"), **importing)
        export(tmp_path / "before.md2")
        mesh = bpy.context.view_layer.objects.active
        mesh.modifiers.new("nodes", "NODES").node_group = node_group(
            lambda group: group.nodes.new("GeometryNodeSetShadeSmooth")
        )
        _, warnings = export(tmp_path / "after.md2")
        assert (tmp_path / "after.md2").read_bytes() == (tmp_path / "before.md2").read_bytes()
        assert warnings == []

    @pytest.mark.parametrize("applied", [False, True])
    def test_a_mirror(self, tmp_path, applied):
        bench = bench_of(tmp_path, setting="one frame")
        modifier = bench.mesh.modifiers.new("mirror", "MIRROR")
        modifier.use_axis = (False, True, False)
        if applied:
            activate(bench.mesh)
            bpy.ops.object.modifier_apply(modifier="mirror")
        assert_matches_blender(compare(tmp_path))

    def test_a_mirrored_object(self, tmp_path):
        bench = bench_of(tmp_path)
        bench.mesh.scale = (1, -1, 2)
        assert_matches_blender(compare(tmp_path))

    def test_hidden_collections(self, tmp_path):
        obj = bench_of(tmp_path).mesh
        for number, hide in enumerate(("hide_viewport", "exclude", "layer")):
            other = cube(f"other{number}")
            collection = bpy.data.collections.new(hide)
            bpy.context.scene.collection.children.link(collection)
            collection.objects.link(other)
            bpy.context.scene.collection.objects.unlink(other)
            layer = bpy.context.view_layer.layer_collection.children[hide]
            if hide == "hide_viewport":
                collection.hide_viewport = True
            else:
                setattr(layer, "exclude" if hide == "exclude" else "hide_viewport", True)
        result = compare(tmp_path, objects=[obj])
        assert_matches_blender(result)
        assert len(result.file.corners) == len(obj.data.polygons)

    def test_a_second_uv_map_that_is_active(self, tmp_path):
        obj = bench_of(tmp_path).mesh
        made = obj.data.uv_layers.new(name="Second")
        made.uv.foreach_set("vector", np.tile((0.25, 0.5), len(made.uv)))
        obj.data.uv_layers.active = made
        assert_matches_blender(compare(tmp_path))

    def test_uvs_that_a_modifier_moves_are_warned_about(self, tmp_path):
        obj = bench_of(tmp_path).mesh
        modifier = obj.modifiers.new("warp", "UV_WARP")
        modifier.uv_layer = "UVMap"
        for frame, offset in ((0, 0.0), (4, 0.7)):
            modifier.offset = (offset, 0.0)
            modifier.keyframe_insert("offset", frame=frame)
        _file, said = export(tmp_path / "out.md2")
        (text,) = [text for text in said if "texture coordinates differ" in text]
        assert "tube" in text
        assert "frame 4 (wave5)" in text
        assert "over time" in text

    def test_stored_data_that_gives_another_shape_is_dropped(self, tmp_path, part, monkeypatch):
        """Should the proof fail some day, the comparison finds it."""
        bench = bench_of(tmp_path)
        bench.mesh.data.shape_keys.key_blocks[2].data[4].co.x += 5.0
        exporter = part("io_md2.exporting")
        requantise = exporter.requantise

        def believes_everything(positions, triangles, source=None, **options):
            if source is None:
                return requantise(positions, triangles, source, **options)
            return source, np.ones(len(positions), bool)

        monkeypatch.setattr(exporter, "requantise", believes_everything)
        result = compare(tmp_path)
        assert_matches_blender(result)
        assert any("stored data" in text for text in result.warnings)


def busy_scene(folder):
    """Two imported models and much that an export could leave changed."""
    obj, other = import_models(folder)
    made = obj.data.uv_layers.new(name="Second")
    obj.data.uv_layers.active = made
    obj.active_shape_key_index, obj.show_only_shape_key = 3, True
    other.active_shape_key_index = 1
    other.modifiers.new("up", "DISPLACE").strength = 0.5
    for frame, x in ((0, 0.0), (4, 20.0)):
        other.location.x = x
        other.keyframe_insert("location", frame=frame)
    data = other.data.shape_keys.animation_data
    data.nla_tracks.new().strips.new("all", 2, data.action).mute = True
    scene = bpy.context.scene
    scene.frame_set(2, subframe=0.25)
    other.location = (7, 8, 9)
    other.data.shape_keys.key_blocks[4].value = 0.625
    return obj, other


@pytest.mark.parametrize("frames", ["AUTO", "SHAPE_KEYS", "SCENE"])
@pytest.mark.parametrize("verify", ["SOME", "ALL", "NONE"])
@pytest.mark.parametrize("fails", [False, True])
def test_an_export_has_no_side_effects(tmp_path, monkeypatch, part, frames, verify, fails):
    busy_scene(tmp_path)
    before = scene_state.everything()
    if fails:
        monkeypatch.setattr(part("io_md2.format"), "format_model", lambda model: 1 / 0)
        with pytest.raises(RuntimeError):
            export(tmp_path / "out.md2", frames=frames, verify=verify)
    else:
        export(tmp_path / "out.md2", frames=frames, verify=verify)
    assert scene_state.differences(before, scene_state.everything()) == []


@pytest.mark.parametrize("frames", ["SHAPE_KEYS", "SCENE"])
def test_an_export_comes_back_to_a_negative_subframe(tmp_path, frames):
    busy_scene(tmp_path)
    bpy.context.scene.frame_set(-11, subframe=0.5)
    export(tmp_path / "out.md2", frames=frames)
    assert bpy.context.scene.frame_float == -10.5


def test_drivers_follow_an_unkeyed_property_after_an_export(tmp_path):
    bench = bench_of(tmp_path)
    obj = bench.mesh
    for frame, value in ((0, 1.0), (4, 3.0)):
        obj["lift"] = value
        obj.keyframe_insert('["lift"]', frame=frame)
    driver = obj.driver_add("location", 2).driver
    driver.type = "AVERAGE"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = obj, '["lift"]'
    bpy.context.scene.frame_set(2)
    obj["lift"] = 9.0
    obj.update_tag()
    bpy.context.view_layer.update()
    export(tmp_path / "out.md2", frames="SCENE")
    assert obj["lift"] == 9.0
    assert obj.location.z == pytest.approx(9.0)


def test_the_user_sees_one_property_group(tmp_path):
    mesh = bench_of(tmp_path).mesh.data
    assert list(mesh.keys()) == ["md2"]
    assert {attribute.name for attribute in mesh.attributes if attribute.name.startswith("md2")} == {
        "md2_vertex",
        "md2_corner_st",
    }


def test_an_appended_model_comes_back(tmp_path):
    bench_of(tmp_path)
    export(tmp_path / "first.md2")
    blend = str(tmp_path / "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    read_empty_scene()
    with bpy.data.libraries.load(blend) as (there, here):
        here.objects = there.objects
    bpy.context.scene.collection.objects.link(bpy.data.objects["tube"])
    export(tmp_path / "again.md2")
    assert (tmp_path / "again.md2").read_bytes() == (tmp_path / "first.md2").read_bytes()
