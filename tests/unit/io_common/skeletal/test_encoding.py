"""Poses into frames of an animation."""

from __future__ import annotations

import numpy as np
from md5_samples import random_animation, random_parents, random_pose

from io_idtech.io_common.skeletal import skeleton
from io_idtech.io_common.skeletal import skeleton as encoding

# Skeletons


def test_split_components_are_the_inverse_of_components(rng):
    animation = random_animation(rng, joints=8, frames=4)
    table = skeleton.components(animation)
    flags, starts, base, frames = encoding.split_components(table, np.zeros(table.shape[1:]))
    assert flags.tolist() == animation.flags.tolist()
    assert starts.tolist() == animation.starts.tolist()
    np.testing.assert_array_equal(base, table[0])
    animation.flags, animation.starts, animation.frames = flags, starts, frames
    animation.base_positions, animation.base_orientations = base[:, :3], base[:, 3:]
    np.testing.assert_array_equal(skeleton.components(animation), table)


def test_a_component_is_animated_if_a_later_frame_differs_by_more_than_the_precision():
    table = np.zeros((3, 2, 6))
    table[2, 0, 1], table[1, 1, 0], table[1, 1, 5], table[2, 1, 4] = 0.5, 0.125, 0.001, 0.01
    flags, starts, base, frames = encoding.split_components(table, np.tile(np.repeat([0.125, 0.005], 3), (2, 1)))
    assert flags.tolist() == [0b000010, 0b010000]
    assert starts.tolist() == [0, 1]
    assert not base.any()
    assert frames.tolist() == [[0, 0], [0, 0], [0.5, 0.01]]
    assert encoding.split_components(table, np.zeros(table.shape[1:]))[0].tolist() == [0b000010, 0b110001]


def test_poses_relative_to_the_parents_come_back(rng):
    parents = random_parents(rng, 5)
    positions, orientations = random_pose(rng, 4, 5)
    animation = encoding.encode_local_poses(list("abcde"), parents, positions, orientations, frame_rate=30)
    found = skeleton.local_poses(animation)
    np.testing.assert_allclose(found[0], positions, atol=2e-5)
    np.testing.assert_allclose(np.abs(np.einsum("fji,fji->fj", found[1], orientations)), 1.0, atol=1e-5)
    assert animation.bounds.shape == (4, 2, 3)
    in_model = encoding.encode_poses(list("abcde"), parents, *skeleton.compose(parents, positions, orientations),
                                     frame_rate=30)  # fmt: skip
    np.testing.assert_allclose(skeleton.poses(in_model)[0], skeleton.poses(animation)[0], atol=1e-3)
