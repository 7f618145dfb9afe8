"""Runs inside Blender, with its window: works as a user does, takes pictures, and writes down what came of it.

``blender --python drive.py -- PLAN.json``; the plan says where the samples are and where the results go. Pictures are
of the whole screen, by ImageMagick: Blender's own screenshot is black without a graphics card.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from screen import EXTENSION, FOLDER, PLAN, area, drive, results, take, within, xdotool

SAMPLE = Path(PLAN["sample"])
PATIENCE = 120.0


def clear() -> None:
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    for collection in bpy.context.scene.collection.children_recursive[1:]:
        bpy.data.collections.remove(collection)
    bpy.data.orphans_purge()


def browse(path: Path, picture: str) -> Iterator[float]:
    """In the file browser that an operator opened: shows the panel, gives the file and presses Enter."""
    yield 3.0
    parameters = area("FILE_BROWSER").spaces.active.params
    parameters.directory = os.fsencode(path.parent)
    parameters.filename = path.name
    area("FILE_BROWSER").tag_redraw()
    yield 2.0
    take(picture)
    browser = area("FILE_BROWSER")
    xdotool("mousemove", browser.x + browser.width // 2, 800 - browser.y - browser.height // 2)
    yield 0.5
    xdotool("key", "Return")
    yield 3.0


def frame_model() -> None:
    with within("VIEW_3D"):
        space = bpy.context.space_data
        space.shading.type = "MATERIAL"
        space.region_3d.view_rotation = (0.80, 0.46, 0.19, 0.33)
        bpy.ops.object.select_all(action="SELECT")
    for place in bpy.context.window_manager.windows[0].screen.areas:
        if place.type == "VIEW_3D":
            region = next(found for found in place.regions if found.type == "WINDOW")
            with bpy.context.temp_override(area=place, region=region):
                bpy.ops.view3d.view_selected()


def model_picture(name: str) -> Iterator[float]:
    """Until the engine has compiled its shaders, the textures are not to be seen."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        area("VIEW_3D").tag_redraw()
        yield 3.0
        if bpy.app.is_job_running("SHADER_COMPILATION"):
            continue
        if take(name)["red"] > float(PLAN["red"]):
            break
    # The last text of the viewport goes with the next redraw.
    area("VIEW_3D").tag_redraw()
    yield 3.0
    take(name)


def make_sequences(armature: bpy.types.Object) -> Path:
    """Both animations of the sample in a row, as an MD2 with a sequence for each."""
    scene = bpy.context.scene
    track = armature.animation_data.nla_tracks.new()
    actions = sorted((action for action in bpy.data.actions), key=lambda action: action.name)
    armature.animation_data.action = None
    start = 0
    for action in actions:
        length = round(action.frame_range[1] - action.frame_range[0])
        track.strips.new(action.name, start, action)
        scene.timeline_markers.new(action.name.split(".")[0], frame=start)
        start += length + 1
    scene.frame_start, scene.frame_end = 0, start - 1
    path = SAMPLE.with_suffix(".md2")
    bpy.ops.export_scene.md2(filepath=str(path), frames="SCENE", frame_step=2)
    return path


def press(x: int, y: int) -> Iterator[float]:
    xdotool("mousemove", x, y)
    yield 1.0
    xdotool("click", 1)
    yield 1.5


