"""Skinning with the weights of a mesh grouped by joint."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import random_mesh, random_pose

from io_idtech.io_common.skeletal.skinning import skin
from io_idtech.io_common.skeletal.weights import weights_by_joint
from io_idtech.io_md5.format import Mesh


def mesh_of(ranges, joints, biases, rng) -> Mesh:
    """A mesh with some ranges of weights and without triangles."""
    starts, counts = np.array(ranges, dtype=np.int32).reshape(-1, 2).T
    return Mesh(
        shader="",
        uvs=np.zeros((len(starts), 2)),
        weight_starts=starts,
        weight_counts=counts,
        triangles=np.empty((0, 3), np.int32),
        weight_joints=np.array(joints, dtype=np.int32),
        weight_biases=np.array(biases, dtype=np.float64),
        weight_positions=rng.normal(size=(len(joints), 3)),
    )


MESHES = {
    "one weight each": ([(0, 1), (1, 1), (2, 1)], [2, 0, 2], [1, 1, 1]),
    "one weight that is not 1": ([(0, 1), (1, 1)], [1, 1], [0.5, 1]),
    "several weights": ([(0, 2), (2, 3), (5, 1)], [0, 1, 2, 1, 0, 2], [0.25, 0.75, 0.5, 0.25, 0.25, 1]),
    "the same weights for several vertices": ([(1, 2), (0, 1), (1, 2), (0, 1)], [0, 1, 2], [1, 0.5, 0.5]),
    "overlapping weights": ([(0, 3), (1, 2), (2, 1)], [2, 1, 0], [0.5, 0.25, 1]),
    "a vertex without weights": ([(0, 1), (1, 0), (0, 2)], [0, 1], [1, 1]),
    "no vertices": ([], [0, 1], [1, 1]),
    "no weights": ([(0, 0)], [], []),
}


@pytest.mark.parametrize("with_scales", [False, True], ids=["", "scaled joints"])
@pytest.mark.parametrize("name", MESHES)
def test_vertices_are_skinned_as_the_specification_says(name, with_scales, rng):
    mesh = mesh_of(*MESHES[name], rng)
    positions, orientations = random_pose(rng, 4, 3)
    scales = rng.uniform(0.5, 2.0, (4, 3)) if with_scales else None
    found = weights_by_joint(mesh).skin(positions, orientations, scales)
    assert found.shape == (4, mesh.vertex_count, 3)
    np.testing.assert_allclose(found, skin(mesh, positions, orientations, scales), atol=1e-12)


def test_random_meshes_are_skinned_as_the_specification_says():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        mesh = random_mesh(rng, 30, 6)
        positions, orientations = random_pose(rng, 3, 6)
        found = weights_by_joint(mesh).skin(positions, orientations)
        np.testing.assert_allclose(found, skin(mesh, positions, orientations), atol=1e-12)
