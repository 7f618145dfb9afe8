"""MD3 in Blender: untouched files come back byte for byte, and what was edited is exported as Blender shows it."""

from __future__ import annotations

import math

import bpy
import game_folders
import game_samples
import md3_samples
import md3_specification as specification
import numpy as np
import pytest
from engines import md3 as engines
from mathutils import Matrix
from md3_evaluated import assert_same_corners, assert_shows, corners, file_corners

from io_idtech.io_blender.materials.library import color_image
from io_idtech.io_md2.format import read_model as read_md2
from io_idtech.io_md3.format import format_model, nearest_normals, normal_vectors, parse_model, read_model

FRAMES = md3_samples.FRAMES


@pytest.fixture
def tube(tmp_path):
    """The path of a model of two tubes."""
    return md3_samples.write_sample(tmp_path)


def load(path, **options):
    assert bpy.ops.import_scene.md3(filepath=str(path), **options) == {"FINISHED"}
    return {obj.name: obj for obj in bpy.context.selected_objects}


def save(tmp_path, **options):
    path = tmp_path / "out.md3"
    assert bpy.ops.export_scene.md3(filepath=str(path), **options) == {"FINISHED"}
    return path


def meshes():
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]


# Import


def test_a_model_is_an_empty_with_a_mesh_for_each_surface_and_an_empty_for_each_tag(tube):
    found = load(tube)
    root = found["tube"]
    assert root.type == "EMPTY"
    assert {obj.name: obj.type for obj in root.children} == {
        "body": "MESH", "belt": "MESH", "tag_weapon": "EMPTY", "tag_head": "EMPTY",
    }  # fmt: skip
    assert [key.name for key in found["body"].data.shape_keys.key_blocks] == [
        "stand1", "stand2", "stand3", "run1", "run2", "run3",
    ]  # fmt: skip
    # One action plays all surfaces.
    actions = {found[name].data.shape_keys.animation_data.action for name in ("body", "belt")}
    assert len(actions) == 1
    assert [marker.name for marker in bpy.context.scene.timeline_markers] == ["stand", "run"]
    assert found["belt"].data.materials[0].name == "models/tube/belt.tga"


def test_a_surface_named_as_the_file_keeps_its_name(tmp_path):
    path = md3_samples.write_sample(tmp_path, name="body.md3")
    load(path)
    assert bpy.data.objects["body"].type == "MESH"
    assert bpy.data.objects["body"].parent.type == "EMPTY"
    assert save(tmp_path).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("merge", [False, True])
def test_every_frame_shows_the_file(tube, kind, merge):
    found = load(tube, animation=kind, merge_vertices=merge, frame_start=3)
    model = specification.read(tube.read_bytes())
    for frame in range(FRAMES):
        bpy.context.scene.frame_set(3 + frame)
        for surface in model.surfaces:
            shown, expected = corners(found[surface.name]), file_corners(surface, frame)
            assert np.abs(shown[:, :5] - expected[:, :5]).max() <= 1e-5
            if frame == 0:
                cosines = (shown[:, 5:] * expected[:, 5:]).sum(axis=1)
                assert np.degrees(np.arccos(np.clip(cosines, -1, 1))).max() <= 1.0
        for name, (origin, *axes) in model.tags[frame].items():
            matrix = np.array(bpy.data.objects[name].matrix_world)
            assert np.abs(matrix[:3, 3] - origin).max() <= 1e-4
            assert np.abs(matrix[:3, :3].T - axes).max() <= 1e-5
    assert len(found["body"].data.vertices) == (32 if merge else 36)


def test_tags_as_bones_are_where_the_file_has_them(tube):
    found = load(tube, tags="BONES")
    armature = found["tube tags"]
    for frame, tags in enumerate(specification.read(tube.read_bytes()).tags):
        bpy.context.scene.frame_set(frame)
        for name, (origin, *axes) in tags.items():
            matrix = np.array(armature.matrix_world @ armature.pose.bones[name].matrix)
            assert np.abs(matrix[:3, 3] - origin).max() <= 1e-4
            assert np.abs(matrix[:3, :3].T - axes).max() <= 1e-5


def test_the_files_of_a_skin_are_materials_and_the_first_one_is_shown(tmp_path):
    tube = md3_samples.write_sample(tmp_path)
    (tmp_path / "tube_default.skin").write_text("body,models/x/default.tga\ntag_head,\nbelt,models/x/belt.tga\n")
    (tmp_path / "tube_red.skin").write_text("body,models/x/red.tga\nbelt,models/x/belt.tga\n")
    found = load(tube)
    assert [material.name for material in found["body"].data.materials] == ["models/x/default.tga", "models/x/red.tga"]
    assert len(found["belt"].data.materials) == 1
    assert save(tmp_path).read_bytes() == tube.read_bytes()


RED = game_samples.tga(game_samples.plain((255, 0, 0)))


