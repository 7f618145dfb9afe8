"""Names of results: no two are the same on any disk, and none is that of a file that is read."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
import working_copy

working_copy.load()

from io_idtech.command_line import messages  # noqa: E402
from io_idtech.command_line.plan import make_plan  # noqa: E402
from io_idtech.command_line.settings import Settings, Task  # noqa: E402
from io_idtech.command_line.source_files import Sources, path_key  # noqa: E402


def plan(folder: Path, *names: str, out: str = "out", **settings):
    """The tasks for files of these names, and the reasons for those that are refused."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    inputs = [str(folder / name) for name in names]
    tasks, refused, _ = make_plan(inputs, folder / out, Settings(**settings), [])
    return tasks, [outcome.reason for _, outcome in refused]


def test_names_that_differ_in_case_only_are_one_name(tmp_path):
    names = ("a/imp.md5mesh", "b/IMP.md5mesh", "c/Imp.md2", "d/stra\u00dfe.md2", "e/STRASSE.md2")
    tasks, refused = plan(tmp_path, *names)
    assert refused == []
    assert len({path_key(task.target) for task in tasks}) == len(names)


def test_accents_that_are_coded_in_two_ways_are_one_name(tmp_path):
    tasks, _ = plan(tmp_path, "a/caf\u00e9.md2", "b/cafe\u0301.md2")
    assert len({path_key(task.target) for task in tasks}) == 2


def test_a_made_name_is_not_that_of_another_file(tmp_path):
    names = (
        "a/imp.md5mesh",
        "b/imp.md5mesh",
        "c/imp_md5mesh.md5mesh",
        "d/imp_md5mesh_2.md2",
        "e/imp.md5mesh",
    )
    tasks, refused = plan(tmp_path, *names)
    targets = {task.name.rpartition("/")[0][-1]: task.target.name for task in tasks}
    assert refused == []
    assert targets == {
        "a": "imp.blend",
        "b": "imp_md5mesh_3.blend",
        "c": "imp_md5mesh.blend",
        "d": "imp_md5mesh_2.blend",
        "e": "imp_md5mesh_4.blend",
    }


def test_a_source_is_no_result_and_its_name_is_not_given_to_another_in_other_case(tmp_path):
    tasks, refused = plan(tmp_path, "IMP.md5mesh", "sub/imp.md2", out=".", format="md5")
    assert [task.target.name for task in tasks] == ["imp_md2.md5mesh"]
    (reason,) = refused
    assert "IMP.md5mesh is an input file of this run" in reason


STEMS = ["imp", "imp_", "imp_b", "imp_b_", "imp__b", "IMP_B_C", "b", "walk"]
ANIMATIONS = ["walk", "b_walk", "_b_walk", "b__walk", "_walk", "__b_walk", "c_walk", "B_WALK", ""]


def test_no_animation_of_a_model_has_the_name_of_another_models(tmp_path):
    names = [f"{stem}.md5mesh" for stem in STEMS]
    tasks, _ = plan(tmp_path, *names, "imp_b_walk.md5anim", "x.md5anim", format="md5", animations="folder")
    models = [task for task in tasks if task.target.suffix == ".md5mesh"]
    results = [f"{task.prefix}{name}.md5anim".casefold() for task in models for name in dict.fromkeys(
        name.casefold() for name in ANIMATIONS)]  # fmt: skip
    results += [task.target.name.casefold() for task in tasks if task.target.suffix == ".md5anim"]
    assert len(results) == len(set(results))
    assert all(task.prefix.startswith(task.target.stem) for task in models)


def test_an_only_model_does_not_bear_its_name_in_its_animations(tmp_path):
    tasks, _ = plan(tmp_path, "imp.md5mesh", format="md5", animations="folder")
    assert [task.prefix for task in tasks] == [""]


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_sources_are_known_by_their_identity_also_elsewhere(tmp_path):
    (tmp_path / "a").mkdir()
    source = tmp_path / "a" / "imp.md2"
    source.touch()
    (tmp_path / "folder").symlink_to("a")
    (tmp_path / "file").symlink_to("a/imp.md2")
    (tmp_path / "hard").hardlink_to(source)
    sources = Sources.from_json(Sources([source]).to_json())
    for other in ("a/imp.md2", "folder/imp.md2", "folder/../a/imp.md2", "file", "hard", "a/IMP.MD2"):
        assert tmp_path / other in sources, other
    for other in ("a/other.md2", "imp.md2", "nowhere/imp.md2"):
        assert tmp_path / other not in sources, other


@pytest.mark.parametrize(
    "text", ["", "a\nb", 'io_idtech outcome: {"status": "failed"}\n', "\udcff", "\0", "é" * 100_000]
)
def test_messages_hold_any_text(text):
    stream = io.BytesIO(messages.pack({"text": text}) + messages.pack({"text": "next"}))
    assert messages.read(stream) == {"text": text}
    assert messages.read(stream) == {"text": "next"}
    assert messages.read(stream) is None


def test_a_part_of_a_message_is_none():
    data = messages.pack({"text": "a"})
    for length in range(len(data)):
        assert messages.read(io.BytesIO(data[:length])) is None


def test_a_task_is_the_same_in_another_process():
    task = Task(Path("a\nb"), Path("c\udcff"), "name", "prefix_", is_forced=True)
    stream = io.BytesIO(messages.pack(task.to_json()))
    told = messages.read(stream)
    assert told is not None
    assert Task.from_json(told) == task
