"""``blender --command idtech convert`` and ``… info``: whole trees, in one Blender or several, on many machines."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bpy
import iqm_samples
import md2_samples
import md3_samples
import md5_rerelease
import md5_scenes
import needs
import numpy as np
import pytest
import scripted_scenes
from blend_content import content_of
from enabled_families import FAMILIES
from installed import read_empty_scene
from paths import ROOT

from io_idtech.io_iqm.format import read_iqm, write_iqm
from io_idtech.io_md2.format import read_model
from io_idtech.io_md5.format import (
    Camera,
    read_animation,
    read_camera,
    read_mesh,
    write_animation,
    write_camera,
    write_mesh,
)

# Seconds that another Blender may take on a machine that is busy.
PATIENCE = 600

FAMILY_FORMATS = {family.name: family.suffixes[0] for family in FAMILIES}
FORMATS = {"blend": ".blend", **FAMILY_FORMATS, "glb": ".glb", "fbx": ".fbx"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Models in folders, with animations, a model of the other family, a damaged file, and what is no model."""
    folder = tmp_path / "in"
    joints = md5_scenes.model().joints
    for name in ("imp", "boss/zombie"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        md5_scenes.write(path.parent, path.name)
    for name in ("walk", "run"):
        write_animation(md5_scenes.animation(joints), folder / f"{name}.md5anim")
    (folder / "items").mkdir()
    md2_samples.write_sample(folder / "items")
    (folder / "items" / "notes.txt").write_text("no model")
    return folder


def damage(tree: Path) -> Path:
    bad = tree / "boss" / "bad.md5mesh"
    bad.write_text("MD5Version 10\njoints {\n\tnonsense\n}\n")
    return bad


def files(folder: Path) -> set[str]:
    """All files below a folder but the records."""
    # Folders may vanish while they are searched, as a conversion removes those of its own.
    paths = (Path(parent, name) for parent, _folders, names in os.walk(folder) for name in names)
    found = (path.relative_to(folder) for path in paths if path.is_file())
    return {path.as_posix() for path in found if path.parts[0] != ".idtech"}


def counts(table: str, kind: str = "all") -> list[int]:
    """How many were converted, were up to date, failed."""
    row = next(line.split() for line in table.splitlines() if line.startswith(kind))
    return [int(cell) for cell in row[1:4]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), FORMATS.items())
def test_a_tree_keeps_its_layout_in_every_format(idtech, tree, tmp_path, name, ending):
    status, table, _ = idtech("convert", tree, "--to", tmp_path / "out", "--format", name)
    assert status == 0
    assert files(tmp_path / "out") == {f"{model}{ending}" for model in ("imp", "boss/zombie", "items/sample")}
    assert counts(table) == [3, 0, 0]


def test_blend_files_hold_the_model_and_its_animations(idtech, tree, tmp_path):
    idtech("convert", tree, "--to", tmp_path / "out", "--animations", "same")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "imp.blend"))
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert {bone.name for bone in armature.data.bones} == set(md5_scenes.NAMES)
    assert {action.name for action in bpy.data.actions} == {"walk", "run"}


def test_an_md5_survives_a_round_trip(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "md5", "--animations", "same")
    assert files(tmp_path / "out") == {"imp.md5mesh", "walk.md5anim", "run.md5anim"}
    before, after = read_mesh(tree / "imp.md5mesh"), read_mesh(tmp_path / "out" / "imp.md5mesh")
    assert after.joints.names == before.joints.names
    assert (after.meshes[0].triangles == before.meshes[0].triangles).all()
    assert read_animation(tmp_path / "out" / "run.md5anim").frame_count == 5


def test_animations_in_the_file_of_a_model_are_converted_with_it(idtech, tmp_path):
    write_iqm(iqm_samples.iqm(), tmp_path / "arm.iqm")
    for name in ("iqm", "md5"):
        assert idtech("convert", tmp_path / "arm.iqm", "--to", tmp_path / name, "--format", name)[0] == 0
    assert [one.name for one in read_iqm(tmp_path / "iqm" / "arm.iqm").animations] == ["walk", "grow"]
    assert files(tmp_path / "md5") == {"arm.md5mesh", "walk.md5anim", "grow.md5anim"}


def test_animations_become_sequences_of_an_md2_one_after_the_other(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "md2", "--animations", "same")
    names = read_model(tmp_path / "out" / "imp.md2").frame_names
    # Five frames at 24 a second are three at the 10 of every MD2.
    assert names == [f"{sequence}{number}" for sequence in ("run", "walk") for number in range(1, 4)]


def test_a_glb_holds_every_animation(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "glb", "--animations", "same")
    content = glb(tmp_path / "out" / "imp.glb")
    assert sorted(animation["name"] for animation in content["animations"]) == ["run", "walk"]
    assert len(content["skins"]) == 1


def test_an_fbx_holds_every_animation(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "fbx", "--animations", "same")
    read_empty_scene()
    bpy.ops.import_scene.fbx(filepath=str(tmp_path / "out" / "imp.fbx"))
    names = [action.name for action in bpy.data.actions]
    assert all(any(name in shown for shown in names) for name in ("run", "walk"))
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert {bone.name for bone in armature.data.bones} >= set(md5_scenes.NAMES[1:])


def test_animations_may_lie_in_another_folder(idtech, tree, tmp_path):
    idtech("convert", tree / "boss", "--to", tmp_path / "out", "--format", "md5", "--animations", tree)
    assert files(tmp_path / "out") == {"zombie.md5mesh", "walk.md5anim", "run.md5anim"}


def test_animations_of_another_skeleton_are_transferred_with_a_map(idtech, tree, tmp_path):
    joints = md5_scenes.skeleton(names=[f"other{index}" for index in range(6)])
    (tmp_path / "moves").mkdir()
    write_animation(md5_scenes.animation(joints, moving=("other2",)), tmp_path / "moves" / "leap.md5anim")
    pairs = dict(zip(md5_scenes.NAMES, joints.names, strict=True))
    (tmp_path / "map.json").write_text(json.dumps({"joints": pairs}))
    options = ("--format", "md5", "--animations", tmp_path / "moves", "--map", tmp_path / "map.json")
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", *options)
    assert read_animation(tmp_path / "out" / "leap.md5anim").names == md5_scenes.NAMES


def test_a_blend_is_converted_to_game_files_but_not_to_a_blend(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "work")
    idtech("convert", tmp_path / "work", "--to", tmp_path / "game", "--format", "md5")
    assert read_mesh(tmp_path / "game" / "imp.md5mesh").joints.names == md5_scenes.NAMES
    status, _, told = idtech("convert", tmp_path / "work", "--to", tmp_path / "other")
    assert status == 1
    assert "nothing to convert" in told


def test_an_animation_by_its_name_is_converted_alone(idtech, tree, tmp_path):
    idtech("convert", tree / "walk.md5anim", "--to", tmp_path / "out", "--format", "md5")
    assert read_animation(tmp_path / "out" / "walk.md5anim").frame_count == 5


def test_scale_is_that_of_all_lengths(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "md5", "--scale", "0.5")
    before, after = read_mesh(tree / "imp.md5mesh"), read_mesh(tmp_path / "out" / "imp.md5mesh")
    assert after.joints.positions == pytest.approx(0.5 * before.joints.positions, abs=1e-5)
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "work", "--scale", "1")
    idtech("convert", tmp_path / "work/imp.blend", "--to", tmp_path / "out2", "--format", "md5", "--scale", "0.5")
    again = read_mesh(tmp_path / "out2" / "imp.md5mesh")
    assert again.joints.positions == pytest.approx(after.joints.positions, abs=1e-5)


def test_a_bad_file_stops_nothing_and_is_named_at_the_end(idtech, tree, tmp_path):
    bad = damage(tree)
    status, table, told = idtech("convert", tree, "--to", tmp_path / "out")
    assert status == 1
    assert counts(table) == [3, 0, 1]
    assert counts(table, ".md2") == [1, 0, 0]
    assert f"{bad}: The joint has the wrong number of values" in table
    assert "(line 3)" in table
    assert f"failed {bad}: The joint" in told
    assert not (tmp_path / "out" / "boss" / "bad.blend").exists()


