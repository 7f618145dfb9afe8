"""The command in the real application: `blender --command idtech`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from application import link_extension, needs_application, run_blender
from paths import SAMPLES

pytestmark = needs_application

ENABLE = """
import addon_utils, bpy
addon_utils.extensions_refresh(ensure_wheels=False)
addon_utils.enable("bl_ext.user_default.io_idtech", default_set=True)
bpy.ops.wm.save_userpref()
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user folder in whose preferences the extension is enabled."""
    folder = tmp_path_factory.mktemp("user")
    link_extension(folder)
    run_blender(folder, "--background", "--python-expr", ENABLE)
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_tree_is_converted_by_one_blender_or_several(user, tmp_path, jobs):
    # Two of them, as for one file no other Blender is started.
    for name in ("a", "b"):
        shutil.copytree(SAMPLES / "models" / "octopus", tmp_path / "in" / name)
    words = ("convert", tmp_path / "in", "--to", tmp_path / "out", "--format", "md5", "--animations", "same")
    ended = run_blender(user, "--command", "idtech", *words, "--jobs", jobs, "--force")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    made = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.md5*"))
    names = ("octopus.md5mesh", "swim.md5anim", "wave.md5anim")
    assert made == [f"{folder}/{name}" for folder in ("a", "b") for name in names]
    assert "converted  up to date  failed" in ended.stdout


def test_a_failure_sets_the_exit_status(user, tmp_path):
    bad = tmp_path / "bad.md5mesh"
    bad.write_text("no model")
    ended = run_blender(user, "--command", "idtech", "convert", bad, "--to", tmp_path / "out")
    assert ended.returncode == 1
    assert "bad.md5mesh: Not an md5mesh file" in ended.stdout


def test_info_is_given_as_json(user):
    ended = run_blender(user, "--command", "idtech", "info", "--json", SAMPLES)
    assert ended.returncode == 0
    (entry, *_) = json.loads(ended.stdout[ended.stdout.index("[\n") :])
    assert entry["joints"] == 59
