"""Runs inside Blender, with its window: finds a character in the list of a game, imports it, and looks at its panel.

``blender --python drive_characters.py -- PLAN.json``, see `screen`. The places are those on a screen of 1280 by 800.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import EXTENSION, PLAN, drive, results, show_tab, take, within, xdotool

# Where the mouse is when the dialog opens, and what it clicks then.
START, SEARCH, FIRST_ROW, IMPORT = (640, 330), (500, 343), (140, 397), (542, 773)
ANIMATIONS, FIRST_ANIMATION = (60, 721), (58, 568)


def click(place: tuple[int, int]) -> Iterator[float]:
    xdotool("mousemove", *place)
    yield 0.5
    xdotool("click", 1)
    yield 1.5


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.context.preferences.addons[EXTENSION].preferences.game_folders.add().path = PLAN["game"]
    xdotool("mousemove", *START)
    yield 1.0
    take("empty")
    with within("VIEW_3D"):
        bpy.ops.import_scene.idtech_character("INVOKE_DEFAULT", game="base")
    yield 4.0
    take("characters")
    yield from click(SEARCH)
    xdotool("type", "--delay", 60, "octopus green")
    yield 1.0
    xdotool("key", "Return")
    yield 1.5
    yield from click(FIRST_ROW)
    take("found")
    yield from click(ANIMATIONS)
    yield from click(FIRST_ANIMATION)
    take("character-animations")
    yield from click(IMPORT)
    yield 4.0
    results["imported"] = sorted(f"{obj.type} {obj.name}" for obj in bpy.data.objects)
    results["actions"] = sorted(action.name for action in bpy.data.actions)
    with within("VIEW_3D"):
        bpy.context.space_data.shading.color_type = "TEXTURE"
        bpy.ops.object.idtech_character_animation(animation="wave")
    bpy.context.scene.frame_set(14)
    yield 3.0
    take("character")
    yield from show_tab("id Tech")
    take("character-panel")


drive(steps())
