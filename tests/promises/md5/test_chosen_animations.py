"""The list of animations of an armature: what is checked is exported, with the poses that Blender shows."""

from __future__ import annotations

import bpy
import md5_scenes
import numpy as np
import pytest
import scripted_scenes
from clouds import distance
from scripted_scenes import file_vertices, shown_vertices

from io_idtech.io_md5.format import read_animation, read_mesh

COUNT = 40


def imported(folder, count=COUNT):
    """Imports a model with animations of different lengths, poses and rates; returns its armature."""
    joints = md5_scenes.skeleton()
    animations = {
        f"walk{index:02}": md5_scenes.animation(
            joints, frames=1 + index % 5, rate=24.0 + index, moving=("spine", "leg.L", "head")[index % 3 :]
        )
        for index in range(count)
    }
    path = md5_scenes.write(folder, "imp", **animations)
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    return bpy.context.view_layer.objects.active


def push_down(armature, *, offset=0, muted=True):
    """Makes an NLA strip of each action on a track of its own, at its own frames plus an offset for each."""
    data = armature.animation_data
    slot = getattr(data, "action_slot", None)
    data.action = None
    for index, action in enumerate(sorted(bpy.data.actions, key=lambda action: action.name)):
        track = data.nla_tracks.new()
        strip = track.strips.new(action.name, round(action.frame_range[0]) + offset * index, action)
        if slot is not None:
            strip.action_slot = action.slots[0]
        track.mute = muted


def export(folder, source, **options):
    """Exports what is checked in the list; returns the animations by name."""
    bpy.ops.object.io_idtech_list_animations(source=source)
    folder.mkdir(exist_ok=True)
    bpy.ops.export_scene.md5anim(filepath=str(folder / "chosen.md5anim"), actions="LIST", **options)
    return {path.stem: read_animation(path) for path in folder.glob("*.md5anim")}


def curves_of(action):
    """The F-curves of an action in any version."""
    return action.layers[0].strips[0].channelbags[0].fcurves if hasattr(action, "layers") else action.fcurves


@pytest.mark.slow
def test_import_and_forty_muted_strips_and_export_give_the_same_files(tmp_path):
    armature = imported(tmp_path)
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "x.md5anim"), actions="ALL")
    expected = {path.name: path.read_bytes() for path in tmp_path.glob("walk*.md5anim")}
    push_down(armature)
    (tmp_path / "out").mkdir()
    assert len(export(tmp_path / "out", "STRIPS")) == COUNT
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == expected


def test_animations_imported_onto_nla_tracks_are_exported_to_the_same_files(tmp_path):
    joints = md5_scenes.skeleton()
    names = ("walk", "run to.left", "n" * 80, "caf\u00e9", "a")
    animations = {name: md5_scenes.animation(joints, frames=1 + 3 * index) for index, name in enumerate(names)}
    path = md5_scenes.write(tmp_path, "imp", **animations)
    (tmp_path / "plain").mkdir()
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER")
    bpy.ops.export_scene.md5anim(filepath=str(tmp_path / "plain" / "x.md5anim"), actions="ALL")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.md5(filepath=str(path), animations="FOLDER", nla_tracks=True)
    assert sorted(export(tmp_path / "out", "STRIPS")) == sorted(names)
    for file in (tmp_path / "plain").iterdir():
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("constrained", [False, True], ids=["keys alone", "with a constraint"])
@pytest.mark.parametrize("muted", [True, False], ids=["muted", "all playing"])
def test_each_strip_is_played_alone_at_its_place_in_the_scene(tmp_path, muted, constrained):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    if constrained:
        armature.pose.bones["tip"].constraints.new("LIMIT_SCALE")
    armature.animation_data.action.copy().name = "Copy"
    keys = curves_of(bpy.data.actions["Copy"])[0]
    for point in keys.keyframe_points:
        point.co.y *= -2.0
    push_down(armature, offset=30, muted=muted)
    first, second = (track.strips[0] for track in armature.animation_data.nla_tracks)
    first.scale = 2.0
    before = [(track.mute, track.is_solo) for track in armature.animation_data.nla_tracks]
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "model.md5mesh"))
    bpy.context.scene.frame_set(5)
    shown_before = shown_vertices([obj])
    clips = export(tmp_path / "out", "STRIPS", verify="ALL")
    assert np.array_equal(shown_before, shown_vertices([obj]))
    assert before == [(track.mute, track.is_solo) for track in armature.animation_data.nla_tracks]
    assert [clips[strip.name].frame_count for strip in (first, second)] == [19, 10]
    model = read_mesh(tmp_path / "model.md5mesh")
    for strip, other in ((first, second), (second, first)):
        other.mute, strip.mute = True, False
        for track in armature.animation_data.nla_tracks:
            track.mute = strip not in list(track.strips)
        # Blender evaluates what was muted once anything is assigned.
        armature.animation_data.action = None
        for frame in (0, 3, clips[strip.name].frame_count - 1):
            bpy.context.scene.frame_set(round(strip.frame_start) + frame)
            seen, written = shown_vertices([obj]), file_vertices(model, clips[strip.name], frame)
            assert distance(seen, written) <= 1e-4 * float(np.linalg.norm(np.ptp(seen, axis=0)))


def test_forty_markers_give_forty_files_with_the_poses_of_their_ranges(tmp_path):
    armature = scripted_scenes.rig()
    obj = scripted_scenes.tube(armature)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 3 * COUNT - 1
    for index in range(COUNT):
        scene.timeline_markers.new(f"mark{index:02}", frame=3 * index)
    bone = armature.pose.bones[-1]
    bone.rotation_mode = "XYZ"
    for frame in (0, 3 * COUNT):
        bone.rotation_euler.x = frame * 0.02
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "model.md5mesh"))
    clips = export(tmp_path / "out", "MARKERS")
    assert sorted(clips) == [f"mark{index:02}" for index in range(COUNT)]
    model = read_mesh(tmp_path / "model.md5mesh")
    for index in range(COUNT):
        clip = clips[f"mark{index:02}"]
        assert clip.frame_count == 3
        assert clip.frame_rate == scene.render.fps
        scene.frame_set(3 * index + 2)
        seen, written = shown_vertices([obj]), file_vertices(model, clip, 2)
        assert distance(seen, written) <= 1e-4 * float(np.linalg.norm(np.ptp(seen, axis=0)))