@pytest.mark.slow
def test_several_blenders_make_the_same_files_as_one_and_leave_nothing_else(idtech, tree, tmp_path, part, monkeypatch):
    """With an odd name, a bad file, a game of the preferences, and Python files where they start, which do not run."""
    damage(tree)
    md5_scenes.write(tree, "two\nlines" if not needs.IS_WINDOWS else "two lines")
    downloaded = tmp_path / "mod"
    downloaded.mkdir()
    for name in ("json", "bpy", "numpy"):
        (downloaded / f"{name}.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(downloaded)
    jobs_folders = set(Path(tempfile.gettempdir()).glob("io_idtech-jobs-*"))
    chosen = part("io_blender.operators.preferences")._preferences()
    tables = []
    try:
        # Each of its models needs an animation of its name.
        chosen.md5_game = "QUAKE"
        for jobs in (1, 3):
            words = ("--format", "md5", "--animations", "none", "--jobs", jobs)
            status, table, told = idtech("convert", tree, "--to", tmp_path / f"{jobs}", *words)
            assert status == 1
            tables.append((counts(table), sorted(line for line in told.splitlines() if line.startswith("failed"))))
    finally:
        chosen.property_unset("md5_game")
    assert tables[0] == tables[1]
    assert tables[0][0] == [4, 0, 1]
    assert files(tmp_path / "1") == files(tmp_path / "3") > {"imp.md5mesh", "imp.md5anim"}
    for name in files(tmp_path / "1"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()
    left = {path.name for path in (tmp_path / "3").rglob("*") if path.suffix not in (".md5mesh", ".md5anim", ".json")}
    assert left == {"boss", "items", ".idtech"}
    assert not (downloaded / "ran").exists()
    assert set(Path(tempfile.gettempdir()).glob("io_idtech-jobs-*")) == jobs_folders


@pytest.mark.slow
def test_blend_files_do_not_depend_on_what_was_converted_before(idtech, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "d"):
        md5_scenes.write(folder, name)
    write_animation(md5_scenes.animation(md5_scenes.model().joints, frames=400, rate=50.0), folder / "x.md5anim")
    for name in ("b", "e"):
        md2_samples.write_sample(folder).rename(folder / f"{name}.md2")
    write_shot(folder).rename(folder / "c.md5camera")
    (folder / "cb.md5mesh").write_text("damaged")
    words = ("--animations", "same")
    filepaths = bpy.context.preferences.filepaths
    filepaths.use_file_compression, is_compressed = False, filepaths.use_file_compression
    try:
        assert idtech("convert", folder, "--to", tmp_path / "together", *words)[0] == 1
        for name in ("a.md5mesh", "b.md2", "c.md5camera", "d.md5mesh", "e.md2"):
            assert idtech("convert", folder / name, "--to", tmp_path / "alone", *words)[0] == 0
    finally:
        filepaths.use_file_compression = is_compressed
    for name in "abcde":
        together, alone = (content_of(tmp_path / place / f"{name}.blend") for place in ("together", "alone"))
        assert [struct for struct, _ in together] == [struct for struct, _ in alone]
        assert [one[0] for one, other in zip(together, alone, strict=True) if one != other] == []


def test_a_blender_that_dies_fails_its_file_and_is_replaced(idtech, tree, tmp_path, part, monkeypatch):
    # It answers as the command does, among noise, and dies of one file.
    for number in range(8):
        md5_scenes.write(tree, f"imp{number}")
    script = tmp_path / "dying.py"
    script.write_text(
        "import json, os, sys\n"
        "out = open(sys.argv[1], 'ab', buffering=0)\n"
        "for line in sys.stdin.buffer:\n"
        "    print('noise', flush=True)\n"
        "    if 'zombie' in json.loads(line)[0]['name']:\n"
        "        out.write(b'half of')\n"
        "        os._exit(11)\n"
        "    out.write(json.dumps({'status': 'converted'}).encode() + b'\\n')\n"
    )
    blenders = part("command_line.blenders")
    monkeypatch.setattr(blenders, "command", lambda replies, _: [sys.executable, str(script), replies])
    for folder in ("boss", "items"):
        (tmp_path / "out" / folder).mkdir(parents=True)
    status, table, _ = idtech("convert", tree, "--to", tmp_path / "out", "--jobs", 2)
    assert status == 1
    assert counts(table) == [10, 0, 1]
    assert "zombie.md5mesh: Blender ended with status 11" in table


@pytest.fixture
def convert_with(tree, tmp_path, part, monkeypatch):
    """Converts nine tasks with several Blenders, in place of which a script runs."""

    def convert(program, jobs, is_stopping):
        script = tmp_path / "script.py"
        script.write_text(
            "import json, os, sys\n"
            "for line in sys.stdin.buffer:\n"
            "    task = json.loads(line)[0]\n"
            f"    {program}\n"
            "    with open(sys.argv[1], 'ab') as out:\n"
            "        out.write(json.dumps({'status': 'converted'}).encode() + b'\\n')\n"
        )
        blenders, tasks = part("command_line.blenders"), part("command_line.tasks")
        monkeypatch.setattr(blenders, "command", lambda replies, _: [sys.executable, str(script), replies])
        run = tasks.Records(tmp_path, part("io_blender.options").Settings(), "1")
        sent = [tasks.Task(tree / f"{number}", tmp_path / f"{number}", f"{number}") for number in range(9)]
        return filter(None, blenders.convert_all(sent, run, jobs, is_stopping))

    return convert


def test_a_blender_that_crashes_fails_one_file_and_those_that_were_sent_after_it_are_converted(convert_with):
    converted = convert_with("if task['name'] in ('3', '4'): os._exit(3)", 1, lambda: False)
    done = {task.name: outcome for task, outcome in converted}
    assert list(done) == [f"{number}" for number in range(9)]
    assert {name for name, outcome in done.items() if outcome.status != "converted"} == {"3", "4"}
    assert done["3"].reason == "Blender ended with status 3 while converting this file"


def test_blenders_finish_their_files_and_start_no_other_once_the_run_is_interrupted(convert_with, tmp_path):
    done: list[str] = []
    # It takes down which files it has started.
    for task, outcome in convert_with("open(task['target'], 'w').close()", 2, lambda: bool(done)):
        assert outcome.status == "converted"
        done.append(task.name)
    assert {path.name for path in tmp_path.glob("[0-9]")} == set(done)
    assert len(done) <= 4


def test_a_blender_does_what_it_is_sent_and_leaves_nothing_if_the_other_has_been_killed(
    tree, tmp_path, part, monkeypatch
):
    blenders, tasks = part("command_line.blenders"), part("command_line.tasks")
    settings = part("io_blender.options").Settings(game_data=("mod", "base"))
    replies = tmp_path / "replies" / "outcomes"
    replies.parent.mkdir()
    task = tasks.Task(tree / "a\nb \udcff", tmp_path / "c", "d", "prefix_")
    folder = tmp_path / "temporary"
    sent = []

    def write(*arguments):
        sent.append(arguments[:3])
        folder.mkdir()
        return tasks.Outcome("converted")

    text = json.dumps([dataclasses.asdict(task), folder], default=os.fspath)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{text}\n".encode())))
    monkeypatch.setattr(blenders, "write_results", write)
    assert blenders.work(replies, json.loads(json.dumps(dataclasses.asdict(settings)))) == 0
    assert sent == [(task, folder, settings)]
    assert not replies.parent.exists()
    assert not folder.exists()


@pytest.mark.slow
def test_up_to_date_results_are_skipped(idtech, tree, tmp_path):
    words = ("convert", tree, "--to", tmp_path / "out", "--format", "md5")
    assert counts(idtech(*words)[1]) == [3, 0, 0]
    assert counts(idtech(*words)[1]) == [0, 3, 0]
    assert counts(idtech(*words, "--force")[1]) == [3, 0, 0]


@pytest.mark.slow
def test_a_changed_source_animation_option_or_result_is_converted_again(idtech, tree, tmp_path):
    words = ["convert", tree, "--to", tmp_path / "out", "--format", "md5", "--animations", "same"]
    idtech(*words)
    os.utime(tree / "boss" / "zombie.md5mesh", (0, 0))
    assert counts(idtech(*words)[1]) == [1, 2, 0]
    write_animation(md5_scenes.animation(md5_scenes.model().joints), tree / "boss" / "jump.md5anim")
    assert counts(idtech(*words)[1]) == [1, 2, 0]
    assert (tmp_path / "out" / "boss" / "jump.md5anim").exists()
    (tmp_path / "out" / "walk.md5anim").unlink()
    assert counts(idtech(*words)[1]) == [1, 2, 0]
    assert counts(idtech(*words, "--scale", "2")[1]) == [3, 0, 0]


def test_failed_files_are_tried_again(idtech, tree, tmp_path):
    damage(tree)
    words = ("convert", tree, "--to", tmp_path / "out")
    idtech(*words)
    assert counts(idtech(*words)[1]) == [0, 3, 1]


@pytest.mark.slow
def test_shards_split_the_work_without_overlap(idtech, tree, tmp_path):
    damage(tree)
    done: list[set[str]] = []
    tasks = []
    for part_of_it in ("1/3", "2/3", "3/3"):
        out = tmp_path / part_of_it[0]
        _, table, _ = idtech("convert", tree, "--to", out, "--shard", part_of_it)
        done.append(files(out) if out.exists() else set())
        rows = [line.split() for line in table.splitlines() if line.startswith(".")]
        tasks.append(sum(int(cell) for row in rows for cell in row[1:4]))
    assert sorted(tasks) == [1, 1, 2]
    idtech("convert", tree, "--to", tmp_path / "whole")
    assert sum(map(len, done)) == len(set().union(*done)) == 3
    assert set().union(*done) == files(tmp_path / "whole")


def test_a_shard_without_work_is_no_failure(idtech, tree, tmp_path):
    status, _, _ = idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--shard", "2/2")
    assert status == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_results_among_the_sources_are_not_converted(idtech, tree):
    for _ in range(2):
        assert idtech("convert", tree, "--to", tree / "out", "--format", "md5", "--force")[0] == 0
    assert files(tree / "out") == {"imp.md5mesh", "boss/zombie.md5mesh", "items/sample.md5mesh"}


def test_nothing_is_written_over_its_source(idtech, tree):
    before = (tree / "imp.md5mesh").read_bytes()
    status, table, _ = idtech("convert", tree, "--to", tree, "--format", "md5")
    assert status == 1
    assert "is an input file of this run" in table
    assert (tree / "imp.md5mesh").read_bytes() == before


def test_nothing_is_written_over_a_source_of_another_file(idtech, tree, tmp_path):
    folder = tmp_path / "both"
    folder.mkdir()
    md5_scenes.write(folder, "imp")
    md2_samples.write_sample(folder).rename(folder / "imp.md2")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    status, table, _ = idtech("convert", folder, "--to", folder, "--format", "md2")
    assert status == 1
    assert counts(table) == [1, 0, 1]
    assert {path: path.read_bytes() for path in before} == before
    # Nor if the second has the same name and comes from elsewhere.
    words = ("convert", tree / "imp.md5mesh", md5_scenes.write(tree / "boss", "imp"), "--to", tree)
    before = {path: path.read_bytes() for path in tree.rglob("*.md5mesh")}
    idtech(*words, "--format", "md5")
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_files_that_are_not_results_are_overwritten_only_with_force(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "work", "--animations", "same")
    out = tmp_path / "work"
    (out / "walk.md5anim").write_text("somebody's")
    words = ("convert", out / "imp.blend", "--to", out, "--format", "md5", "--animations", "same")
    status, table, _ = idtech(*words)
    assert status == 1
    assert "walk.md5anim exists and was not written by an earlier run" in table
    assert (out / "walk.md5anim").read_text() == "somebody's"
    assert not (out / "imp.md5mesh").exists()
    assert idtech(*words, "--force")[0] == 0
    assert read_animation(out / "walk.md5anim").frame_count == 5
    # From then on it is a result.
    os.utime(out / "imp.blend", (0, 0))
    assert idtech(*words)[0] == 0


@pytest.mark.slow
def test_animations_of_several_models_in_a_folder_do_not_take_each_others_places(idtech, tree, tmp_path):
    md5_scenes.write(tree, "zombie")
    words = ("--format", "md5", "--animations", "same")
    assert idtech("convert", tree, "--to", tmp_path / "out", *words)[0] == 0
    assert {path.name for path in (tmp_path / "out").glob("*.md5*")} == {
        "imp.md5mesh",
        "imp_run.md5anim",
        "imp_walk.md5anim",
        "zombie.md5mesh",
        "zombie_run.md5anim",
        "zombie_walk.md5anim",
    }


@pytest.mark.slow
def test_the_results_of_a_run_in_place_are_no_sources_of_the_next(idtech, tree):
    words = ("convert", tree, "--to", tree, "--format", "md2", "--animations", "same")
    first, second = idtech(*words), idtech(*words)
    assert counts(first[1]) == [2, 0, 1]
    assert counts(second[1]) == [0, 2, 1]


@needs.pipes
def test_only_files_are_read(idtech, tree, tmp_path):
    os.mkfifo(tree / "endless.md2")
    assert idtech("convert", tree, "--to", tmp_path / "out")[0] == 0
    status, table, _ = idtech("convert", tree / "endless.md2", "--to", tmp_path / "out")
    assert status == 1
    assert "not a regular file" in table
    status, told, _ = idtech("info", tree / "endless.md2")
    assert status == 1
    assert "this is not a regular file" in told


@pytest.mark.slow
@needs.links
def test_hidden_files_are_left_out_and_links_to_files_are_files(idtech, tree, tmp_path):
    (tree / "._imp.md5mesh").write_text("what another system keeps beside a file")
    (tree / "linked").mkdir()
    (tree / "linked" / "copy.md5mesh").symlink_to(tree / "imp.md5mesh")
    assert idtech("convert", tree, "--to", tmp_path / "out")[0] == 0
    assert "linked/copy.blend" in files(tmp_path / "out")
    assert len(files(tmp_path / "out")) == 4


def test_a_file_that_is_named_again_keeps_its_place_in_the_tree(idtech, tree, tmp_path):
    assert idtech("convert", tree, tree / "boss/zombie.md5mesh", "--to", tmp_path / "out")[0] == 0
    assert len(files(tmp_path / "out")) == 3
    assert "boss/zombie.blend" in files(tmp_path / "out")


@pytest.mark.slow
@needs.any_name
@pytest.mark.parametrize("name", ["blend", "glb", "fbx", "md5"])
def test_odd_and_long_names_are_converted_and_reported_on_one_line(idtech, tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    names = {"n" * 240, "two\nlines", '\nio_idtech outcome: {"status": "failed"}\n', os.fsdecode(b"no \xff UTF-8")}
    for stem in names:
        md5_scenes.write(folder, stem)
    words = ("convert", folder, "--to", tmp_path / "out", "--format", name)
    status, _, told = idtech(*words)
    assert status == 0
    assert "two\\nlines.md5mesh" in told
    ending = "md5mesh" if name == "md5" else name
    assert files(tmp_path / "out") == {f"{stem}.{ending}" for stem in names}
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 4, 0]


@pytest.mark.slow
def test_an_interrupted_run_says_so_and_keeps_what_is_done(idtech, tree, tmp_path, part, monkeypatch):
    command = part("command_line.command")
    write = command.write_results
    done = []

    def interrupted(*arguments):
        if done:
            signal.raise_signal(signal.SIGINT)
        done.append(arguments)
        return write(*arguments)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(command, "write_results", interrupted)
    status, _, told = idtech("convert", tree, "--to", tmp_path / "out")
    monkeypatch.undo()
    assert status == 130
    assert "Stopped" in told
    assert signal.getsignal(signal.SIGINT) is before
    # The file in hand was finished.
    assert counts(idtech("convert", tree, "--to", tmp_path / "out")[1]) == [1, 2, 0]


@pytest.mark.slow
def test_results_of_a_killed_run_are_made_again(idtech, tree, tmp_path, monkeypatch):
    class KilledError(BaseException):
        pass

    replace = Path.replace

    def killed(source, target):
        replace(source, target)
        if Path(target).parent == tmp_path / "out":
            raise KilledError

    words = ("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "md5", "--animations", "same")
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KilledError):
        idtech(*words)
    assert len(files(tmp_path / "out")) == 1
    monkeypatch.undo()
    status, table, _ = idtech(*words)
    assert status == 0
    assert counts(table, ".md5mesh") == [1, 0, 0]
    assert files(tmp_path / "out") == {"imp.md5mesh", "run.md5anim", "walk.md5anim"}


def glb(path: Path) -> dict[str, Any]:
    """The description in a .glb file."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length])


def write_shot(folder: Path) -> Path:
    """A camera that moves for four frames."""
    places = np.linspace([0, 0, 0], [30, 0, 0], 4)
    camera = Camera(np.zeros(0, np.int32), places, np.zeros((4, 3)), np.full(4, 70.0))
    write_camera(camera, folder / "shot.md5camera")
    return folder / "shot.md5camera"


def test_cameras_are_converted_where_the_format_holds_them(idtech, tmp_path):
    shot = write_shot(tmp_path)
    for name in ("blend", "md5", "glb", "fbx"):
        assert idtech("convert", shot, "--to", tmp_path / name, "--format", name)[0] == 0
    content = glb(tmp_path / "glb" / "shot.glb")
    assert len(content["cameras"]) == 1
    assert content["animations"]
    assert read_camera(tmp_path / "md5" / "shot.md5camera").positions == pytest.approx(
        read_camera(shot).positions, abs=1e-4
    )
    status, table, _ = idtech("convert", shot, "--to", tmp_path / "md2", "--format", "md2")
    assert status == 1
    assert "can be converted to md2" in table


@pytest.mark.slow
def test_the_frames_of_an_md2_are_animations_elsewhere(idtech, tree, tmp_path):
    for name in ("glb", "fbx"):
        assert idtech("convert", tree / "items", "--to", tmp_path / "out", "--format", name)[0] == 0
    animations = {animation["name"] for animation in glb(tmp_path / "out" / "sample.glb")["animations"]}
    assert {"stand", "run", "pain1"} <= animations
    read_empty_scene()
    bpy.ops.import_scene.fbx(filepath=str(tmp_path / "out" / "sample.fbx"))
    assert len(bpy.data.actions) == 1


@pytest.mark.slow
def test_the_sequences_of_a_re_release_are_animations_in_a_glb(idtech, tmp_path):
    folder = tmp_path / "baseq2" / "models" / "monsters" / "imp"
    model, animation = md5_rerelease.generated(1)
    md5_rerelease.write_rerelease(folder, model, animation)
    names = [f"{name}{number}" for name, count in (("stand", 2), ("run", 4)) for number in range(1, count + 1)]
    md5_rerelease.write_md2(folder / "tris.md2", names, ())
    mesh = folder / "md5" / "tris.md5mesh"
    for name in ("glb", "fbx"):
        assert idtech("convert", mesh, "--to", tmp_path / "out", "--format", name)[0] == 0
    assert {one["name"] for one in glb(tmp_path / "out" / "tris.glb")["animations"]} == {"stand", "run"}
    read_empty_scene()
    bpy.ops.import_scene.fbx(filepath=str(tmp_path / "out" / "tris.fbx"))
    assert len(bpy.data.actions) == 1


@pytest.fixture
def rerelease(tmp_path) -> Path:
    """The mesh of a monster of Quake II with its animation and scales, and the MD2 that it replaces."""
    folder = tmp_path / "baseq2" / "models" / "monsters" / "imp"
    model, animation = md5_rerelease.generated(1)
    scales = md5_rerelease.random_scales(1, len(model.joints), animation.frame_count, with_positions=False)
    md5_rerelease.write_md2(folder / "tris.md2", [f"run{number}" for number in range(1, 7)], ())
    return md5_rerelease.write_rerelease(folder, model, animation, scales)


def test_what_a_model_of_a_re_release_is_read_with_is_not_overwritten(idtech, rerelease):
    folder = rerelease.parent.parent
    before = (folder / "tris.md2").read_bytes()
    words = ("convert", rerelease, "--to", folder, "--format", "md2")
    status, table, _ = idtech(*words, "--force")
    assert (status, "tris.md2 is an input file of this run" in table) == (1, True)
    assert (folder / "tris.md2").read_bytes() == before
    # What the command has written itself it may replace, even if the game takes it for the replaced model.
    (folder / "tris.md2").unlink()
    assert counts(idtech(*words)[1], ".md5mesh") == [1, 0, 0]
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 1, 0]


@pytest.mark.parametrize("name", ["md5/tris.md5anim", "md5/tris.md5scale", "tris.md2"])
def test_changes_of_what_a_model_of_a_re_release_is_read_with_are_noticed(idtech, rerelease, tmp_path, name):
    words = ("convert", rerelease, "--to", tmp_path / "out", "--format", "blend")
    assert counts(idtech(*words)[1], ".md5mesh") == [1, 0, 0]
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 1, 0]
    path = rerelease.parent.parent / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert counts(idtech(*words)[1], ".md5mesh") == [1, 0, 0]
    path.unlink()
    assert counts(idtech(*words)[1], ".md5mesh") == [1, 0, 0]
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 1, 0]


@pytest.mark.slow
def test_every_animation_lasts_as_long_as_in_its_file(idtech, tree, tmp_path):
    joints = md5_scenes.model().joints
    write_animation(md5_scenes.animation(joints, frames=25, rate=24.0), tree / "walk.md5anim")
    write_animation(md5_scenes.animation(joints, frames=25, rate=48.0), tree / "run.md5anim")
    words = ("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--animations", "same")
    idtech(*words, "--format", "glb")
    content = glb(tmp_path / "out" / "imp.glb")
    seconds = {
        animation["name"]: max(content["accessors"][s["input"]]["max"][0] for s in animation["samplers"])
        - min(content["accessors"][s["input"]]["min"][0] for s in animation["samplers"])
        for animation in content["animations"]
    }
    assert seconds == pytest.approx({"walk": 1.0, "run": 0.5}, abs=0.05)
    idtech(*words, "--format", "md2")
    names = read_model(tmp_path / "out" / "imp.md2").frame_names
    # Ten frames for each second, and the first.
    assert sum(name.startswith("walk") for name in names) == 11
    assert sum(name.startswith("run") for name in names) == 6


def test_a_blend_with_several_armatures_is_refused(idtech, tmp_path):
    for name in ("one", "two"):
        bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, name)))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "both.blend"))
    status, table, _ = idtech("convert", tmp_path / "both.blend", "--to", tmp_path / "out", "--format", "md5")
    assert status == 1
    assert "several armatures: one, two" in table


def test_bones_and_weights_of_a_rig_are_chosen_as_in_the_window(idtech, tmp_path):
    """A rig with two roots, a control bone, and vertices with two weights."""
    armature = scripted_scenes.rig()
    tube = scripted_scenes.tube(armature)
    assert max(len(vertex.groups) for vertex in tube.data.vertices) > 1
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("control", "second"):
        armature.data.edit_bones.new(name).tail = (0.0, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.data.bones["control"].use_deform = False
    (tmp_path / "in").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in" / "rig.blend"))
    words = ("convert", tmp_path / "in", "--to", tmp_path / "out", "--format", "md5")
    written = tmp_path / "out" / "rig.md5mesh"
    assert idtech(*words)[0] == 0
    assert read_mesh(written).joints.names == ["root", "mid", "tip", "control", "second"]
    options = ("--deform-bones-only", "--add-root-bone", "--bone-influences", 1)
    status, table, _ = idtech(*words, *options)
    assert status == 0
    assert counts(table, ".blend") == [1, 0, 0]
    model = read_mesh(written)
    assert model.joints.names == ["origin", "root", "mid", "tip", "second"]
    assert all((mesh.weight_counts == 1).all() for mesh in model.meshes)


def test_a_blend_is_not_converted_to_formats_that_blender_exports_itself(idtech, tree, tmp_path):
    idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "work")
    status, table, _ = idtech("convert", tmp_path / "work/imp.blend", "--to", tmp_path / "out", "--format", "glb")
    assert status == 1
    assert "can be converted to glb" in table


@pytest.mark.slow
def test_files_with_the_same_result_get_different_names(idtech, tree, tmp_path):
    md2_samples.write_sample(tree).rename(tree / "imp.md2")
    for name, other in (("blend", "imp_md2.blend"), ("md5", "imp_md2.md5mesh"), ("md2", "imp_md5mesh.md2")):
        out = tmp_path / name
        status, _, _ = idtech("convert", tree, "--to", out, "--format", name)
        assert status == 0
        assert {f"imp{FORMATS[name]}", other} <= files(out)


def test_a_file_of_the_same_name_from_another_folder_is_not_overwritten(idtech, tree, tmp_path):
    status, table, _ = idtech(
        "convert", tree / "imp.md5mesh", md5_scenes.write(tree / "boss", "imp"), "--to", tmp_path / "out"
    )
    # The second gets a name of its own.
    assert status == 0
    assert files(tmp_path / "out") == {"imp.blend", "imp_md5mesh.blend"}
    assert counts(table, ".md5mesh") == [2, 0, 0]


@pytest.mark.slow
def test_the_limits_of_the_chosen_game_stop_a_conversion(idtech, tree, tmp_path):
    model = md5_scenes.model()
    model.joints.names[1] = "two words"
    write_mesh(model, tree / "words.md5mesh")
    words = ("convert", tree / "words.md5mesh", "--to", tmp_path / "out", "--format", "md5")
    assert idtech(*words, "--game", "sauerbraten")[0] == 0
    written = read_mesh(tmp_path / "out" / "words.md5mesh")
    assert "two_words" in written.joints.names
    assert all(mesh.comment_name for mesh in written.meshes)
    assert idtech(*words)[0] == 0
    assert "two words" in read_mesh(tmp_path / "out" / "words.md5mesh").joints.names


def test_a_conversion_says_that_the_game_has_no_rules_for_its_format(idtech, tree, tmp_path):
    words = ("convert", tree / "imp.md5mesh", "--to", tmp_path / "out")
    _, _, told = idtech(*words, "--format", "md5", "--game", "QUAKE3")
    assert "warning: QUAKE3 has no rules for MD5 files: written for ANY" in told
    assert "has no rules" not in idtech(*words, "--format", "md5", "--game", "QUAKE2_MODERN")[2]
    assert "has no rules" not in idtech(*words, "--format", "blend", "--game", "QUAKE3")[2]


@pytest.mark.slow
def test_limits_of_the_chosen_game_are_kept(idtech, tree, tmp_path):
    model = md5_scenes.model()
    model.meshes *= 33
    write_mesh(model, tree / "large.md5mesh")
    words = ("convert", tree / "large.md5mesh", "--to", tmp_path / "out", "--format", "md5")
    status, table, _ = idtech(*words, "--game", "QUAKE2")
    assert status == 1
    assert "33 meshes; Quake II takes 32" in table
    assert files(tmp_path / "out") == set()
    assert idtech(*words, "--game", "QUAKE")[0] == 0
    assert "large.md5anim" in files(tmp_path / "out")


def test_a_fault_of_the_extension_is_told_and_stops_nothing(idtech, tree, tmp_path, part, monkeypatch):
    def faulty(*_arguments):
        raise KeyError("oops")

    monkeypatch.setattr(part("io_md2.importing"), "build_model", faulty)
    status, table, told = idtech("convert", tree, "--to", tmp_path / "out")
    assert status == 1
    assert counts(table) == [2, 0, 1]
    assert "internal error of the add-on" in table
    assert "Traceback" in told
    assert "KeyError: 'oops'" in told


@pytest.mark.parametrize(
    "words",
    [
        ["convert", "x", "--to", "y", "--shard", "0/2"],
        ["convert", "x", "--to", "y", "--shard", "3/2"],
        ["convert", "x", "--to", "y", "--jobs", "0"],
        ["convert", "x", "--to", "y", "--format", "obj"],
        ["convert", "x", "--to", "y", "--scale", "nan"],
        ["convert", "x", "--to", "y", "--scale", "big"],
        ["convert", "x", "--to", "y", "--jobs", "many"],
        ["convert", "x", "--to", "y", "--animations", "no such folder"],
        ["convert", "x", "--to", "y", "--game-folder", "no such folder"],
        ["convert", "x", "--to", __file__],
        ["convert", "x"],
        ["convert", "", "--to", "y"],
        ["convert", "x", "--to", ""],
        ["convert", "x", "--to", "y", "--animations", ""],
        ["convert", "x", "--to", "y", "--game-folder", ""],
        ["info", ""],
        ["explode"],
        [],
    ],
    ids=" ".join,
)
def test_invalid_arguments_exit_with_status_2(idtech, words):
    status, _, told = idtech(*words)
    assert status == 2
    assert "usage: blender --command idtech" in told


def test_help_is_given(idtech):
    status, told, _ = idtech("convert", "--help")
    assert status == 0
    for option in ("--to", "--format", "--animations", "--jobs", "--shard", "--scale", "--force"):
        assert option in told


def test_files_that_are_not_there_are_errors_and_no_models_are_failures(idtech, tree, tmp_path):
    status, table, told = idtech(
        "convert", tree / "nowhere.md5mesh", tree / "items/notes.txt", tree / "imp.md5mesh", "--to", tmp_path / "out"
    )
    assert status == 1
    assert counts(table) == [1, 0, 1]
    assert "nowhere" not in table
    assert "notes.txt: not one of .md5mesh" in table
    assert f"error: {tree / 'nowhere.md5mesh'}: there is no such file or folder" in told


def test_a_failed_export_lists_the_warnings_that_came_before(idtech, tmp_path):
    (tmp_path / "in").mkdir()
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path, "walker")))
    loose = bpy.data.objects.new("loose", bpy.data.meshes.new("loose"))
    bpy.context.scene.collection.objects.link(loose)
    for material in bpy.data.materials:
        material.name = 'a"b'
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in" / "odd.blend"))
    status, _, told = idtech("convert", tmp_path / "in" / "odd.blend", "--to", tmp_path / "out", "--format", "md5")
    assert status == 1
    assert "attaches it to walker: loose" in told


def test_info_describes_files_of_both_families(idtech, tree):
    status, told, _ = idtech("info", "--json", tree)
    kinds = {Path(entry["file"]).name: entry["kind"] for entry in json.loads(told)}
    assert status == 0
    assert kinds == {
        "imp.md5mesh": "md5mesh",
        "zombie.md5mesh": "md5mesh",
        "walk.md5anim": "md5anim",
        "run.md5anim": "md5anim",
        "sample.md2": "md2",
    }
    bad = damage(tree)
    status, told, _ = idtech("info", bad, tree / "imp.md5mesh")
    assert status == 1
    assert f"{bad}: ERROR: The joint has the wrong number" in told
    assert "6 joints below origin" in told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told_to(part, out: io.StringIO) -> str:
    """What is told of one good file, one with a warning, and a bad one."""
    tasks = part("command_line.tasks")
    shown = part("command_line.command").Progress(3, out)
    for name, outcome in (
        ("good.md2", tasks.Outcome("converted", seconds=0.25)),
        ("odd.md2", tasks.Outcome("converted", warnings=["it is odd"], seconds=8.6, exporter_seconds=8.2)),
        ("bad.md2", tasks.Outcome("failed", "it is bad")),
    ):
        shown.report(tasks.Task(Path(name), Path(name), name), outcome)
    shown.close()
    return out.getvalue()


def test_progress_is_plain_lines_where_the_output_is_not_a_terminal(part):
    assert told_to(part, io.StringIO()).splitlines() == [
        "converted good.md2 in 0.25 s",
        "converted odd.md2 in 8.60 s (8.20 s in Blender's exporter)",
        "  warning: it is odd",
        "failed bad.md2: it is bad",
    ]


def test_on_a_terminal_one_line_changes_and_only_what_is_odd_stays(part):
    told = told_to(part, Terminal())
    assert "[1/3] good.md2" in told
    assert "[3/3, 1 failed] bad.md2" in told
    # What is left to be seen: each line after the last time that it was erased.
    left = [line.rpartition("\x1b[K")[2] for line in told.split("\n")]
    assert [line for line in left if line] == ["  warning: it is odd", "failed bad.md2: it is bad"]


# What must not be written over, whatever the command is allowed to


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder but the records, with what is in them."""
    return {name: (folder / name).read_bytes() for name in files(folder)}


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("a link to it", marks=needs.links),
        pytest.param("a link in it", marks=needs.links),
        pytest.param("in other case", marks=needs.case),
    ],
)
def test_sources_are_not_written_over_through_another_way_to_their_folder(idtech, tree, tmp_path, spelling):
    out = tmp_path / "out"
    if spelling == "a link to it":
        out.symlink_to(tree, target_is_directory=True)
    elif spelling == "a link in it":
        (tree / "back").symlink_to(tree, target_is_directory=True)
        out = tree / "back"
    else:
        (tree / "IMP.md5mesh").hardlink_to(tree / "imp.md5mesh")
        out = tree
    before = contents(tree)
    status, table, _ = idtech("convert", tree / "imp.md5mesh", "--to", out, "--format", "md5", "--force")
    assert status == 1
    assert "is an input file of this run" in table
    assert contents(tree) == before


