"""The sample model is what its program makes, and has no findings."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from paths import SAMPLES

from io_idtech.io_common.skeletal.skinning import face_normals, skin
from io_idtech.io_md5.format import read_animation, read_mesh
from io_idtech.io_md5.format.check import check_animation, check_model
from io_idtech.io_md5.format.games.profiles import Game

FOLDER = SAMPLES / "models" / "octopus"
FILES = ("octopus.md5mesh", "swim.md5anim", "wave.md5anim")


@pytest.mark.slow
def test_the_program_makes_the_files_that_are_shipped(tmp_path):
    program = runpy.run_path(str(SAMPLES / "make_octopus.py"), run_name="sample")
    program["main"].__globals__["FOLDER"] = tmp_path
    program["main"]()
    made, shipped = read_mesh(tmp_path / FILES[0]), read_mesh(FOLDER / FILES[0])
    assert made.joints.names == shipped.joints.names
    np.testing.assert_allclose(made.joints.positions, shipped.joints.positions, atol=1e-6)
    for mesh, other in zip(made.meshes, shipped.meshes, strict=True):
        np.testing.assert_array_equal(mesh.triangles, other.triangles)
        np.testing.assert_allclose(mesh.weight_positions, other.weight_positions, atol=2e-4)
    for name in FILES[1:]:
        animation, other = read_animation(tmp_path / name), read_animation(FOLDER / name)
        assert animation.flags.tolist() == other.flags.tolist()
        np.testing.assert_allclose(animation.frames, other.frames, atol=2e-4)


def test_it_has_no_findings_for_doom_3():
    model = read_mesh(FOLDER / FILES[0])
    assert check_model(model, Game.DOOM3_BFG) == []
    for name in FILES[1:]:
        assert check_animation(read_animation(FOLDER / name), model.joints, Game.DOOM3) == []


def test_its_faces_look_outwards():
    model = read_mesh(FOLDER / FILES[0])
    for mesh in model.meshes:
        vertices = skin(mesh, model.joints.positions, model.joints.orientations)
        a, b, c = (vertices[mesh.triangles[:, corner]] for corner in range(3))
        # Of a closed surface whose faces look outwards, the volume is positive.
        normals = face_normals(vertices, mesh.triangles) * np.linalg.norm(np.cross(c - a, b - a), axis=1)[:, None]
        for tube in connected(mesh.triangles, len(vertices)):
            volume = np.einsum("ti,ti->", normals[tube], (a - vertices.mean(axis=0))[tube]) / 6.0
            assert volume > 0.0


def connected(triangles, count):
    """The triangles of each part that hangs together."""
    labels = np.arange(count)
    while True:
        lowest = labels[triangles].min(axis=1)
        before = labels.copy()
        for corner in range(3):
            np.minimum.at(labels, triangles[:, corner], lowest)
        if np.array_equal(labels, before):
            break
    return [labels[triangles[:, 0]] == label for label in np.unique(labels[triangles])]