def _image_names(obj):
    """The base names of the images that the materials of an object show."""
    return [image.name for material in obj.data.materials if (image := color_image(material)) is not None]


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("progs", ("body_0_0.tga", "body_1_0.tga", "belt_0_0.tga")),
        ("progs", ("body_0.tga", "body_1_0.tga", "belt.tga")),
        ("progs", ("tube.md3_0_0_0.tga", "tube.md3_0_1_0.tga", "tube.md3_1_0_0.tga")),
        ("progs", ("body_00_00.tga", "body_01_00.tga", "belt_00_00.tga")),
        ("textures", ("body_0_0.tga", "body_1_0.tga", "belt_0_0.tga")),
        ("models/tube", ("body_0_0.tga", "body_1_0.tga", "belt_0_0.tga")),
    ],
)
def test_images_that_are_named_after_surfaces_are_found_as_by_quakes_engines(tmp_path, capsys, folder, names):
    model = "models/tube/tube.md3" if folder.startswith("models") else "progs/tube.md3"
    glowing = ("body_0_0_glow.tga", "body_1_0_luma.tga")
    game_folders.loose(tmp_path, {f"{folder}/{name}": RED for name in (*names, *glowing)})
    tube = md3_samples.write_sample((tmp_path / model).parent)
    found = load(tube)
    body = found["body"].data.materials
    assert (_image_names(found["body"]), _image_names(found["belt"])) == ([*names[:2]], [names[2]])
    assert [material.name for material in body] == ["models/tube/body.tga", f"{folder}/{names[1]}"]
    for material, name, glow in zip(body, names, glowing, strict=False):
        if name in ("body_0_0.tga", "body_1_0.tga"):
            assert glow in {node.image.name for node in material.node_tree.nodes if node.type == "TEX_IMAGE"}
    assert "not found" not in capsys.readouterr().out
    assert save(tmp_path).read_bytes() == tube.read_bytes()
    bpy.context.view_layer.objects.active = found["belt"]
    assert bpy.ops.material.md3_find_images(material=found["belt"].data.materials[0].name) == {"FINISHED"}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("tube.md3_0.skin", "body,progs/red\nbelt,progs/red\n"),
        ("tube_0.skin", "body,progs/red\nbelt,progs/red\nbody,progs/second_frame\n"),
        ("tube.md3.skin", "body,progs/red,progs/blue\nbelt,progs/red,progs/red\n"),
        ("tube.skin", "body,progs/red,progs/blue\nbelt,progs/red\n"),
    ],
)
def test_skin_files_of_quakes_engines_are_found_by_all_their_names(tmp_path, capsys, name, lines):
    images = {f"progs/{one}.tga": RED for one in ("red", "blue", "second_frame", "other")}
    game_folders.loose(tmp_path, {f"progs/{name}": lines, "progs/ogre_0.skin": "body,progs/other\n", **images})
    md3_samples.write_sample(tmp_path / "progs", name="ogre.md3")
    found = load(md3_samples.write_sample(tmp_path / "progs"))
    assert _image_names(found["body"]) == ["red.tga", "blue.tga"][: 1 + ("blue" in lines)]
    assert _image_names(found["belt"]) == ["red.tga"]
    assert "not found" not in capsys.readouterr().out