@pytest.mark.slow
@needs.links
def test_animations_that_are_used_are_not_written_over(idtech, tree, tmp_path):
    model = tree / "boss" / "zombie.md5mesh"
    before = contents(tree)
    words = ("--to", tree, "--format", "md5", "--animations", tree, "--force")
    status, table, _ = idtech("convert", model, *words)
    assert status == 1
    assert "is an input file of this run" in table
    assert contents(tree) == before
    # Nor through a link.
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "walk.md5anim").symlink_to(tree / "walk.md5anim")
    status, table, _ = idtech("convert", model, "--to", tmp_path / "out", *words[2:])
    assert status == 1
    assert "walk.md5anim is an input file of this run" in table
    assert contents(tree) == before


@needs.links
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_link_that_leads_nowhere_is_not_replaced(idtech, tree, tmp_path, force):
    (tmp_path / "out").mkdir()
    link = tmp_path / "out" / "imp.blend"
    link.symlink_to(tmp_path / "nowhere")
    status, table, _ = idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", *force)
    assert status == 1
    assert "is a broken link" in table
    assert link.is_symlink()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
@needs.locks
@pytest.mark.parametrize(("jobs", "name"), [(1, "blend"), (2, "glb"), (1, "md5")])
def test_a_result_that_another_program_has_open_is_named_and_stops_no_other(idtech, tree, tmp_path, jobs, name):
    words = ("convert", tree, "--to", tmp_path / "out", "--format", name, "--jobs", jobs, "--force")
    assert idtech(*words)[0] == 0
    before = contents(tmp_path / "out")
    target = tmp_path / "out" / f"imp{FORMATS[name]}"
    with target.open("rb"):
        status, table, _ = idtech(*words)
    assert (status, counts(table)) == (1, [len(before) - 1, 0, 1])
    assert f"{target}: permission denied" in table
    assert "close the program that has the file open" in table
    assert contents(tmp_path / "out").keys() == before.keys()
    assert target.read_bytes() == before[target.name]
    assert idtech(*words)[0] == 0


