"""The real application with its window: the menu, the panels, a drop, the model, the timeline, the preferences.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from application import check_pictures, needs_application, run_driver
from paths import SAMPLES

pytestmark = needs_application

# What part of the picture each page shows: width, height, left, top.
CROPS = {
    "import": "1040x708+240+68",
    "export": "1040x708+240+68",
    "choose-export": "1040x708+240+68",
    "drop": "1048x740+0+28",
    "model": "1048x688+0+28",
    "timeline": "1280x800+0+0",
    "preferences": "873x388+172+275",
}
# The share of the screen that the textured sample covers, at least.
RED = 0.01


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("window")
    (folder / "exported").mkdir()
    sample = folder / "models" / "octopus"
    shutil.copytree(SAMPLES / "models" / "octopus", sample)
    return run_driver("drive.py", folder, CROPS, sample=str(sample / "octopus.md5mesh"), red=str(RED))


def test_every_picture_shows_something(session):
    assert set(session["pictures"]) == {"empty", "menu", *CROPS}
    assert all(picture["colors"] > 50 for picture in session["pictures"].values())


def test_the_menu_opens_over_the_empty_scene(session):
    folder = session["folder"]
    assert (folder / "menu.png").read_bytes() != (folder / "empty.png").read_bytes()


def test_enter_in_the_file_browser_imports_the_model_with_its_animations(session):
    assert session["imported"] == ["ARMATURE octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["actions"] == ["swim", "wave"]
    assert {"eye.png", "skin.png"} <= set(session["images"])


def test_the_textured_model_is_seen(session):
    pictures = session["pictures"]
    assert pictures["empty"]["red"] < RED < min(pictures["model"]["red"], pictures["timeline"]["red"])


def test_enter_in_the_file_browser_exports_the_model_with_its_animations(session):
    assert session["exported"] == ["octopus.md5mesh", "swim.md5anim", "wave.md5anim"]


def test_the_name_of_the_model_and_the_last_actions_of_the_same_armature_are_offered(session):
    assert session["offered"] == [["exported", "octopus.md5mesh", "ALL"], ["exported", "octopus.001.md5mesh", "NONE"]]


def test_animations_are_filtered_and_unchecked_with_the_mouse_and_the_others_exported(session):
    assert session["filtered and unchecked"] == ["walk", ["walk_fast", "walk_slow"]]
    assert session["unchecked"] == ["death", "walk_fast", "walk_slow"]
    assert session["chosen"] == ["attack.md5anim", "run.md5anim", "swim.md5anim", "wave.md5anim"]


def test_a_model_and_its_animation_dropped_onto_the_viewport_ask_for_options_and_are_imported(session):
    folder = session["folder"]
    assert (folder / "drop.png").read_bytes() != (folder / "empty.png").read_bytes()
    assert session["before the dialogue was answered"] == []
    assert session["dropped"] == ["ARMATURE octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["dropped actions"] == ["swim"]


def test_the_collection_exporter_in_the_properties_editor_writes_the_model(session):
    assert session["exported by its collection"] == ["collected.md5mesh"]


def test_the_sequences_of_an_md2_are_markers_in_the_timeline(session):
    assert session["markers"]["swim"] == 0
    assert 0 < session["markers"]["wave"] < session["frames"]


def test_the_pictures_of_the_documentation_show_the_present_interface(session):
    check_pictures(session, CROPS)


def test_the_button_and_the_online_manual_open_the_page_in_the_browser(session):
    page = (session["folder"] / "help" / "md5.html").as_uri()
    assert session["opened"] == [page, page, page]
