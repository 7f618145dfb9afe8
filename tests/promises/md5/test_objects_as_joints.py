"""Scenes without an armature: objects that move become joints, and play in the file as in Blender."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest
from clouds import distance
from installed import read_empty_scene

from io_idtech.io_md5.format import read_animation, read_mesh

FRAMES = range(1, 13)


def add_box(name, location, parent=None, scale=(1.0, 1.0, 1.0)):
    bpy.ops.mesh.primitive_cube_add(location=location)
    box = bpy.context.object
    box.name = name
    box.scale = scale
    box.parent = parent
    return box


def key(obj, channel, first, last):
    for frame, value in ((FRAMES[0], first), (FRAMES[-1], last)):
        setattr(obj, channel, value)
        obj.keyframe_insert(channel, frame=frame)


def door():
    """Three keyed objects, of which one is scaled unevenly, and a frame that stands still."""
    add_box("frame", (0, 0, 0))
    key(add_box("left", (-2, 0, 0), scale=(1, 0.1, 3)), "location", (-2, 0, 0), (-4, 0, 0))
    key(add_box("right", (2, 0, 0)), "location", (2, 0, 0), (4, 1, 0))
    key(add_box("handle", (2, 1, 0)), "rotation_euler", (0, 0, 0), (0, radians(80), 0))


def turret():
    """A base with a head that turns, on which a barrel tilts."""
    base = add_box("base", (0, 0, 0))
    head = add_box("head", (0, 0, 2), base)
    barrel = add_box("barrel", (2, 0, 0), head, (2, 0.2, 0.2))
    key(head, "rotation_euler", (0, 0, 0), (0, 0, radians(170)))
    key(barrel, "rotation_euler", (0, 0, 0), (0, radians(-40), 0))


def machine():
    """A wheel that a driver turns, and a crank that is not a mesh above a rod."""
    wheel = add_box("wheel", (0, 0, 0))
    curve = wheel.driver_add("rotation_euler", 1)
    curve.driver.expression = "frame * 0.2"
    crank = bpy.data.objects.new("crank", None)
    bpy.context.collection.objects.link(crank)
    crank.parent = wheel
    crank.location = (0, 0, 3)
    add_box("rod", (0, 0, 1), crank)


def export(folder, **options):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.frame_set(FRAMES[0])
    path = folder / "model.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(path), actions="SCENE", game="DOOM3", **options)
    return path


def shown():
    """The corners of all meshes in the scene, by object and frame."""
    result = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for obj in bpy.context.scene.objects:
            if obj.type == "MESH":
                mesh = obj.evaluated_get(graph).to_mesh()
                points = np.array([obj.evaluated_get(graph).matrix_world @ one.co for one in mesh.vertices])
                result.setdefault(frame, []).append(points)
    return {frame: np.concatenate(points) for frame, points in result.items()}


@pytest.mark.parametrize("build", [door, turret, machine])
def test_moving_objects_are_played_in_the_file_as_in_blender(tmp_path, build):
    build()
    path = export(tmp_path)
    expected = shown()
    read_empty_scene()
    bpy.ops.import_scene.md5(
        filepath=str(path), files=[{"name": path.name}, {"name": "model.md5anim"}], directory=str(tmp_path),
        frame_start=FRAMES[0], use_textures=False,
    )  # fmt: skip
    found = shown()
    for frame in FRAMES:
        assert distance(expected[frame], found[frame]) < 1e-4
    assert np.ptp(np.stack([found[frame].sum(axis=0) for frame in FRAMES]), axis=0).max() > 0.1


def test_joints_are_named_after_objects_and_hang_on_their_parents(tmp_path):
    turret()
    joints = read_mesh(export(tmp_path)).joints
    parents = {name: joints.names[parent] for name, parent in zip(joints.names, joints.parents, strict=True)}
    assert joints.names == ["origin", "base", "head", "barrel"]
    assert (parents["base"], parents["head"], parents["barrel"]) == ("origin", "base", "head")
    assert read_animation(tmp_path / "model.md5anim").frame_count == len(FRAMES)


def test_what_stands_still_is_bound_to_the_origin(tmp_path):
    door()
    model = read_mesh(export(tmp_path))
    assert model.joints.names == ["origin", "handle", "left", "right"]
    used = [set(mesh.weight_joints.tolist()) for mesh in model.meshes]
    assert sorted(map(sorted, used)) == [[0], [1], [2], [3]]


def test_objects_that_do_not_move_are_exported_with_one_joint(tmp_path):
    add_box("child", (0, 0, 2), add_box("parent", (0, 0, 0)))
    path = tmp_path / "model.md5mesh"
    bpy.ops.export_scene.md5mesh(filepath=str(path), actions="NONE")
    assert read_mesh(path).joints.names == ["origin"]


def test_without_the_option_everything_is_bound_to_one_joint(tmp_path):
    turret()
    assert read_mesh(export(tmp_path, objects_as_joints=False)).joints.names == ["origin"]
    assert not (tmp_path / "model.md5anim").exists()


def test_an_object_without_size_is_an_error_that_names_it(tmp_path):
    key(add_box("plate", (0, 0, 0)), "scale", (0, 1, 1), (1, 1, 1))
    with pytest.raises(RuntimeError, match="plate has a scale of 0 on the current frame"):
        export(tmp_path)


def exported_warnings(tmp_path, capfd):
    capfd.readouterr()
    export(tmp_path)
    return capfd.readouterr().out


def test_a_warning_names_the_unevenly_scaled_parent_that_shears_an_object(tmp_path, capfd):
    base = add_box("base", (0, 0, 0), scale=(2, 1, 0.5))
    key(add_box("knob", (1, 1, 0), base), "rotation_euler", (0, 0, 0), (0, 0, radians(80)))
    told = exported_warnings(tmp_path, capfd)
    cause = "base is scaled unevenly (2, 1, 0.5), which shears what turns below it (knob): apply its scale"
    assert told.count(cause) > told.count(f"Likely cause: {cause}") > 0
    for other in ("scaled over time", "scaled in the animation", "bones", "modifiers"):
        assert other not in told


def test_a_warning_names_the_object_that_is_scaled_over_time(tmp_path, capfd):
    box = add_box("door", (3, 0, 0))
    add_box("knob", (4, 1, 0), box)
    key(box, "scale", (1, 1, 1), (2, 2, 2))
    told = exported_warnings(tmp_path, capfd)
    assert "objects are scaled over time, which joints cannot be: door" in told
    assert "modifiers" not in told


def test_nothing_of_the_scene_changes(tmp_path):
    turret()
    bpy.context.scene.frame_set(5)
    before = {obj.name: (obj.matrix_world.copy(), obj.animation_data) for obj in bpy.data.objects}
    path = tmp_path / "model.md5anim"
    bpy.ops.export_scene.md5anim(filepath=str(path))
    assert bpy.context.scene.frame_current == 5
    assert {name: bpy.data.objects[name].matrix_world for name in before} == {n: m for n, (m, _) in before.items()}
    assert not bpy.data.armatures
