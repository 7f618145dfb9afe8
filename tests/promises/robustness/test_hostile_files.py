"""Valid files with extreme numbers, counts and depths."""

from __future__ import annotations

import bpy
import md2_samples
import md5_samples
import numpy as np
import pytest
from hostile_numbers import hostile_md2, with_hostile_numbers
from installed import read_empty_scene
from md5_samples import edited
from whole_state import whole_state

from io_idtech.io_md2.format import Md2Error, format_model

pytestmark = pytest.mark.slow

VERSION = "MD5Version 10\n"
NUMBERS = ["3.4e38", "-3.4e38", "1e30", "1e-38", "1e400", "nan", "-inf", "0", "99999999999999999999"]


def joints(names, parents):
    rows = "".join(
        f'"{name}" {parent} ( {index} 0 0 ) ( 0 0 0 )\n'
        for index, (name, parent) in enumerate(zip(names, parents, strict=True))
    )
    return f"{VERSION}joints {{\n{rows}}}\n"


def still(names, parents):
    rows = "".join(f'"{name}" {parent} 0 0\n' for name, parent in zip(names, parents, strict=True))
    return f"{VERSION}hierarchy {{\n{rows}}}\nbaseframe {{\n{'( 1 0 0 ) ( 0 0 0 )' * len(names)}\n}}\nframe 0 {{\n}}\n"


def numbered(count):
    return [f"joint {index}" for index in range(count)]


