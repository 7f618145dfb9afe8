"""Assimp, which shares no code with the exporter, reads what is exported."""

from __future__ import annotations

import csv

import bpy
import numpy as np
import pytest
import scripted_scenes
from paths import CORPUS, SAMPLES

from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_md5.format import read_mesh

pytestmark = pytest.mark.slow

assimp_py = pytest.importorskip("assimp_py", reason="assimp-py is not installed")


def assert_assimp_agrees(path):
    """Assimp finds the same triangles in the same box."""
    model = read_mesh(path)
    scene = assimp_py.import_file(str(path), 0)
    faces = sum(mesh.num_faces for mesh in scene.meshes)
    assert faces == sum(len(mesh.triangles) for mesh in model.meshes)
    read = np.concatenate([np.asarray(mesh.vertices, dtype=np.float64).reshape(-1, 3) for mesh in scene.meshes])
    joints = model.joints
    written = np.concatenate([
        skin(mesh, joints.positions, joints.orientations)[np.unique(mesh.triangles)] for mesh in model.meshes
    ])  # fmt: skip
    size = np.linalg.norm(np.ptp(written, axis=0))
    np.testing.assert_allclose(read.min(axis=0), written.min(axis=0), atol=1e-5 * size)
    np.testing.assert_allclose(read.max(axis=0), written.max(axis=0), atol=1e-5 * size)


def real_meshes():
    table = CORPUS / "pairs.tsv"
    if not table.is_file():
        return [pytest.param("", marks=pytest.mark.skip(reason=f"no real files at {CORPUS}"))]
    with table.open(encoding="utf-8") as file:
        paths = sorted({row["md5mesh"] for row in csv.DictReader(file, delimiter="\t")})
    return [pytest.param(path, id=path.rpartition("/")[2]) for path in paths]


@pytest.mark.parametrize("path", real_meshes())
def test_assimp_reads_exported_real_models(corpus, tmp_path, path):
    bpy.ops.import_scene.md5(filepath=str(corpus / path), use_textures=False)
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "out.md5mesh"))
    assert_assimp_agrees(tmp_path / "out.md5mesh")


def test_assimp_reads_a_model_made_in_blender(tmp_path):
    armature = scripted_scenes.rig()
    scripted_scenes.tube(armature)
    armature.matrix_world = scripted_scenes.transform()
    bpy.context.view_layer.update()
    bpy.ops.export_scene.md5mesh(filepath=str(tmp_path / "made.md5mesh"))
    assert_assimp_agrees(tmp_path / "made.md5mesh")


def test_assimp_reads_the_sample():
    assert_assimp_agrees(SAMPLES / "models" / "octopus" / "octopus.md5mesh")