def record_of(out: Path) -> Path:
    """The only record of a folder of results."""
    (record,) = (out / ".idtech").iterdir()
    return record


@pytest.mark.slow
def test_a_forged_record_does_not_cause_a_user_file_to_be_overwritten(idtech, tree, tmp_path):
    out = tmp_path / "out"
    words = ("convert", tree / "imp.md5mesh", "--to", out)
    idtech(*words)
    record = record_of(out)
    known = json.loads(record.read_text())
    (out / "imp.blend").write_text("a week of work")
    for forged in ({"files": ["imp.blend"]}, {"files": {"imp.blend": []}}, known, {**known, "sources": {}}):
        record.write_text(json.dumps(forged))
        os.utime(tree / "imp.md5mesh", (0, 0))
        status, table, _ = idtech(*words)
        assert (status, counts(table, ".md5mesh")) == (1, [0, 0, 1])
        assert "imp.blend exists and was not written by an earlier run" in table
        assert (out / "imp.blend").read_text() == "a week of work"


@pytest.mark.slow
@pytest.mark.parametrize("digests", [[], ["x"]])
@pytest.mark.parametrize("names", [["imp.md5mesh"], ["imp.md5mesh", "imp.md2"]])
def test_a_forged_record_takes_no_input_file_for_a_result(idtech, tmp_path, names, digests):
    md5_scenes.write(tmp_path, "imp")
    md2_samples.write_sample(tmp_path).rename(tmp_path / "imp.md2")
    before = {path: path.read_bytes() for path in tmp_path.glob("imp.*")}
    (tmp_path / ".idtech").mkdir()
    (tmp_path / ".idtech" / "a.json").write_text(json.dumps({"files": dict.fromkeys(names, digests)}))
    status, table, _ = idtech("convert", tmp_path, "--to", tmp_path, "--format", "md5", "--force")
    assert (status, "imp.md5mesh is an input file of this run" in table) == (1, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_forged_record_takes_no_file_beside_a_model_for_a_result(idtech, rerelease):
    folder = rerelease.parent.parent
    before = (folder / "tris.md2").read_bytes()
    (folder / ".idtech").mkdir()
    (folder / ".idtech" / "a.json").write_text(json.dumps({"files": {"tris.md2": ["x"]}}))
    status, table, _ = idtech("convert", rerelease, "--to", folder, "--format", "md2", "--force")
    assert (status, "tris.md2 is an input file of this run" in table) == (1, True)
    assert (folder / "tris.md2").read_bytes() == before


def test_a_file_that_was_named_and_cannot_be_converted_is_not_overwritten(idtech, tmp_path):
    md5_scenes.write(tmp_path, "imp")
    (tmp_path / "imp.blend").write_text("a week of work")
    words = (tmp_path / "imp.blend", tmp_path / "imp.md5mesh")
    status, table, _ = idtech("convert", *words, "--to", tmp_path, "--force")
    assert (status, counts(table)) == (1, [0, 0, 2])
    assert "can be converted to blend" in table
    assert "imp.blend is an input file of this run" in table
    assert (tmp_path / "imp.blend").read_text() == "a week of work"


@pytest.mark.slow
def test_a_result_that_was_changed_by_hand_is_written_over_by_force_only(idtech, tree, tmp_path):
    words = ("convert", tree / "imp.md5mesh", "--to", tmp_path / "out", "--format", "md5")
    idtech(*words)
    with (tmp_path / "out" / "imp.md5mesh").open("a") as result:
        result.write("// mine\n")
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 1, 0]
    os.utime(tree / "imp.md5mesh", (0, 0))
    assert idtech(*words)[0] == 1
    assert (tmp_path / "out" / "imp.md5mesh").read_text().endswith("// mine\n")
    assert idtech(*words, "--force")[0] == 0
    assert not (tmp_path / "out" / "imp.md5mesh").read_text().endswith("// mine\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "damaged",
    [b"", b"\0\xff", b"[", b"[" * 100_000, b"7", b'{"files": 7}', b'{"files": {"a\\u0000b": ["x"]}}',
     b'{"files": {"../../a": ["x"], "/a": ["x"], "": ["x"]}, "sources": 1e999, "settings": null}',
     b'{"files": {"\\ud800": ["x"]}}', b"9" * 5000, b'{"files": {"' + b"a/" * 1_000_000 + b'": ["x"]}}'],
    ids=range(11),
)  # fmt: skip
def test_a_damaged_record_is_ignored(idtech, tree, tmp_path, damaged):
    out = tmp_path / "out"
    words = ("convert", tree / "imp.md5mesh", "--to", out, "--format", "md5")
    idtech(*words)
    record_of(out).write_bytes(damaged)
    status, table, _ = idtech(*words)
    assert status == 1
    assert "imp.md5mesh exists and was not written by an earlier run" in table
    assert idtech(*words, "--force")[0] == 0
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 1, 0]


