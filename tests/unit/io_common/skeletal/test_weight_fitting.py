"""Weights that are fitted to a motion."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.skeletal.quaternions import to_matrices
from io_idtech.io_common.skeletal.weights import fit_weights

FRAMES, JOINTS = 24, 40


@pytest.fixture(scope="module")
def motion():
    """Points, and how joints move them: rotations and translations."""
    random = np.random.default_rng(1)
    quaternions = random.normal(size=(FRAMES, JOINTS, 4)) * 0.2 + np.array((1.0, 0.0, 0.0, 0.0))
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    translations = random.normal(size=(FRAMES, JOINTS, 3)) * 2.0
    return random.normal(size=(300, 3)) * 10.0, to_matrices(quaternions), translations


def move(points, rotations, translations, weights):
    moved = np.einsum("fjab,vb->fvja", rotations, points) + translations[:, None]
    return np.einsum("fvja,vj->fva", moved, weights)


def dense(joints, weights):
    values = np.zeros((len(joints), JOINTS))
    np.add.at(values, (np.arange(len(joints))[:, None], joints), weights)
    return values


@pytest.mark.slow
def test_the_weights_of_up_to_four_joints_are_found_again(motion):
    random = np.random.default_rng(2)
    expected = np.zeros((len(motion[0]), JOINTS))
    for row in expected:
        number = random.integers(1, 5)
        row[random.choice(JOINTS, number, replace=False)] = random.dirichlet(np.full(number, 3.0))
    joints, weights, errors = fit_weights(*motion, move(*motion, expected))
    np.testing.assert_allclose(dense(joints, weights), expected, atol=1e-6)
    assert errors.max() < 1e-6


@pytest.mark.slow
def test_any_motion_gets_weights_that_sum_to_one_and_beat_the_best_joint_alone(motion):
    points, rotations, translations = motion
    targets = points + np.random.default_rng(3).normal(size=(FRAMES, len(points), 3))
    joints, weights, errors = fit_weights(points, rotations, translations, targets)
    assert joints.shape == weights.shape == (len(points), 4)
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    alone = np.einsum("fjab,vb->fvja", rotations, points) + translations[:, None] - targets[:, :, None]
    squares = np.einsum("fvja,fvja->vj", alone, alone).argmin(axis=1)
    best = np.linalg.norm(alone[:, np.arange(len(points)), squares], axis=2).max(axis=0)
    assert (errors <= best + 1e-9).all()
    shown = move(points, rotations, translations, dense(joints, weights))
    np.testing.assert_allclose(np.linalg.norm(shown - targets, axis=2).max(axis=0), errors, atol=1e-9)


@pytest.mark.slow
def test_points_that_do_not_move_stay(motion):
    points = motion[0]
    still = np.broadcast_to(np.eye(3), (FRAMES, JOINTS, 3, 3)), np.zeros((FRAMES, JOINTS, 3))
    _joints, weights, errors = fit_weights(points, *still, np.broadcast_to(points, (FRAMES, *points.shape)))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert errors.max() < 1e-9


def test_fewer_joints_than_weights_are_enough(motion):
    points, rotations, translations = motion
    targets = move(points, rotations[:, :2], translations[:, :2], np.full((len(points), 2), 0.5))
    joints, _weights, errors = fit_weights(points, rotations[:, :2], translations[:, :2], targets)
    assert joints.shape == (len(points), 2)
    assert errors.max() < 1e-6


def test_shapes_that_do_not_fit_are_errors(motion):
    points, rotations, translations = motion
    with pytest.raises(ValueError, match=r"translations .* do not fit"):
        fit_weights(points, rotations, translations[:1], np.zeros((FRAMES, len(points), 3)))
    with pytest.raises(ValueError, match=r"targets .* do not fit"):
        fit_weights(points, rotations, translations, np.zeros((1, len(points), 3)))
