"""The summary of an import says how to see textures, if the viewports do not show them; bones are seen."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import md5_scenes
import pytest

SOLID = SimpleNamespace(shading=SimpleNamespace(type="SOLID", color_type="MATERIAL"))
TEXTURED = SimpleNamespace(shading=SimpleNamespace(type="SOLID", color_type="TEXTURE"))
PREVIEW = SimpleNamespace(shading=SimpleNamespace(type="MATERIAL", color_type="MATERIAL"))
TEXTURES = "Textures: choose Material Preview"


@pytest.fixture
def hints(part, tmp_path):
    bpy.ops.import_scene.md5(filepath=str(md5_scenes.write(tmp_path)))
    objects = list(bpy.context.selected_objects)
    return lambda *spaces: part("io_blender.state").viewing_hints(spaces, objects)


def add_image():
    material = bpy.data.materials[0]
    material.node_tree.nodes.new("ShaderNodeTexImage")


def test_textures_that_a_viewport_does_not_show(hints):
    add_image()
    assert hints(SOLID) == hints(PREVIEW, SOLID) == [TEXTURES]
    assert hints(PREVIEW) == hints(TEXTURED) == []


def test_without_images_there_is_nothing_to_choose(hints):
    assert hints(SOLID) == []


def test_bones_are_seen_through_the_mesh(hints):
    armatures = [obj for obj in bpy.context.selected_objects if obj.type == "ARMATURE"]
    assert [(obj.show_in_front, obj.data.display_type) for obj in armatures] == [(True, "STICK")]


def test_without_a_viewport_there_are_no_hints(hints):
    add_image()
    assert hints() == []
