"""``python -m io_idtech info``: the contents of files, without Blender."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import needs
import pytest
from md2_samples import fan, write_two_sequences
from paths import HELPERS, ROOT, SAMPLES

from io_idtech.command_line.info import on_one_line, walk
from io_idtech.io_md2.format import write_model
from io_idtech.io_md5.format import describe, read_mesh, write_mesh

OCTOPUS = SAMPLES / "models" / "octopus"


def info(*words: str | Path) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, "-m", "io_idtech", "info", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in run.stderr
    return run.returncode, run.stdout


@pytest.mark.slow
def test_info_has_the_warnings_of_the_file_and_of_the_games(tmp_path):
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    model.meshes[0].weight_biases[:] *= 0.5
    write_mesh(model, tmp_path / "light.md5mesh")
    text = (tmp_path / "light.md5mesh").read_text()
    (tmp_path / "light.md5mesh").write_text(text.replace("numMeshes 3", "numMeshes 4"))
    description = describe(tmp_path / "light.md5mesh")
    warnings = description.facts["warnings"]
    assert any("declares 4 meshes" in text for text in warnings)
    assert any("weights" in text or "biases" in text for text in warnings)
    status, told = info(tmp_path / "light.md5mesh")
    assert status == 0
    assert all(f"warning: {text}" in told for text in warnings)


@pytest.mark.slow
def test_md2_files_are_described_without_blender(tmp_path):
    status, told = info("--json", write_two_sequences(tmp_path), "none.md2")
    described, missing = json.loads(told)
    assert described["kind"] == "md2"
    assert missing["error"] == "there is no such file or folder"
    assert status == 1


def test_lines_are_readable():
    status, told = info(OCTOPUS / "swim.md5anim")
    assert status == 0
    assert told.splitlines()[0].endswith("swim.md5anim: MD5 animation")
    assert "49 frames at 24 a second, 2.04 s" in told


@pytest.mark.slow
def test_json_is_a_list_with_an_object_for_each_file(tmp_path):
    bad = tmp_path / "bad.md5mesh"
    bad.write_text("MD5Version 10\njoints {\n\tnonsense\n}\n")
    status, told = info("--json", OCTOPUS / "octopus.md5mesh", bad, tmp_path / "none.md5anim")
    good, damaged, missing = json.loads(told)
    assert status == 1
    assert (good["joints"], good["warnings"]) == (59, [])
    assert "line 3" in damaged["error"]
    assert "no such file" in missing["error"]


@pytest.mark.slow
def test_info_of_a_folder_describes_all_its_files(tmp_path):
    status, told = info("--json", OCTOPUS)
    assert status == 0
    assert [Path(entry["file"]).name for entry in json.loads(told)] == [
        "octopus.md5mesh",
        "swim.md5anim",
        "wave.md5anim",
    ]
    write_two_sequences(tmp_path)
    assert json.loads(info("--json", tmp_path)[1])[0]["kind"] == "md2"


@needs.links
def test_folders_are_walked_in_alphabetical_order_without_links_and_those_left_out(tmp_path):
    for name in ("b/2", "b/1", "a", "c/3"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "to_b").symlink_to(tmp_path / "b", target_is_directory=True)
    seen = []
    for folder, folders, _ in walk(tmp_path, pytest.fail):
        seen.append(Path(folder).relative_to(tmp_path).as_posix())
        if "c" in folders:
            folders.remove("c")
    assert seen == [".", "a", "b", "b/1", "b/2"]


@pytest.mark.parametrize("letter", ["\n", "\x1b", "\x7f", "\u2028", "\u202e", "\udcff"])
def test_letters_that_would_change_the_line_are_escaped(letter):
    assert on_one_line(f"a{letter}b ü 模型") == f"a{ascii(letter)[1:-1]}b ü 模型"


@pytest.mark.slow
def test_an_unknown_file_type_is_an_error():
    status, told = info(ROOT / "README.md")
    assert status == 1
    assert "ERROR: unknown kind of file; expected .md5mesh, .md5anim, .md5camera, .iqm, .md2" in told


@pytest.mark.slow
@needs.shell
def test_a_reader_that_closes_the_pipe_early_is_not_an_error():
    run = subprocess.run(
        f'"{sys.executable}" -m io_idtech info {" ".join([str(OCTOPUS)] * 200)} | head -n 1',
        shell=True,
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.endswith("MD5 mesh\n")
    assert run.stderr == ""


@pytest.mark.slow
def test_info_lists_what_the_chosen_game_would_refuse():
    mesh = OCTOPUS / "octopus.md5mesh"
    status, told = info("--game", "doom3", mesh)
    assert status == 0
    assert "DOOM3" in told
    status, told = info("--json", "--game", "SAUERBRATEN", mesh)
    (facts,) = json.loads(told)
    assert (status, facts["game"]) == (0, "SAUERBRATEN")
    assert {finding["code"] for finding in facts["findings"]} >= {"unnamed_mesh"}
    assert all({"is_error", "text", "limit", "remedy", "mesh", "vertices"} <= set(f) for f in facts["findings"])
    assert "findings" not in json.loads(info("--json", mesh)[1])[0]


@pytest.mark.slow
def test_info_says_where_a_game_has_no_rules_for_a_file():
    mesh = OCTOPUS / "octopus.md5mesh"
    told = info("--game", "quake3", mesh)[1]
    assert "QUAKE3: no problems found" not in told
    assert "warning: QUAKE3 has no rules for MD5 files: checked as ANY" in told
    (facts,) = json.loads(info("--json", "--game", "quake3", mesh)[1])
    assert facts["game"] == "ANY"
    assert "no rules" not in info("--game", "quake2_modern", mesh)[1]


@pytest.mark.slow
def test_an_animation_is_compared_with_the_mesh_of_its_name(tmp_path):
    model = read_mesh(OCTOPUS / "octopus.md5mesh")
    model.joints.names[3] = "another"
    write_mesh(model, tmp_path / "swim.md5mesh")
    (tmp_path / "swim.md5anim").write_bytes((OCTOPUS / "swim.md5anim").read_bytes())
    _, told = info("--json", "--game", "ANY", tmp_path / "swim.md5anim")
    (facts,) = json.loads(told)
    assert [f["code"] for f in facts["findings"] if f["is_error"]] == ["other_joints"]
    _, told = info("--json", "--game", "QUAKE", OCTOPUS / "octopus.md5mesh")
    assert "no_animation" in {f["code"] for f in json.loads(told)[0]["findings"]}


@pytest.mark.slow
def test_an_md2_is_checked_for_its_games(tmp_path):
    path = tmp_path / "tall.md2"
    model = fan(2)
    model.skin_height = 512
    write_model(model, path)
    _, told = info("--game", "QUAKE2", path)
    assert "QUAKE2 error: The skin height is 512 texels; Quake II takes 480" in told
    _, told = info("--game", "QUAKE2_MODERN", path)
    assert "error" not in told
