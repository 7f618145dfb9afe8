"""The list of characters in the real application: searched, clicked and imported; the panel of what was imported.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import game_folders
import pytest
from application import check_pictures, needs_application, run_driver
from paths import SAMPLES

pytestmark = needs_application

# What part of the picture the page shows: width, height, left, top.
CROPS = {
    "characters": "682x584+34+206",
    "character-animations": "682x692+34+98",
    "character": "600x490+236+200",
    "character-panel": "284x560+766+82",
}
MODEL = "models/md5/octopus"
DEF = f"""\
model monster_octopus {{
	mesh {MODEL}/octopus.md5mesh
	offset ( 0 0 -2 )
	anim swim {MODEL}/swim.md5anim {{ frame 10 sound_body octopus_swim }}
	anim wave {MODEL}/wave.md5anim {{ ai_no_turn }}
	anim pain1 {MODEL}/pain1.md5anim
}}
entityDef monster_octopus_base {{ "spawnclass" "idAI" "model" "monster_octopus" }}
entityDef monster_octopus_blue {{ "inherit" "monster_octopus_base" "skin" "skins/octopus/blue" }}
entityDef monster_octopus_green {{ "inherit" "monster_octopus_base" "skin" "skins/octopus/green" }}
"""
SKINS = "\n".join(
    f"skin skins/octopus/{name} {{ model {MODEL}/octopus.md5mesh models/octopus/skin models/octopus/{name} }}"
    for name in ("blue", "green")
)


def make_game(base: Path) -> Path:
    """A Doom 3 with the sample model and some loose ones."""
    shutil.copytree(SAMPLES / "models" / "octopus", base / MODEL)
    (base / "models/octopus").mkdir()
    for name in ("skin", "eye"):
        (base / MODEL / f"{name}.png").rename(base / "models/octopus" / f"{name}.png")
    # The image of the helper in other colors: blue, green and red of its four pixels are at the end.
    colors = {"blue": (200, 90, 40), "green": (60, 150, 60)}
    images = {
        f"models/octopus/{name}.tga": game_folders.IMAGE[:18] + bytes(color) * 4 for name, color in colors.items()
    }
    loose = {
        f"models/md5/{name}/{name}.md5mesh": game_folders.md5mesh(game_folders.BODY, f"models/{name}")
        for name in ("crab", "jelly", "squid")
    }
    return game_folders.loose(base, {"def/octopus.def": DEF, "skins/octopus.skin": SKINS, **images, **loose})


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Blender wrote down; its pictures lie in ``folder``."""
    folder = tmp_path_factory.mktemp("characters")
    return run_driver("drive_characters.py", folder, CROPS, game=str(make_game(folder / "base")))


def test_the_list_of_the_game_opens(session):
    folder = session["folder"]
    assert (folder / "characters.png").read_bytes() != (folder / "empty.png").read_bytes()


def test_the_character_that_was_searched_and_clicked_is_imported_with_the_animations_left_checked(session):
    """A click unchecks the first animation, swim; the files of pain1 are missing."""
    assert session["imported"] == ["ARMATURE monster_octopus", "MESH eye", "MESH eye.001", "MESH skin"]
    assert session["actions"] == ["wave"]


def test_the_pictures_of_the_documentation_show_the_present_interface(session):
    check_pictures(session, CROPS)
