"""Characters of games: what an import makes of declarations, in game folders made by code."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import game_folders
import numpy as np
import pytest
from installed import read_empty_scene
from mathutils import Vector

IMP = "monster_demon_imp"


@pytest.fixture
def doom3(tmp_path: Path) -> Path:
    return game_folders.doom3(tmp_path / "base")


def import_character(game: Path, name: str, **options) -> None:
    assert bpy.ops.import_scene.idtech_character(game=str(game), name=name, **options) == {"FINISHED"}


def reports(capfd) -> str:
    return capfd.readouterr().out


def position(name: str) -> list[float]:
    bpy.context.view_layer.update()
    return [round(value, 4) for value in bpy.data.objects[name].matrix_world.translation]


def markers(action: str) -> list[tuple[int, str]]:
    return [(marker.frame, marker.name) for marker in bpy.data.actions[action].pose_markers]


def materials() -> dict[str, str]:
    return {obj.name: obj.material_slots[0].material.name for obj in bpy.context.scene.objects if obj.type == "MESH"}


# --- Doom 3


def test_every_animation_is_an_action_of_its_declared_name_with_all_files_of_a_list(doom3):
    import_character(doom3, IMP)
    assert {action.name for action in bpy.data.actions} == {"stand", "walk1", "range", "range (run)", "idle"}


def test_the_filter_chooses_animations_by_their_declared_names(doom3):
    import_character(doom3, IMP, animation_filter="wal*")
    assert [action.name for action in bpy.data.actions] == ["walk1"]


def test_animations_that_are_unchecked_are_not_imported(doom3):
    rows = [
        {"name": name, "is_checked": name == "walk1", "file_count": 1} for name in ("stand", "walk1", "range", "idle")
    ]
    import_character(doom3, IMP, animations=rows)
    assert [action.name for action in bpy.data.actions] == ["walk1"]


def test_the_dialog_lists_the_animations_of_the_chosen_character_with_check_boxes(doom3, part):
    dialog = bpy.context.window_manager.operator_properties_last("import_scene.idtech_character")
    rows = part("io_characters.operators.import_character")
    catalogue = part("io_characters.reading").catalogue(doom3)
    rows.fill_animations(dialog, catalogue.character(catalogue.named(IMP)))
    assert {row.name: row.file_count for row in dialog.animations} == {
        "stand": 1, "walk1": 1, "pain1": 1, "range": 2, "idle": 1,
    }  # fmt: skip
    assert rows.unchecked_names(dialog) == frozenset()
    dialog.animation_filter = "w*"
    dialog.check_animations = {"NONE"}
    assert rows.unchecked_names(dialog) == {"walk1"}
    dialog.check_animations = {"INVERT"}
    assert rows.unchecked_names(dialog) == frozenset()


@pytest.mark.parametrize(("kind", "expected"), [("entity", "second"), ("model", "first")])
def test_a_click_on_a_row_imports_the_entity_or_the_model_of_that_name(tmp_path, kind, expected):
    text = 'model imp { mesh first.md5mesh } entityDef imp { "model" "second.md5mesh" }'
    meshes = {f"{name}.md5mesh": game_folders.md5mesh() for name in ("first", "second")}
    game = game_folders.loose(tmp_path, {"def/imp.def": text, **meshes})
    other = dict.fromkeys(("path", "meshes", "animations", "skins"), "") | {"is_missing": False}
    rows = [{"name": "imp", "kind": one, **other} for one in ("entity", "model")]
    import_character(game, "imp", entries=rows, active_entry=("entity", "model").index(kind))
    character = bpy.context.view_layer.objects.active["idtech_character"]["character"]
    assert [f"{name}.md5mesh" in character for name in ("first", "second")] == [
        expected == name for name in ("first", "second")
    ]


def test_frame_commands_are_pose_markers_and_flags_are_properties_of_the_action(doom3):
    import_character(doom3, IMP, frame_start=10)
    assert markers("walk1") == [(11, "sound_body imp_step"), (13, 'call "foot fall"')]
    walk, turn = bpy.data.actions["walk1"], bpy.data.actions["range"]
    assert walk["random_cycle_start"] is True
    assert walk["ai_no_turn"] is True
    assert turn["anim_turn"] is True
    assert "anim_turn" not in walk


def test_channels_are_bone_collections(doom3):
    import_character(doom3, IMP)
    armature = bpy.data.objects["monster_imp"].data
    found = {group.name: {bone.name for bone in group.bones} for group in armature.collections}
    assert found == {"torso": {"Waist", "Neck", "larm"}, "legs": {"origin", "Hips", "lleg", "rleg"}, "head": {"Neck"}}


def test_the_offset_moves_the_model_unless_turned_off(doom3):
    import_character(doom3, IMP)
    assert position("monster_imp") == [0, 0, -4]
    read_empty_scene()
    import_character(doom3, IMP, use_placement=False)
    assert position("monster_imp") == [0, 0, 0]


def test_heads_and_attachments_hang_on_their_joints_and_move_with_them(doom3):
    import_character(doom3, IMP, animation_filter="walk1", frame_start=0)
    head, lamp = bpy.data.objects["head_imp_model"], bpy.data.objects["lamp"]
    assert (head.parent_bone, lamp.parent_bone) == ("Neck", "larm")
    # The neck is 24 above the origin, and the offset of the body -4; the animation moves by 1 along X on each frame.
    for frame in (0, 2):
        bpy.context.scene.frame_set(frame)
        assert position("head_imp_model") == [frame, 0, 20]
        assert position("lamp") == [frame + 1, 2, 23]
    angles = lamp.matrix_world.to_euler()
    assert [round(np.degrees(angle)) for angle in angles] == [0, 0, 90]


@pytest.mark.parametrize("direction", ["CHILD", "JOINT"])
def test_attachments_keep_their_place_with_other_axes_and_scales(doom3, direction):
    import_character(doom3, IMP, animation_filter="stand", bone_direction=direction, global_scale=0.5, axis_forward="X")
    bpy.context.scene.frame_set(0)
    assert position("head_imp_model") == [0, 0, 10]
    x, y, z = position("lamp")
    assert (abs(x), abs(y), z) == (1, 0.5, 11.5)


def test_the_default_skin_of_the_entity_is_shown_and_others_can_be_switched_to(doom3):
    import_character(doom3, IMP)
    assert materials() == {
        "body": "models/monsters/imp/body_ice",
        "eyes": "models/monsters/imp/ice",
        "head": "models/monsters/imp/head_ice",
        "lamp.001": "models/items/lamp",
    }
    assert bpy.ops.object.idtech_character_skin(skin="skins/monsters/imp") == {"FINISHED"}
    assert materials()["body"] == "models/monsters/imp/body_brown"
    # A head has skins of its own.
    assert materials()["head"] == "models/monsters/imp/head_ice"
    assert bpy.ops.object.idtech_character_skin(skin="") == {"FINISHED"}
    assert materials() == {
        "body": "models/monsters/imp/body",
        "eyes": "models/monsters/imp/eyes",
        "head": "models/monsters/imp/head",
        "lamp.001": "models/items/lamp",
    }


def test_an_unknown_skin_is_an_error_that_names_the_known_ones(doom3):
    import_character(doom3, IMP)
    with pytest.raises(RuntimeError, match="no such skin, only: skins/monsters/imp_ice"):
        bpy.ops.object.idtech_character_skin(skin="gone")


def test_skins_that_are_not_shown_survive_saving_the_file(doom3, tmp_path):
    import_character(doom3, IMP)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "imp.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "imp.blend"))
    bpy.context.view_layer.objects.active = bpy.data.objects["eyes"]
    assert bpy.ops.object.idtech_character_skin(skin="skins/monsters/imp") == {"FINISHED"}
    assert materials()["body"] == "models/monsters/imp/body_brown"
    assert bpy.ops.object.idtech_character_animation(animation="range") == {"FINISHED"}
    assert bpy.data.objects["monster_imp"].animation_data.action.name == "range"


def test_missing_files_are_one_warning_with_a_list_and_the_rest_is_imported(doom3, capfd):
    import_character(doom3, IMP)
    told = reports(capfd)
    (line,) = [line for line in told.splitlines() if "not found in the game's folders" in line]
    assert IMP in line
    assert "models/md5/monsters/imp/gone.md5anim" in line
    assert "7 images not found: eyes, body_ice and 5 more. Add the game's folder" in told
    assert len(bpy.data.armatures) == 3


def test_a_damaged_animation_is_a_warning_with_its_path(doom3, capfd):
    (doom3 / "models/md5/monsters/imp/stand.md5anim").write_text("MD5Version 10\nnumFrames x\n")
    import_character(doom3, IMP)
    assert "stand" not in bpy.data.actions
    assert re.search(r"Warning: skipped: .*stand.md5anim", reports(capfd))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "no such character"),
        ("imp", "no such character"),
        ("", "no character chosen"),
        ("base_monster", "missing: models/md5/monsters/base/base.md5mesh"),
    ],
)
def test_what_cannot_be_imported_is_an_error_and_changes_nothing(doom3, name, message):
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.import_scene.idtech_character(game=str(doom3), name=name)
    assert not bpy.data.objects
    assert not bpy.data.collections
    assert not bpy.data.actions


def test_an_import_that_fails_at_its_end_leaves_nothing_behind(doom3, part, monkeypatch):
    def fails(*arguments):
        raise KeyError("no such thing")

    monkeypatch.setattr(part("io_characters.scene"), "show_animation", fails)
    with pytest.raises(RuntimeError, match="internal error"):
        bpy.ops.import_scene.idtech_character(game=str(doom3), name=IMP)
    assert not any((bpy.data.objects, bpy.data.collections, bpy.data.actions, bpy.data.materials))


def test_a_game_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="there is no such folder"):
        bpy.ops.import_scene.idtech_character(game=str(tmp_path / "gone"), name=IMP)


def test_packed_and_loose_games_give_the_same_character(doom3, tmp_path):
    def state() -> list[object]:
        bpy.context.view_layer.update()
        return [
            (obj.name, obj.type, np.round(obj.matrix_world, 5).tolist(), obj.parent_bone)
            for obj in sorted(bpy.data.objects, key=lambda obj: obj.name)
        ] + sorted((action.name, tuple(action.frame_range), len(action.pose_markers)) for action in bpy.data.actions)

    import_character(doom3, IMP)
    packed = state()
    read_empty_scene()
    import_character(game_folders.doom3_loose(tmp_path / "loose/base"), IMP)
    assert state() == packed


def test_a_mod_uses_the_base_beside_it(doom3):
    mod = game_folders.loose(
        doom3.parent / "mymod", {"def/mod.def": 'entityDef mod_imp { "inherit" "monster_demon_imp" }'}
    )
    import_character(mod, "mod_imp")
    assert "monster_imp" in bpy.data.objects


def test_a_game_of_the_preferences_is_known_by_the_name_of_its_folder(doom3, part):
    stored = bpy.context.preferences.addons[part("io_characters").__package__.rpartition(".")[0]].preferences
    folder = stored.game_folders.add()
    folder.path = str(doom3)
    try:
        bpy.ops.import_scene.idtech_character(game="BASE", name=IMP)
    finally:
        stored.game_folders.clear()
    assert "monster_imp" in bpy.data.objects


def test_a_declaration_that_was_edited_since_the_last_import_counts(tmp_path):
    game = game_folders.doom3_loose(tmp_path / "base")
    import_character(game, "head_imp")
    declarations = game / "def/zz_head.def"
    declarations.write_text(declarations.read_text().replace("anim idle", "anim sleep"))
    import_character(game, "head_imp")
    assert "sleep" in bpy.data.actions


# --- Sauerbraten

# The game's `mulorient` multiplies the part of a joint's position along the axis, here 8, by the cosine of the angle.
LOWERED = 8 * (1 - np.cos(np.radians(10)))


def test_parts_hang_on_empties_of_tags_and_the_whole_is_scaled_and_moved(tmp_path):
    import_character(game_folders.sauerbraten(tmp_path), "hero", animation_filter="idle")
    bpy.context.scene.frame_set(0)
    hat, tag = bpy.data.objects["hat"], bpy.data.objects["tag_hat"]
    assert (hat.parent, tag.type, tag.parent_bone) == (tag, "EMPTY", "Neck")
    # Half the size, 2 lower; the tag is 2 above the neck at 24, which `md5adjust` lowers.
    height = round((24 + 2 - 2 - LOWERED) / 2, 4)
    assert position("hero") == [0, 0, -1]
    assert position("tag_hat") == [0, 0, height]
    assert position("hat") == [0, 0, height]
    turned = tag.matrix_world.to_quaternion() @ Vector((1, 0, 0))
    assert [round(value, 4) for value in turned] == [0, 0, -1]


def test_names_and_speeds_of_md5anim_are_those_of_the_actions(tmp_path):
    import_character(game_folders.sauerbraten(tmp_path), "hero")
    assert [action.name for action in bpy.data.actions] == ["forward", "idle|edit"]
    assert bpy.data.actions["forward"]["speed"] == 30.0
    assert bpy.ops.object.idtech_character_animation(animation="forward") == {"FINISHED"}
    assert bpy.context.scene.render.fps == 30
    assert bpy.context.scene.frame_end == 3


def test_md5adjust_turns_the_joint_as_the_game_does(tmp_path):
    import_character(game_folders.sauerbraten(tmp_path), "hero", animation_filter="idle")
    bpy.context.scene.frame_set(0)
    rig = bpy.data.objects["hero"]
    pose, rest = rig.pose.bones["Waist"], rig.data.bones["Waist"]
    turn = (pose.matrix.to_3x3() @ rest.matrix_local.to_3x3().inverted()).to_euler()
    # Yaw is counter-clockwise in the game, whose y axis points to the other side.
    assert [round(np.degrees(angle), 3) for angle in turn] == [0, 0, -10]
    assert np.allclose(pose.head, rest.head_local - Vector((0, 0, LOWERED)), atol=1e-5)


def test_images_of_md5skin_are_those_of_the_meshes(tmp_path):
    import_character(game_folders.sauerbraten(tmp_path), "hero")
    found = {
        node.image.name
        for name in ("body", "hat.001")
        for node in bpy.data.objects[name].material_slots[0].material.node_tree.nodes
        if node.type == "TEX_IMAGE"
    }
    assert {"skin.tga", "hat.tga"} <= found


@pytest.mark.parametrize("culls", [0, 1])
def test_md5cullface_says_from_which_sides_a_mesh_is_shown(tmp_path, culls):
    game = game_folders.sauerbraten(tmp_path)
    script = game / "packages/models/hero/md5.cfg"
    script.write_text(script.read_text().replace("md5skin *", f"md5cullface * {culls}\nmd5skin *"))
    import_character(game, "hero")
    assert bpy.data.objects["hat.001"].material_slots[0].material.use_backface_culling == bool(culls)


def test_an_md2_with_a_script_is_scaled(tmp_path):
    import_character(game_folders.sauerbraten(tmp_path), "hound")
    assert [round(value, 4) for value in bpy.data.objects["tris"].scale] == [1.5, 1.5, 1.5]


def test_the_frames_that_md2anim_names_are_an_action(tmp_path, capfd):
    game = game_folders.sauerbraten(tmp_path)
    script = game / "packages/models/hound/md2.cfg"
    script.write_text("md2anim idle 1 2 10\nmd2anim gone 99 2 10\n")
    import_character(game, "hound")
    idle = bpy.data.actions["idle"]
    assert idle["speed"] == 10.0
    assert list(idle.frame_range) == [0, 1]
    assert "frames from 99 on, but the model has 4" in reports(capfd)
    assert bpy.ops.object.idtech_character_animation(animation="idle") == {"FINISHED"}


# --- What users do


def test_a_character_that_is_imported_twice_is_two_characters(doom3):
    import_character(doom3, IMP)
    import_character(doom3, IMP)
    assert bpy.ops.object.idtech_character_skin(skin="") == {"FINISHED"}
    assert materials()["body"] == "models/monsters/imp/body_ice"
    assert materials()["body.001"] == "models/monsters/imp/body"
    assert bpy.ops.object.idtech_character_animation(animation="walk1") == {"FINISHED"}
    first, second = (bpy.data.objects[name].animation_data.action for name in ("monster_imp", "monster_imp.001"))
    assert (first.name, second.name) == ("stand", "walk1.001")


def test_a_copy_of_a_character_is_a_character_of_its_own(doom3):
    import_character(doom3, IMP)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    bpy.context.view_layer.objects.active = bpy.data.objects["body.001"]
    assert bpy.ops.object.idtech_character_skin(skin="") == {"FINISHED"}
    assert materials()["body"] == "models/monsters/imp/body_ice"
    assert materials()["body.001"] == "models/monsters/imp/body"


def test_parts_that_were_deleted_are_left_alone(doom3, tmp_path):
    import_character(doom3, IMP)
    bpy.data.objects.remove(bpy.data.objects["head_imp_model"])
    bpy.data.actions.remove(bpy.data.actions["range"])
    bpy.context.view_layer.objects.active = bpy.data.objects["body"]
    assert bpy.ops.object.idtech_character_skin(skin="skins/monsters/imp") == {"FINISHED"}
    assert bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out")) == {"FINISHED"}


def test_an_import_in_edit_mode_ends_it_and_works(doom3):
    import_character(doom3, IMP)
    bpy.context.view_layer.objects.active = bpy.data.objects["monster_imp"]
    bpy.ops.object.mode_set(mode="EDIT")
    import_character(doom3, "head_imp")
    assert bpy.context.mode == "OBJECT"


def test_switching_a_skin_can_be_undone(doom3):
    import_character(doom3, IMP)
    bpy.ops.ed.undo_push()
    assert bpy.ops.object.idtech_character_skin("EXEC_DEFAULT", True, skin="") == {"FINISHED"}
    assert materials()["body"] == "models/monsters/imp/body"
    bpy.ops.ed.undo()
    assert materials()["body"] == "models/monsters/imp/body_ice"


# --- Quake II


def test_the_weapon_of_a_player_plays_in_step_with_the_body(tmp_path):
    import_character(game_folders.quake2(tmp_path / "baseq2"), "hero")
    assert {obj.name for obj in bpy.data.objects} == {"tris", "weapon"}
    assert bpy.data.objects["weapon"].parent == bpy.data.objects["tris"]
    assert bpy.ops.object.idtech_character_animation(animation="stand") == {"FINISHED"}
    playing = [bpy.data.objects[name].data.shape_keys.animation_data.action for name in ("tris", "weapon")]
    assert [action.name for action in playing] == ["stand", "stand.001"]


def test_all_weapons_are_imported_on_request(tmp_path):
    import_character(game_folders.quake2(tmp_path / "baseq2"), "hero", all_weapons=True)
    assert {obj.name for obj in bpy.data.objects} == {"tris", "weapon", "w_shotgun"}


def test_the_skins_of_a_player_are_variants(tmp_path):
    import_character(game_folders.quake2(tmp_path / "baseq2"), "hero")
    assert materials()["tris"] == "players/hero/blue.tga"
    assert bpy.ops.object.idtech_character_skin(skin="red") == {"FINISHED"}
    assert materials()["tris"] == "players/hero/red.tga"


# --- Hostile data


@pytest.mark.parametrize(
    "value",
    [1, "x", {"part": 0}, {"part": float("nan"), "first": 3}, {"part": 0, "first": "x", "character": 5}],
    ids=str,
)
def test_properties_that_were_changed_by_hand_never_raise(doom3, value, part):
    import_character(doom3, IMP)
    for owner in (*bpy.data.objects, *bpy.data.actions):
        owner["idtech_character"] = value
    scene = part("io_characters.scene")
    for obj in bpy.data.objects:
        assert scene.find_character(bpy.context, obj) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 3}', '{"name": "x", "game": "y", "parts": [[]]}'])
def test_a_stored_character_that_is_not_valid_is_ignored(doom3, text, part):
    import_character(doom3, IMP)
    bpy.data.objects["monster_imp"]["idtech_character"]["character"] = text
    assert part("io_characters.scene").find_character(bpy.context) is None
    assert not bpy.ops.object.idtech_character_skin.poll()


def test_the_character_is_stored_as_it_was_declared(doom3, part):
    import_character(doom3, IMP)
    catalogue = part("io_common.catalogue").Catalogue(part("io_common.game_tree.tree").GameTree([doom3]))
    declared = catalogue.character(catalogue.named(IMP))
    assert part("io_characters.scene").find_character(bpy.context).character == declared
