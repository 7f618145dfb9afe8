"""What run.py makes of its arguments and of the sessions that nox has run."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("venv", reason="the Python that is embedded in Windows programs has no environments")

import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "imp.md5mesh").touch()
    (tmp_path / "fuzz" / "test_a.py").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_words_that_are_names_of_folders_stay_words(folder):
    assert run.absolute(["fuzz", "60"]) == ["fuzz", "60"]


@pytest.mark.parametrize("option", ["-k", "-m"])
def test_expressions_stay_as_they_are(folder, option):
    assert run.absolute([option, "fuzz/test_a.py"]) == [option, "fuzz/test_a.py"]


def test_files_and_tests_are_those_of_the_folder_of_the_shell(folder):
    words = ["-x", "imp.md5mesh", "fuzz/test_a.py::test_b", "-k", "fuzz"]
    test = f"{folder / 'fuzz' / 'test_a.py'}::test_b"
    assert run.absolute(words) == ["-x", str(folder / "imp.md5mesh"), test, "-k", "fuzz"]


def test_what_is_not_there_stays_as_it_is(folder):
    assert run.absolute(["none.md5mesh", "--out", "results/here"]) == ["none.md5mesh", "--out", "results/here"]


def report(folder, *results):
    path = folder / "report.json"
    sessions = [
        {"signatures": [name], "result": result, "reason": "Python interpreter 3.11 not found"}
        for name, result in results
    ]
    path.write_text(json.dumps({"sessions": sessions}), encoding="utf-8")
    return path


def test_what_was_skipped_is_listed_with_how_to_get_it(tmp_path, capsys):
    path = report(tmp_path, ("blender(4.2)", "skipped"), ("unit", "success"))
    assert run.closing(path, 0) == 0
    told = capsys.readouterr().out
    assert "blender(4.2): Python interpreter 3.11 not found" in told
    assert "Install the missing Python" in told
    assert "unit" not in told


def test_a_job_that_ran_nothing_has_failed(tmp_path):
    assert run.closing(report(tmp_path, ("demo", "skipped")), 0) == 1
    assert run.closing(tmp_path / "none.json", 0) == 1


def test_a_failure_stays_a_failure(tmp_path):
    path = report(tmp_path, ("blender(4.2)", "skipped"), ("unit", "failed"))
    assert run.closing(path, 3) == 3
