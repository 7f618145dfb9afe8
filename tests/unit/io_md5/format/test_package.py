"""The format package and its program work by themselves."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
import sys

from md5_samples import ANIMATION
from paths import ROOT

from io_idtech.io_md5 import format as md5


def test_everything_public_is_documented_and_listed():
    names = {
        name for name, value in vars(md5).items() if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert names == set(md5.__all__)
    for name in md5.__all__:
        value = getattr(md5, name)
        assert (
            not callable(value)
            or getattr(value, "__doc__", None)
            or name in ("Wrap", "Space", "LoopType", "Fit")
        ), name


def test_the_program_works_without_blender_and_without_the_rest_of_the_extension(tmp_path):
    shutil.copytree(ROOT / "io_md5", tmp_path / "io_md5", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bpy.py").write_text("raise ImportError")
    (tmp_path / "walk.md5anim").write_text(ANIMATION)
    command = [sys.executable, "-m", "io_md5", "info", "--json", "walk.md5anim", "missing.md5mesh"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    walk, missing = json.loads(done.stdout)
    assert (walk["frames"], walk["loop"]) == (3, "none")
    assert missing["error"] == "there is no such file or folder"


def test_the_package_declares_its_types():
    assert (ROOT / "io_md5" / "py.typed").is_file()
