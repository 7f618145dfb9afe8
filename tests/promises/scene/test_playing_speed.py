"""Exports tell when a game plays an animation slower or faster than Blender, and can keep the time instead."""

from __future__ import annotations

from pathlib import Path

import bpy
import md2_samples
import md5_scenes
import numpy as np
import pytest
import scripted_scenes
from clouds import distance
from md5_cameras import make_camera

from io_idtech.io_common.skeletal.skeleton import poses
from io_idtech.io_md2.format import decompress, read_model
from io_idtech.io_md5.format import read_animation, read_camera, write_camera

GAMES = pytest.mark.parametrize("game", ["QUAKE", "QUAKE2", "MD2"])
FRAMES = 20


@pytest.fixture
def warnings(warned):
    """What was warned of the speed since the last call."""
    return lambda: warned(" in Blender")


def run(rate: int, frames: int = FRAMES) -> bpy.types.Object:
    """A rig with a tube, whose action has so many frames in a scene of that rate."""
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    scene = bpy.context.scene
    scene.render.fps = rate
    scene.frame_start, scene.frame_end = 1, frames
    action = armature.animation_data.action
    action.name = "run"
    action.use_frame_range = True
    action.frame_start, action.frame_end = 1, frames
    return armature


def exported(folder: Path, game: str, **options) -> np.ndarray:
    """Exports the action for a game, and gives what moves in each frame of the file, (F, …)."""
    if game == "MD2":
        assert bpy.ops.export_scene.md2(filepath=str(folder / "run.md2"), **options) == {"FINISHED"}
        return md2_frames(folder / "run.md2")
    path = folder / "run.md5anim"
    assert bpy.ops.export_scene.md5anim(filepath=str(path), **{"game": game, "actions": "ACTIVE", **options}) == {
        "FINISHED"
    }
    return poses(read_animation(path))[0]


def md2_frames(path: Path) -> np.ndarray:
    model = read_model(path)
    return decompress(model.vertices, model.scale, model.translate)


@GAMES
def test_a_game_of_ten_frames_a_second_gets_frame_for_frame_and_the_durations_are_told(tmp_path, warnings, game):
    run(30)
    assert len(exported(tmp_path, game)) == FRAMES
    (text,) = warnings()
    assert "20 frames: 0.67 s in Blender, 2 s in the game" in text
    assert "Frame Rate to Game's (7 frames)" in text
    assert "scene to 10 fps" in text


@GAMES
@pytest.mark.parametrize(("rate", "count"), [(30, 7), (24, 8), (10, 20), (5, 39)])
def test_at_the_rate_of_the_game_it_lasts_as_long_as_in_blender(tmp_path, warnings, game, rate, count):
    run(rate)
    bpy.context.scene.render.fps = 10
    every_tenth = {rate: exported(tmp_path, game)}
    bpy.context.scene.render.fps = rate
    warnings()
    sampled = exported(tmp_path, game, frame_rate_from="GAME", frame_step=2)
    assert len(sampled) == count
    assert warnings() == []
    # What is on whole frames of the scene is as on these.
    for number, frame in enumerate(np.arange(count) * rate / 10.0):
        if frame == round(frame):
            expected = every_tenth[rate][round(frame)]
            assert np.allclose(sampled[number], expected, atol=0.02), number


def test_frames_between_those_of_the_scene_are_what_blender_shows_there(tmp_path):
    armature = run(24)
    tube = next(child for child in armature.children if child.type == "MESH")
    sampled = exported(tmp_path, "MD2", frame_rate_from="GAME")
    bpy.context.scene.frame_set(3, subframe=0.4)
    shown = scripted_scenes.shown_vertices([tube])
    assert distance(sampled[1].astype(float), shown) < 0.02


@GAMES
def test_nothing_is_told_where_the_game_shows_what_blender_plays(tmp_path, warnings, game):
    run(10)
    exported(tmp_path, game)
    bpy.context.scene.render.fps = 30
    # Every third frame of thirty a second.
    assert len(exported(tmp_path, game, frame_step=3)) == 7
    assert warnings() == []


@GAMES
def test_a_single_pose_has_no_duration(tmp_path, warnings, game):
    armature = run(30, frames=1)
    assert len(exported(tmp_path, game)) == 1
    # A pose that is held.
    armature.animation_data.action = None
    bpy.context.scene.frame_end = FRAMES
    exported(tmp_path, game, **({"frames": "SCENE"} if game == "MD2" else {"actions": "SCENE"}))
    assert warnings() == []