@pytest.mark.slow
@needs.links
@needs.pipes
def test_links_and_folders_in_place_of_a_record_are_not_followed(idtech, tree, tmp_path):
    out = tmp_path / "out"
    words = ("convert", tree / "imp.md5mesh", "--to", out, "--format", "md5", "--force")
    idtech(*words)
    record = record_of(out)
    (tmp_path / "mine").write_text("a week of work")
    record.unlink()
    record.symlink_to(tmp_path / "mine")
    assert idtech(*words)[0] == 0
    assert (tmp_path / "mine").read_text() == "a week of work"
    record.unlink()
    os.mkfifo(record)
    assert idtech(*words)[0] == 0
    assert record.is_file()


@pytest.mark.parametrize("kind", ["file", pytest.param("pipe", marks=needs.pipes)])
def test_what_takes_the_place_of_the_folder_of_records_is_named(idtech, tree, tmp_path, kind):
    (tmp_path / "out").mkdir()
    if kind == "pipe":
        os.mkfifo(tmp_path / "out" / ".idtech")
    else:
        (tmp_path / "out" / ".idtech").write_text("mine")
    status, table, _ = idtech("convert", tree / "imp.md5mesh", "--to", tmp_path / "out")
    assert (status, ".idtech: part of the path is a file, not a folder: choose another path" in table) == (1, True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".idtech"]


