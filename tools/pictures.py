"""Makes the pictures for Blender's extension platform and the README; run by ``python run.py pictures``.

The featured image is the sample model in three poses of an animation, 1920 by 1080. The icon is one pose, 256 by 256.
The previews are the screenshots of the documentation, enlarged on a plain ground of 1920 by 1080. The moving picture of
the README shows the application, which has to be installed as for ``python run.py window``.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import demo
import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(demo.ROOT / "tests" / "window"))

import application

IMAGES = demo.ROOT / "docs" / "images"
# Frames of the animation, and where their copies stand, in widths of the model.
SIZE = (1920, 1080)
MARGIN = 40  # pixels around a screenshot
GROUND = (0.19, 0.19, 0.19, 1.0)
SCREENSHOTS = ("import", "timeline", "export")
TOUR_SIZE, TOUR_CAPTION = (960, 600), 40  # pixels; the caption is below the screen
LARGEST_TOUR = 2_000_000  # bytes
POINTER = [(0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12)]
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
    save_tour(IMAGES / "tour.webp")


def save_tour(target: Path) -> None:
    """Saves the moving picture: the sample is imported, played, edited and exported in the window."""
    if reason := application.missing():
        print(f"{target} stays as it is: {reason}")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "exported").mkdir()
        shutil.copytree(demo.SAMPLE[0].parent, folder / "models" / "octopus")
        sample = folder / "models" / "octopus" / demo.SAMPLE[0].name
        found = application.run_driver(demo.ROOT / "tools" / "tour.py", folder, {}, sample=str(sample))
        frames = [tour_frame(folder / frame["name"], frame) for frame in found["frames"]]
    durations = [frame["duration"] for frame in found["frames"]]
    frames[0].save(
        target, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=60, method=6
    )  # fmt: skip
    size = target.stat().st_size
    print(f"Saved {target}: {len(frames)} frames, {sum(durations) / 1000:.0f} s, {size:,} bytes")
    if size > LARGEST_TOUR:
        sys.exit(f"{target} has more than {LARGEST_TOUR:,} bytes")


def tour_frame(path: Path, frame: dict[str, Any]) -> Image.Image:
    """A picture of the screen with the pointer, and what the user does below it."""
    screen = Image.open(path).convert("RGB")
    if frame["mouse"]:
        x, y = frame["mouse"]
        # The pointer of the screen is not in its picture.
        ImageDraw.Draw(screen).polygon([(x + 1.5 * right, y + 1.5 * down) for right, down in POINTER], "white", "black")
    width, height = TOUR_SIZE
    picture = Image.new("RGB", (width, height + TOUR_CAPTION), (24, 24, 24))
    picture.paste(screen.resize(TOUR_SIZE, Image.Resampling.LANCZOS))
    font = ImageFont.load_default(20)
    ImageDraw.Draw(picture).text((16, height + TOUR_CAPTION / 2), frame["caption"], "white", font, anchor="lm")
    return picture


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
