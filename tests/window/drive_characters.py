"""Runs inside Blender, with its window: finds a character in the list of a game, imports it, and looks at its panel.

``blender --python drive_characters.py -- PLAN.json``, as `drive.py`. The places are those on a screen of 1280 by 800.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy

PLAN = json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text(encoding="utf-8"))
FOLDER = Path(PLAN["folder"])
EXTENSION = "bl_ext.user_default.io_idtech"
# Where the mouse is when the dialog opens, and what it clicks then.
START, SEARCH, FIRST_ROW, IMPORT = (640, 330), (500, 343), (140, 397), (542, 773)
ANIMATIONS, FIRST_ANIMATION = (60, 721), (58, 568)
results: dict[str, Any] = {}


def area(kind: str) -> bpy.types.Area:
    window = bpy.context.window_manager.windows[0]
    return max((place for place in window.screen.areas if place.type == kind), key=lambda place: place.width)


def within(kind: str) -> Any:
    place = area(kind)
    region = next(found for found in place.regions if found.type == "WINDOW")
    window = bpy.context.window_manager.windows[0]
    return bpy.context.temp_override(window=window, area=place, region=region)


def xdotool(*words: object) -> None:
    subprocess.run(["xdotool", *map(str, words)], check=True)


def take(name: str) -> None:
    subprocess.run(["import", "-window", "root", str(FOLDER / f"{name}.png")], check=True)


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
    place = area("PROPERTIES")
    place.spaces.active.context = "OBJECT"
    with within("PROPERTIES"):
        bpy.ops.screen.screen_full_area(use_hide_panels=False)
    yield 3.0
    take("character-panel")
    for name, crop in PLAN["crops"].items():
        subprocess.run(
            ["convert", str(FOLDER / f"{name}.png"), "-crop", crop, "+repage", "-strip", "-dither", "None",
             "-colors", "255", str(FOLDER / "pages" / f"{name}.png")],
            check=True,
        )  # fmt: skip


def run() -> float | None:
    try:
        return next(STEPS)
    except StopIteration:
        pass
    except Exception:
        results["error"] = traceback.format_exc()
    (FOLDER / "results.json").write_text(json.dumps(results), encoding="utf-8")
    os._exit(0)


view = bpy.context.preferences.view
view.show_splash = False
view.show_tooltips = False
addon_utils = import_module("addon_utils")
addon_utils.extensions_refresh(ensure_wheels=False)
addon_utils.enable(EXTENSION, default_set=True)
STEPS = steps()
bpy.app.timers.register(run, first_interval=1.0)