# Names of results


@pytest.mark.slow
def test_three_files_of_one_name_get_three_names(idtech, tree, tmp_path):
    models = [md5_scenes.write(tree / name, "imp") for name in ("boss", "items")]
    words = ("convert", tree / "imp.md5mesh", *models, "--to", tmp_path / "out")
    assert idtech(*words)[0] == 0
    assert files(tmp_path / "out") == {"imp.blend", "imp_md5mesh.blend", "imp_md5mesh_2.blend"}
    assert counts(idtech(*words)[1], ".md5mesh") == [0, 3, 0]


@pytest.mark.slow
def test_models_whose_animations_would_have_one_name_get_different_ones(idtech, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("imp", "imp_b"):
        md5_scenes.write(folder, name)
    for name in ("b_walk", "walk"):
        write_animation(md5_scenes.animation(md5_scenes.model().joints), folder / f"{name}.md5anim")
    words = ("--format", "md5", "--animations", "same")
    assert idtech("convert", folder, "--to", tmp_path / "out", *words)[0] == 0
    assert files(tmp_path / "out") == {
        "imp.md5mesh", "imp_b.md5mesh", "imp__b_walk.md5anim", "imp__walk.md5anim", "imp_b_b_walk.md5anim",
        "imp_b_walk.md5anim",
    }  # fmt: skip


# Several Blenders


def textured_blend(folder: Path) -> Path:
    """A .blend whose only material shows an image of a game folder, and was made in Blender."""
    image = bpy.data.images.new("skin", 2, 2)
    image.filepath_raw = str(folder / "game" / "art" / "imp" / "skin.png")
    image.file_format = "PNG"
    (folder / "game" / "art" / "imp").mkdir(parents=True)
    image.save()
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(folder)), use_textures=False)
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            material = bpy.data.materials.new("Skin")
            if material.node_tree is None:
                material.use_nodes = True
            node = material.node_tree.nodes.new("ShaderNodeTexImage")
            node.image = image
            obj.data.materials.clear()
            obj.data.materials.append(material)
    for name in ("one", "two"):
        (folder / "blends").mkdir(exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "blends" / f"{name}.blend"), copy=True)
    read_empty_scene()
    return folder / "blends"


