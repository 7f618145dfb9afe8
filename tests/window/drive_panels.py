"""Runs inside Blender, with its window: chooses animations in the file browser, and works in the tab id Tech.

``blender --python drive_panels.py -- PLAN.json``; see `screen`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import PLAN, area, click, drive, results, show_tab, take, within, xdotool

SAMPLE = Path(PLAN["sample"])
# Of the list in the tab, and the button below it.
SECOND_ROW, SELECT_KEY = (890, 153), (890, 310)


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
    yield from show_tab("id Tech")
    take("panel-armature")
    results["first"] = armature.animation_data.action.name
    click(*SECOND_ROW)
    yield 2.0
    results["clicked"] = armature.animation_data.action.name
    take("panel-armature-clicked")
    armature.data.bones.active = armature.data.bones[1]
    area("PROPERTIES").spaces.active.context = "BONE"
    yield 2.0
    take("panel-bone")
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
    yield from show_tab("id Tech")
    click(*SECOND_ROW)
    yield 2.0
    results["sequence"] = [bpy.context.scene.frame_start, bpy.context.scene.frame_end]
    take("panel-md2-clicked")
    # The button with the shape key of the frame.
    xdotool("mousemove", *SELECT_KEY)
    yield 1.0
    xdotool("click", 1)
    yield 1.0
    results["selected key"] = bpy.context.view_layer.objects.active.active_shape_key.name


drive(steps())
