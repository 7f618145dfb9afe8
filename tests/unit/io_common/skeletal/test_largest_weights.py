"""The largest weights of vertices as bytes, which IQM has."""

from __future__ import annotations

import iqm_samples
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_idtech.io_common.skeletal.weights import largest_weights


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_weights_are_bytes_that_sum_to_255_within_half_a_step(count, seed):
    mesh = iqm_samples.mesh(iqm_samples.skeleton(), "a", seed, weights=count)
    joints, weights = largest_weights(mesh)
    assert (weights.sum(axis=1, dtype=int) == 255).all()
    assert (np.diff(weights.astype(int), axis=1) <= 1).all()
    exact = np.zeros((mesh.vertex_count, 4))
    exact[np.repeat(np.arange(mesh.vertex_count), count), mesh.weight_joints] = mesh.weight_biases
    found = np.zeros_like(exact)
    np.add.at(found, (np.arange(mesh.vertex_count)[:, None], joints), weights / 255)
    assert np.abs(found - exact).max() < 1 / 255


def test_only_the_four_largest_weights_are_kept_and_vertices_without_any_are_the_first_joints():
    mesh = iqm_samples.mesh(iqm_samples.skeleton(), "a", 1, weights=4, vertices=2)
    mesh.weight_joints = np.array([5, 6, 7, 8, 9, 5, 1, 1], np.int32)
    mesh.weight_biases = np.array([0.1, 0.3, 0.2, 0.15, 0.25, 0.0, 0.0, 0.0])
    mesh.weight_starts, mesh.weight_counts = np.array([0, 5], np.int32), np.array([5, 3], np.int32)
    joints, weights = largest_weights(mesh)
    assert joints[0].tolist() == [6, 9, 7, 8]
    assert weights[1].tolist() == [255, 0, 0, 0]
