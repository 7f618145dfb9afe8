"""Poses into frames of an animation."""

from __future__ import annotations

import numpy as np
from md5_samples import random_animation

from io_md5.format import encoding, skeleton

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
    flags, starts, base, frames = encoding.split_components(
        table, np.tile(np.repeat([0.125, 0.005], 3), (2, 1))
    )
    assert flags.tolist() == [0b000010, 0b010000]
    assert starts.tolist() == [0, 1]
    assert not base.any()
    assert frames.tolist() == [[0, 0], [0, 0], [0.5, 0.01]]
    assert encoding.split_components(table, np.zeros(table.shape[1:]))[0].tolist() == [0b000010, 0b110001]
