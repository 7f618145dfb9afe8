"""``python -m io_md5 info`` and ``python -m io_md2 info``: what is in a file, told without Blender."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from paths import ROOT, SAMPLES

from io_md2.format import Model, write_model
from io_md2.format.describe import describe_model
from io_md5.format import Camera, read_mesh, write_camera, write_mesh
from io_md5.format.describe import describe_animation, describe_camera, describe_mesh
from tests.unit.test_md2_games import fan

OCTOPUS = SAMPLES / "models" / "octopus"


def info(room: str, *words: str | Path) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, "-m", room, "info", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in run.stderr
    return run.returncode, run.stdout


def made_md2(folder: Path) -> Path:
    """Two triangles in four frames of two sequences."""
    frames, vertices = 4, 4
    places = np.array([[0, 0, 0], [9, 0, 0], [9, 9, 0], [0, 9, 5]], np.uint8)
    model = Model(
        skin_width=64,
        skin_height=32,
        skins=["models/box/skin.pcx"],
        st=np.array([[0, 0], [63, 0], [63, 31], [0, 31]], np.int16),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        triangle_st=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        scale=np.full((frames, 3), 0.5, np.float32),
        translate=np.zeros((frames, 3), np.float32),
        frame_names=["stand01", "stand02", "stand03", "run1"],
        vertices=np.tile(places, (frames, 1, 1)),
        normals=np.zeros((frames, vertices), np.uint8),
    )
    write_model(model, folder / "box.md2")
    return folder / "box.md2"


def test_a_mesh_is_told_by_its_joints_meshes_and_box():
    facts = describe_mesh(OCTOPUS / "octopus.md5mesh").facts
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    assert facts["kind"] == "md5mesh"
    assert facts["joints"] == len(model.joints.names)
    assert facts["roots"] == ["origin"]
    assert [mesh["shader"] for mesh in facts["meshes"]] == [mesh.shader for mesh in model.meshes]
    assert facts["vertices"] == sum(mesh["vertices"] for mesh in facts["meshes"]) == model.vertex_count
    assert all(low < high for low, high in zip(*facts["box"], strict=True))


def test_an_animation_is_told_by_its_frames_and_time():
    facts = describe_animation(OCTOPUS / "swim.md5anim").facts
    assert (facts["kind"], facts["frames"], facts["frame_rate"]) == ("md5anim", 49, 24.0)
    assert facts["seconds"] == 49 / 24
    assert 0 < facts["moving_joints"] <= facts["joints"] == 59


def test_a_camera_is_told_by_its_playing_time_and_cuts(tmp_path):
    # Five entries with one cut are four frames.
    camera = Camera(
        cuts=np.array([2], np.int32),
        positions=np.zeros((5, 3)),
        orientations=np.zeros((5, 3)),
        fields_of_view=np.array([90.0, 80, 70, 60, 50]),
        frame_rate=2.0,
    )
    write_camera(camera, tmp_path / "shot.md5camera")
    facts = describe_camera(tmp_path / "shot.md5camera").facts
    assert (facts["frames"], facts["seconds"], facts["cuts"]) == (4, 2.0, [2])
    assert facts["fields_of_view"] == [50.0, 90.0]


def test_an_md2_is_told_by_its_frames_sequences_and_skins(tmp_path):
    facts = describe_model(made_md2(tmp_path)).facts
    assert (facts["frames"], facts["vertices"], facts["triangles"]) == (4, 4, 2)
    assert facts["skin_size"] == [64, 32]
    assert facts["skins"] == ["models/box/skin.pcx"]
    assert facts["sequences"] == [
        {"name": "stand", "first": 0, "last": 2},
        {"name": "run", "first": 3, "last": 3},
    ]
    assert facts["box"] == [[0, 0, 0], [4.5, 4.5, 2.5]]


def test_warnings_of_the_file_and_of_the_games_are_told(tmp_path):
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    model.meshes[0].weight_biases[:] *= 0.5
    write_mesh(model, tmp_path / "light.md5mesh")
    text = (tmp_path / "light.md5mesh").read_text()
    (tmp_path / "light.md5mesh").write_text(text.replace("numMeshes 3", "numMeshes 4"))
    description = describe_mesh(tmp_path / "light.md5mesh")
    warnings = description.facts["warnings"]
    assert any("declares 4 meshes" in text for text in warnings)
    assert any("weights" in text or "biases" in text for text in warnings)
    status, told = info("io_md5", tmp_path / "light.md5mesh")
    assert status == 0
    assert all(f"warning: {text}" in told for text in warnings)


def test_lines_are_readable():
    status, told = info("io_md5", OCTOPUS / "swim.md5anim")
    assert status == 0
    assert told.splitlines()[0].endswith("swim.md5anim: MD5 animation")
    assert "49 frames at 24 a second, 2.04 s" in told


def test_json_is_a_list_with_an_object_for_each_file(tmp_path):
    bad = tmp_path / "bad.md5mesh"
    bad.write_text("MD5Version 10\njoints {\n\tnonsense\n}\n")
    status, told = info("io_md5", "--json", OCTOPUS / "octopus.md5mesh", bad, tmp_path / "none.md5anim")
    good, damaged, missing = json.loads(told)
    assert status == 1
    assert (good["joints"], good["warnings"]) == (59, [])
    assert "line 3" in damaged["error"]
    assert "no such file" in missing["error"]


def test_of_a_folder_all_files_are_told(tmp_path):
    status, told = info("io_md5", "--json", OCTOPUS)
    assert status == 0
    assert [Path(entry["file"]).name for entry in json.loads(told)] == [
        "octopus.md5mesh",
        "swim.md5anim",
        "wave.md5anim",
    ]
    made_md2(tmp_path)
    assert json.loads(info("io_md2", "--json", tmp_path)[1])[0]["kind"] == "md2"


def test_a_kind_of_file_that_is_not_known_is_an_error():
    status, told = info("io_md2", "README.md")
    assert status == 1
    assert "ERROR: unknown kind of file; expected .md2" in told


def test_reading_no_further_than_the_head_is_no_error():
    run = subprocess.run(
        f'"{sys.executable}" -m io_md5 info {" ".join([str(OCTOPUS)] * 200)} | head -n 1',
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.endswith("MD5 mesh\n")
    assert run.stderr == ""


def test_a_named_game_tells_what_it_would_refuse():
    mesh = OCTOPUS / "octopus.md5mesh"
    status, told = info("io_md5", "--game", "doom3", mesh)
    assert status == 0
    assert "DOOM3" in told
    status, told = info("io_md5", "--json", "--game", "SAUERBRATEN", mesh)
    (facts,) = json.loads(told)
    assert (status, facts["game"]) == (0, "SAUERBRATEN")
    assert {finding["code"] for finding in facts["findings"]} >= {"unnamed_mesh"}
    assert all(
        {"is_error", "text", "limit", "remedy", "mesh", "vertices"} <= set(f) for f in facts["findings"]
    )
    assert "findings" not in json.loads(info("io_md5", "--json", mesh)[1])[0]


def test_an_animation_is_compared_with_the_mesh_of_its_name(tmp_path):
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    model.joints.names[3] = "another"
    write_mesh(model, tmp_path / "swim.md5mesh")
    (tmp_path / "swim.md5anim").write_bytes((OCTOPUS / "swim.md5anim").read_bytes())
    _, told = info("io_md5", "--json", "--game", "ANY", tmp_path / "swim.md5anim")
    (facts,) = json.loads(told)
    assert [f["code"] for f in facts["findings"] if f["is_error"]] == ["other_joints"]
    _, told = info("io_md5", "--json", "--game", "QUAKE", OCTOPUS / "octopus.md5mesh")
    assert "no_animation" in {f["code"] for f in json.loads(told)[0]["findings"]}


def test_an_md2_is_judged_by_its_games(tmp_path):
    path = tmp_path / "tall.md2"
    model = fan(2)
    model.skin_height = 512
    write_model(model, path)
    _, told = info("io_md2", "--game", "QUAKE2", path)
    assert "QUAKE2 error: The model has 512 texels of skin height; Quake II takes 480" in told
    _, told = info("io_md2", "--game", "QUAKE2_MODERN", path)
    assert "error" not in told
