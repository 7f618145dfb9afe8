"""The examples on the pages of the format packages run without Blender, one after the other, and have types."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import HELPERS, ROOT

from io_idtech.io_md5 import format as md5

PAGES = ("api-iqm.md", "api-md2.md", "api-md3.md", "api-md5.md", "library.md")


def examples(page: str, folder: Path) -> str:
    """All examples of a page as one program."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    return "\n".join([f"folder = {str(folder)!r}", *blocks])


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_examples_run_without_blender(page, tmp_path):
    script = "\n".join(["import sys", "sys.modules['bpy'] = None", examples(page, tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed; `python run.py lint` has it")
def test_examples_and_the_packages_they_use_pass_strict_type_checks(tmp_path):
    scripts = [f"{Path(page).stem.replace('-', '_')}.py" for page in PAGES]
    for page, script in zip(PAGES, scripts, strict=True):
        (tmp_path / script).write_text(examples(page, tmp_path), encoding="utf-8")
    # What needs no Blender, without the settings of the project.
    for part in ("io_common", "io_iqm/format", "io_md2/format", "io_md3/format", "io_md5/format"):
        link = tmp_path / "io_idtech" / part
        for folder in (link.parent, tmp_path / "io_idtech"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "__init__.py").touch()
        link.symlink_to(ROOT / part, target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", *scripts],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def public_descriptions():
    """What the docstrings say about each public parameter, attribute and result that holds quaternions."""
    for name in md5.__all__:
        item = getattr(md5, name)
        text = inspect.getdoc(item) or ""
        fields = getattr(item, "__dataclass_fields__", None) if inspect.isclass(item) else None
        parameters = fields or (inspect.signature(item).parameters if inspect.isfunction(item) else {})
        for parameter in parameters:
            if re.search("orientation|quaternion", parameter) and "precision" not in parameter:
                yield f"{name}.{parameter}", parameter, text


QUATERNIONS = {name: (parameter, text) for name, parameter, text in public_descriptions()}


def test_there_are_public_parameters_that_hold_quaternions():
    assert {"compose.orientations", "Joints.orientations", "Camera.orientations"} <= set(QUATERNIONS)


@pytest.mark.parametrize(("parameter", "text"), QUATERNIONS.values(), ids=QUATERNIONS)
def test_docstrings_state_the_order_of_every_quaternion(parameter, text):
    described = re.search(rf"^ *{parameter}: (.*(?:\n {{8,}}.*)*)", text, re.MULTILINE)
    reference = re.search(r"see `(\w+)`", text)
    words = " ".join((described[1] if described else text).split())
    if described is None and "x y z" not in words and reference is not None:
        words = " ".join((inspect.getdoc(getattr(md5, reference[1])) or "").split())
    assert "x y z" in words
