"""What breaks a rule of Blender's extension platform is found in a zip."""

from __future__ import annotations

import zipfile

import pytest
from paths import ROOT

from tools import review

MANIFEST = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")


def archive_of(folder, **files):
    path = folder / "a.zip"
    contents = {"blender_manifest.toml": MANIFEST, "__init__.py": "from . import families\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**contents, **files}.items():
            archive.writestr(name, text)
    return zipfile.ZipFile(path)


def test_a_zip_that_keeps_the_rules_has_no_problem(tmp_path):
    with archive_of(tmp_path) as archive:
        assert review.review(archive) == []
        assert review.summary(archive)[0].startswith("id Tech Models (MD5, IQM, MD3, MD2) ")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os\n\nos._exit(1)", "a.py:3 calls os._exit"),
        ("eval('1')", "a.py:1 calls eval"),
        ("import threading", "a.py:1 imports threading"),
        ("from urllib.request import urlopen", "a.py:1 imports urllib.request"),
        ("import subprocess", "a.py:1 starts other programs"),
        ("from io_idtech import families", "a.py:1 imports itself by its absolute name"),
        ("import sys\nsys.path.append('x')", "a.py:2 changes where modules are found"),
        ("command = ['python', '-c', 'pass']", "a.py:1 runs code from a string"),
    ],
)
def test_calls_that_a_reviewer_would_ask_about_are_named_with_their_line(tmp_path, code, problem):
    with archive_of(tmp_path, **{"a.py": code}) as archive:
        assert review.review(archive) == [problem]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('name = "id', 'name = "Blender id', 'the name contains "Blender"'),
        ('id Tech games"', 'id Tech games."', "tagline ends with punctuation"),
        ('tagline = "', f'tagline = "{"very " * 9}', "tagline has 108 characters, more than 64"),
        ('"Animation"', '"Animations"', "the platform has no tag 'Animations'"),
        ("[permissions]", '[permissions]\nnetwork = "Search"', "a permission other than files is asked for"),
        ('"2026 The', '"The', "copyright 'The io_idtech developers' is not a year and a name"),
    ],
)
def test_what_the_manifest_may_not_say_is_found(tmp_path, old, new, problem):
    assert old in MANIFEST
    with archive_of(tmp_path, **{"blender_manifest.toml": MANIFEST.replace(old, new, 1)}) as archive:
        assert review.review(archive) == [problem]


@pytest.mark.parametrize("name", [".git/config", "tests/data.blend", "__pycache__/a.pyc"])
def test_files_that_do_not_belong_into_a_zip_are_found(tmp_path, name):
    with archive_of(tmp_path, **{name: "x"}) as archive:
        assert review.review(archive)[0].startswith(name)
