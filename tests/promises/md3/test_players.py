"""A player of Quake III: legs and torso play a sequence each as in the game, and its files come back or are made."""

from __future__ import annotations

from dataclasses import replace

import bpy
import md3_specification as specification
import numpy as np
import pytest
import quake3_players
from clouds import distance
from engines import quake3
from sliding_box import hang_on_bone

from io_idtech.io_md3.exporting.players import settings_of
from io_idtech.io_md3.format import format_model
from io_idtech.io_md3.players import find_player

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
FOLDER = "models/players/boxer"


@pytest.fixture
def game(tmp_path):
    """The folder of a game with a player and a weapon."""
    quake3_players.write(tmp_path / "baseq3")
    return tmp_path / "baseq3"


def load(game, **options):
    """Imports the three files of the player together."""
    files = [{"name": f"{part}.md3"} for part in ("lower", "upper", "head")]
    folder = game / FOLDER
    result = bpy.ops.import_scene.md3(filepath=str(folder / "lower.md3"), directory=str(folder), files=files, **options)
    assert result == {"FINISHED"}


def load_character(game, **options):
    assert bpy.ops.import_scene.idtech_character(game=str(game), name="boxer", **options) == {"FINISHED"}


def play(*sequences):
    for sequence in sequences:
        assert bpy.ops.object.md3_play_sequence(sequence=sequence) == {"FINISHED"}


def seen(root):
    """The vertices of a part as Blender shows them, in the order of its surfaces, (V, 3)."""
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for obj in sorted((one for one in root.children if one.type == "MESH"), key=lambda one: one.data["md3"]["number"]):
        evaluated = obj.evaluated_get(graph)
        points = np.empty((len(evaluated.data.vertices), 3), np.float32)
        evaluated.data.vertices.foreach_get("co", points.ravel())
        found.append(points @ np.array(evaluated.matrix_world)[:3, :3].T + np.array(evaluated.matrix_world)[:3, 3])
    return np.concatenate(found)


def assert_plays_as_in_the_game(files, pair, roots):
    """Compares what Blender shows of a pair of sequences on the frames of the scene with what the game draws."""
    animations, _ = quake3.parse_animation_file(files[f"{FOLDER}/animation.cfg"])
    legs, torso = (animations[quake3_players.NAMES.index(name)] for name in pair)
    models = {part: specification.read(files[f"{FOLDER}/{part}.md3"]) for part in ("lower", "upper", "head")}
    weapon = specification.read(files["models/weapons2/stick/stick.md3"]) if "weapon" in roots else None
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    assert rate == pytest.approx(max(1000 / legs.frame_lerp, 1000 / torso.frame_lerp))
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        drawn = quake3.player(models, legs, torso, (frame - scene.frame_start) * 1000 / rate, weapon)
        for part, entity in drawn.items():
            root = roots[part]
            matrix = np.array(root.matrix_world)
            turn = matrix[:3, :3].T @ entity.axis.T
            angle = np.degrees(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1)))
            assert angle <= 0.5, (pair, frame, part)
            assert np.abs(matrix[:3, 3] - entity.origin).max() <= 1 / 64, (pair, frame, part)
            assert np.abs(seen(root) - entity.vertices()).max() <= 1 / 64, (pair, frame, part)


# Playing


@pytest.mark.slow
@pytest.mark.parametrize("tags", ["EMPTIES", "BONES"])
def test_ten_pairs_of_sequences_play_as_in_the_game(game, tags):
    load(game, tags=tags)
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    for pair in quake3_players.PAIRS:
        play(*dict.fromkeys(pair))
        assert_plays_as_in_the_game(quake3_players.files(), pair, roots)


def test_absolute_keys_play_on_the_frames_of_the_game(game):
    load(game, animation="ABSOLUTE")
    play("LEGS_IDLE", "TORSO_ATTACK")
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_IDLE", "TORSO_ATTACK"), roots)


def test_an_imported_player_stands(game):
    load(game)
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_IDLE", "TORSO_STAND"), roots)


def test_legs_and_torso_are_chosen_apart(game):
    load(game)
    play("LEGS_RUN", "TORSO_ATTACK")
    play("BOTH_DEATH1", "TORSO_GESTURE")
    # What both played ends with it.
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_IDLE", "TORSO_GESTURE"), roots)


