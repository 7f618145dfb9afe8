"""Runs inside Blender, with its window: plays the sequences of a player of Quake III, and exports him.

``blender --python drive_players.py -- PLAN.json``, see `screen`. The places are those on a screen of 1280 by 800.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import FOLDER, PLAN, area, click, drive, results, show_tab, take, within, xdotool

# The second row of the list, BOTH_DEAD1.
ROW = (880, 245)


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    with within("VIEW_3D"):
        bpy.ops.import_scene.idtech_character(game=PLAN["game"], name="boxer", weapon=PLAN["weapon"])
        bpy.ops.view3d.view_all()
    yield 2.0
    yield from show_tab("id Tech")
    take("panel-player")
    with within("VIEW_3D"):
        bpy.ops.object.md3_play_sequence(sequence="BOTH_DEATH1")
    yield 1.0
    take("player-both")
    click(*ROW)
    yield 2.0
    take("player-clicked")
    tracks = [bpy.data.objects[name].animation_data.nla_tracks for name in ("tag_torso", "tag_weapon")]
    results["played"] = [track[-1].strips[0].name.partition(".")[0] for track in tracks]
    with within("VIEW_3D"):
        bpy.ops.export_scene.idtech_character("INVOKE_DEFAULT")
    yield 3.0
    browser = area("FILE_BROWSER")
    (FOLDER / "out").mkdir()
    browser.spaces.active.params.directory = os.fsencode(FOLDER / "out")
    browser.tag_redraw()
    yield 2.0
    take("export-player")
    xdotool("mousemove", 600, 300)
    yield 0.5
    xdotool("key", "Return")
    yield 4.0


drive(steps())
