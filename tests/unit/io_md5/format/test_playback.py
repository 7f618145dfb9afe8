"""Which frames a time lies between, and the pose between them."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import random_animation, random_pose
from md5_specification import close, slerp

from io_md5.format import playback, skeleton


def literal_frame_pair(seconds, count, rate):
    """The specification's way: step from frame to frame while the time of one is used up."""
    if count == 1:
        return 0, 0, 0.0
    current, left = 0, seconds
    while left >= 1.0 / rate:
        left -= 1.0 / rate
        current += 1
        if current == count - 1:  # the last frame of a cycle is its first
            current = 0
    return current, current + 1, left * rate


# Playing


@pytest.mark.parametrize("count", [1, 2, 3, 10])
@pytest.mark.parametrize("rate", [24.0, 60.0, 8.0])
def test_the_pair_of_frames_in_a_cycle(rng, count, rate):
    seconds = rng.uniform(0, 3, size=40)
    first, second, fraction = playback.frame_pair(seconds, count, rate)
    expected = [literal_frame_pair(time, count, rate) for time in seconds.tolist()]
    np.testing.assert_array_equal(first, [a for a, _, _ in expected])
    np.testing.assert_array_equal(second, [b for _, b, _ in expected])
    close(fraction, [c for _, _, c in expected], atol=1e-9)


def test_the_last_frame_stays_when_an_animation_does_not_repeat():
    first, second, fraction = playback.frame_pair([0.0, 0.125, 0.5, 0.75, 99.0], 4, 4.0, cyclic=False)
    assert first.tolist() == [0, 0, 2, 3, 3]
    assert second.tolist() == [1, 1, 3, 3, 3]
    close(fraction, [0, 0.5, 0, 0, 0])


def test_a_cycle_begins_again_with_its_last_frame():
    first, _, fraction = playback.frame_pair([0.75, 1.0, 7.5], 4, 4.0)
    assert first.tolist() == [0, 1, 0]
    close(fraction, 0.0)


def test_time_before_the_start_is_the_first_frame():
    first, _, fraction = playback.frame_pair(-5.0, 4, 24.0)
    assert (int(first), float(fraction)) == (0, 0.0)


def test_frames_and_fractions_stay_in_range_for_any_time(rng):
    seconds = np.concatenate([rng.uniform(0, 1e6, 1000), np.arange(1000) / 24.0, np.arange(1000) / 30.0])
    for cyclic in (False, True):
        first, second, fraction = playback.frame_pair(seconds, 7, 24.0, cyclic=cyclic)
        assert first.min() >= 0
        assert second.max() <= 6
        assert fraction.min() >= 0.0
        assert fraction.max() < 1.0


def test_two_poses_are_interpolated_joint_by_joint(rng):
    positions_a, orientations_a = random_pose(rng, 4, 6)
    positions_b, orientations_b = random_pose(rng, 4, 6)
    t = rng.uniform(size=4)
    positions, orientations = playback.interpolate(
        positions_a, orientations_a, positions_b, orientations_b, t
    )
    for frame in range(4):
        for joint in range(6):
            a, b = positions_a[frame, joint], positions_b[frame, joint]
            close(positions[frame, joint], a + t[frame] * (b - a))
            expected = slerp(orientations_a[frame, joint], orientations_b[frame, joint], t[frame])
            close(orientations[frame, joint], expected)


def test_one_fraction_interpolates_one_pose(rng):
    positions, orientations = random_pose(rng, 6)
    result = playback.interpolate(positions, orientations, positions, orientations, 0.3)
    close(result[0], positions)
    close(result[1], orientations)


def test_the_pose_at_the_time_of_a_frame_is_that_frame(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    times = np.arange(4) / animation.frame_rate
    result = playback.local_pose_at(animation, times, cyclic=False)
    close(result[0], positions, atol=1e-10)
    close(np.abs(np.einsum("fji,fji->fj", result[1], orientations)), 1.0)


def test_the_pose_between_two_frames(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    result = playback.local_pose_at(animation, 1.25 / animation.frame_rate)
    for joint in range(5):
        a, b = positions[1, joint], positions[2, joint]
        close(result[0][joint], a + 0.25 * (b - a), atol=1e-10)
        close(result[1][joint], slerp(orientations[1, joint], orientations[2, joint], 0.25), atol=1e-8)