def test_a_sequence_is_one_action(game):
    load(game)
    names = {action.name for action in bpy.data.actions}
    if HAS_SLOTS:
        assert names == {*quake3_players.NAMES, "lower", "upper"}
    else:
        # They are sorted by name, so that those of a sequence belong together.
        assert {name.split()[0] for name in names} == {*quake3_players.NAMES, "lower", "upper"}
        assert {"LEGS_RUN", "LEGS_RUN tag_torso", "BOTH_DEATH1", "BOTH_DEATH1 upper"} <= names


@pytest.mark.slow
def test_a_part_is_exported_with_all_its_frames_while_a_sequence_plays(game, tmp_path):
    load(game)
    play("LEGS_RUN", "TORSO_ATTACK")
    for part in ("lower", "upper", "head"):
        bpy.context.view_layer.objects.active = bpy.data.objects[part]
        assert bpy.ops.export_scene.md3(filepath=str(tmp_path / "out.md3")) == {"FINISHED"}
        assert (tmp_path / "out.md3").read_bytes() == (game / FOLDER / f"{part}.md3").read_bytes()
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_RUN", "TORSO_ATTACK"), roots)


# Export


def export(folder, **options):
    assert bpy.ops.export_scene.idtech_character(directory=str(folder), **options) == {"FINISHED"}
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


