"""The box around a model in every frame."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import random_mesh, random_model, random_pose

from io_idtech.io_common.skeletal import weights as bounds
from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_common.skeletal.weights import pose_bounds
from io_idtech.io_md5.format import Joints, Mesh, Model, model_bounds


def box_of(meshes, positions, orientations):
    """The box of one frame, by skinning every vertex."""
    vertices = np.concatenate([skin(mesh, positions, orientations) for mesh in meshes])
    return np.stack([vertices.min(axis=0), vertices.max(axis=0)])


def test_the_box_holds_the_skinned_vertices_of_all_meshes_in_each_frame(rng):
    meshes = [random_mesh(rng, 20, 5), random_mesh(rng, 20, 5)]
    positions, orientations = random_pose(rng, 4, 5)
    found = pose_bounds(meshes, positions, orientations)
    expected = [box_of(meshes, *pose) for pose in zip(positions, orientations, strict=True)]
    assert found.shape == (4, 2, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_frames_that_are_computed_in_several_steps_have_the_same_boxes(rng, monkeypatch):
    meshes = [random_mesh(rng, 20, 5)]
    positions, orientations = random_pose(rng, 7, 5)
    at_once = pose_bounds(meshes, positions, orientations)
    monkeypatch.setattr(bounds, "_CHUNK", 1)
    np.testing.assert_allclose(pose_bounds(meshes, positions, orientations), at_once, rtol=1e-6)


@pytest.mark.parametrize("meshes", [0, 1], ids=["no mesh", "an empty mesh"])
def test_without_vertices_the_box_holds_the_joints(rng, meshes):
    positions, orientations = random_pose(rng, 3, 5)
    empty = Mesh(
        shader="",
        uvs=np.empty((0, 2)),
        weight_starts=np.empty(0, np.int32),
        weight_counts=np.empty(0, np.int32),
        triangles=np.empty((0, 3), np.int32),
        weight_joints=np.empty(0, np.int32),
        weight_biases=np.empty(0),
        weight_positions=np.empty((0, 3)),
    )
    found = pose_bounds([empty] * meshes, positions, orientations)
    np.testing.assert_array_equal(found, np.stack([positions.min(axis=1), positions.max(axis=1)], axis=1))


def test_the_bounds_of_a_model_hold_its_vertices_in_the_bind_pose(rng):
    model = random_model(rng)
    joints = model.joints
    points = np.concatenate([skin(mesh, joints.positions, joints.orientations) for mesh in model.meshes])
    np.testing.assert_array_equal(model_bounds(model), [points.min(axis=0), points.max(axis=0)])
    model.meshes = []
    np.testing.assert_array_equal(model_bounds(model), [joints.positions.min(axis=0), joints.positions.max(axis=0)])
    assert not model_bounds(Model(Joints([], [], [], []), [])).any()