def test_levels_of_detail_that_are_chosen_together_are_hidden_but_for_the_first(tmp_path):
    names = ("gun_2.md3", "gun_1.md3", "gun.md3", "hand_1.md3")
    paths = [md3_samples.write_sample(tmp_path, name=name) for name in names]
    files = [{"name": path.name} for path in paths]
    assert bpy.ops.import_scene.md3(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert bpy.context.object.users_collection[0].name == "gun"
    for collection in bpy.context.scene.collection.children:
        is_shown = collection.name in ("gun", "hand_1")
        assert [obj.visible_get() for obj in collection.objects] == [is_shown] * len(collection.objects)
        assert collection.hide_render != is_shown
    assert save(tmp_path).read_bytes() == paths[0].read_bytes()


def _encoded(name):
    """A name in UTF-8, as a file is read that has it."""
    return name.encode().decode("latin-1")


def test_names_in_utf_8_are_shown_as_such_and_keep_their_bytes(tmp_path):
    model = md3_samples.tube_model(tags=(_encoded("tag_Öl"),))
    model.surfaces[0].name, model.surfaces[0].shaders = _encoded("Körper"), [_encoded("models/шлем.tga")]
    model.surfaces[1].name = _encoded("Gürtel")
    model.frame_names[:3] = [_encoded(f"steh_ü{frame}") for frame in range(3)]
    data = format_model(model)
    game_folders.loose(tmp_path, {"models/шлем.tga": RED})
    path = md3_samples.write_sample(tmp_path / "models", data)
    found = load(path)
    assert {"Körper", "Gürtel", "tag_Öl"} <= set(found)
    body = found["Körper"].data
    assert [material.name for material in body.materials] == ["models/шлем.tga"]
    assert body.materials[0].md3_shader == "models/шлем.tga"
    assert _image_names(found["Körper"]) == ["шлем.tga"]
    assert body.shape_keys.key_blocks[1].name == "steh_ü1"
    assert save(tmp_path).read_bytes() == data
    # What is edited keeps the bytes of its names.
    body.shape_keys.key_blocks[2].data[0].co.x += 4.0
    found["Gürtel"].name = "Gurt"
    edited, before = read_model(save(tmp_path)), parse_model(data)
    assert [one.name for one in edited.surfaces] == [before.surfaces[0].name, "Gurt"]
    assert edited.surfaces[0].shaders == before.surfaces[0].shaders
    assert (edited.tag_names, edited.frame_names) == (before.tag_names, before.frame_names)


def test_a_check_for_quake_says_under_which_names_images_are_looked_for():
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "box"
    assert bpy.ops.object.md3_check_game(game="QUAKE") == {"FINISHED"}
    (item,) = bpy.context.window_manager.io_idtech_findings
    assert "'box' is looked for as box_0_0, box_0 or box in progs or textures" in item.text


@pytest.mark.parametrize("slots", [0, 1])
def test_a_surface_without_a_material_is_told(tmp_path, capsys, slots):
    bpy.ops.mesh.primitive_cube_add()
    for _ in range(slots):
        bpy.context.object.data.materials.append(None)
    save(tmp_path, game="QUAKE3")
    assert "The surface 'Cube' has no shaders" in capsys.readouterr().out


def test_normals_of_the_file_that_point_into_the_surface_are_warned_of(tmp_path, capsys):
    model = md3_samples.tube_model()
    load(md3_samples.write_sample(tmp_path, model))
    assert "point into" not in capsys.readouterr().out
    model.surfaces[0].normals[:, ::3, 0] += 127
    load(md3_samples.write_sample(tmp_path, model))
    assert "body: many normals of the file point into the surface" in capsys.readouterr().out


def test_an_animation_cfg_gives_sequences_with_their_rates(tube, tmp_path):
    (tmp_path / "animation.cfg").write_text("0 2 0 20 // IDLE\n2 4 4 15 // FIRE\n")
    found = load(tube, sequence_actions=True)
    assert bpy.context.scene.render.fps == 20
    assert {"IDLE", "FIRE"} <= {action.name for action in bpy.data.actions}
    bpy.context.view_layer.objects.active = found["body"]
    assert bpy.ops.object.md3_play_sequence(sequence="FIRE") == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (2, 5, 15)
    assert bpy.ops.object.md3_step_sequence(step=-1) == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (0, 1, 20)


@pytest.mark.parametrize("kind", ["EMPTIES", "BONES"])
def test_an_action_of_a_sequence_moves_the_tags_as_well(tube, kind):
    load(tube, sequence_actions=True, tags=kind)
    owner = bpy.data.objects["tag_weapon" if kind == "EMPTIES" else "tube tags"]
    # Since Blender 4.4 one action has a slot for the surfaces and one for each tag.
    action = bpy.data.actions["run" if bpy.app.version >= (4, 4, 0) else f"run {owner.name}"]
    owner.animation_data.action = action
    if hasattr(action, "slots"):
        owner.animation_data.action_slot = action.slots[f"OB{owner.name}"]
    tags = specification.read(tube.read_bytes()).tags
    for frame in range(3):
        bpy.context.scene.frame_set(frame)
        shown = owner.matrix_world if kind == "EMPTIES" else owner.matrix_world @ owner.pose.bones["tag_weapon"].matrix
        assert np.abs(np.array(shown)[:3, 3] - tags[3 + frame]["tag_weapon"][0]).max() <= 1e-4


def test_frames_keep_their_names_where_an_animation_cfg_names_the_sequences(tube, tmp_path, capsys):
    (tmp_path / "animation.cfg").write_text("0 3 0 20 // IDLE\n3 3 3 15 // FIRE\n")
    load(tube)
    assert save(tmp_path).read_bytes() == tube.read_bytes()
    bpy.context.scene.timeline_markers["FIRE"].name = "SHOOT"
    assert save(tmp_path).read_bytes() == tube.read_bytes()
    assert "was renamed" not in capsys.readouterr().out


def test_sequences_beyond_the_frames_of_a_part_are_named(tmp_path, capsys):
    path = md3_samples.write_sample(tmp_path, name="lower.md3")
    (tmp_path / "animation.cfg").write_text("0 3 0 20 // BOTH_DEATH1\n3 9 0 15 // BOTH_DEAD1\n")
    load(path)
    assert "sequences of animation.cfg beyond the 6 frames: BOTH_DEAD1" in capsys.readouterr().out


def test_a_renamed_marker_of_a_sequence_of_frame_names_renames_them(tube, tmp_path):
    load(tube)
    bpy.context.scene.timeline_markers["run"].name = "sprint"
    assert read_model(save(tmp_path)).frame_names[2:] == ["stand3", "sprint1", "sprint2", "sprint3"]


def _player(folder):
    """The paths of a player's parts."""
    lower = md3_samples.tube_model(tags=("tag_torso",))
    upper = md3_samples.tube_model(tags=("tag_torso", "tag_head"))
    head = md3_samples.tube_model(1, tags=("tag_head",))
    return [
        md3_samples.write_sample(folder, model, f"{name}.md3")
        for name, model in (("lower", lower), ("upper", upper), ("head", head))
    ]


@pytest.mark.parametrize("tags", ["EMPTIES", "BONES"])
def test_the_parts_of_a_player_hang_on_the_tags_of_each_other(tmp_path, tags):
    paths = _player(tmp_path / "player")
    files = [{"name": path.name} for path in paths]
    bpy.ops.import_scene.md3(filepath=str(paths[0]), directory=str(paths[0].parent), files=files, tags=tags)
    objects = bpy.data.objects
    lower, upper = (specification.read(path.read_bytes()) for path in paths[:2])
    for frame in range(FRAMES):
        bpy.context.scene.frame_set(frame)
        expected = np.eye(4)
        for model, tag, part in ((lower, "tag_torso", "upper"), (upper, "tag_head", "head")):
            origin, *axes = model.tags[frame][tag]
            own = np.eye(4)
            own[:3, :3], own[:3, 3] = np.array(axes).T, origin
            expected = expected @ own
            assert np.abs(np.array(objects[part].matrix_world) - expected).max() <= 1e-3
    # Each part is exported as its own file.
    for path in paths:
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = objects[path.stem]
        bpy.context.scene.frame_set(2)
        assert save(tmp_path).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["sarge", "models/players/sarge"])
def test_a_player_in_an_archive_of_the_game_is_a_character(tmp_path, name):
    paths = _player(tmp_path / "player")
    folder = "models/players/sarge"
    skin = "".join(f"{part}, {folder}/blue.tga\n" for part in ("body", "belt"))
    files = {f"{folder}/{path.name}": path.read_bytes() for path in paths}
    files |= {f"{folder}/{path.stem}_blue.skin": skin for path in paths}
    files |= {
        f"{folder}/blue.tga": game_folders.IMAGE,
        f"{folder}/animation.cfg": "sex m\n0 3 0 20 // BOTH_DEATH1\n3 3 0 15 // BOTH_DEAD1\n",
        "models/mapobjects/statue.md3": paths[2].read_bytes(),
    }
    game = tmp_path / "baseq3"
    game_folders.packed(game / "pak0.pk3", files)
    assert bpy.ops.import_scene.idtech_character(game=str(game), name=name) == {"FINISHED"}
    assert bpy.data.objects["upper"].parent.name.startswith("tag_torso")
    assert bpy.data.objects["head"].parent.name.startswith("tag_head")
    actions = {action.name for action in bpy.data.actions}
    assert {"BOTH_DEATH1", "BOTH_DEAD1"} <= actions
    images = {image.name for image in bpy.data.images if image.size[0]}
    assert "blue.tga" in images
    assert bpy.ops.import_scene.idtech_character(game=str(game), name="statue") == {"FINISHED"}