@pytest.mark.parametrize("importer", [load, pytest.param(load_character, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tags", ["EMPTIES", "BONES"])
@pytest.mark.parametrize("sequence", ["LEGS_RUN", "BOTH_DEAD1"])
def test_an_untouched_player_comes_back_byte_for_byte(game, tmp_path, importer, tags, sequence):
    importer(game, **({"tags": tags} if importer is load else {}))
    play(sequence)
    expected = {path: data for path, data in quake3_players.files().items() if path.startswith(FOLDER)}
    assert export(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("is_joined", [False, True])
def test_two_players_of_a_file_have_their_own_sequences(game, tmp_path, is_joined):
    load(game)
    load(game)
    stage = bpy.data.objects.new("stage", None)
    bpy.context.scene.collection.objects.link(stage)
    for name in ("lower", "lower.001") if is_joined else ():
        bpy.data.objects[name].parent = stage
    first, second = (
        {part: bpy.data.objects[part + end] for part in ("lower", "upper", "head")} for end in ("", ".001")
    )
    bpy.context.view_layer.objects.active = first["upper"]
    play("LEGS_RUN", "TORSO_ATTACK")
    expected = {path: data for path, data in quake3_players.files().items() if path.startswith(FOLDER)}
    for number, roots in enumerate((first, second)):
        bpy.context.view_layer.objects.active = roots["lower"]
        assert export(tmp_path / f"out{number}") == expected
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_RUN", "TORSO_ATTACK"), first)
    bpy.context.view_layer.objects.active = second["head"]
    play("LEGS_TURN", "TORSO_STAND")
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_TURN", "TORSO_STAND"), second)


@pytest.mark.slow
def test_a_copy_of_a_player_plays_apart_and_comes_back(game, tmp_path):
    load(game)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    roots = {part: bpy.data.objects[f"{part}.001"] for part in ("lower", "upper", "head")}
    bpy.context.view_layer.objects.active = roots["lower"]
    play("LEGS_RUN", "TORSO_ATTACK")
    assert_plays_as_in_the_game(quake3_players.files(), ("LEGS_RUN", "TORSO_ATTACK"), roots)
    expected = {path: data for path, data in quake3_players.files().items() if path.startswith(FOLDER)}
    assert export(tmp_path / "out") == expected


@pytest.mark.slow
def test_the_place_and_size_of_an_imported_player_do_not_matter(game, tmp_path):
    load(game)
    parent = bpy.data.objects.new("parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.scale = (100, 0, 64), (0.03, 0.03, 0.03)
    bpy.data.objects["lower"].parent = parent
    expected = {path: data for path, data in quake3_players.files().items() if path.startswith(FOLDER)}
    assert export(tmp_path / "out") == expected


@pytest.mark.slow
def test_an_action_that_was_played_in_between_does_not_become_the_frames_of_a_part(game, tmp_path):
    load(game)
    whole, draft = bpy.data.actions["lower"], bpy.data.actions.new("draft")
    for name in ("l_legs", "l_belt"):
        keys = bpy.data.objects[name].data.shape_keys
        keys.animation_data.action = draft
        for frame in (1, 10):
            keys.key_blocks[3].value = frame / 10
            keys.key_blocks[3].keyframe_insert("value", frame=frame)
    play("LEGS_RUN", "TORSO_ATTACK")
    assert draft.use_fake_user
    assert whole.use_fake_user
    expected = {path: data for path, data in quake3_players.files().items() if path.startswith(FOLDER)}
    assert export(tmp_path / "kept") == expected
    # Without the track, the frames are those of the sequences.
    for owner in (*bpy.data.shape_keys, *bpy.data.objects):
        tracks = owner.animation_data.nla_tracks if owner.animation_data is not None else ()
        for track in [one for one in tracks if one.name.startswith("Kept")]:
            tracks.remove(track)
    assert_has_frames_of_the_file(export(tmp_path / "removed"))


@pytest.mark.slow
def test_an_untouched_player_may_have_what_the_game_would_not_take(game, tmp_path):
    path, head = game / FOLDER / "animation.cfg", quake3_players.models()["head"]
    # Forks of the game take surfaces of more vertices.
    of_box = head.surfaces[0]
    st, vertices, normals = (np.tile(one, (42, 1)) for one in (of_box.st, of_box.vertices, of_box.normals))
    head.surfaces[0] = replace(of_box, st=st, vertices=vertices, normals=normals)
    (path.parent / "head.md3").write_bytes(format_model(head))
    config = quake3_players.CONFIG.replace("69\t2\t0", "69\t0\t0").replace("86\t4\t4", "86\t40\t4")
    path.write_text(config.replace("boot", "clank").replace("0 2 -1", "0 2 -1.5.2"))
    load(game)
    settings = settings_of(find_player(bpy.context.scene, bpy.data.objects["lower"]))
    assert (settings.footsteps, settings.head_offset) == ("normal", (0, 2, -1.5))
    files = export(tmp_path / "out")
    assert files == {f"{FOLDER}/{one.name}": one.read_bytes() for one in path.parent.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["l_legs", "l_belt"])
def test_another_material_changes_the_images_of_its_surface_alone(game, tmp_path, changed):
    lower, folder = quake3_players.models()["lower"], game / FOLDER
    lower.surfaces[0].name = "l_legs_1"
    (folder / "lower.md3").write_bytes(format_model(lower))
    # Spikes may be of a level of detail.
    (folder / "lower_default.skin").write_text("l_belt, all\nl_legs, all\nl_spikes,spikes\ntag_torso,\n")
    (folder / "upper_default.skin").write_text("tag_head,\nu_torso, u_torso\n")
    load(game)
    next(one for one in bpy.data.objects["u_torso"].data.materials if one.name == "u_torso").name = "chest"
    slot = bpy.data.objects["l_legs_1" if changed == "l_legs" else changed].material_slots[0]
    assert slot.material.name == "all"
    slot.material = bpy.data.materials.new("gold")
    files = export(tmp_path / "out")
    assert files[f"{FOLDER}/upper_default.skin"].decode() == "tag_head,\nu_torso, chest\n"
    before, skin = (folder / "lower_default.skin").read_text(), files[f"{FOLDER}/lower_default.skin"]
    assert skin.decode() == before.replace(f"{changed}, all", f"{changed}, gold")
    drawn = quake3.images(specification.read(files[f"{FOLDER}/lower.md3"]), skin)
    assert drawn == [("all", "gold")[changed == name] for name in ("l_legs", "l_belt")]


def test_a_weapon_of_the_game_is_held(game):
    load_character(game, weapon="models/weapons2/stick/stick.md3")
    play("LEGS_WALK", "TORSO_GESTURE")
    roots = {part: bpy.data.objects[part] for part in ("lower", "upper", "head")}
    files = quake3_players.files()
    assert_plays_as_in_the_game(files, ("LEGS_WALK", "TORSO_GESTURE"), roots | {"weapon": bpy.data.objects["stick"]})


@pytest.mark.slow
def test_a_setting_is_written_and_the_rest_of_the_table_stays(game, tmp_path):
    load(game)
    config = export(tmp_path / "out", sex="n", head_offset=(0, 2, -1.5))[f"{FOLDER}/animation.cfg"]
    animations, settings = quake3.parse_animation_file(config)
    assert settings == {"sex": "n", "footsteps": "boot", "headoffset": "0 2 -1.5"}
    assert animations == quake3.parse_animation_file(quake3_players.CONFIG.encode())[0]
    assert config.decode().endswith(quake3_players.CONFIG[quake3_players.CONFIG.index("// first") :])


@pytest.mark.slow
def test_an_edited_sequence_is_laid_out_again_and_plays_as_in_blender(game, tmp_path, capfd):
    load(game)
    action = bpy.data.actions["LEGS_RUN"]
    # Half of its frames are gone.
    action.frame_end -= 3
    action["speed"] = 12.0
    action["looping"] = 4.0
    # Of two, one is wrong.
    action.copy()
    level = tmp_path / "out" / FOLDER / "lower_1.md3"
    level.parent.mkdir(parents=True)
    level.write_bytes(b"")
    files = export(tmp_path / "out")
    printed = capfd.readouterr().out
    assert "lower_1.md3: levels of detail with other frames" in printed
    animations, _ = quake3.parse_animation_file(files[f"{FOLDER}/animation.cfg"])
    run = animations[quake3_players.NAMES.index("LEGS_RUN")]
    assert (run.num_frames, run.loop_frames, run.frame_lerp) == (4, 4, pytest.approx(1000 / 12))
    assert_has_frames_of_the_file(files)
    assert "LEGS_RUN was used, not LEGS_RUN.001: rename the one that is wrong" in printed


def assert_has_frames_of_the_file(files):
    """Compares the frames of some sequences of the legs, as many as there are, with those of the imported file."""
    animations, _ = quake3.parse_animation_file(files[f"{FOLDER}/animation.cfg"])
    old = quake3.parse_animation_file(quake3_players.CONFIG.encode())[0]
    before, after = (specification.read(one[f"{FOLDER}/lower.md3"]) for one in (quake3_players.files(), files))
    for name in ("LEGS_RUN", "LEGS_SWIM", "BOTH_DEATH2"):
        index = quake3_players.NAMES.index(name)
        first, count = animations[index].first_frame, animations[index].num_frames
        was = old[index].first_frame
        for surface, other in zip(before.surfaces, after.surfaces, strict=True):
            assert other.points[first : first + count] == surface.points[was : was + count]
            assert other.normals[first : first + count] == surface.normals[was : was + count]
        assert after.tags[first : first + count] == before.tags[was : was + count]


@pytest.mark.slow
def test_what_is_missing_is_listed_before_anything_is_written(game, tmp_path):
    load(game)
    for name in ("LEGS_SWIM", "TORSO_DROP"):
        for action in [one for one in bpy.data.actions if one.name.split()[0] == name]:
            bpy.data.actions.remove(action)
    with pytest.raises(RuntimeError, match="2 of the sequences: TORSO_DROP, LEGS_SWIM"):
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    torso = bpy.data.objects["tag_torso"]
    torso.name = "torso"
    with pytest.raises(RuntimeError, match="no tag_torso in lower: add empties or bones with these names there"):
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path / "out"))
    torso.name = "tag_torso"
    # A template fills them.
    assert bpy.ops.object.idtech_player_template() == {"FINISHED"}
    files = export(tmp_path / "out")
    animations, _ = quake3.parse_animation_file(files[f"{FOLDER}/animation.cfg"])
    assert animations[quake3_players.NAMES.index("LEGS_SWIM")].num_frames == 1


# A player that is made in Blender


def _box(name, low, high, bone, collection, rig=None, materials=()):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    mesh.uv_layers.new()
    for material in materials:
        mesh.materials.append(bpy.data.materials.get(material) or bpy.data.materials.new(material))
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    if rig is not None:
        obj.parent = rig
        obj.vertex_groups.new(name=bone).add(range(8), 1.0, "REPLACE")
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    return obj


def _keyed(rig, name, bones, count, *, loops):
    """An action that turns bones, as if a user had made it."""
    rig.animation_data_create().action = bpy.data.actions.new(name)
    for number, bone in enumerate(bones):
        for frame in range(1, count + 1):
            turn = 0.2 * np.sin(2 * np.pi * frame / count + number + len(name))
            rig.pose.bones[bone].rotation_mode = "XYZ"
            rig.pose.bones[bone].rotation_euler = (turn, -turn / 2, turn / 3)
            rig.pose.bones[bone].keyframe_insert("rotation_euler", frame=frame)
    action = rig.animation_data.action
    action.use_fake_user = action.use_frame_range = True
    action.frame_start, action.frame_end, action.use_cyclic = 1, count, loops


def make_figure():
    """A figure of one rig, with tags as bones, and the actions of the pairs of sequences."""
    bpy.context.scene.render.fps = 20
    collections = {name: bpy.data.collections.new(name) for name in ("lower", "upper", "head")}
    for one in collections.values():
        bpy.context.scene.collection.children.link(one)
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    places = {
        "hips": ((0, 0, 0), None), "tag_torso": ((0, 0, 1), "hips"), "spine": ((0, 0, 2), "tag_torso"),
        "tag_weapon": ((8, -9, 12), "spine"), "neck": ((0, 0, 20), "spine"), "tag_head": ((0, 0, 21), "neck"),
    }  # fmt: skip
    for name, (place, parent) in places.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = place, np.add(place, (0, 4, 0))
        bone.parent = rig.data.edit_bones.get(parent or "")
    bpy.ops.object.mode_set(mode="OBJECT")
    looks = ("models/players/player/skin", "models/players/player/blue")
    _box("legs", (-6, -8, -24), (6, 8, 0), "hips", collections["lower"], rig, looks)
    _box("torso", (-5, -10, 1), (5, 10, 20), "spine", collections["upper"], rig, looks)
    _box("face", (-4, -4, 21), (4, 4, 30), "tag_head", collections["head"], rig, looks)
    for name in dict.fromkeys(name for pair in quake3_players.PAIRS for name in pair):
        bones = {"LEGS": ["hips"], "TORS": ["spine", "neck"], "BOTH": ["hips", "spine", "neck"]}[name[:4]]
        _keyed(rig, name, bones, 1 if name == "TORSO_STAND" else 5, loops=name.startswith("LEGS"))
    for bone in rig.pose.bones:
        bone.rotation_euler = (0, 0, 0)
    return rig


def assert_draws_what_blender_shows(files, folder, pair):
    """Compares a pair of sequences on each frame of the scene: every corner is where one of Blender's is."""
    animations, _ = quake3.parse_animation_file(files[f"{folder}/animation.cfg"])
    legs, torso = (animations[quake3_players.NAMES.index(name)] for name in pair)
    models = {part: specification.read(files[f"{folder}/{part}.md3"]) for part in ("lower", "upper", "head")}
    scene = bpy.context.scene
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        drawn = quake3.player(models, legs, torso, (frame - scene.frame_start) * 1000 / scene.render.fps, None)
        for part, entity in drawn.items():
            shown = []
            for obj in bpy.data.collections[part].objects:
                if obj.type == "MESH":
                    evaluated = obj.evaluated_get(graph)
                    shown += [evaluated.matrix_world @ one.co for one in evaluated.data.vertices]
            assert distance(np.array(shown), entity.vertices()) <= 1 / 64, (pair, frame, part)


def test_one_rig_is_a_player_that_the_game_draws_as_blender_shows_him(tmp_path, capsys):
    rig = make_figure()
    with pytest.raises(RuntimeError, match="no action for 8 of the sequences"):
        bpy.ops.export_scene.idtech_character(directory=str(tmp_path))
    # Rigid parts may hang on bones.
    for name, bone in (("legs", "hips"), ("torso", "spine"), ("face", "tag_head")):
        obj = bpy.data.objects[name]
        obj.modifiers.clear()
        hang_on_bone(obj, rig, bone)
    rig.scale = (2, 2, 2)
    assert bpy.ops.object.idtech_player_template() == {"FINISHED"}
    assert [one.name for one in bpy.data.actions if one.name.startswith("LEGS_BACK")] == ["LEGS_BACK"]
    # It is as long as before, and where the rig is.
    rig.location.z += 10
    files = export(tmp_path, skins="default, blue", sex="f", footsteps="mech")
    folder = "models/players/player"
    assert files.keys() == {
        f"{folder}/animation.cfg",
        *(
            f"{folder}/{part}{end}"
            for part in ("lower", "upper", "head")
            for end in (".md3", "_default.skin", "_blue.skin")
        ),
    }
    assert files[f"{folder}/upper_blue.skin"].decode() == "tag_head,\ntag_weapon,\ntorso,models/players/player/blue\n"
    assert "icon_default.tga" in capsys.readouterr().out
    _, settings = quake3.parse_animation_file(files[f"{folder}/animation.cfg"])
    assert settings == {"sex": "f", "footsteps": "mech", "headoffset": "0 0 0"}
    for pair in quake3_players.PAIRS:
        bpy.context.view_layer.objects.active = rig
        play(*dict.fromkeys(pair))
        assert_draws_what_blender_shows(files, folder, pair)


def test_a_copy_of_a_figure_plays_its_own_actions():
    rig = make_figure()
    second, stage = rig.copy(), bpy.data.collections.new("second")
    bpy.context.scene.collection.children.link(stage)
    stage.objects.link(second)
    for part in ("lower", "upper"):
        collection = bpy.data.collections.new(part)
        stage.children.link(collection)
        for obj in bpy.data.collections[part].objects:
            copy = obj.copy()
            collection.objects.link(copy)
            copy.parent = copy.modifiers[0].object = second
    # Its slot is named like the first rig.
    run = bpy.data.actions["LEGS_RUN"].copy()
    second.animation_data.action = run
    if HAS_SLOTS:
        second.animation_data.action_slot = run.slots[0]
    for name, action in (("legs.001", "LEGS_RUN.001"), ("legs", "LEGS_RUN"), ("legs.001", "LEGS_RUN.001")):
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        play("LEGS_RUN", "LEGS_WALK", "LEGS_RUN")
        owner = second if name == "legs.001" else rig
        played = {strip.action.name for track in owner.animation_data.nla_tracks for strip in track.strips}
        assert played == {action, "TORSO_STAND"}


@pytest.mark.slow
def test_three_parts_below_empties_are_a_player(tmp_path):
    make_three_parts()
    # The torso moves as an object.
    torso = bpy.data.objects["upper box"]
    torso.animation_data_create().action = bpy.data.actions.new("TORSO_GESTURE")
    for frame in range(1, 4):
        torso.location.x = 8.0 * (frame == 2)
        torso.keyframe_insert("location", frame=frame)
    bpy.data.actions["LEGS_RUN"]["speed"] = 40.0
    assert bpy.ops.object.idtech_player_template() == {"FINISHED"}
    files = export(tmp_path, player_name="cube")
    models = {part: specification.read(files[f"models/players/cube/{part}.md3"]) for part in ("lower", "upper", "head")}
    assert list(models["lower"].tags[0]) == ["tag_torso"]
    assert {"tag_head", "tag_weapon"} <= models["upper"].tags[0].keys()
    # Each is where its empty is.
    assert max(point[2] for point in models["head"].surfaces[0].points[0]) == 9.0
    assert models["upper"].tags[0]["tag_head"][0] == (0.0, 0.0, 20.0)
    animations, _ = quake3.parse_animation_file(files["models/players/cube/animation.cfg"])
    gesture, run = (animations[quake3_players.NAMES.index(name)] for name in ("TORSO_GESTURE", "LEGS_RUN"))
    points = models["upper"].surfaces[0].points[gesture.first_frame : gesture.first_frame + 3]
    assert [max(one[0] for one in frame) for frame in points] == [5.0, 13.0, 5.0]
    heights = [max(one[2] for one in models["lower"].surfaces[0].points[run.first_frame + frame]) for frame in range(3)]
    assert heights == [0.0, 1.0, 2.0]
    assert run.frame_lerp == 25.0
    # Others keep the rate that the scene had.
    play("LEGS_RUN", "LEGS_IDLE")
    assert bpy.context.scene.render.fps == 24
    assert export(tmp_path, player_name="cube") == files


def test_the_game_finds_the_image_of_every_surface(tmp_path, capfd):
    make_three_parts()
    # The game takes a fifteenth of it for a surface.
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=110, y_subdivisions=110)
    bpy.context.object.name, bpy.context.object.parent = "hat", bpy.data.objects["head"]
    leg = bpy.data.objects["lower box"]
    leg.name, other = "leg_l", leg.copy()
    other.name, other.data = "leg_r", leg.data.copy()
    bpy.context.scene.collection.objects.link(other)
    for name, objects in {"leg": ["leg_l"], "hat": ["hat", "head box"], "red": ["leg_r"]}.items():
        for skin in ("default", "blue"):
            material = bpy.data.materials.new(f"{name} {skin}")
            for obj in objects:
                bpy.data.objects[obj].data.materials.append(material)
    bpy.ops.object.idtech_player_template()
    files = export(tmp_path, skins="default blue")
    for part, name in (("lower", "leg"), ("head", "hat")):
        model = specification.read(files[f"models/players/player/{part}.md3"])
        for skin in ("default", "blue"):
            drawn = quake3.images(model, files[f"models/players/player/{part}_{skin}.skin"])
            assert set(drawn) == {f"{name} {skin}"}, drawn
    # Both legs are `leg` in the game.
    assert "leg_r: the game gives it the image of another surface: rename it" in capfd.readouterr().out


def test_copies_of_empties_without_parents_are_players_of_their_own(tmp_path):
    make_three_parts()
    for name in ("upper", "head"):
        bpy.data.objects[name].parent = None
    bpy.ops.object.idtech_player_template()
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    for part in ("lower", "upper", "head"):
        mesh = next(one for one in bpy.data.objects[f"{part}.001"].children if one.type == "MESH")
        mesh.name = f"second {part}"
    for root in ("lower.001", "upper.001"):
        bpy.context.view_layer.objects.active = bpy.data.objects[root]
        files = export(tmp_path / root)
        for part in ("lower", "upper", "head"):
            surfaces = specification.read(files[f"models/players/player/{part}.md3"]).surfaces
            assert [one.name for one in surfaces] == [f"second {part}"]


def test_tags_on_one_rig_below_an_empty_are_of_the_parts_that_the_game_looks_in(tmp_path):
    rig = make_figure()
    for part in ("lower", "upper", "head"):
        collection, empty = bpy.data.collections[part], bpy.data.objects.new(part, None)
        bpy.context.scene.collection.objects.link(empty)
        for obj in collection.objects:
            bpy.context.scene.collection.objects.link(obj)
            obj.parent = empty
        bpy.data.collections.remove(collection)
    rig.parent = bpy.data.objects["lower"]
    flag = bpy.data.objects.new("tag_flag", None)
    bpy.context.scene.collection.objects.link(flag)
    flag.parent, flag.parent_type, flag.parent_bone = rig, "BONE", "spine"
    assert bpy.ops.object.idtech_player_template() == {"FINISHED"}
    files = export(tmp_path, player_name="cube")
    tags = {
        part: set(specification.read(files[f"models/players/cube/{part}.md3"]).tags[0]) for part in ("lower", "upper")
    }
    assert tags == {"lower": {"tag_torso"}, "upper": {"tag_head", "tag_weapon", "tag_flag"}}


def make_three_parts():
    """Legs, torso and head with shape keys, below empties that hang on tags."""
    above = None
    sizes = {"lower": ("tag_torso", 1.0), "upper": ("tag_head", 20.0), "head": ("", 0.0)}
    for part, (tag, height) in sizes.items():
        root = bpy.data.objects.new(part, None)
        root.parent = above
        bpy.context.scene.collection.objects.link(root)
        low = -24 if part == "lower" else 0
        obj = _box(
            f"{part} box", (-5, -5, low), (5, 5, low + (9 if part == "head" else 24)), "", bpy.context.scene.collection
        )
        obj.parent = root
        for name, lift in (("Basis", 0.0), ("up", 2.0)):
            key = obj.shape_key_add(name=name, from_mix=False)
            key.value = 0.0
            for point in key.points if lift else ():
                point.co.z += lift
        for name in filter(None, (tag, "tag_weapon" if part == "upper" else "")):
            above = bpy.data.objects.new(name, None)
            above.location.z = height
            above.parent = root
            bpy.context.scene.collection.objects.link(above)
        above = bpy.data.objects.get(tag)
    keys = bpy.data.objects["lower box"].data.shape_keys
    keys.animation_data_create().action = bpy.data.actions.new("LEGS_RUN")
    for frame in range(1, 4):
        keys.key_blocks["up"].value = (frame - 1) / 2
        keys.key_blocks["up"].keyframe_insert("value", frame=frame)
    keys.key_blocks["up"].value = 0.0
    bpy.context.view_layer.objects.active = bpy.data.objects["upper box"]
