"""Esc ends a long import or export in the real application, and an import is one step of undo."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from application import needs_application, run_driver
from paths import SAMPLES

from io_idtech.io_md5.format import read_animation, write_animation

pytestmark = needs_application

ANIMATIONS = 1500


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down."""
    folder = tmp_path_factory.mktemp("canceling")
    (folder / "exported").mkdir()
    sample = folder / "models" / "octopus"
    shutil.copytree(SAMPLES / "models" / "octopus", sample)
    swim = read_animation(sample / "swim.md5anim")
    for number in range(ANIMATIONS - 2):
        write_animation(swim, sample / f"swim{number}.md5anim")
    return run_driver("drive_canceling.py", folder, {}, sample=str(sample / "octopus.md5mesh"))


@pytest.mark.parametrize("name", ["import", "export"])
def test_escape_ends_it_within_a_second(session, name):
    assert len(session[f"{name} runs"]) == 1
    assert session[f"{name} ended after"] < 1.0


def test_a_canceled_import_leaves_nothing(session):
    assert session["after Esc"] == session["before"]


def test_a_canceled_export_writes_no_file_and_leaves_the_scene_as_it_was(session):
    assert session["exported"] == []
    assert session["unchanged"]
    assert session["after the export"] == session["redone"]


def test_an_import_that_was_done_in_turns_is_one_step_of_undo(session):
    assert session["imported"][1] == ANIMATIONS
    assert session["undone"] == session["before"]
    assert session["redone"] == session["imported"]
