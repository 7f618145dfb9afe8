"""Makes the pictures for Blender's extension platform; run by ``python run.py pictures``.

The featured image is the sample model in three poses of an animation, 1920 by 1080. The icon is one pose, 256 by 256.
The previews are the screenshots of the documentation, enlarged on a plain ground of 1920 by 1080.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import bpy
import demo
import numpy as np

IMAGES = demo.ROOT / "docs" / "images"
# Frames of the animation, and where their copies stand, in widths of the model.
SIZE = (1920, 1080)
MARGIN = 40  # pixels around a screenshot
GROUND = (0.19, 0.19, 0.19, 1.0)
SCREENSHOTS = ("import", "timeline", "export")
POSES = [(6, 0.0, 0.0), (30, -0.75, 0.95), (18, -0.75, -0.95)]


def main() -> None:
    """Makes all pictures."""
    for name in SCREENSHOTS:
        save_preview(IMAGES / f"{name}.png", IMAGES / f"preview-{name}.jpg")
    for poses, size, name in ((POSES, SIZE, "featured.jpg"), (POSES[:1], (256, 256), "icon.png")):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        demo.import_files(demo.SAMPLE)
        pose_copies(bpy.context.scene, poses)
        points = world_points(bpy.context.scene)
        demo.set_up_scene(bpy.context.scene, size)
        frame(bpy.context.scene, points)
        if name.endswith(".png"):
            bpy.data.objects["Floor"].hide_render = True
            bpy.context.scene.render.film_transparent = True
            bpy.context.scene.render.image_settings.color_mode = "RGBA"
        else:
            bpy.context.scene.render.image_settings.file_format = "JPEG"
            bpy.context.scene.render.image_settings.quality = 88
        bpy.context.scene.render.filepath = str(IMAGES / name)
        bpy.ops.render.render(write_still=True)
        print(f"Rendered {IMAGES / name}")


def save_preview(source: Path, target: Path) -> None:
    """Saves a screenshot in the size of the platform."""
    screenshot = bpy.data.images.load(str(source))
    ratio = min((room - 2 * MARGIN) / size for room, size in zip(SIZE, screenshot.size, strict=True))
    screenshot.scale(*(round(size * ratio) for size in screenshot.size))
    width, height = screenshot.size
    pixels = np.empty(4 * width * height, np.float32)
    screenshot.pixels.foreach_get(pixels)
    whole = np.empty((SIZE[1], SIZE[0], 4), np.float32)
    whole[:] = GROUND
    x, y = (SIZE[0] - width) // 2, (SIZE[1] - height) // 2
    whole[y : y + height, x : x + width] = pixels.reshape(height, width, 4)
    picture = bpy.data.images.new(target.stem, *SIZE)
    picture.pixels.foreach_set(whole.ravel())
    picture.file_format = "JPEG"
    picture.filepath_raw = str(target)
    picture.save()
    print(f"Saved {target}")


def pose_copies(scene: bpy.types.Scene, poses: list[tuple[int, float, float]]) -> None:
    """Replaces what is in the scene by copies of it as it is on the given frames."""
    imported = list(scene.objects)
    low, high = demo.bounds(scene)
    width = float(np.max(high - low))
    for frame, x, y in poses:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for obj in (obj for obj in imported if obj.type == "MESH"):
            mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(graph), depsgraph=graph)
            copy = bpy.data.objects.new(f"{obj.name} {frame}", mesh)
            copy.matrix_world = obj.matrix_world
            copy.location += type(copy.location)((x * width, y * width, 0.0))
            scene.collection.objects.link(copy)
    for obj in imported:
        bpy.data.objects.remove(obj)


def world_points(scene: bpy.types.Scene) -> np.ndarray:
    """The vertices of all meshes in the scene's space, (N, 3)."""
    bpy.context.view_layer.update()
    points = []
    for obj in scene.objects:
        local = np.empty(3 * len(obj.data.vertices), np.float32)
        obj.data.vertices.foreach_get("co", local)
        matrix = np.array(obj.matrix_world)
        points.append(local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(points)


def frame(scene: bpy.types.Scene, points: np.ndarray) -> None:
    """Moves the camera so that the points fill the picture but for a margin."""
    graph = bpy.context.evaluated_depsgraph_get()
    location, _ = scene.camera.camera_fit_coords(graph, points.ravel().tolist())
    middle = type(location)(points.mean(axis=0))
    scene.camera.location = location + 0.06 * (location - middle)


if __name__ == "__main__":
    importlib.import_module("io_idtech").register()
    main()
    sys.stdout.flush()
    # Blender's own exit may hang.
    os._exit(0)
