"""What a file cannot hold gives a warning with mesh, distance, frame and cause; what it can hold is exact."""

from __future__ import annotations

import re

import bpy
import inexact
import md5_compare
import pytest
import workbench
from inexact import CAUSES
from installed import read_empty_scene
from workbench import Bench

pytestmark = pytest.mark.slow

OPTIONS = {"limits of weights": {"max_influences": 2}}


def compared(folder, bench: Bench, name: str, actions="ACTIVE", **options) -> md5_compare.Comparison:
    folder = folder / actions
    folder.mkdir()
    # Keys were inserted: the scene shows what they say.
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    options = {"frames": 50, **bench.options, **OPTIONS.get(name, {}), **options}
    return md5_compare.export_and_compare(folder, bench.armature, actions=actions, **options)


def warning_of(result: md5_compare.Comparison, name: str) -> list[str]:
    return [text for text in result.warnings if md5_compare.is_told(name, [text])]


@pytest.mark.parametrize("setting", workbench.SETTINGS)
@pytest.mark.parametrize("name", CAUSES)
def test_an_export_is_exact_or_the_mesh_is_named(tmp_path, setting, name):
    bench = workbench.sample(tmp_path, setting)
    CAUSES[name].arrange(bench)
    for actions in ("ACTIVE", "ALL", "SCENE"):
        md5_compare.assert_matches_blender(compared(tmp_path, bench, name, actions))


@pytest.mark.parametrize("name", CAUSES)
def test_a_made_rig_is_exact_or_the_mesh_is_named(tmp_path, name):
    bench = workbench.made()
    CAUSES[name].arrange(bench)
    md5_compare.assert_matches_blender(compared(tmp_path, bench, name))


@pytest.mark.parametrize("name", CAUSES)
def test_the_warning_tells_distance_size_frame_and_cause(tmp_path, name):
    bench = workbench.sample(tmp_path)
    CAUSES[name].arrange(bench)
    result = compared(tmp_path, bench, name)
    limit = md5_compare.PLACE_LIMIT * result.size
    for mesh, distance in result.differences.items():
        told = warning_of(result, mesh)
        if distance <= limit:
            continue
        measured = [text for text in told if "%" in text and re.search(r"\d", text)]
        assert measured, f"{mesh} is off by {distance:.4g}: {result.warnings}"
        text = " ".join(measured)
        assert re.search(r"(?i)frame|rest|bind", text), text
        lowered = text.lower()
        assert any(word in lowered for word in CAUSES[name].words), text
        numbers = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*(?:e[+-]?\d+)?", text)]
        # The distance is among the numbers, to the digits that are told.
        assert any(abs(number - distance) <= 0.06 * distance for number in numbers), (distance, text)


# Where nothing but verification can find the difference.
UNEXACT = [
    "scaled bones",
    "Stretch To",
    "scaled armature",
    "Preserve Volume",
    "a vertex group mask on the modifier",
    "a disabled modifier",
    "a keyed shape key",
    "a keyed mesh object",
]


@pytest.mark.parametrize("name", UNEXACT)
def test_by_default_some_frames_are_verified_and_differences_reported(tmp_path, name):
    bench = workbench.sample(tmp_path)
    CAUSES[name].arrange(bench)
    result = md5_compare.export(tmp_path, actions="ACTIVE", verify="")
    assert any(warning_of(result, obj.name) for obj in bench.meshes), result.warnings


def test_by_default_a_difference_on_a_few_frames_of_a_long_animation_is_found(tmp_path):
    bench = workbench.made()
    bench.mesh.modifiers[0].use_deform_preserve_volume = True
    bench.armature.animation_data_clear()
    bone = inexact.moving_bone(bench)
    bone.rotation_mode = "XYZ"
    for frame, angle in ((0, 0.0), (201, 0.0), (205, 2.5), (209, 0.0), (400, 0.0)):
        bone.rotation_euler = (0.0, angle, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    result = md5_compare.export(tmp_path, actions="ACTIVE", verify="")
    told = warning_of(result, bench.mesh.name)
    assert any("frame 205" in text and "Preserve Volume" in text for text in told), result.warnings


@pytest.mark.parametrize("name", UNEXACT)
def test_without_verification_nothing_is_compared(tmp_path, name):
    bench = workbench.sample(tmp_path)
    CAUSES[name].arrange(bench)
    result = md5_compare.export(tmp_path, actions="ACTIVE", verify="NONE")
    assert not [text for text in warning_of(result, bench.mesh.name) if "%" in text], result.warnings


@pytest.mark.parametrize("are_large", [False, True])
@pytest.mark.parametrize("frame", [2, 7, 13, 29, 38])
def test_all_frames_are_verified_on_request(tmp_path, part, monkeypatch, frame, are_large):
    """A bone is scaled on a single frame; large meshes are verified some frames at a time."""
    if are_large:
        monkeypatch.setattr(part("io_blender.skeletal.exporting.verification"), "_NUMBERS", 1000)
    bench = workbench.sample(tmp_path)
    bone = inexact.moving_bone(bench)
    for key, size in ((0, 1.0), (frame - 1, 1.0), (frame, 1.5), (frame + 1, 1.0), (40, 1.0)):
        bone.scale = (size, 1.0, size)
        bone.keyframe_insert("scale", frame=key)
    bench.armature.animation_data.action.frame_end = 40
    result = md5_compare.export(tmp_path, actions="ACTIVE", verify="ALL")
    told = [text for text in warning_of(result, bench.mesh.name) if "%" in text]
    assert any(re.search(rf"\b{frame}\b", text) for text in told), result.warnings


def test_the_animation_operator_verifies_too(tmp_path):
    bench = workbench.sample(tmp_path)
    CAUSES["scaled bones"].arrange(bench)
    warnings = md5_compare.call(bpy.ops.export_scene.md5anim, filepath=str(tmp_path / "a.md5anim"), verify="ALL")
    assert any(md5_compare.is_told(bench.mesh.name, [text]) and "%" in text for text in warnings), warnings


def test_a_mesh_without_faces_is_left_out_with_a_warning(tmp_path):
    bench = workbench.made()
    wires = bpy.data.meshes.new("Wires")
    wires.from_pydata([(0, 0, 0), (0, 0, 1)], [(0, 1)], [])
    obj = bpy.data.objects.new("Wires", wires)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = bench.armature
    obj.vertex_groups.new(name=inexact.moving_bone(bench).name).add([0, 1], 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = bench.armature
    result = md5_compare.export(tmp_path, actions="ACTIVE")
    assert [text for text in result.warnings if "Wires" in text] == ["Wires: no faces: left out"]


def test_an_exact_export_warns_of_nothing(tmp_path):
    for setting in workbench.SETTINGS:
        read_empty_scene()
        folder = tmp_path / setting
        folder.mkdir()
        bench = workbench.sample(folder, setting)
        bench.options.pop("scale", None), bench.options.pop("axes", None)
        result = md5_compare.export(folder, actions="ALL")
        assert result.warnings == []
