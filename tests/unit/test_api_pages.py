"""The examples on the pages of the format packages run without Blender, one after the other, and have types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ROOT

# What numpy calculates is often `Any`; `io_md5.format` still returns it as it is.
FLAGS = {"api-md2.md": (), "api-md5.md": ("--no-warn-return-any",), "library.md": ("--no-warn-return-any",)}
PAGES = list(FLAGS)


def examples(page: str, folder: Path) -> str:
    """All examples of a page as one program."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    return "\n".join([f"folder = {str(folder)!r}", *blocks])


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_without_blender(page, tmp_path):
    script = "\n".join(["import sys", "sys.modules['bpy'] = None", examples(page, tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed; `python run.py lint` has it")
@pytest.mark.parametrize("page", PAGES)
def test_examples_and_the_packages_they_use_pass_strict_type_checks(page, tmp_path):
    script = tmp_path / "examples.py"
    script.write_text(examples(page, tmp_path), encoding="utf-8")
    for package in ("io_md2", "io_md5"):
        # The format packages alone, without Blender and the settings of the project.
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "format").symlink_to(ROOT / package / "format", target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", *FLAGS[page], "examples.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
