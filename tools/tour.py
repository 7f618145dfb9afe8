"""Runs inside Blender, with its window: imports, plays, edits and exports the sample, and takes pictures of it.

``blender --python tour.py -- PLAN.json``; `pictures` starts it and puts the frames together.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import bpy
from mathutils import Quaternion

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "window"))

from screen import FOLDER, HEIGHT, PLAN, area, click, drive, results, show_tab, within, xdotool

SAMPLE = Path(PLAN["sample"])
LONG, SHORT = 1600, 120  # milliseconds
# Where things are on the screen.
MENU_ENTRY, SECOND_ROW, PLAY, CONFIRM = (200, 243), (890, 153), (805, 237), (1206, 757)
# The bones of an arm that are turned.
BENT = [f"tentacle1_{number}" for number in range(2, 6)]
mouse: tuple[float, float] | None = None
results["frames"] = []


def shoot(caption: str, duration: int) -> None:
    """Takes one frame of the picture."""
    name = f"frame{len(results['frames']):03d}.png"
    subprocess.run(["import", "-window", "root", str(FOLDER / name)], check=True)
    results["frames"].append({"name": name, "caption": caption, "duration": duration, "mouse": mouse})


def point(x: float, y: float) -> None:
    global mouse
    mouse = (round(x), round(y))
    xdotool("mousemove", *mouse)


def confirm(path: Path, caption: str) -> Iterator[float]:
    """In the file browser that an operator opened: shows it, gives the file and presses Enter."""
    yield 3.0
    parameters = area("FILE_BROWSER").spaces.active.params
    parameters.directory, parameters.filename = os.fsencode(path.parent), path.name
    area("FILE_BROWSER").tag_redraw()
    yield 2.0
    point(*CONFIRM)
    yield 1.0
    shoot(caption, LONG)
    browser = area("FILE_BROWSER")
    xdotool("mousemove", browser.x + browser.width // 2, HEIGHT - browser.y - browser.height // 2)
    yield 0.5
    xdotool("key", "Return")
    yield 3.0


def look_at_model() -> Iterator[float]:
    """Shows the textures, and waits until the engine has compiled its shaders."""
    with within("VIEW_3D"):
        bpy.context.space_data.shading.type = "MATERIAL"
        bpy.context.space_data.region_3d.view_rotation = (0.80, 0.46, 0.19, 0.33)
        bpy.ops.view3d.view_selected()
        bpy.context.space_data.region_3d.view_distance *= 1.15
        bpy.ops.object.select_all(action="DESELECT")
    yield 5.0
    while bpy.app.is_job_running("SHADER_COMPILATION"):
        yield 2.0
    area("VIEW_3D").tag_redraw()
    yield 3.0


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    global mouse
    yield 4.0
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    point(42, 14)
    yield 0.5
    with within("VIEW_3D"):
        bpy.ops.wm.call_menu(name="TOPBAR_MT_file_import")
    yield 2.0
    point(*MENU_ENTRY)
    yield 1.0
    shoot("1  Import", LONG)
    xdotool("key", "Escape")
    yield 1.0
    with within("VIEW_3D"):
        bpy.ops.import_scene.md5("INVOKE_DEFAULT", animations="FOLDER")
    yield from confirm(SAMPLE, "1  Import")
    mouse = None
    with within("VIEW_3D"):
        bpy.ops.object.select_all(action="SELECT")
    yield from show_tab("id Tech")
    yield from look_at_model()
    shoot("1  Import: the model with all its animations", LONG)
    click(*SECOND_ROW)
    point(*SECOND_ROW)
    yield 2.0
    shoot("2  Play: click an animation", LONG)
    point(*PLAY)
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end, 3):
        bpy.context.scene.frame_set(frame)
        yield 0.5
        shoot("2  Play", SHORT)
    yield from edit()
    with within("VIEW_3D"):
        bpy.ops.export_scene.md5mesh("INVOKE_DEFAULT", actions="ALL", game="DOOM3")
    yield from confirm(FOLDER / "exported" / SAMPLE.name, "4  Export for a game, compared with what Blender shows")
    mouse = None
    shoot("4  Export for a game, compared with what Blender shows", 2 * LONG)


def edit() -> Iterator[float]:
    """Bends an arm on one frame, in pose mode."""
    global mouse
    mouse = None
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    with within("VIEW_3D"):
        bpy.ops.object.select_all(action="DESELECT")
        armature.select_set(True)
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="POSE")
    bones = [armature.pose.bones[name] for name in BENT]
    armature.data.bones.active = bones[0].bone
    yield 3.0
    shoot("3  Edit", LONG)
    for _ in range(6):
        for bone in bones:
            bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1, 0, 0), -0.08)
        yield 0.5
        shoot("3  Edit", SHORT)
    for bone in bones:
        bone.keyframe_insert("rotation_quaternion")
    yield 1.0
    shoot("3  Edit: an untouched frame stays as it was in the file", LONG)
    with within("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 1.0


drive(steps())