@pytest.mark.slow
def test_game_folders_of_the_preferences_hold_for_exports_of_other_blenders(idtech, tmp_path, part):
    blends = textured_blend(tmp_path)
    folders = part("io_blender.operators.preferences")._preferences().game_folders
    folders.add().path = str(tmp_path / "game")
    try:
        assert idtech("convert", blends, "--to", tmp_path / "out", "--format", "md5")[0] == 0
    finally:
        folders.clear()
    for name in ("one", "two"):
        assert {mesh.shader for mesh in read_mesh(tmp_path / "out" / f"{name}.md5mesh").meshes} == {"art/imp/skin"}


def test_exported_names_are_relative_to_the_game_folder_that_is_named(idtech, tmp_path):
    """The model lies in another folder that its own path could be relative to."""
    image = tmp_path / "work" / "base" / "models" / "test" / "skin.png"
    for folder in (image.parent, tmp_path / "work" / "models" / "test"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "samples" / "models" / "octopus" / "skin.png", image)
    model = md5_scenes.write(tmp_path / "work" / "models" / "test")
    words = ("--format", "md2", "--game-folder", tmp_path / "work" / "base")
    assert idtech("convert", model, "--to", tmp_path / "out", *words)[0] == 0
    assert read_model(tmp_path / "out" / "test.md2").skins == ["models/test/skin.png"]


@pytest.mark.slow
def test_several_blenders_know_all_sources(idtech, tree, tmp_path):
    out = tmp_path / "out"
    (out / "boss").mkdir(parents=True)
    (tree / "walk.md5anim").rename(out / "boss" / "walk.md5anim")
    before = contents(out)
    words = ("--format", "md5", "--animations", out / "boss", "--jobs", 2, "--force")
    status, table, _ = idtech("convert", tree, "--to", out, *words)
    assert status == 1
    assert counts(table) == [2, 0, 1]
    assert "walk.md5anim is an input file of this run" in table
    assert contents(out)["boss/walk.md5anim"] == before["boss/walk.md5anim"]


def with_temporary_folder(folder):
    """The environment of a process whose temporary folder this is."""
    return {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}


PARENT = """
import importlib, os, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
status = importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
sys.stdout.flush()
os._exit(status)
"""


@pytest.mark.slow
def test_stopping_the_parent_prints_no_tracebacks_and_ends_the_others(extension, tree, tmp_path):
    for index in range(40):
        md5_scenes.write(tree, f"imp{index}")
    names = ["SIGKILL"] if needs.IS_WINDOWS else ["SIGKILL", "SIGTERM", "SIGINT"]
    folders = [tmp_path / name for name in names]
    processes = []
    for folder in folders:
        folder.mkdir()
        words = ["convert", str(tree), "--to", str(folder / "out"), "--jobs", "2"]
        with (folder / "told").open("wb") as told:
            command = [sys.executable, "-c", PARENT, extension.__name__, *words]
            environment = with_temporary_folder(folder)
            processes.append(
                subprocess.Popen(command, stdout=told, stderr=told, start_new_session=True, env=environment)
            )
    running = dict(zip(names, processes, strict=True))

    def stop_those_with_a_result() -> bool:
        for name in list(running):
            if any(path.endswith(".blend") for path in files(tmp_path / name / "out")):
                process = running.pop(name)
                if needs.IS_WINDOWS:
                    process.kill()
                else:
                    os.killpg(process.pid, getattr(signal, name))
        return not running

    wait_for(stop_those_with_a_result)
    for name, process in zip(names, processes, strict=True):
        status = process.wait(PATIENCE)
        if not needs.IS_WINDOWS:
            assert status == (130 if name == "SIGINT" else -getattr(signal, name))
    wait_for(lambda: not list(tmp_path.glob("*/io_idtech-jobs-*")))
    # The files in hand are finished, however long that takes; a Blender may just have begun.
    wait_for(lambda: not [file for file in files(tmp_path) if "/.idtech-" in file])
    made: list[set[str]] = [set(), files(tmp_path)]
    while made[-1] != made[-2]:
        time.sleep(3.0)
        made.append(files(tmp_path))
    assert not [file for file in made[-1] if "/.idtech-" in file]
    for folder in folders:
        assert len(files(folder / "out")) < 20
        assert "Traceback" not in (folder / "told").read_text(errors="replace")


