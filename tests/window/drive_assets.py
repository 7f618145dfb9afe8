"""Runs inside Blender, with its window: makes an asset library by the button, looks at it in the asset browser, drags a
character into the scene, and looks at the list of characters.

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

NAME = "monster_octopus_green"
# Where its picture is in the asset browser, and a row of the list of characters.
PICTURE, ROW = (979, 633), (140, 421)


def middle(place: bpy.types.Area) -> tuple[int, int]:
    return place.x + place.width // 2, HEIGHT - place.y - place.height // 2


def make(library: Path) -> Iterator[float]:
    """Chooses the folder of the library in the file browser, until the work has begun."""
    library.mkdir()
    with within("VIEW_3D"):
        bpy.ops.preferences.io_idtech_make_asset_library("INVOKE_DEFAULT", game=PLAN["game"])
    yield 2.0
    browser = area("FILE_BROWSER")
    browser.spaces.active.params.directory = os.fsencode(library)
    browser.tag_redraw()
    yield 1.5
    take("choosing")
    xdotool("mousemove", *middle(browser))
    yield 0.5
    xdotool("key", "Return")
    while not bpy.context.window.modal_operators:
        yield 0.05


def export(name: str) -> None:
    """Exports the character in the scene, from where an import places it."""
    armature = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    armature.location = (0.0, 0.0, -2.0)
    bpy.context.view_layer.objects.active = armature
    (FOLDER / name).mkdir()
    with within("VIEW_3D"):
        bpy.ops.export_scene.idtech_character(directory=str(FOLDER / name))


def clear() -> None:
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    clear()
    yield from make(FOLDER / "canceled")
    while not list((FOLDER / "canceled").rglob("*.blend")):
        yield 0.05
    take("making")
    xdotool("key", "Escape")
    while bpy.context.window.modal_operators:
        yield 0.05
    results["canceled"] = [path.name for path in sorted((FOLDER / "canceled").rglob("*.blend"))]
    bpy.context.preferences.filepaths.asset_libraries.remove(bpy.context.preferences.filepaths.asset_libraries[-1])
    yield from make(FOLDER / "library")
    while bpy.context.window.modal_operators:
        yield 0.1
    results["libraries"] = [library.name for library in bpy.context.preferences.filepaths.asset_libraries]
    bpy.context.preferences.addons[EXTENSION].preferences.game_folders.add().path = PLAN["game"]
    view = area("VIEW_3D")
    view.ui_type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "id Tech"
    bpy.ops.preferences.addon_expand(module=EXTENSION)
    yield 2.0
    take("preferences")
    view.ui_type = "VIEW_3D"
    with within("VIEW_3D"):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.45)
    yield 1.0
    places = [place for place in bpy.context.window.screen.areas if place.type == "VIEW_3D"]
    browser, view = sorted(places, key=lambda place: place.y)
    browser.ui_type = "ASSETS"
    yield 2.0
    browser.spaces.active.params.asset_library_reference = "library"
    view.spaces.active.shading.color_type = "TEXTURE"
    yield 5.0
    xdotool("mousemove", *PICTURE)
    yield 0.5
    xdotool("mousedown", 1)
    end = middle(view)
    for step in range(1, 11):
        xdotool("mousemove", *(round(a + (b - a) * step / 10) for a, b in zip(PICTURE, end, strict=True)))
        yield 0.1
    yield 1.0
    xdotool("mouseup", 1)
    yield 3.0
    with within("VIEW_3D"):
        bpy.ops.view3d.view_selected()
    yield 2.0
    take("asset-library")
    results["dropped"] = sorted(f"{obj.type} {obj.name}" for obj in bpy.context.scene.objects)
    results["actions"] = sorted(action.name for action in bpy.data.actions)
    export("dropped")
    clear()
    with within("VIEW_3D"):
        bpy.ops.import_scene.idtech_character(game=PLAN["game"], name=NAME)
    export("imported")
    with within("VIEW_3D"):
        bpy.ops.import_scene.idtech_character("INVOKE_DEFAULT", game=PLAN["game"])
    yield 4.0
    xdotool("mousemove", *ROW)
    yield 0.5
    xdotool("click", 1)
    yield 3.0
    take("list-with-pictures")


drive(steps())
