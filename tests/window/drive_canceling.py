"""Runs inside Blender, with its window: ends a long import and a long export with Esc, and undoes an import.

``blender --python drive_canceling.py -- PLAN.json``; see `screen`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import HEIGHT, PLAN, area, drive, results, take, within, xdotool

SAMPLE = Path(PLAN["sample"])


def start(path: Path) -> Iterator[float]:
    """Gives the file browser a file and presses Enter."""
    yield 2.0
    browser = area("FILE_BROWSER")
    parameters = browser.spaces.active.params
    parameters.directory, parameters.filename = os.fsencode(path.parent), path.name
    browser.tag_redraw()
    yield 1.5
    xdotool("mousemove", browser.x + browser.width // 2, HEIGHT - browser.y - browser.height // 2)
    yield 0.5
    xdotool("key", "Return")


def counts() -> list[int]:
    return [len(bpy.data.objects), len(bpy.data.actions), len(bpy.data.scenes)]


def escape(name: str) -> Iterator[float]:
    """Presses Esc once the job is seen, and notes how long it takes until the operator has ended."""
    while not bpy.context.window.modal_operators:
        yield 0.05
    results[f"{name} runs"] = [found.bl_idname for found in bpy.context.window.modal_operators]
    yield 1.0
    take(name)
    began = time.monotonic()
    xdotool("key", "Escape")
    while bpy.context.window.modal_operators:
        yield 0.02
    results[f"{name} ended after"] = time.monotonic() - began
    yield 1.0
    take(f"{name} after")


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 3.0
    results["before"] = counts()
    with within("VIEW_3D"):
        bpy.ops.import_scene.md5("INVOKE_DEFAULT", animations="FOLDER")
    yield from start(SAMPLE)
    yield from escape("import")
    results["after Esc"] = counts()
    with within("VIEW_3D"):
        bpy.ops.import_scene.md5("INVOKE_DEFAULT", True, animations="FOLDER")
    yield from start(SAMPLE)
    while not bpy.context.window.modal_operators:
        yield 0.05
    while bpy.context.window.modal_operators:
        yield 0.1
    yield 0.5
    results["imported"] = counts()
    with within("VIEW_3D"):
        bpy.ops.ed.undo()
    yield 1.0
    results["undone"] = counts()
    with within("VIEW_3D"):
        bpy.ops.ed.redo()
    yield 1.0
    results["redone"] = counts()
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = armature
    before = armature.animation_data.action.name, bpy.context.scene.frame_current
    with within("VIEW_3D"):
        bpy.ops.export_scene.md5mesh("INVOKE_DEFAULT", actions="ALL")
    yield from start(Path(PLAN["folder"]) / "exported" / SAMPLE.name)
    yield from escape("export")
    results["exported"] = os.listdir(Path(PLAN["folder"]) / "exported")
    results["unchanged"] = before == (armature.animation_data.action.name, bpy.context.scene.frame_current)
    results["after the export"] = counts()


drive(steps())
