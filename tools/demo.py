"""Imports models and animations in Blender, saves a .blend file and renders a picture; run by ``python run.py demo``.

    python tools/demo.py [FILE …] [--out FOLDER]

Without files, it imports the sample model. Animations are imported onto the MD5 model.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from itertools import product
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
SAMPLE = [ROOT / "samples" / "models" / "octopus" / name for name in ("octopus.md5mesh", "swim.md5anim")]
SAMPLES_PER_PIXEL = 48
SIZE = (800, 600)


def main() -> None:
    """Imports, saves and renders."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="models and animations (default: the sample model)")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="output folder (default: out)")
    options = parser.parse_args()
    files = [path.resolve() for path in options.files] or SAMPLE
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    importlib.import_module("io_idtech").register()
    import_files(files)
    name = files[0].stem
    options.out.mkdir(parents=True, exist_ok=True)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start + (scene.frame_end - scene.frame_start) // 4)
    set_up_scene(scene)
    blend, picture = options.out / f"{name}.blend", options.out / f"{name}.png"
    scene.render.filepath = str(picture)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    picture.unlink(missing_ok=True)
    bpy.ops.render.render(write_still=True)
    for made in (blend, picture):
        if not made.is_file():
            sys.exit(f"{made} was not written: see the messages above")
    print(f"Saved {blend}\nRendered {picture}")


def import_files(files: list[Path]) -> None:
    """Imports all files, models first."""
    for path in files:
        if not path.is_file():
            sys.exit(f"{path}: no such file")
    for family in importlib.import_module("io_idtech.families").FAMILIES:
        module, _, name = family.blender().importer.bl_idname.partition(".")
        importer = getattr(getattr(bpy.ops, module), name)
        own = [path for path in files if path.suffix.lower() in family.suffixes]
        for path in sorted(own, key=lambda path: path.suffix.lower() != family.suffixes[0]):
            importer(filepath=str(path))


def set_up_scene(scene: bpy.types.Scene, size: tuple[int, int] = SIZE) -> None:
    """Adds a floor, lights and a camera that shows the imported models; `size` is that of the picture, in pixels."""
    scene.render.resolution_x, scene.render.resolution_y = size
    low, high = bounds(scene)
    diagonal = float(np.linalg.norm(high - low))
    add_camera(scene, low, high)
    add_sun((math.radians(50.0), math.radians(-12.0), math.radians(35.0)), 3.2, 0.3)
    add_sun((math.radians(62.0), 0.0, math.radians(-120.0)), 0.7, 0.8)
    floor = bpy.data.meshes.new("Floor")
    edge = 40.0 * diagonal
    z = low[2] - 0.01 * diagonal
    floor.from_pydata([(-edge, -edge, z), (edge, -edge, z), (edge, edge, z), (-edge, edge, z)], [], [(0, 1, 2, 3)])
    material = bpy.data.materials.new("Floor")
    if material.node_tree is None:
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.33, 0.40, 0.46, 1.0)
    floor.materials.append(material)
    scene.collection.objects.link(bpy.data.objects.new("Floor", floor))
    world = scene.world or bpy.data.worlds.new("World")
    scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.55, 0.65, 0.75, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.55
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES_PER_PIXEL
    scene.view_settings.view_transform = "Standard"


def bounds(scene: bpy.types.Scene) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the bounding box of all meshes at the current frame, in world space."""
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for obj in scene.objects:
        if obj.type == "MESH":
            evaluated = obj.evaluated_get(graph)
            points += [np.array(evaluated.matrix_world @ Vector(corner)) for corner in evaluated.bound_box]
    if not points:
        sys.exit("there is no mesh to render")
    cloud = np.array(points)
    return cloud.min(axis=0), cloud.max(axis=0)


def add_camera(scene: bpy.types.Scene, low: np.ndarray, high: np.ndarray) -> None:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    size = float(np.linalg.norm(high - low))
    camera.data.lens = 60.0
    camera.data.clip_end = 100.0 * size
    # Models face +X.
    direction = Vector((1.0, -0.55, 0.42)).normalized()
    camera.rotation_euler = (-direction).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    corners = [value for corner in product(*zip(low, high, strict=True)) for value in corner]
    position, _ = camera.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), corners)
    camera.location = position + direction * 0.12 * size


def add_sun(rotation: tuple[float, float, float], strength: float, angle: float) -> None:
    light = bpy.data.lights.new("Sun", "SUN")
    light.energy, light.angle = strength, angle
    sun = bpy.data.objects.new("Sun", light)
    sun.rotation_euler = rotation
    bpy.context.scene.collection.objects.link(sun)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Blender may hang on a normal exit.
    os._exit(0)