def test_a_broken_part_of_a_player_is_an_error_that_names_it(tmp_path):
    paths = _player(tmp_path / "models/players/sarge")
    paths[1].write_bytes(paths[1].read_bytes()[:200])
    with pytest.raises(RuntimeError, match=r"upper\.md3"):
        bpy.ops.import_scene.idtech_character(game=str(tmp_path), name="sarge")
    assert not bpy.data.objects


def test_an_md3_that_is_named_md2_is_read_as_one(tmp_path):
    path = md3_samples.write_sample(tmp_path, name="tube.md2")
    assert bpy.ops.import_scene.md2(filepath=str(path)) == {"FINISHED"}
    assert {obj.name for obj in meshes()} >= {"body", "belt"}
    assert save(tmp_path).read_bytes() == path.read_bytes()


def test_a_character_that_is_an_md3_named_md2_is_read_as_one(tmp_path):
    path = md3_samples.write_sample(tmp_path / "game/models/items/band", name="tris.md2")
    name = "models/items/band/tris.md2"
    assert bpy.ops.import_scene.idtech_character(game=str(tmp_path / "game"), name=name) == {"FINISHED"}
    assert {obj.name for obj in meshes()} >= {"body", "belt"}
    assert save(tmp_path).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("target", ["glb", "md3"])
def test_the_command_line_converts_it_with_all_its_animations(tmp_path, part, target):
    folder = tmp_path / "in"
    path = md3_samples.write_sample(folder)
    md3_samples.write_sample(folder, name="other.md2")
    command = ["convert", str(folder), "--to", str(tmp_path / "out"), "--format", target]
    assert part("command_line.command").main(command) == 0
    written = sorted((tmp_path / "out").rglob(f"*.{target}"))
    assert [one.stem for one in written] == ["other", "tube"]
    if target == "md3":
        assert {one.read_bytes() for one in written} == {path.read_bytes()}
        return
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
    bpy.ops.import_scene.gltf(filepath=str(written[1]))
    assert {"body", "belt", "tag_weapon", "tag_head"} <= {obj.name for obj in bpy.data.objects}
    names = " ".join(action.name for action in bpy.data.actions)
    assert all(name in names for name in ("stand", "run"))
    assert all(bpy.data.objects[name].animation_data.nla_tracks for name in ("tag_weapon", "tag_head"))


# Untouched


@pytest.mark.parametrize("data", [None, md3_samples.odd_bytes()], ids=["tubes", "odd"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"merge_vertices": True},
        {"custom_normals": False},
        {"animation": "ABSOLUTE"},
        {"tags": "BONES"},
        {"frame_start": -7, "global_scale": 0.05, "axis_forward": "-X"},
        {"use_scene_timing": False, "sequence_actions": True},
    ],
    ids=str,
)
def test_an_untouched_model_comes_back_byte_for_byte(tmp_path, data, options):
    path = md3_samples.write_sample(tmp_path, data)
    load(path, **options)
    bpy.context.scene.frame_set(2)
    if data is not None and options.get("merge_vertices"):
        # Merging leaves a vertex that nothing uses without a place in Blender that is its own.
        bpy.context.scene.frame_set(0)
    assert save(tmp_path).read_bytes() == path.read_bytes()


def test_a_saved_and_reopened_scene_and_a_copy_of_the_model_export_the_same(tube, tmp_path):
    load(tube)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert save(tmp_path).read_bytes() == tube.read_bytes()
    load(tube)
    # The second one is active.
    assert save(tmp_path).read_bytes() == tube.read_bytes()


def test_the_cube_of_the_startup_scene_and_another_character_stay_out(tube, tmp_path):
    bpy.ops.mesh.primitive_cube_add()
    other = md3_samples.write_sample(tmp_path / "b", md3_samples.tube_model(2), "other.md3")
    load(tube)
    load(other)
    assert save(tmp_path).read_bytes() == other.read_bytes()
    bpy.context.view_layer.objects.active = bpy.data.objects["body"]
    assert save(tmp_path).read_bytes() == tube.read_bytes()


