"""The library works without Blender, and everything public is documented."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from md5_samples import ANIMATION
from paths import HELPERS, ROOT

from io_idtech.io_md2 import format as md2
from io_idtech.io_md5 import format as md5


@pytest.mark.parametrize("library", [md2, md5])
def test_everything_public_is_documented_and_listed(library):
    names = {
        name
        for name, value in vars(library).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert names == set(library.__all__)
    for name in library.__all__:
        value = getattr(library, name)
        assert (
            not callable(value)
            or getattr(value, "__doc__", None)
            or name in ("Wrap", "Space", "LoopType", "Fit")
        ), name


def test_files_are_described_without_blender(tmp_path):
    (tmp_path / "bpy.py").write_text("raise ImportError")
    (tmp_path / "walk.md5anim").write_text(ANIMATION)
    command = [sys.executable, "-m", "io_idtech", "info", "--json", "walk.md5anim"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(HELPERS)}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_package_declares_its_types():
    assert (ROOT / "py.typed").is_file()
