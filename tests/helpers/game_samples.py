"""Small game folders for the tests, made by code: images in the games' formats, a square model, renders of it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import bpy
import numpy as np

RED, GREEN, BLUE, YELLOW = (200, 30, 20), (20, 160, 30), (30, 40, 190), (210, 190, 40)
WHITE, BLACK, GREY = (255, 255, 255), (0, 0, 0), (128, 128, 128)


def quarters(upper_left, upper_right, lower_left, lower_right, size=16):
    """An image (size, size, channels) of four colors, the top row first."""
    cells = np.array([[upper_left, upper_right], [lower_left, lower_right]], dtype=np.uint8)
    return cells.repeat(size // 2, axis=0).repeat(size // 2, axis=1)


def plain(color, size=8):
    return np.full((size, size, len(color)), color, dtype=np.uint8)


def png(pixels):
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">2I5B", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def tga(pixels):
    """Uncompressed, the lowest row first, blue before green before red."""
    height, width, channels = pixels.shape
    order = [2, 1, 0, 3][:channels]
    head = struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, width, height, 8 * channels, 8 if channels == 4 else 0)
    return head + pixels[::-1, :, order].tobytes()


def pcx(pixels):
    """8 bits with a palette, not encoded."""
    height, width = pixels.shape[:2]
    palette, indices = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    head = struct.pack("<4B4H2H", 10, 5, 0, 8, 0, 0, width - 1, height - 1, 72, 72) + bytes(49)
    head = (head + struct.pack("<B2H", 1, width, 1)).ljust(128, b"\0")
    table = palette.astype(np.uint8).tobytes().ljust(768, b"\0")
    return head + indices.reshape(height, width).astype(np.uint8).tobytes() + b"\x0c" + table


def square(*shaders):
    """An md5mesh of squares of 2 x 2 that look along +X, one above the other, each with a whole image on it."""
    blocks = []
    for index, shader in enumerate(shaders):
        corners = ((0, 0, -1, 1), (1, 0, 1, 1), (1, 1, 1, -1), (0, 1, -1, -1))
        verts = [f"vert {i} ( {s} {t} ) {i} 1" for i, (s, t, _, _) in enumerate(corners)]
        weights = [f"weight {i} 0 1 ( 0 {y} {z + 2 * index} )" for i, (_, _, y, z) in enumerate(corners)]
        tris = ["tri 0 0 1 2", "tri 1 0 2 3"]
        lines = [f'shader "{shader}"', "numverts 4", *verts, "numtris 2", *tris, "numweights 4", *weights]
        blocks.append("mesh {\n\t" + "\n\t".join(lines) + "\n}\n")
    joints = 'joints {\n\t"origin"\t-1 ( 0 0 0 ) ( 0 0 0 )\n}\n'
    return f'MD5Version 10\ncommandline ""\nnumJoints 1\nnumMeshes {len(shaders)}\n' + joints + "".join(blocks)


def write(folder: Path, files: dict[str, bytes | str]) -> Path:
    """Writes files into a folder; returns the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def archive(path: Path, files: dict[str, bytes | str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)


def light_evenly():
    """White light from everywhere: a surface without highlights has exactly the colors of its image."""
    world = bpy.data.worlds.new("Even")
    if world.node_tree is None:
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (1, 1, 1, 1)
    bpy.context.scene.world = world


def light_from(rotation, strength=3.0):
    """One sun; it shines down and is turned by these Euler angles."""
    world = bpy.data.worlds.new("Dark")
    if world.node_tree is None:
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0, 0, 0, 1)
    bpy.context.scene.world = world
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = strength
    sun.rotation_euler = rotation
    bpy.context.scene.collection.objects.link(sun)


def render(path: Path, size=48, margin=1.0, samples=16):
    """What is seen of the scene's meshes from +X, without perspective: sRGB and alpha 0...1, the top row first."""
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    points = [
        obj.matrix_world @ vertex.co for obj in scene.objects if obj.type == "MESH" for vertex in obj.data.vertices
    ]
    cloud = np.array(points)
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = float((high - low)[1:].max()) * margin
    reach = float((high - low).max()) + 1.0
    camera.data.clip_end = 4 * reach
    middle = (low + high) / 2
    camera.location = (high[0] + reach, middle[1], middle[2])
    camera.rotation_euler = (np.pi / 2, 0, np.pi / 2)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = False
    scene.cycles.max_bounces = 8
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.film_transparent = True
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGBA"
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(str(path))
    pixels = np.empty(size * size * 4, dtype=np.float32)
    picture.pixels.foreach_get(pixels)
    bpy.data.images.remove(picture)
    bpy.data.objects.remove(camera)
    return pixels.reshape(size, size, 4)[::-1]


def region(pixels, top, bottom, left, right):
    """The mean RGBA of a part of a picture; borders as fractions of its sides."""
    height, width = pixels.shape[:2]
    part = pixels[int(top * height) : int(bottom * height), int(left * width) : int(right * width)]
    return part.reshape(-1, 4).mean(axis=0)


def black_png(side: int) -> bytes:
    """A square PNG of one bit for each pixel, which is small whatever its side is."""
    head = struct.pack(">2I5B", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((side // 8 + 1) * side))
    chunks = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
