"""A game with the sample model, for tests in the window."""

from __future__ import annotations

import shutil
from pathlib import Path

import game_folders
from paths import SAMPLES

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
