"""Runs inside Blender, with its window: makes an asset library by the button, looks at it in the asset browser, and
drags a character into the scene.

``blender --python drive_assets.py -- PLAN.json``, see `screen`. The places are those on a screen of 1280 by 800.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import EXTENSION, FOLDER, HEIGHT, PLAN, area, drive, results, take, within, xdotool

LIBRARY = FOLDER / "library"


def middle(place: bpy.types.Area) -> tuple[int, int]:
    return place.x + place.width // 2, HEIGHT - place.y - place.height // 2


def make() -> Iterator[float]:
    """Chooses the folder of the library and waits until it is made."""
    with within("VIEW_3D"):
        bpy.ops.preferences.io_idtech_make_asset_library("INVOKE_DEFAULT", game=PLAN["game"])
    yield 2.0
    browser = area("FILE_BROWSER")
    browser.spaces.active.params.directory = os.fsencode(LIBRARY)
    browser.tag_redraw()
    yield 1.5
    take("choosing")
    xdotool("mousemove", *middle(browser))
    yield 0.5
    xdotool("key", "Return")
    while not bpy.context.window.modal_operators:
        yield 0.05
    yield 2.0
    take("making")
    while bpy.context.window.modal_operators:
        yield 0.1


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    LIBRARY.mkdir()
    bpy.context.preferences.addons[EXTENSION].preferences.game_folders.add().path = PLAN["game"]
    yield from make()
    libraries = bpy.context.preferences.filepaths.asset_libraries
    results["libraries"] = [library.name for library in libraries]
    with within("VIEW_3D"):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.45)
    yield 1.0
    views = sorted(
        (place for place in bpy.context.window.screen.areas if place.type == "VIEW_3D"), key=lambda one: one.y
    )
    browser, view = views
    browser.ui_type = "ASSETS"
    yield 2.0
    browser.spaces.active.params.asset_library_reference = "library"
    view.spaces.active.shading.color_type = "TEXTURE"
    yield 4.0
    take("asset-browser")
    results["places"] = [
        (place.type, place.x, place.y, place.width, place.height) for place in bpy.context.window.screen.areas
    ]
    start, end = PLAN["asset"].split(), middle(view)
    xdotool("mousemove", *start)
    yield 0.5
    xdotool("mousedown", 1)
    for step in range(1, 11):
        xdotool("mousemove", *(round(int(a) + (b - int(a)) * step / 10) for a, b in zip(start, end, strict=True)))
        yield 0.1
    yield 1.0
    xdotool("mouseup", 1)
    yield 3.0
    results["dropped"] = sorted(f"{obj.type} {obj.name}" for obj in bpy.context.scene.objects)
    results["actions"] = sorted(action.name for action in bpy.data.actions)
    results["places of roots"] = [list(obj.location) for obj in bpy.context.scene.objects if obj.parent is None]
    take("dropped")
    if results["dropped"]:
        out = FOLDER / "exported"
        out.mkdir()
        bpy.context.view_layer.objects.active = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
        with within("VIEW_3D"):
            bpy.ops.export_scene.idtech_character(directory=str(out))
    with within("VIEW_3D"):
        bpy.ops.import_scene.idtech_character("INVOKE_DEFAULT", game=PLAN["game"])
    yield 4.0
    xdotool("mousemove", 140, 420)
    yield 0.5
    xdotool("click", 1)
    yield 3.0
    take("list-with-pictures")


drive(steps())
