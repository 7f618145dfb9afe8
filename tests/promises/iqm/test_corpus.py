"""Real IQM files in Blender: what they show is there, and untouched they come back byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import iqm_shown
import iqm_specification as specification
import numpy as np
import pytest

from io_idtech.io_iqm.format import read_iqm

ROOT = Path(__file__).resolve().parents[3]
CORPUS = Path(os.environ.get("IO_IDTECH_CORPUS") or ROOT.parent / "shared" / "corpus")
PATHS = sorted(CORPUS.glob("iqm/**/*.iqm"))
MODELS = [path for path in PATHS if read_iqm(path).meshes]
ALONE = [path for path in PATHS if path not in MODELS]

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.skipif(not PATHS, reason=f"no IQM files at {CORPUS} (IO_IDTECH_CORPUS)"),
]


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def load(path, **options):
    options = {"animations": "NONE"} | options
    assert bpy.ops.import_scene.iqm(filepath=str(path), **options) == {"FINISHED"}


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_an_untouched_model_comes_back_byte_for_byte(path, merge, tmp_path):
    load(path, merge_vertices=merge)
    out = tmp_path / "out.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(out), actions="ALL") == {"FINISHED"}
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", ALONE, ids=name_of)
def test_an_untouched_animation_of_a_file_of_its_own_comes_back_byte_for_byte(path, tmp_path):
    count = len(read_iqm(path).pose_parents)
    model = next(other for other in MODELS if other.parent == path.parent and len(read_iqm(other).joint_names) == count)
    assert bpy.ops.import_scene.iqm(
        directory=str(path.parent), files=[{"name": model.name}, {"name": path.name}], animations="NONE"
    ) == {"FINISHED"}
    out = tmp_path / "out.iqm"
    assert bpy.ops.export_scene.iqm(filepath=str(out), actions="ALL", animation_files="SEPARATE") == {"FINISHED"}
    assert out.read_bytes() == model.read_bytes()
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_a_model_shows_what_the_specification_says(path):
    spec = specification.read(path.read_bytes())
    load(path, merge_vertices=False)
    shown = [obj for obj in bpy.context.selected_objects if obj.type == "MESH"]
    assert len(shown) == len(spec.meshes)
    names = {joint[0] for joint in spec.joints}
    for obj, (_, material, _, (start, count)) in zip(shown, spec.meshes, strict=True):
        corners = np.array(spec.triangles[start : start + count])
        corners = corners[[len({*row}) == 3 for row in corners.tolist()]][:, [0, 2, 1]].ravel()
        vertices = iqm_shown.corner_vertices(obj)
        assert np.allclose(iqm_shown.places(obj)[vertices], np.array(spec.arrays[0])[corners], atol=1e-5)
        uvs = np.array(spec.arrays[1])[corners]
        assert np.allclose(iqm_shown.uvs(obj), np.column_stack([uvs[:, 0], 1.0 - uvs[:, 1]]), atol=1e-6)
        assert iqm_shown.angles(iqm_shown.normals(obj), np.array(spec.arrays[2])[corners]).max() < 0.5
        if 6 in spec.arrays:
            assert np.array_equal(iqm_shown.colors(obj), np.array(spec.arrays[6])[corners])
        assert {group.name for group in obj.vertex_groups} <= names
        for vertex in np.unique(vertices)[::17].tolist():
            found = {obj.vertex_groups[one.group].name: one.weight for one in obj.data.vertices[vertex].groups}
            row = corners[np.flatnonzero(vertices == vertex)[0]]
            pairs = zip(spec.arrays[4][row], spec.arrays[5][row], strict=True)
            expected = {spec.joints[joint][0]: weight / 255 for joint, weight in pairs if weight}
            assert found == pytest.approx(expected or {spec.joints[0][0]: 1.0}, abs=1e-6)
        assert obj.data.materials[0]["md5"]["shader"] == material


@pytest.mark.parametrize("path", ALONE, ids=name_of)
def test_every_frame_of_an_animation_shows_what_the_specification_says(path):
    count = len(read_iqm(path).pose_parents)
    model = next(other for other in MODELS if other.parent == path.parent and len(read_iqm(other).joint_names) == count)
    assert bpy.ops.import_scene.iqm(
        directory=str(path.parent), files=[{"name": model.name}, {"name": path.name}], animations="NONE",
        merge_vertices=False,
    ) == {"FINISHED"}  # fmt: skip
    spec = specification.read(model.read_bytes())
    moves = specification.read(path.read_bytes())
    spec.poses, spec.frames = moves.poses, moves.frames
    meshes = [obj for obj in bpy.context.selected_objects if obj.type == "MESH"]
    rate = moves.anims[0][3]
    assert bpy.context.scene.render.fps / bpy.context.scene.render.fps_base == pytest.approx(rate)
    bind, size = spec.bind(), np.abs(spec.arrays[0]).max()
    for frame in range(len(spec.frames)):
        bpy.context.scene.frame_set(frame)
        expected = spec.skinned(frame, bind)
        for obj, (_, _, (first, number), _) in zip(meshes, spec.meshes, strict=True):
            posed = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            assert np.abs(iqm_shown.places(posed) - expected[first : first + number]).max() < 1e-4 * size
