"""Rendered characters look as in the game: nothing is missing, black or in front that the game does not draw.

With ``IO_IDTECH_PICTURES`` the pictures of the documentation are made anew in that folder; look at them.
"""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import figure_samples
import numpy as np
import pytest
from installed import read_empty_scene
from mathutils import Vector

SIZE = int(os.environ.get("IO_IDTECH_PICTURE_SIZE", "96"))


def stage(tmp_path: Path, name: str, target, distance: float, engine: str = "CYCLES") -> np.ndarray:
    """A picture of the scene before a gray wall, seen from the front left: sRGB 0...1, the top row first."""
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_plane_add(size=400, location=(-30, 0, 0), rotation=(0, np.pi / 2, 0))
    wall = bpy.data.materials.new("Wall")
    wall.diffuse_color = (0.3, 0.3, 0.32, 1)
    if wall.node_tree is None:
        wall.use_nodes = True
    wall.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.25, 0.25, 0.27, 1)
    bpy.context.object.data.materials.append(wall)
    world = bpy.data.worlds.new("World")
    if world.node_tree is None:
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.4, 0.4, 0.45, 1)
    scene.world = world
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 2.5, (0.5, 0.6, 0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = Vector(target) + Vector((0.85, 0.45, 0.25)).normalized() * distance
    camera.rotation_euler = (Vector(target) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.clip_end = 4 * distance
    for obj in (sun, camera):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.render.engine = engine
    scene.cycles.samples = 16
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    folder = Path(os.environ.get("IO_IDTECH_PICTURES", tmp_path))
    scene.render.filepath = str(folder / f"{name}.png")
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(scene.render.filepath)
    pixels = np.empty(SIZE * SIZE * 4, dtype=np.float32)
    picture.pixels.foreach_get(pixels)
    return pixels.reshape(SIZE, SIZE, 4)[::-1, :, :3]


def share(pixels: np.ndarray, condition) -> float:
    """The share of a picture's pixels with a color."""
    red, green, blue = np.moveaxis(pixels, 2, 0)
    return float(condition(red, green, blue).mean())


def red_coat(red, green, blue):
    return (red > 1.7 * green) & (red > 1.7 * blue) & (red > 0.2)


def skin(red, green, blue):
    return (red > 0.45) & (red > 1.1 * green) & (green > 0.3)


def blue_trousers(red, green, blue):
    return (blue > 1.4 * red) & (blue > 0.15)


@pytest.mark.slow
def test_a_person_has_head_hair_coat_and_a_light_that_shines(tmp_path):
    game = figure_samples.person(tmp_path / "game")
    bpy.ops.import_scene.idtech_character(game=str(game), name="person")
    pixels = stage(tmp_path, "character-rendered", (6, 4, 36), 125)
    third = SIZE // 3
    assert share(pixels[:third], skin) > 0.01
    assert share(pixels, red_coat) > 0.03
    assert share(pixels, blue_trousers) > 0.01
    # Of the beam, before the wall and the trousers: yellow is added to them.
    assert share(pixels, lambda r, g, b: (r > 1.05 * b) & (g > b) & (g > 0.85 * r)) > 0.005
    # A black plate, or the shell that the game does not draw, would be dark.
    assert share(pixels, lambda r, g, b: r + g + b < 0.1) < 0.02


def test_a_window_filters_and_a_field_adds_light(tmp_path):
    game = figure_samples.person(tmp_path / "game")
    bpy.ops.import_scene.idtech_character(game=str(game), name="person/panes.md5mesh")
    pixels = stage(tmp_path, "character-blends", (0, 0, 0), 80)
    wall = pixels[:4].mean(axis=(0, 1))
    middle = pixels[SIZE // 2 - 8 : SIZE // 2 + 8]
    left, right = middle[:, : SIZE // 2 - 8], middle[:, SIZE // 2 + 8 :]
    assert left[..., 2].min() < 0.6 * wall[2] < right[..., 2].max()
    assert right.min(axis=(0, 1))[0] > 0.8 * wall[0]


@pytest.mark.slow
def test_a_player_of_quake_ii_holds_his_weapon(tmp_path):
    game = figure_samples.person(tmp_path / "base")
    bpy.ops.import_scene.idtech_character(game=str(game), name="person")
    folder = tmp_path / "baseq2/players/hero"
    folder.mkdir(parents=True)
    objects = {obj.name: obj for obj in bpy.data.objects if obj.type == "MESH"}
    for file, shaders in (("tris", ("coat", "trousers", "skin")), ("weapon", ("metal",))):
        bpy.ops.object.select_all(action="DESELECT")
        for obj in objects.values():
            obj.select_set(any(obj.active_material.name.endswith(shader) for shader in shaders))
        bpy.ops.export_scene.md2(filepath=str(folder / f"{file}.md2"), use_selection=True)
    (folder / "red.tga").write_bytes((game / "person/coat.tga").read_bytes())
    (folder / "weapon.tga").write_bytes((game / "person/trousers.tga").read_bytes())
    read_empty_scene()
    bpy.ops.import_scene.idtech_character(game=str(tmp_path / "baseq2"), name="hero")
    pixels = stage(tmp_path, "character-quake2", (0, 0, 36), 125)
    assert share(pixels, red_coat) > 0.05
    assert share(pixels, blue_trousers) > 0.002