@pytest.mark.corpus
@pytest.mark.slow
def test_every_real_file_comes_back_byte_for_byte_and_shows_the_specification(corpus, tmp_path):
    for path in sorted((corpus / "md3").rglob("*.md3")):
        bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
        load(path)
        model = specification.read(path.read_bytes())
        frames = sorted({0, len(model.frames) // 2, len(model.frames) - 1})
        objects = sorted((obj for obj in meshes()), key=lambda obj: obj.data["md3"]["number"])
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            for obj, surface in zip(objects, model.surfaces, strict=True):
                shown, expected = corners(obj), file_corners(surface, frame)
                assert np.abs(shown[:, :5] - expected[:, :5]).max() <= 1e-4, path
        assert save(tmp_path).read_bytes() == path.read_bytes(), path


# Edits


def test_a_moved_vertex_changes_its_frame_alone(tube, tmp_path):
    found = load(tube)
    found["body"].data.shape_keys.key_blocks["run1"].data[4].co.x += 3.0
    path = save(tmp_path)
    before, after = read_model(tube), read_model(path)
    one, other = before.surfaces[0].vertices, after.surfaces[0].vertices
    changed = np.argwhere((one != other).any(axis=2))
    assert changed.tolist() == [[3, 4]]
    assert other[3, 4, 0] - one[3, 4, 0] == 192
    rows = [frame for frame in range(FRAMES) if frame != 3]
    assert np.array_equal(after.surfaces[0].normals[rows], before.surfaces[0].normals[rows])
    assert np.array_equal(after.bounds[rows], before.bounds[rows])
    assert after.surfaces[1] == before.surfaces[1]
    assert_shows(path, [found["body"], found["belt"]], range(FRAMES), degrees=25.0)


def _assert_surface_shows(path, number, obj, frames):
    """A surface of a file shows an object, with each of its own frames on one of the scene."""
    surface = specification.read(path.read_bytes()).surfaces[number]
    for frame, in_scene in frames.items():
        bpy.context.scene.frame_set(in_scene)
        assert_same_corners(file_corners(surface, frame), corners(obj), degrees=3.0)


def test_edited_keys_that_nothing_else_deforms_are_exported_without_evaluating_each_frame(tube, tmp_path):
    body = load(tube)["body"]
    for key in body.data.shape_keys.key_blocks:
        for point in key.points:
            point.co.x *= 1.5
    body.rotation_euler.z = 0.5
    bpy.context.view_layer.update()
    updates = []
    bpy.app.handlers.depsgraph_update_post.append(lambda scene, graph: updates.append(scene))
    try:
        path = save(tmp_path)
    finally:
        bpy.app.handlers.depsgraph_update_post.pop()
    assert len(updates) < FRAMES
    _assert_surface_shows(path, 0, body, {frame: frame for frame in range(FRAMES)})


def _normals_of_corners(surface, frame):
    triangles = surface.triangles
    distinct = [len({*corners}) == 3 for corners in triangles.tolist()]
    return surface.normals[frame][triangles[distinct]]


def test_a_moved_vertex_keeps_the_normals_of_other_frames_where_its_faces_split(tmp_path):
    # Blender cannot hold its normals, so that the corners of a vertex have several.
    source = md3_samples.write_sample(tmp_path, md3_samples.odd_bytes())
    found = load(source)
    found["body"].data.shape_keys.key_blocks[3].data[4].co.x += 3.0
    before, after = read_model(source), read_model(save(tmp_path))
    for frame in range(FRAMES):
        one, other = (_normals_of_corners(model.surfaces[0], frame) for model in (before, after))
        changed = np.flatnonzero((one != other).any(axis=(1, 2)))
        near = (before.surfaces[0].triangles == 4).any(axis=1)
        assert len(changed) < len(one) / 2 if frame == 3 else not len(changed), frame
        assert frame != 3 or near[:-2][changed].any()
    assert after.surfaces[1] == before.surfaces[1]


def test_a_split_vertex_has_the_normals_of_blender_where_its_faces_moved(tmp_path):
    source = md3_samples.write_sample(tmp_path, md3_samples.odd_bytes())
    found = load(source)
    for point in found["body"].data.shape_keys.key_blocks[3].data:
        point.co.x *= 1.5
    _assert_surface_shows(save(tmp_path), 0, found["body"], {3: 3})


def _subdivide(objects):
    objects["body"].modifiers.new("a", "SUBSURF").levels = 1


def _mirror(objects):
    objects["body"].scale.x = -1.0


def _move(objects):
    objects["tube"].location = (5.0, 1.0, -2.0)
    objects["tube"].rotation_euler.z = 0.4


def _rename(objects):
    objects["body"].name = "skin"


def _delete_faces(objects):
    import bmesh

    mesh = bmesh.new()
    mesh.from_mesh(objects["body"].data)
    bmesh.ops.delete(mesh, geom=mesh.faces[:7], context="FACES")
    mesh.to_mesh(objects["body"].data)
    mesh.free()


def _move_uvs(objects):
    for item in objects["body"].data.uv_layers.active.uv[:9]:
        item.vector.x += 0.25


def _shade_flat(objects):
    mesh = objects["belt"].data
    mesh.normals_split_custom_set([(0.0, 0.0, 0.0)] * len(mesh.loops))
    mesh.polygons.foreach_set("use_smooth", [False] * len(mesh.polygons))
    mesh.update()


def _bend(objects):
    modifier = objects["body"].modifiers.new("a", "SIMPLE_DEFORM")
    modifier.deform_method, modifier.angle = "TWIST", 1.0


def _animate_object(objects):
    body = objects["body"]
    body.location.z = 0.0
    body.keyframe_insert("location", frame=0)
    body.location.z = 9.0
    body.keyframe_insert("location", frame=5)


def _add_object(objects):
    bpy.ops.mesh.primitive_cone_add(location=(3, 0, 0))
    cone = bpy.context.object
    cone.parent = objects["tube"]
    objects["cone"] = cone


def _join(objects):
    with bpy.context.temp_override(
        active_object=objects["body"], selected_editable_objects=[objects["body"], objects["belt"]]
    ):
        bpy.ops.object.join()
    del objects["belt"]


def _duplicate(objects):
    copy = objects["belt"].copy()
    copy.data = copy.data.copy()
    objects["belt"].users_collection[0].objects.link(copy)
    copy.location.x = 30.0
    objects["copy"] = copy


EDITS = [
    _join,
    _duplicate,
    _subdivide,
    _mirror,
    _move,
    _rename,
    _delete_faces,
    _move_uvs,
    _shade_flat,
    _bend,
    _animate_object,
    _add_object,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("merge", [False, True], ids=["", "merged"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__[1:])
def test_edits_are_exported_as_blender_shows_them(tube, tmp_path, edit, merge):
    found = dict(load(tube, merge_vertices=merge))
    edit(found)
    path = save(tmp_path, verify="ALL")
    objects = [obj for obj in found.values() if obj.type == "MESH"]
    # Normals of later frames are those of the file, which Blender turns by its own rule, where nothing was edited.
    assert_shows(path, objects, range(FRAMES), degrees=25.0)


@pytest.mark.parametrize("edit", [_shade_flat, _delete_faces, _bend], ids=lambda edit: edit.__name__[1:])
def test_normals_of_what_was_edited_are_those_that_blender_shows(tube, tmp_path, edit):
    found = dict(load(tube, animation="NONE"))
    edit(found)
    objects = [obj for obj in found.values() if obj.type == "MESH"]
    assert_shows(save(tmp_path), objects, [0], degrees=2.0)


@pytest.mark.parametrize("custom_normals", [True, False])
@pytest.mark.parametrize("frame_range", [{}, {"use_frame_range": True, "frame_start": 2, "frame_end": 4}], ids=str)
def test_flat_faces_are_exported_flat_in_all_frames_that_are_asked_for(tube, tmp_path, custom_normals, frame_range):
    found = load(tube, custom_normals=custom_normals)
    _shade_flat(found)
    frames = range(frame_range.get("frame_start", 0), frame_range.get("frame_end", FRAMES - 1) + 1)
    _assert_surface_shows(save(tmp_path, **frame_range), 1, found["belt"], dict(enumerate(frames)))


def test_normals_that_were_cleared_are_those_of_blender(tmp_path):
    model = md3_samples.tube_model()
    model.surfaces[1].normals[:] = nearest_normals((0.0, 0.0, 1.0))
    found = load(md3_samples.write_sample(tmp_path, model))
    bpy.context.view_layer.objects.active = found["belt"]
    bpy.ops.mesh.customdata_custom_splitnormals_clear()
    found["belt"].data.polygons.foreach_set("use_smooth", [True] * len(found["belt"].data.polygons))
    path = save(tmp_path)
    _assert_surface_shows(path, 1, found["belt"], {frame: frame for frame in range(FRAMES)})
    assert read_model(path).surfaces[0] == model.surfaces[0]


def test_the_shape_of_the_first_frame_does_not_change_the_normals_of_others(tube, tmp_path):
    found = load(tube)
    found["body"].data.shape_keys.key_blocks[0].data[4].co.x += 3.0
    found["body"].data.vertices[4].co.x += 3.0
    before, after = read_model(tube), read_model(save(tmp_path))
    assert np.array_equal(after.surfaces[0].normals[1:], before.surfaces[0].normals[1:])
    assert (after.surfaces[0].normals[0] != before.surfaces[0].normals[0]).any()


def test_a_frame_of_which_one_surface_lacks_the_key_is_not_called_left_out(tube, tmp_path, capsys):
    belt = load(tube)["belt"]
    belt.shape_key_remove(belt.data.shape_keys.key_blocks[4])
    assert len(read_model(save(tmp_path)).frame_names) == FRAMES
    assert "does not play" not in capsys.readouterr().out


def test_a_key_that_was_renamed_on_one_surface_is_not_played_on_the_others(tube, tmp_path, capsys):
    # Blender renames it in the action of all surfaces.
    load(tube)["belt"].data.shape_keys.key_blocks[4].name = "other"
    assert len(read_model(save(tmp_path)).frame_names) == FRAMES
    assert "the timeline does not play 1 frame of the 6 of the imported model" in capsys.readouterr().out
    surfaces = read_model(save(tmp_path, frames="SHAPE_KEYS")).surfaces
    for one, other in zip(surfaces, read_model(tube).surfaces, strict=True):
        assert np.array_equal(one.vertices, other.vertices)


def test_a_frame_step_that_changes_the_speed_is_told_with_the_rate_that_keeps_it(tube, tmp_path, capsys):
    load(tube)
    save(tmp_path, frames="SCENE", frame_step=2, game="QUAKE")
    assert "the scene at 10 with Frame Step 2" in (told := capsys.readouterr().out)
    assert "or the scene to 20 fps" in told
    bpy.context.scene.render.fps = 20
    save(tmp_path, frames="SCENE", frame_step=2, game="QUAKE")
    assert "To keep the time" not in capsys.readouterr().out


@pytest.mark.parametrize(("game", "count"), [("ANY", 4), ("QUAKE", 2), ("QUAKE2", 2), ("QUAKE3", 4)])
def test_only_quake_and_quake_ii_have_a_rate_of_their_own(tmp_path, capsys, game, count):
    _new_model()
    bpy.context.scene.render.fps = 20
    assert len(read_model(save(tmp_path, game=game)).frame_names) == 4
    assert ("the game plays at 10 fps, the scene at 20" in capsys.readouterr().out) == (count == 2)
    assert len(read_model(save(tmp_path, game=game, frame_rate_from="GAME")).frame_names) == count
    assert "the game plays at" not in capsys.readouterr().out


def test_names_of_tags_and_frames_that_do_not_fit_are_warned_of(tube, tmp_path, capsys):
    found = load(tube)
    found["tag_head"].name = "tag_頭"
    found["belt"].data.shape_keys.key_blocks[4].name = "a name of more than 15 characters"
    model = read_model(save(tmp_path))
    told = capsys.readouterr().out
    assert model.tag_names == ["tag_weapon", "tag__"]
    assert "tag_頭: names have at most 63 Latin-1 characters, so it was written as tag__" in told
    assert model.frame_names[4] == "a_name_of_more_"
    assert "frame names can have only 15 Latin-1 characters" in told


def test_moved_renamed_and_new_tags_are_exported(tube, tmp_path):
    found = load(tube)
    tag = found["tag_weapon"]
    tag.animation_data_clear()
    tag.matrix_world = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.5, 4, "Z")
    found["tag_head"].name = "tag_hat"
    new = bpy.data.objects.new("tag_flag", None)
    new.parent = found["tube"]
    found["tube"].users_collection[0].objects.link(new)
    new.location.x = 7.0
    before, after = read_model(tube), read_model(save(tmp_path))
    assert after.tag_names == ["tag_weapon", "tag_hat", "tag_flag"]
    assert np.allclose(after.tag_origins[:, 0], (1, 2, 3), atol=1e-5)
    assert np.allclose(after.tag_axes[:, 0, 0], (math.cos(0.5), math.sin(0.5), 0), atol=1e-6)
    assert np.array_equal(after.tag_axes[:, 1], before.tag_axes[:, 1])
    assert np.allclose(after.tag_origins[:, 2], (7, 0, 0))
    assert after.surfaces == before.surfaces


@pytest.mark.parametrize("tags", ["EMPTIES", "BONES"])
@pytest.mark.parametrize("scale", [(3.0, 3.0, 3.0), (0.5, 2.0, 1.0)])
def test_a_tag_with_a_scale_is_written_with_the_axes_of_its_rotation(tube, tmp_path, capsys, tags, scale):
    found = load(tube, tags=tags)
    names = ("tag_weapon", "tag_head")
    if tags == "BONES":
        rig = found["tube tags"]
        rig.animation_data_clear()
        owners = [rig.pose.bones[name] for name in names]
    else:
        owners = [found[name] for name in names]
        for owner in owners:
            owner.animation_data_clear()
    for owner in owners:
        owner.scale = scale
    bpy.context.view_layer.update()
    matrices = [owner.matrix if tags == "BONES" else owner.matrix_world for owner in owners]
    axes = read_model(save(tmp_path)).tag_axes
    assert np.allclose(axes @ np.swapaxes(axes, 2, 3), np.eye(3), atol=1e-5)
    assert np.allclose(axes[0], [np.array(one.to_quaternion().to_matrix()).T for one in matrices], atol=1e-5)
    assert "sheared" not in capsys.readouterr().out


@pytest.mark.parametrize(("parent", "own", "degrees"), [((2, 1, 1), (1, 1, 1), 18.4), ((1, 1, 1), (-1, 1, 1), 180)])
def test_shear_and_mirroring_of_a_tag_are_left_out_with_a_warning(tube, tmp_path, capsys, parent, own, degrees):
    found = load(tube)
    tag = found["tag_weapon"]
    tag.animation_data_clear()
    holder = bpy.data.objects.new("holder", None)
    found["tube"].users_collection[0].objects.link(holder)
    holder.parent, holder.scale = found["tube"], parent
    tag.parent, tag.rotation_quaternion, tag.scale = holder, Matrix.Rotation(math.pi / 4, 3, "Z").to_quaternion(), own
    bpy.context.view_layer.update()
    axes = read_model(save(tmp_path)).tag_axes[:, 0]
    assert np.allclose(axes @ np.swapaxes(axes, 1, 2), np.eye(3), atol=1e-5)
    assert np.allclose(np.linalg.det(axes), 1.0)
    told = capsys.readouterr().out
    assert told.count("sheared or mirrored") == 1
    assert "tag_weapon: sheared or mirrored" in told
    assert f"up to {degrees:g} degrees off" in told


@pytest.mark.parametrize("parented", [False, True])
def test_tags_are_exported_with_a_surface_that_an_armature_moves(tube, tmp_path, parented):
    found = load(tube)
    _new_model()
    rig = bpy.data.objects["rig"]
    bpy.data.objects.remove(bpy.data.objects["box"])
    found["body"].modifiers.new("a", "ARMATURE").object = rig
    if parented:
        found["body"].parent = rig
    bpy.context.view_layer.objects.active = found["body"]
    model = read_model(save(tmp_path))
    assert {surface.name for surface in model.surfaces} == {"body", "belt"}
    assert {"tag_weapon", "tag_head"} <= set(model.tag_names)
    assert "tag_hand" in model.tag_names


def test_a_tag_outside_of_the_model_is_named_in_a_warning(tube, tmp_path, capsys):
    load(tube)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("tag_lost", None))
    assert save(tmp_path).read_bytes() == tube.read_bytes()
    assert "not exported, as not part of tube: tag_lost" in capsys.readouterr().out


def test_objects_that_are_joined_or_separated_are_surfaces_with_their_own_names_and_shaders(tube, tmp_path):
    found = load(tube)
    copy = found["belt"].copy()
    found["tube"].users_collection[0].objects.link(copy)
    empty = bpy.data.objects.new("empty", bpy.data.meshes.new("empty"))
    found["tube"].users_collection[0].objects.link(empty)
    _join(dict(found))
    surfaces = read_model(save(tmp_path)).surfaces
    assert [(surface.name, surface.shaders) for surface in surfaces] == [
        ("body", ["models/tube/body.tga"]),
        ("belt", ["models/tube/belt.tga"]),
        ("body.001", ["models/tube/belt.tga"]),
    ]


# New models


def _new_model():
    """A cube of two materials and an armature that waves with a tag bone."""
    armature = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, tail in (("arm", (0, 0, 8)), ("tag_hand", (0, 0, 12))):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, tail[2] - 8), tail
    armature.data.edit_bones["tag_hand"].parent = armature.data.edit_bones["arm"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = armature.pose.bones["arm"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (4, 0.9)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.mesh.primitive_cube_add(size=6.0, location=(0, 0, 6))
    cube = bpy.context.object
    cube.name = "box"
    for name in ("models/box/red.tga", "models/box/blue.tga"):
        cube.data.materials.append(bpy.data.materials.new(name))
    cube.data.polygons[0].material_index = 1
    cube.vertex_groups.new(name="arm").add(range(8), 1.0, "REPLACE")
    cube.modifiers.new("a", "ARMATURE").object = armature
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    return cube


@pytest.mark.parametrize("family", ["md2", "md3"])
@pytest.mark.parametrize(("held", "count"), [(0, 4), (2, 6), (300, 40)])
def test_a_short_action_in_a_long_scene_is_exported_to_its_last_keyframe(tmp_path, capsys, family, held, count):
    _new_model()
    bpy.context.scene.frame_end = 40
    bone = bpy.data.objects["rig"].pose.bones["arm"]
    if held:
        bone.keyframe_insert("rotation_euler", frame=4 + held)
    export, read = (getattr(bpy.ops.export_scene, family), {"md2": read_md2, "md3": read_model}[family])
    path = tmp_path / f"out.{family}"
    assert export(filepath=str(path)) == {"FINISHED"}
    assert read(path).frame_count == count
    told = f"Nothing moves after frame {count}, so the export ends there"
    assert (told in capsys.readouterr().out) == (count < 40)
    assert export(filepath=str(path), frames="SCENE") == {"FINISHED"}
    assert read(path).frame_count == 40
    assert "Nothing moves" not in capsys.readouterr().out


@pytest.mark.parametrize("game", ["QUAKE", "QUAKE2", "QUAKE3"])
def test_the_engines_accept_a_new_model_and_show_what_blender_shows(tmp_path, game):
    cube = _new_model()
    path = save(tmp_path, game=game)
    model = engines.GAMES[game](path.read_bytes())
    assert_shows(path, [cube], range(1, 5))
    assert [(surface.name, surface.shaders) for surface in model.surfaces] == [
        ("box", ["models/box/red.tga"]),
        ("box.001", ["models/box/blue.tga"]),
    ]
    bone = bpy.data.objects["rig"].pose.bones["tag_hand"]
    for row, frame in enumerate(range(1, 5)):
        bpy.context.scene.frame_set(frame)
        origin, *axes = model.tags[row]["tag_hand"]
        assert np.allclose(origin, np.array(bone.matrix)[:3, 3], atol=1e-4)
        assert np.allclose(np.array(axes).T, np.array(bone.matrix)[:3, :3], atol=1e-5)


def test_surfaces_over_a_limit_are_split_or_refused_on_request(tmp_path, capfd):
    bpy.context.scene.frame_end = 1
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=50, y_subdivisions=40, size=100)
    grid = bpy.context.object
    with pytest.raises(RuntimeError, match=r"has 2,\d+ vertices; ioquake3 takes 999.*Split Surfaces"):
        save(tmp_path, game="QUAKE3", split_surfaces=False)
    path = save(tmp_path, game="QUAKE3")
    model = engines.ioquake3(path.read_bytes())
    assert f"Over the game's limits, so split into parts: Grid into {len(model.surfaces)}" in capfd.readouterr().out
    assert len(model.surfaces) > 2
    assert [surface.name for surface in model.surfaces][:2] == ["Grid_1", "Grid_2"]
    assert sum(len(surface.triangles) for surface in model.surfaces) == len(grid.data.polygons) * 2


def test_meshes_without_faces_are_an_error_that_leaves_the_file_alone(tmp_path):
    wire = bpy.data.objects.new("wire", bpy.data.meshes.new("wire"))
    bpy.context.collection.objects.link(wire)
    path = tmp_path / "out.md3"
    path.write_bytes(b"before")
    with pytest.raises(RuntimeError, match="there are no faces to export: wire"):
        save(tmp_path)
    assert path.read_bytes() == b"before"


def test_a_model_that_is_too_large_or_too_small_for_the_grid_is_named(tmp_path):
    bpy.context.scene.frame_end = 1
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1)
    assert bpy.ops.export_scene.md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
    bpy.context.object.scale = (9999, 9999, 9999)
    with pytest.raises(
        RuntimeError, match=r"Sphere: the model is too large: scale it down, or set Scale; found 999\.9 units"
    ):
        save(tmp_path)


def test_tags_alone_are_a_model(tmp_path):
    path = md3_samples.write_sample(tmp_path, _without_surfaces())
    load(path)
    assert save(tmp_path).read_bytes() == path.read_bytes()
    bpy.data.objects["tag_head"].animation_data_clear()
    assert parse_model(save(tmp_path).read_bytes()).tag_names == ["tag_weapon", "tag_head"]


def _without_surfaces():
    model = md3_samples.tube_model()
    model.surfaces.clear()
    return model


def test_a_check_for_the_game_lists_what_it_refuses():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=50, y_subdivisions=40, size=100)
    assert bpy.ops.object.md3_check_game(game="QUAKE3", split_surfaces=False) == {"FINISHED"}
    findings = bpy.context.window_manager.io_idtech_findings
    assert "too_many_vertices" in {item.code for item in findings}