# Ctrl-C, pressed twice within an operator of Blender.
TWICE = """
import importlib, os, signal, sys
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])

class Slow(bpy.types.Operator):
    bl_idname, bl_label = "wm.slow", "Slow"

    def execute(self, context):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return {"FINISHED"}

bpy.utils.register_class(Slow)
writers = importlib.import_module(sys.argv[1] + ".command_line.writers")
writers.WRITERS["glb"] = lambda *_: bpy.ops.wm.slow() and []
status = importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
sys.stdout.flush()
os._exit(status)
"""


@pytest.mark.slow
def test_a_second_ctrl_c_ends_an_operator_without_a_traceback_and_leaves_nothing(extension, tree, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = ["convert", str(tree), "--to", str(tmp_path / "out"), "--format", "glb"]
    run = subprocess.run(
        [sys.executable, "-c", TWICE, extension.__name__, *words],
        env=with_temporary_folder(temporary), capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert (run.returncode, "Traceback" in run.stderr, "failed" in run.stderr) == (
        needs.status_after(signal.SIGINT), False, False,
    )  # fmt: skip
    assert "press Ctrl-C again" in run.stderr
    assert "Stopped." in run.stderr
    assert [path for folder in (temporary, tmp_path / "out") for path in folder.rglob("*") if path.is_file()] == []
    assert list(temporary.iterdir()) == []


# A Blender that is slow, once it has begun to write a result.
SLOW = """
import importlib, sys, time
import bpy
bpy.ops.preferences.addon_enable(module=sys.argv[1])
writers = importlib.import_module(sys.argv[1] + ".command_line.writers")
writers.WRITERS["blend"] = lambda path, *_: path.write_bytes(b"half") and time.sleep(600)
importlib.import_module(sys.argv[1] + ".command_line.command").main(sys.argv[2:])
"""
SLOW_PARENT = PARENT.replace(
    "status =",
    "pool = importlib.import_module(sys.argv[1] + '.command_line.blenders')\npool._WORKER = sys.argv.pop(2)\nstatus =",
).replace("os._exit(status)", "importlib.import_module(sys.argv[1] + '.command_line.command').end_process(2)")


@needs.signals
@pytest.mark.slow
def test_a_second_ctrl_c_leaves_no_temporary_folder_of_another_blender(extension, tree, tmp_path):
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    worker = tmp_path / "slow.py"
    worker.write_text(SLOW)
    words = ["convert", str(tree), "--to", str(out), "--jobs", "2"]
    with (tmp_path / "told").open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW_PARENT, extension.__name__, str(worker), *words],
            stdout=told, stderr=told, env={**os.environ, "TMPDIR": str(temporary)},
        )  # fmt: skip
        wait_for(lambda: len([name for name in files(out) if ".idtech-converting-" in name]) == 2)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: b"again" in (tmp_path / "told").read_bytes())
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == -signal.SIGINT
    assert [path.name for folder in (out, temporary) for path in folder.rglob("*") if path.is_file()] == []
    assert list(temporary.iterdir()) == []
    assert not [path for path in out.rglob("*") if path.name.startswith(".idtech-converting-")]


@pytest.mark.slow
@needs.shell
def test_conversions_need_neither_standard_input_nor_standard_error(extension, tree, tmp_path):
    words = ["convert", str(tree), "--to", str(tmp_path / "out"), "--jobs", "2"]
    run = subprocess.run(
        [sys.executable, "-c", PARENT, extension.__name__, *words],
        stdout=subprocess.PIPE, preexec_fn=lambda: [os.close(number) for number in (0, 2)],
        check=False, text=True,
    )  # fmt: skip
    assert (run.returncode, counts(run.stdout)) == (0, [3, 0, 0])
    assert len([name for name in files(tmp_path / "out") if name.endswith(".blend")]) == 3


def wait_for(what, seconds=PATIENCE):
    """Waits until something is so, and fails after about so many seconds."""
    for _ in range(20 * seconds):
        if what():
            return
        time.sleep(0.05)
    pytest.fail("what was waited for did not come")


# Disks


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ending"), FORMATS.items())
def test_a_full_disk_is_reported_for_every_format(idtech, small_disk, name, ending):
    model = ROOT / "samples" / "models" / "octopus" / "octopus.md5mesh"
    words = ("--format", name, "--animations", "same")
    status, table, _ = idtech("convert", model, "--to", small_disk, *words)
    assert status == 1
    assert f"octopus{ending}: the disk is full" in table or "md5anim: the disk is full" in table
    assert files(small_disk) == set()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Error: Python: Traceback …\nOSError: [Errno 28] No space left on device\nLocation: a.py:1\n", "full"),
        ("Error: No space left on device\n", "out.glb: the disk is full"),
        ("Error: Python: Traceback …\nKeyError: 'x'\nLocation: a.py:1\n", "KeyError: 'x'"),
        ("", "RuntimeError"),
    ],
)
def test_reports_of_blenders_exporters_become_one_sentence(part, text, told):
    said = part("io_common.errors").message_for(RuntimeError(text), target=Path("out.glb"))
    assert told in said
    assert "\n" not in said


@pytest.mark.parametrize(("verify", "is_told"), [("some", True), ("ALL", True), ("none", False)])
def test_exports_are_compared_with_blender_on_the_frames_that_are_named(idtech, tree, tmp_path, verify, is_told):
    """A .blend that shows its mesh without the Armature modifier."""
    bpy.ops.import_scene.md5(filepath=str(tree / "imp.md5mesh"), animations="FOLDER")
    mesh = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    mesh.modifiers[0].show_viewport = False
    blend = tmp_path / "imp.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    words = ("--format", "md5", "--animations", "same", "--verify", verify)
    status, out, told = idtech("convert", blend, "--to", tmp_path / "game", *words)
    assert status == 0
    assert ("is disabled in the viewport" in out + told) == is_told


def test_info_says_what_a_file_of_another_kind_is(idtech, tmp_path):
    for name, content in (("a.md5mesh", b"\x89PNG\r\n\x1a\n"), ("b.md2", b"MD5Version 10\n")):
        (tmp_path / name).write_bytes(content)
    status, told, _ = idtech("info", tmp_path)
    assert status == 1
    assert "a.md5mesh: ERROR: This file is not MD5 (it looks like a PNG)\n" in told
    assert "File > Import > id Tech 4 MD5" in told


def test_info_says_what_is_wrong_with_a_damaged_file_and_at_which_byte(idtech, tmp_path):
    data = md3_samples.write_sample(tmp_path).read_bytes()
    (tmp_path / "a.md3").write_bytes(data[:4] + b"\x0e" + data[5:])
    (tmp_path / "b.md3").write_bytes(data[: len(data) // 2])
    status, told, _ = idtech("info", tmp_path)
    assert status == 1
    assert "a.md3: ERROR: Unknown version of MD3; found 14; expected 15 (byte 4)\n" in told
    assert re.search(r"b\.md3: ERROR: The file is incomplete .* \(byte \d+\)\n", told)
