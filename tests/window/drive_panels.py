"""Runs inside Blender, with its window: chooses animations in the file browser, and works in the panels MD5 and MD2.

``blender --python drive_panels.py -- PLAN.json``; see `screen`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import PLAN, area, click, drive, results, take, within, xdotool

SAMPLE = Path(PLAN["sample"])


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    with within("VIEW_3D"):
        bpy.ops.import_scene.md5("INVOKE_DEFAULT", animations="CHOOSE", nla_tracks=True)
    yield 3.0
    browser = area("FILE_BROWSER")
    parameters = browser.spaces.active.params
    parameters.directory = os.fsencode(SAMPLE.parent)
    parameters.filename = SAMPLE.name
    browser.tag_redraw()
    yield 3.0
    take("choose")
    # The filter, the check box of the second row that is left, the button.
    click(1184, 164)
    yield 0.5
    xdotool("type", "wa*")
    xdotool("key", "Return")
    yield 1.0
    xdotool("mousemove", 1057, 240)
    yield 1.0
    xdotool("click", 1)
    yield 1.0
    xdotool("mousemove", 700, 500)
    yield 1.0
    take("choose-filtered")
    results["before the import"] = [obj.name for obj in bpy.data.objects]
    click(1206, 757)
    yield 4.0
    results["chosen"] = sorted(action.name for action in bpy.data.actions)
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    results["muted"] = {
        track.name: [strip.mute for strip in track.strips] for track in armature.animation_data.nla_tracks
    }
    # A Properties editor that is as high as the viewport.
    with within("VIEW_3D"):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.7)
    yield 1.0
    window = bpy.context.window_manager.windows[0]
    views = [place for place in window.screen.areas if place.type == "VIEW_3D"]
    min(views, key=lambda place: place.width).type = "PROPERTIES"
    bpy.context.view_layer.objects.active = armature
    yield 2.0
    # The header of the panel MD5, then the second row of its list.
    yield from show("DATA", (830, 528), "panel-armature")
    results["first"] = armature.animation_data.action.name
    click(830, 397)
    yield 2.0
    results["clicked"] = armature.animation_data.action.name
    take("panel-armature-clicked")
    armature.data.bones.active = armature.data.bones[1]
    yield from show("BONE", (830, 256), "panel-bone")
    # The Action Editor, in place of the viewport.
    editor = area("VIEW_3D")
    editor.type = "DOPESHEET_EDITOR"
    editor.spaces.active.mode = "ACTION"
    editor.spaces.active.show_region_ui = True
    yield 2.0
    sidebar = next(region for region in editor.regions if region.type == "UI")
    if hasattr(sidebar, "active_panel_category"):
        sidebar.active_panel_category = "Action"
    editor.tag_redraw()
    yield 2.0
    take("panel-action")
    editor.type = "VIEW_3D"
    yield 1.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    with within("VIEW_3D"):
        bpy.ops.import_scene.md2(filepath=PLAN["md2"])
    yield 2.0
    yield from show("DATA", (830, 680), "panel-md2")
    click(830, 453)
    yield 2.0
    results["sequence"] = [bpy.context.scene.frame_start, bpy.context.scene.frame_end]
    take("panel-md2-clicked")
    # The button with the shape key of the frame.
    xdotool("mousemove", 913, 609)
    yield 1.0
    xdotool("click", 1)
    yield 1.0
    results["selected key"] = bpy.context.view_layer.objects.active.active_shape_key.name


def show(kind: str, header: tuple[int, int], picture: str) -> Iterator[float]:
    """A tab of the Properties editor with all panels closed but one, whose header is at a pixel."""
    properties = area("PROPERTIES")
    properties.spaces.active.context = kind
    properties.tag_redraw()
    yield 2.0
    xdotool("mousemove", *header)
    yield 1.0
    xdotool("keydown", "ctrl")
    yield 0.5
    xdotool("click", 1)
    yield 0.5
    xdotool("keyup", "ctrl")
    yield 2.0
    take(picture)


drive(steps())