def offer(armature: bpy.types.Object) -> Iterator[float]:
    """What the dialog offers after an export of all actions: for the same armature, and for a second one."""
    before = {block for data in (bpy.data.objects, bpy.data.collections, bpy.data.actions) for block in data}
    bpy.ops.import_scene.md5(filepath=str(SAMPLE))
    other = bpy.context.view_layer.objects.active
    results["offered"] = []
    for owner in (armature, other):
        bpy.context.view_layer.objects.active = owner
        with within("VIEW_3D"):
            # With undo it is called as by a menu, so that Blender gives the options of the last export.
            bpy.ops.export_scene.md5mesh("INVOKE_DEFAULT", True)
        yield 3.0
        browser = area("FILE_BROWSER")
        space = browser.spaces.active
        folder = Path(os.fsdecode(space.params.directory)).name
        results["offered"].append([folder, space.params.filename, space.active_operator.actions])
        xdotool("mousemove", browser.x + browser.width // 2, 800 - browser.y - browser.height // 2)
        yield 0.5
        xdotool("key", "Escape")
        yield 2.0
    for data in (bpy.data.objects, bpy.data.collections, bpy.data.actions):
        for block in [block for block in data if block not in before]:
            data.remove(block)
    bpy.context.view_layer.objects.active = armature


def choose(armature: bpy.types.Object) -> Iterator[float]:
    """The list of animations in the file browser: filtered, partly unchecked, and what is checked exported."""
    folder = FOLDER / "chosen"
    folder.mkdir()
    (folder / "swim.md5anim").touch()
    names = ("attack", "death", "run", "walk_fast", "walk_slow")
    copies = [bpy.data.actions["swim"].copy() for _ in names]
    for copy, name in zip(copies, names, strict=True):
        copy.name = name
    with within("VIEW_3D"):
        bpy.ops.export_scene.md5anim("INVOKE_DEFAULT", actions="LIST")
    yield 3.0
    browser = area("FILE_BROWSER")
    parameters = browser.spaces.active.params
    parameters.directory, parameters.filename = os.fsencode(folder), "octopus.md5anim"
    # Where things are among the options.
    search, buttons, first_row = 239, 263, 291
    yield from press(1100, search)
    xdotool("type", "--delay", 60, "walk")
    yield 1.0
    xdotool("key", "Return")
    yield 1.5
    yield from press(1070, buttons)
    stored = armature.io_idtech_animations
    results["filtered and unchecked"] = [stored.name_filter, [row.name for row in stored.rows if not row.is_checked]]
    stored.name_filter = ""
    browser.tag_redraw()
    yield 1.5
    yield from press(1055, first_row + 21)
    results["unchecked"] = [row.name for row in stored.rows if not row.is_checked]
    take("choose-export")
    xdotool("mousemove", browser.x + browser.width // 2, 400)
    yield 0.5
    xdotool("key", "Return")
    yield 4.0
    results["chosen"] = sorted(path.name for path in folder.iterdir() if path.stat().st_size)
    for copy in copies:
        bpy.data.actions.remove(copy)


def export_by_collection() -> Iterator[float]:
    """The button of a collection's exporter."""
    (FOLDER / "collected").mkdir()
    child = bpy.context.view_layer.layer_collection.children[-1]
    bpy.context.view_layer.active_layer_collection = child
    with within("PROPERTIES"):
        bpy.context.space_data.context = "COLLECTION"
        bpy.ops.collection.exporter_add(name="IO_FH_md5")
    child.collection.exporters[0].export_properties.filepath = str(FOLDER / "collected" / "collected.md5mesh")
    yield 2.0
    with within("PROPERTIES"):
        bpy.ops.collection.exporter_export(index=0)
    results["exported by its collection"] = sorted(path.name for path in (FOLDER / "collected").iterdir())


def drop() -> Iterator[float]:
    """What Blender does when files are let go over the viewport: it calls its own operator for that."""
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    names = [SAMPLE.name, "swim.md5anim"]
    place = area("VIEW_3D")
    xdotool("mousemove", place.x + place.width // 2, 800 - place.y - 3 * place.height // 4)
    yield 1.0
    with within("VIEW_3D"):
        bpy.ops.wm.drop_import_file(
            "INVOKE_DEFAULT", directory=str(SAMPLE.parent), files=[{"name": name} for name in names]
        )
    yield 3.0
    take("drop")
    results["before the dialogue was answered"] = [obj.name for obj in bpy.data.objects]
    xdotool("key", "Return")
    yield 4.0
    results["dropped"] = sorted(f"{obj.type} {obj.name}" for obj in bpy.data.objects)
    results["dropped actions"] = sorted(action.name for action in bpy.data.actions)


def open_documentation() -> None:
    """Opens the documentation: by the button, and by *Online Manual* on the import and on one of its options.

    A script stands in for the web browser.
    """
    documentation = import_module(f"{EXTENSION}.io_blender.operators.documentation")
    documentation.FOLDER = FOLDER / "help"
    documentation.FOLDER.mkdir()
    (documentation.FOLDER / "md5.html").write_text("a page", encoding="utf-8")
    browser, opened = FOLDER / "browser", FOLDER / "opened.txt"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    os.environ["BROWSER"] = f"{browser} %s"
    bpy.ops.wm.io_idtech_help(page="md5.html")
    bpy.ops.wm.doc_view_manual(doc_id="import_scene.md5")
    bpy.ops.wm.doc_view_manual(doc_id="IMPORT_SCENE_OT_md5.merge_vertices")
    results["opened"] = opened.read_text(encoding="utf-8").split() if opened.exists() else []


def show_preferences() -> Iterator[float]:
    """The add-on's own, in place of the viewport."""
    bpy.context.window.workspace = bpy.data.workspaces["Layout"]
    yield 2.0
    preferences = bpy.context.preferences
    folder = preferences.addons[EXTENSION].preferences.game_folders.add()
    game = Path(tempfile.gettempdir()) / "doom3" / "base"
    (game / "models").mkdir(parents=True, exist_ok=True)
    folder.path = str(game)
    bpy.context.window_manager.addon_search = "id Tech"
    preferences.active_section = "ADDONS"
    place = area("VIEW_3D")
    place.type = "PREFERENCES"
    yield 2.0
    bpy.ops.preferences.addon_expand(module=EXTENSION)
    place.tag_redraw()
    yield 2.0
    take("preferences")


def steps() -> Iterator[float]:
    """All that the user does; each yield waits so many seconds."""
    yield 4.0
    clear()
    take("empty")
    xdotool("mousemove", 42, 14)
    yield 0.5
    with within("VIEW_3D"):
        bpy.ops.wm.call_menu(name="TOPBAR_MT_file_import")
    yield 2.0
    take("menu")
    xdotool("key", "Escape")
    yield 1.0

    with within("VIEW_3D"):
        bpy.ops.import_scene.md5("INVOKE_DEFAULT", animations="FOLDER")
    yield from browse(SAMPLE, "import")
    results["imported"] = sorted(f"{obj.type} {obj.name}" for obj in bpy.data.objects)
    results["actions"] = sorted(action.name for action in bpy.data.actions)
    results["images"] = sorted(image.name for image in bpy.data.images if image.has_data or image.size[0])
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    armature.show_in_front = True
    bpy.context.scene.frame_set(12)
    frame_model()
    with within("VIEW_3D"):
        bpy.ops.object.select_all(action="DESELECT")
    yield from model_picture("model")

    with within("VIEW_3D"):
        bpy.ops.export_scene.md5mesh("INVOKE_DEFAULT", actions="ALL")
    yield from browse(FOLDER / "exported" / SAMPLE.name, "export")
    results["exported"] = sorted(path.name for path in (FOLDER / "exported").iterdir())

    yield from offer(armature)
    yield from choose(armature)
    yield from export_by_collection()

    model = make_sequences(armature)
    clear()
    yield from drop()
    clear()
    for marker in list(bpy.context.scene.timeline_markers):
        bpy.context.scene.timeline_markers.remove(marker)
    bpy.context.window.workspace = bpy.data.workspaces["Animation"]
    yield 2.0
    with within("VIEW_3D"):
        bpy.ops.import_scene.md2(filepath=str(model))
    results["markers"] = {mark.name: mark.frame for mark in bpy.context.scene.timeline_markers}
    # The game shows one skin at a time; another one is chosen like any material.
    skins = {name: material for name, material in bpy.data.materials.items() if "skin" in name}
    bpy.context.object.data.materials[0] = skins[min(skins)]
    results["frames"] = len(bpy.context.object.data.shape_keys.key_blocks)
    frame_model()
    bpy.context.scene.frame_set(6)
    with within("DOPESHEET_EDITOR"):
        bpy.ops.action.view_all()
    yield from model_picture("timeline")
    open_documentation()
    yield from show_preferences()


drive(steps())