def load(tmp_path, name, text, **options):
    """Imports a file and looks at it; the words of the refusal, or nothing."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = whole_state()
    operator = bpy.ops.import_scene.md2 if name.endswith("md2") else bpy.ops.import_scene.md5
    try:
        assert operator(filepath=str(path), **options) == {"FINISHED"}
    except RuntimeError as error:
        text = str(error)
    else:
        bpy.context.evaluated_depsgraph_get().update()
        return ""
    assert whole_state() == before
    assert "internal error of the add-on" not in text
    return text


def export(tmp_path, kind):
    """Exports what is there, or is refused in words."""
    text = ""
    try:
        getattr(bpy.ops.export_scene, kind)(filepath=str(tmp_path / f"out.{kind}"))
    except RuntimeError as error:
        text = str(error)
    assert "internal error of the add-on" not in text


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "place",
    [
        '"hips"\t0 ( 0 1.5 24 )',
        "( 0 1.5 24 ) ( 0 0 0.7071067812 )",
        "weight 1 1 0.75 (",
        "( -4.5 0 6 )",
        "vert 1 ( 0.25 1 )",
    ],
    ids=["joint", "orientation", "bias", "weight", "coordinate"],
)
def test_a_model_with_an_extreme_number(tmp_path, number, place):
    digits = {"1.5": 2, "0.7071067812": 1, "0.75": 1, "-4.5": 1, "0.25": 1}
    word = next(word for word in digits if word in place)
    text = edited(md5_samples.MESH, place, place.replace(word, number))
    if not load(tmp_path, "extreme.md5mesh", text):
        export(tmp_path, "md5mesh")
        export(tmp_path, "md2")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("place", ["40 0.1", "0 1.75 25", "41 0.125"])
def test_an_animation_with_an_extreme_number(tmp_path, number, place):
    first = place.split()[0]
    text = edited(md5_samples.ANIMATION, f"\t{place}", f"\t{place.replace(first, number, 1)}")
    if not load(tmp_path, "extreme.md5anim", text):
        bpy.context.scene.frame_set(1)
        export(tmp_path, "md5anim")


@pytest.mark.parametrize("number", [*NUMBERS, "1e6", "0.0001"])
@pytest.mark.parametrize("place", ["frameRate 24"])
def test_a_frame_rate_beyond_blenders_range(tmp_path, number, place):
    text = edited(md5_samples.ANIMATION, place, f"frameRate {number}")
    load(tmp_path, "extreme.md5anim", text)
    read_empty_scene()
    load(tmp_path, "extreme.md5camera", edited(md5_samples.CAMERA, place, f"frameRate {number}"))


@pytest.mark.parametrize("number", [*NUMBERS, "180", "-90", "360", "0.0001"])
@pytest.mark.parametrize("place", ["80.5", "( 2 0 64 )", "0.25"])
def test_a_camera_with_an_extreme_number(tmp_path, number, place):
    text = edited(md5_samples.CAMERA, place, place.replace("2 0", f"{number} 0") if "(" in place else number)
    if not load(tmp_path, "extreme.md5camera", text):
        bpy.context.scene.frame_set(1)
        export(tmp_path, "md5camera")


@pytest.mark.parametrize("number", [1e36, -1e36, 1e-45, 0.0])
def test_an_md2_with_an_extreme_number(tmp_path, number):
    model = md2_samples.odd_model()
    model.scale[1, 0] = model.translate[2, 1] = number
    data = md2_samples.write_sample(tmp_path, model).read_bytes()
    if not load(tmp_path, "extreme.md2", data):
        bpy.context.scene.frame_set(1)
        export(tmp_path, "md2")


@pytest.mark.slow
def test_a_skeleton_as_deep_as_blender_can_show_and_one_deeper(tmp_path):
    count = 1000
    assert load(tmp_path, "deep.md5mesh", joints(numbered(count), range(-1, count - 1))) == ""
    assert len(bpy.data.armatures["deep"].bones) == count
    assert load(tmp_path, "deep.md5anim", still(numbered(count), range(-1, count - 1))) == ""
    read_empty_scene()
    for name, text in (
        ("deeper.md5mesh", joints(numbered(count + 1), range(-1, count))),
        ("deepest.md5mesh", joints(numbered(4000), range(-1, 3999))),
        ("deeper.md5anim", still(numbered(count + 1), range(-1, count))),
    ):
        assert "Parent chain too deep" in load(tmp_path, name, text)


def test_more_joints_meshes_and_frames_than_blender_can_show(tmp_path):
    many = joints(numbered(5000), [-1] * 5000)
    assert "Too many joints; found 5000" in load(tmp_path, "many.md5mesh", many)
    parts = joints(["origin"], [-1]) + "mesh { }\n" * 5000
    assert "Too many meshes; found 5000" in load(tmp_path, "parts.md5mesh", parts)
    model = md2_samples.odd_model()
    count = 10_001
    model.frame_names = ["frame"] * count
    for name in ("vertices", "normals", "scale", "translate"):
        setattr(model, name, np.repeat(getattr(model, name)[:1], count, axis=0))
    data = md2_samples.write_sample(tmp_path, model).read_bytes()
    assert "Too many frames for shape keys; found 10001" in load(tmp_path, "frames.md2", data)
    assert bpy.ops.import_scene.md2(filepath=str(tmp_path / "frames.md2"), animation="NONE") == {"FINISHED"}


def test_thousands_of_equal_names_are_told_apart(tmp_path):
    count = 3000
    assert load(tmp_path, "twins.md5mesh", joints(["twin"] * count, [-1, *[0] * (count - 1)])) == ""
    names = [bone.name for bone in bpy.data.armatures["twins"].bones]
    assert len(set(names)) == count
    assert {"twin", "twin.001", "twin.2999"} <= set(names)
    model = md2_samples.odd_model()
    model.frame_names = ["a name of sixteen"[:16]] * count
    for name in ("vertices", "normals", "scale", "translate"):
        setattr(model, name, np.repeat(getattr(model, name)[:1], count, axis=0))
    data = md2_samples.write_sample(tmp_path, model).read_bytes()
    assert load(tmp_path, "twins.md2", data) == ""
    assert len({key.name for key in bpy.context.object.data.shape_keys.key_blocks}) == count


@pytest.mark.slow
def test_many_meshes_of_many_shaders_beside_images(tmp_path):
    for index in range(20):
        (tmp_path / f"image{index}.tga").write_bytes(bytes(40))
    count = 1000
    text = joints(["origin"], [-1]) + "".join(f'mesh {{ shader "none/{index}" }}\n' for index in range(count))
    assert load(tmp_path, "many.md5mesh", text) == ""
    assert len(bpy.data.materials) == count


def everything_exported(tmp_path):
    """Exports all that can be, as it is and edited, or is refused in words."""
    kinds = {"ARMATURE": "md5anim", "CAMERA": "md5camera"}
    for is_edited in (False, True):
        if is_edited:
            for obj in bpy.data.objects:
                obj.scale = (1.0, 2.0, 1000.0)
                if obj.type == "MESH" and len(obj.data.vertices):
                    obj.data.vertices[0].co.x += 1.0
        for kind in dict.fromkeys(kinds[obj.type] for obj in bpy.data.objects if obj.type in kinds):
            export(tmp_path, kind)
        if any(obj.type == "MESH" for obj in bpy.data.objects):
            export(tmp_path, "md2")
            export(tmp_path, "md5mesh")


# What numpy warns of would appear on the console; it is an error in tests.
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("name", ["MESH", "OLD_MESH", "ANIMATION", "CAMERA"])
def test_numbers_near_the_limits_of_floats_cause_no_warning_of_numpy(tmp_path, name, seed):
    suffix = {"MESH": "md5mesh", "ANIMATION": "md5anim", "CAMERA": "md5camera"}[name.removeprefix("OLD_")]
    if name == "ANIMATION" and seed % 2:
        load(tmp_path, "model.md5mesh", md5_samples.MESH)
    text = with_hostile_numbers(getattr(md5_samples, name), seed)
    scale = [1.0, 0.0254, 1000.0][seed % 3]
    if not load(tmp_path, f"extreme.{suffix}", text, global_scale=scale):
        bpy.context.scene.frame_set(1)
        everything_exported(tmp_path)


@pytest.mark.parametrize("seed", range(30))
def test_md2_numbers_near_the_limits_of_floats_cause_no_warning_of_numpy(tmp_path, seed):
    try:
        data = format_model(hostile_md2(seed))
    except Md2Error:
        return
    if not load(tmp_path, "extreme.md2", data, global_scale=[1.0, 0.0254][seed % 2]):
        everything_exported(tmp_path)
