"""The list of characters in the real application: searched, clicked and imported; the panel of what was imported.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder.
"""

from __future__ import annotations

from typing import Any

import octopus_game
import pytest
from application import check_pictures, needs_application, run_driver

pytestmark = needs_application

# What part of the picture the page shows: width, height, left, top.
CROPS = {
    "characters": "682x584+34+206",
    "character-animations": "682x692+34+98",
    "character": "600x490+236+200",
    "character-panel": "284x560+766+82",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("characters")
    return run_driver("drive_characters.py", folder, CROPS, game=str(octopus_game.make_game(folder / "base")))


def test_the_list_of_the_game_opens(session):
    folder = session["folder"]
    assert (folder / "characters.png").read_bytes() != (folder / "empty.png").read_bytes()


def test_the_character_that_was_searched_and_clicked_is_imported_with_the_animations_left_checked(session):
    """A click unchecks the first animation, swim; the files of pain1 are missing."""
    assert session["imported"] == ["ARMATURE monster_octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["actions"] == ["wave"]


def test_the_pictures_of_the_documentation_show_the_present_interface(session):
    check_pictures(session, CROPS)
