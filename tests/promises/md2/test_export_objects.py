"""Which objects an MD2 export takes, and that whatever it leaves out is named."""

from __future__ import annotations

import bpy
import md2_compare
import pytest
from md2_compare import assert_matches_blender, compare, export
from scripted_scenes import cube, rig, tube

LEFT_OUT = "not part of"


@pytest.fixture
def start_scene():
    """Blender's own, with its cube in the active collection."""
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    assert "Cube" in bpy.context.collection.objects
    yield
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def import_model(folder, name="player", **options):
    path = folder / f"{name}.md2"
    if not path.exists():
        md2_compare.write_model(md2_compare.tube_model(), path)
    bpy.ops.import_scene.md2(filepath=str(path), use_textures=False, **options)
    return bpy.context.view_layer.objects.active


def activate(obj):
    bpy.context.view_layer.objects.active = obj


def test_a_model_imported_into_the_start_scene_is_exported_alone_and_the_cube_is_named(tmp_path, start_scene):
    player = import_model(tmp_path)
    for active in (player, bpy.data.objects["Cube"], bpy.data.objects["Light"], None):
        activate(active)
        result = compare(tmp_path, objects=[player])
        assert_matches_blender(result)
        assert (tmp_path / "out.md2").read_bytes() == (tmp_path / "player.md2").read_bytes()
        assert result.warnings == [
            "not exported, as not part of player: Cube. To export them, parent them to player, move them into its "
            "collection, or use Selected Only"
        ]


def test_what_is_parented_to_a_model_or_put_into_its_collection_is_exported_with_it(tmp_path, start_scene):
    player = import_model(tmp_path)
    hat, sword, shield = cube("hat", 50.0), cube("sword", 60.0), cube("shield", 70.0)
    hand = bpy.data.objects.new("hand", None)
    bpy.context.scene.collection.objects.link(hand)
    hat.parent, hand.parent, sword.parent = player, player, hand
    inner = bpy.data.collections.new("armour")
    player.users_collection[0].children.link(inner)
    inner.objects.link(shield)
    for active in (player, sword, shield):
        activate(active)
        result = compare(tmp_path, objects=[hat, player, shield, sword])
        assert_matches_blender(result)
        assert [text for text in result.warnings if LEFT_OUT in text] == [
            "not exported, as not part of player: Cube. To export them, parent them to player, move them into its "
            "collection, or use Selected Only"
        ]


def test_an_imported_model_under_an_armature_is_exported_with_what_that_moves(tmp_path):
    player, armature, other = import_model(tmp_path), rig(), cube("hat", 50.0)
    player.modifiers.new("Armature", "ARMATURE").object = armature
    other.parent = armature
    still = cube("still", 90.0)
    activate(armature)
    assert_matches_blender(compare(tmp_path, frames=None, objects=[other, player], source="SCENE"))
    assert still.visible_get()


@pytest.mark.parametrize("same_file", [True, False])
def test_of_several_models_the_active_one_is_exported(tmp_path, same_file):
    models = [import_model(tmp_path, "player" if same_file else name) for name in ("a", "b", "c")]
    for number, obj in enumerate(models):
        obj.location.y = 100.0 * number
    for obj in models:
        activate(obj)
        result = compare(tmp_path, objects=[obj], source="SHAPE_KEYS" if obj.location.y else "AUTO")
        assert result.file.vertices.shape[1] == 25
        (text,) = [text for text in result.warnings if LEFT_OUT in text]
        assert text.startswith(f"not exported, as not part of {obj.name}: ")
        assert all(other.name in text for other in models if other != obj)


def test_of_several_models_none_of_which_is_active_all_are_exported_and_named(tmp_path, capfd):
    for name in ("a", "b"):
        import_model(tmp_path, name)
    activate(None)
    file, warnings = export(tmp_path / "out.md2")
    assert file.vertices.shape[1] == 50
    assert not [text for text in warnings if LEFT_OUT in text]
    assert "Objects: a, b" in capfd.readouterr().out


def test_parts_and_copies_of_a_model_stay_with_it(tmp_path):
    player = import_model(tmp_path)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for polygon in player.data.polygons[:6]:
        polygon.select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    result = compare(tmp_path, objects=md2_compare.visible_meshes())
    assert_matches_blender(result)
    assert len(md2_compare.visible_meshes()) == 2


def test_without_an_imported_model_all_visible_meshes_are_exported_and_named(tmp_path, start_scene, capfd):
    tube(rig())
    _, warnings = export(tmp_path / "out.md2", frames="SCENE")
    assert not [text for text in warnings if LEFT_OUT in text]
    assert "2 objects" in (said := capfd.readouterr().out)
    assert "Objects: Cube, Tube" in said
    bpy.data.objects["Cube"].hide_set(True)
    export(tmp_path / "out.md2", frames="SCENE")
    assert "Objects:" not in capfd.readouterr().out


def test_a_selection_and_a_collection_are_taken_as_they_are(tmp_path, start_scene):
    player = import_model(tmp_path)
    block = bpy.data.objects["Cube"]
    block.select_set(True)
    file, warnings = export(tmp_path / "out.md2", use_selection=True)
    assert file.vertices.shape[1] == 25 + 8
    file, _ = export(tmp_path / "out.md2", collection=bpy.data.collections["Collection"].name)
    assert file.vertices.shape[1] == 25 + 8
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection
    file, more = export(tmp_path / "out.md2", use_active_collection=True)
    assert file.vertices.shape[1] == 25 + 8
    assert not [text for text in warnings + more if LEFT_OUT in text]
    own = player.users_collection[0]
    bpy.context.view_layer.active_layer_collection = next(
        child for child in bpy.context.view_layer.layer_collection.children["Collection"].children
    )
    bpy.ops.collection.exporter_add(name="IO_FH_md2")
    own.exporters[0].export_properties.filepath = str(tmp_path / "by_collection.md2")
    bpy.ops.collection.exporter_export(index=0)
    assert (tmp_path / "by_collection.md2").read_bytes() == (tmp_path / "player.md2").read_bytes()


def test_the_check_for_a_game_looks_at_what_an_export_takes(tmp_path, start_scene):
    import_model(tmp_path)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=60, y_subdivisions=60)
    bpy.ops.object.md2_check_game(game="QUAKE2")
    assert "too_many_vertices" not in {one.code for one in bpy.context.window_manager.io_idtech_findings}
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.md2_check_game(game="QUAKE2", use_selection=True)
    assert "too_many_vertices" in {one.code for one in bpy.context.window_manager.io_idtech_findings}


def test_the_command_line_exports_the_imported_model_of_a_blend_and_names_what_it_leaves_out(
    tmp_path, start_scene, part, capfd
):
    import_model(tmp_path)
    (tmp_path / "in").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in" / "scene.blend"))
    words = ["convert", str(tmp_path / "in"), "--to", str(tmp_path / "out"), "--format", "md2"]
    assert part("command_line.command").main(words) == 0
    told = capfd.readouterr()
    assert "not part of player: Cube" in told.out + told.err
    assert (tmp_path / "out" / "scene.md2").read_bytes() == (tmp_path / "player.md2").read_bytes()
