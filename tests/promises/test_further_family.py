"""A further format family is one package and one entry in the tuple of families; nothing else knows of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import needs
import pytest
from paths import PACKAGES, ROOT

# Blender reads the copy through a link.
pytestmark = [needs.links, pytest.mark.slow]

FURTHER_FAMILY = ROOT / "tests" / "helpers" / "further_family"
COPIED = (*PACKAGES, "fuzz", "tests/helpers")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a Blender makes of a copy of the project with one more family."""
    folder = tmp_path_factory.mktemp("further family")
    project, work = folder / "io_idtech", folder / "work"
    work.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "blender_manifest.toml"):
        shutil.copy(ROOT / name, project)
    shutil.copytree(FURTHER_FAMILY / "io_tri", project / "io_tri")
    families = (ROOT / "families.py").read_text(encoding="utf-8")
    one_entry = re.sub(r"(\nFAMILIES.*)\)", r"from .io_tri.family import FAMILY as TRI\n\1, TRI)", families)
    assert one_entry.count("TRI") == 2
    (project / "families.py").write_text(one_entry, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, FURTHER_FAMILY / "use.py", project, work],
        env={name: value for name, value in os.environ.items() if name != "IO_IDTECH_ZIP"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_it_is_in_the_menus_and_takes_dropped_files(seen):
    assert ["import_scene.tri", "Triangle (.tri)"] in seen["import menu"]
    assert ["export_scene.tri", "Triangle (.tri)"] in seen["export menu"]
    assert seen["dropped files"] == ".tri"


def test_it_is_imported_and_exported(seen):
    assert seen["imported"] == ["FINISHED"]
    assert seen["exported"] == "TRI\n0 0 0\n1 0 0\n0 2 0\n"


def test_its_errors_are_reported_as_errors_of_the_file(seen):
    assert "bad.tri: not a triangle file" in seen["bad"]
    assert "internal error" not in seen["bad"]


def test_messages_about_other_formats_name_it(seen):
    assert "This file is not MD5 but TRI: use File > Import > Triangle" in seen["under another name"]


def test_the_command_line_describes_and_converts_it(seen):
    assert seen["info"][0]["corners"] == [[0, 0, 0], [1, 0, 0], [0, 2, 0]]
    assert seen["to glb"] == seen["to tri"] == 0
    assert seen["results"] == ["glb/a.glb", "tri/scene.tri"]


def test_it_is_fuzzed(seen):
    assert seen["fuzzed"].endswith("not a triangle file")


def test_disabling_the_extension_removes_it(seen):
    assert seen["left"] == []