def test_a_model_that_stands_still_in_a_new_scene_is_exported_without_a_word_about_time(tmp_path, warnings):
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.export_scene.md2(filepath=str(tmp_path / "cube.md2"))
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "cube.md5mesh"), game="QUAKE")
    assert warnings() == []


def test_games_that_read_the_rate_from_the_file_get_that_of_the_scene(tmp_path, warnings):
    run(30)
    exported(tmp_path, "DOOM3")
    exported(tmp_path, "DOOM3", frame_step=3)
    exported(tmp_path, "DOOM3", use_frame_rate=True, frame_rate=15.0)
    # It has none of its own.
    assert len(exported(tmp_path, "DOOM3", frame_rate_from="GAME")) == FRAMES
    assert read_animation(tmp_path / "run.md5anim").frame_rate == 30.0
    assert warnings() == []


def imported(folder: Path, rate: float = 24.0, frames: int = 48) -> Path:
    animations = {name: md5_scenes.animation(md5_scenes.skeleton(), frames, rate=rate) for name in ("run", "walk")}
    path = md5_scenes.write(folder, "hero", **animations)
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    return path


def test_an_imported_animation_keeps_its_rate_and_another_speed_in_blender_is_told(tmp_path, warnings):
    imported(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    before = (tmp_path / "run.md5anim").read_bytes()
    bpy.ops.export_scene.md5anim(filepath=str(out / "x"), actions="ALL")
    assert warnings() == []
    bpy.context.scene.render.fps = 30
    bpy.ops.export_scene.md5anim(filepath=str(out / "x"), actions="ALL")
    (text,) = warnings()
    assert "run, walk" in text
    assert "96 frames: 3.2 s in Blender, 4 s in the game" in text
    assert "Frame Rate to Scene's" in text
    kept = read_animation(out / "run.md5anim")
    assert kept.frame_rate == 24.0
    assert kept.frame_count == 48
    bpy.ops.export_scene.md5anim(filepath=str(out / "x"), actions="ALL", frame_rate_from="SCENE")
    assert warnings() == []
    played = read_animation(out / "run.md5anim")
    assert played.frame_rate == 30.0
    assert played.frame_count == 48
    assert np.allclose(poses(played)[0], poses(read_animation(tmp_path / "run.md5anim"))[0], atol=1e-4)
    assert (tmp_path / "run.md5anim").read_bytes() == before


def test_a_camera_tells_both_durations_too(tmp_path, warnings):
    write_camera(make_camera([], 49, 24), tmp_path / "intro.md5camera")
    bpy.ops.import_scene.md5(filepath=str(tmp_path / "intro.md5camera"))
    bpy.context.scene.render.fps = 49
    out = tmp_path / "out.md5camera"
    bpy.ops.export_scene.md5camera(filepath=str(out))
    (text,) = warnings()
    assert "49 frames: 1 s in Blender, 2.04 s in the game" in text
    assert "Frame Rate to Scene's" in text
    assert read_camera(out).frame_rate == 24.0
    bpy.ops.export_scene.md5camera(filepath=str(out), frame_rate_from="SCENE")
    assert warnings() == []
    assert read_camera(out).frame_rate == 49.0


def test_an_imported_md2_in_a_scene_of_another_rate_is_told_and_sampled_as_it_plays(tmp_path, warned, warnings):
    path = md2_samples.write_sample(tmp_path)
    bpy.ops.import_scene.md2(filepath=str(path))
    out = tmp_path / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(out), frame_rate_from="GAME")
    assert warnings() == []
    assert out.read_bytes() == path.read_bytes()
    bpy.context.scene.render.fps = 20
    bpy.ops.export_scene.md2(filepath=str(out))
    (text,) = warnings()
    assert "8 frames: 0.4 s in Blender, 0.8 s in the game" in text
    assert "(4 frames)" in text
    assert out.read_bytes() == path.read_bytes()
    bpy.ops.export_scene.md2(filepath=str(out), frame_rate_from="GAME")
    assert warnings() == []
    assert np.allclose(md2_frames(out), md2_frames(path)[::2], atol=1e-4)
    # Each key is asked for.
    bpy.ops.export_scene.md2(filepath=str(out), frame_rate_from="GAME", frames="SHAPE_KEYS")
    assert len(warned("Frame Rate has no effect on shape keys")) == 1
    assert out.read_bytes() == path.read_bytes()
    # Shape keys that the timeline does not play have no duration.
    bpy.context.view_layer.objects.active.data.shape_keys.animation_data_clear()
    bpy.ops.export_scene.md2(filepath=str(out))
    assert warnings() == []