def test_new_normals_are_those_of_the_game_and_untouched_ones_keep_their_bytes(tube, tmp_path):
    before, found = read_model(tube), load(tube)
    _shade_flat(found)
    surfaces = {game: read_model(save(tmp_path, game=game)).surfaces for game in ("ANY", "GZDOOM", "QUAKE3")}
    for body, belt in surfaces.values():
        assert np.array_equal(body.normals, before.surfaces[0].normals)
        assert not np.array_equal(belt.normals, before.surfaces[1].normals)
    # Vertices of one normal are one, so that surfaces differ in their number; triangles do not.
    corners_of = {game: belt.normals[:, belt.triangles] for game, (_, belt) in surfaces.items()}
    shown = normal_vectors(corners_of["ANY"])
    for game, turn in (("GZDOOM", 256.0), ("QUAKE3", 255.75)):
        cosines = (normal_vectors(corners_of[game], turn) * shown).sum(axis=-1)
        # Both are off by half a step of each angle.
        assert cosines.min() > np.cos(np.radians(2.1))
        assert not np.array_equal(corners_of[game], corners_of["ANY"])


def test_frames_for_sonic_robo_blast_2_are_numbered_from_0(tmp_path):
    _new_model()
    bpy.context.scene.timeline_markers.new("SPR2_STND", frame=0)
    bpy.context.scene.frame_start = 0
    names = read_model(save(tmp_path, game="SRB2", frames="SCENE")).frame_names
    assert names[:2] == ["SPR2_STND0", "SPR2_STND1"]