def test_chosen_sequences_are_sampled_at_the_rate_of_the_game(tmp_path, warnings):
    armature = run(30)
    copy = armature.animation_data.action.copy()
    copy.name = "walk"
    copy.frame_end = 10
    out = tmp_path / "out.md2"
    bpy.ops.export_scene.md2(filepath=str(out), frames="LIST")
    (text,) = warnings()
    assert "30 frames: 1 s in Blender, 3 s in the game" in text
    assert "(11 frames)" in text
    bpy.ops.export_scene.md2(filepath=str(out), frames="LIST", frame_rate_from="GAME")
    assert warnings() == []
    names = read_model(out).frame_names
    assert [sum(name.startswith(one) for name in names) for one in ("run", "walk")] == [7, 4]


@GAMES
def test_the_exporter_of_a_collection_tells_the_durations(tmp_path, warnings, game):
    run(30)
    collection, scene = bpy.data.collections.new("Running"), bpy.context.scene
    for obj in list(scene.collection.objects):
        collection.objects.link(obj)
        scene.collection.objects.unlink(obj)
    scene.collection.children.link(collection)
    layer = bpy.context.view_layer.layer_collection.children["Running"]
    bpy.context.view_layer.active_layer_collection = layer
    bpy.ops.collection.exporter_add(name="IO_FH_md2" if game == "MD2" else "IO_FH_md5")
    options = collection.exporters[0].export_properties
    path = tmp_path / ("run.md2" if game == "MD2" else "run.md5mesh")
    options.filepath = str(path)
    if game != "MD2":
        options.game, options.actions = game, "ACTIVE"
    bpy.ops.collection.exporter_export(index=0)
    (text,) = warnings()
    assert "20 frames: 0.67 s in Blender, 2 s in the game" in text
    options.frame_rate_from = "GAME"
    bpy.ops.collection.exporter_export(index=0)
    assert warnings() == []
    animation = path.with_suffix(".md5anim")
    assert len(md2_frames(path) if game == "MD2" else read_animation(animation).frames) == 7


@pytest.mark.parametrize("game", ["quake", "quake2"])
@pytest.mark.parametrize("format_name", ["md5", "md2"])
def test_the_command_line_tells_the_durations_of_a_blend(tmp_path, part, capfd, format_name, game):
    run(30)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "run.blend"))
    words = ["convert", str(tmp_path / "run.blend"), "--to", str(tmp_path / "out"), "--format", format_name]
    words += ["--animations", "same", *(["--game", game] if format_name == "md5" else [])]
    assert part("command_line.command").main(words) == 0
    assert "20 frames: 0.67 s in Blender, 2 s in the game" in capfd.readouterr().err


def test_the_command_line_keeps_the_time_of_files_and_says_nothing(tmp_path, part, capfd):
    folder = tmp_path / "in"
    folder.mkdir()
    imported(folder)
    for format_name in ("md5", "md2"):
        words = ["convert", str(folder), "--to", str(tmp_path / format_name), "--format", format_name]
        assert part("command_line.command").main([*words, "--animations", "same"]) == 0
        assert " in Blender" not in capfd.readouterr().err
    assert len(md2_frames(tmp_path / "md2" / "hero.md2")) == 2 * (1 + round(47 * 10 / 24))


def test_the_command_line_writes_imported_actions_of_a_blend_as_the_scene_plays_them(tmp_path, part, capfd):
    (tmp_path / "in").mkdir()
    imported(tmp_path / "in")
    bpy.context.scene.render.fps = 48
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    words = ["convert", str(tmp_path / "hero.blend"), "--to", str(tmp_path / "out")]
    words += ["--animations", "same", "--format"]
    assert part("command_line.command").main([*words, "md5"]) == 0
    assert "96 frames: 2 s in Blender, 4 s in the game" in capfd.readouterr().err
    assert part("command_line.command").main([*words, "md2"]) == 0
    assert " in Blender" not in capfd.readouterr().err
    assert len(md2_frames(tmp_path / "out" / "hero.md2")) == 2 * (1 + round(47 * 10 / 48))
