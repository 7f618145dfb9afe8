"""Which frames a time lies between, and the pose between them."""

from __future__ import annotations

import numpy as np
import pytest
from md5_samples import random_animation, random_pose
from md5_specification import build_skeleton, close, slerp

from io_idtech.io_common.skeletal import playback, skeleton
from io_idtech.io_md5.format import Md5Error, encode_local_poses


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
    first, second, fraction = playback.frame_pair(seconds, 0, count - 1, rate, wrap="jump")
    expected = [literal_frame_pair(time, count, rate) for time in seconds.tolist()]
    np.testing.assert_array_equal(first, [a for a, _, _ in expected])
    np.testing.assert_array_equal(second, [b for _, b, _ in expected])
    close(fraction, [c for _, _, c in expected], atol=1e-9)


def test_the_last_frame_stays_when_an_animation_does_not_repeat():
    first, second, fraction = playback.frame_pair([0.0, 0.125, 0.5, 0.75, 99.0], 0, 3, 4.0, wrap="hold")
    assert first.tolist() == [0, 0, 2, 3, 3]
    assert second.tolist() == [1, 1, 3, 3, 3]
    close(fraction, [0, 0.5, 0, 0, 0])


def test_an_open_loop_moves_from_its_last_frame_to_its_first():
    first, second, fraction = playback.frame_pair([0.75, 0.875, 1.0, 1.125], 0, 3, 4.0, wrap="blend")
    assert first.tolist() == [3, 3, 0, 0]
    assert second.tolist() == [0, 0, 1, 1]
    close(fraction, [0, 0.5, 0, 0.5])


def test_a_cycle_begins_again_with_its_last_frame():
    first, _, fraction = playback.frame_pair([0.75, 1.0, 7.5], 0, 3, 4.0, wrap="jump")
    assert first.tolist() == [0, 1, 0]
    close(fraction, 0.0)


@pytest.mark.parametrize(("wrap", "expected"), [("blend", (3, 0, 0.5)), ("jump", (2, 3, 0.5)), ("hold", (0, 1, 0.0))])
def test_time_before_the_start_counts_back_from_the_end_or_holds_the_first_frame(wrap, expected):
    first, second, fraction = playback.frame_pair(-0.125, 0, 3, 4.0, wrap=wrap)
    assert (int(first), int(second), float(fraction)) == expected


@pytest.mark.parametrize("wrap", ["blend", "jump", "hold"])
@pytest.mark.parametrize("seconds", [-1e-300, -0.0, 5.0, -7.25])
def test_one_frame_is_shown_at_any_time(wrap, seconds):
    first, second, fraction = playback.frame_pair(seconds, 0, 0, 24.0, wrap=wrap)
    assert (int(first), int(second), float(fraction)) == (0, 0, 0.0)


@pytest.mark.parametrize(
    ("seconds", "count", "rate", "wrap", "message"),
    [
        (0.0, 0, 24.0, "blend", "no frames"),
        (np.nan, 3, 24.0, "blend", "time is not finite"),
        ([0.0, np.inf], 3, 24.0, "hold", "time is not finite"),
        (1e300, 3, 1e30, "jump", "time is not finite"),
        (0.0, 3, 0.0, "blend", "frame rate"),
        (0.0, 3, -24.0, "hold", "frame rate"),
        (0.0, 3, np.nan, "jump", "frame rate"),
        (0.0, 3, 24.0, "loop", "unknown wrap"),
    ],
)
def test_times_and_rates_without_meaning_are_refused(seconds, count, rate, wrap, message):
    with pytest.raises(Md5Error, match=message):
        playback.frame_pair(seconds, 0, count - 1, rate, wrap=wrap)


def test_frames_and_fractions_stay_in_range_for_any_time(rng):
    seconds = np.concatenate([rng.uniform(0, 1e6, 1000), np.arange(1000) / 24.0, np.arange(1000) / 30.0])
    for wrap in ("blend", "jump", "hold"):
        first, second, fraction = playback.frame_pair(seconds, 0, 6, 24.0, wrap=wrap)
        assert first.min() >= 0
        assert second.max() <= 6
        assert fraction.min() >= 0.0
        assert fraction.max() < 1.0


def test_two_poses_are_interpolated_joint_by_joint(rng):
    positions_a, orientations_a = random_pose(rng, 4, 6)
    positions_b, orientations_b = random_pose(rng, 4, 6)
    t = rng.uniform(size=4)
    positions, orientations = playback.interpolate((positions_a, orientations_a), (positions_b, orientations_b), t)
    for frame in range(4):
        for joint in range(6):
            a, b = positions_a[frame, joint], positions_b[frame, joint]
            close(positions[frame, joint], a + t[frame] * (b - a))
            expected = slerp(orientations_a[frame, joint], orientations_b[frame, joint], t[frame])
            close(orientations[frame, joint], expected)


def test_one_fraction_interpolates_one_pose(rng):
    positions, orientations = random_pose(rng, 6)
    result = playback.interpolate((positions, orientations), (positions, orientations), 0.3)
    close(result[0], positions)
    close(result[1], orientations)


def test_the_pose_at_the_time_of_a_frame_is_that_frame(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    times = np.arange(4) / animation.frame_rate
    result = playback.local_pose_at(animation, times, wrap="hold")
    close(result[0], positions, atol=1e-10)
    close(np.abs(np.einsum("fji,fji->fj", result[1], orientations)), 1.0)


def test_the_pose_between_two_frames(rng):
    animation = random_animation(rng, joints=5, frames=4)
    positions, orientations = skeleton.local_poses(animation)
    result = playback.local_pose_at(animation, 1.25 / animation.frame_rate, wrap="jump")
    for joint in range(5):
        a, b = positions[1, joint], positions[2, joint]
        close(result[0][joint], a + 0.25 * (b - a), atol=1e-10)
        close(result[1][joint], slerp(orientations[1, joint], orientations[2, joint], 0.25), atol=1e-8)


def test_the_specification_interpolates_built_skeletons_and_the_games_joints(rng):
    animation = random_animation(rng, joints=5, frames=4)
    seconds = 1.25 / animation.frame_rate
    built = [
        build_skeleton(animation.parents, positions, orientations)
        for positions, orientations in zip(*skeleton.local_poses(animation), strict=True)
    ]
    positions, orientations = playback.pose_at(animation, seconds, "model", wrap="hold")
    for joint in range(5):
        a, b = (np.array(built[frame][0][joint]) for frame in (1, 2))
        close(positions[joint], a + 0.25 * (b - a), atol=1e-10)
        expected = slerp(built[1][1][joint], built[2][1][joint], 0.25)
        close(abs(np.dot(orientations[joint], expected)), 1.0, atol=1e-10)
    in_joints = playback.pose_at(animation, seconds, "joints", wrap="hold")
    local = playback.local_pose_at(animation, seconds, wrap="hold")
    expected_joints = build_skeleton(animation.parents, *local)
    close(in_joints[0], expected_joints[0], atol=1e-10)
    assert np.abs(in_joints[0] - positions).max() > 1e-3
    with pytest.raises(Md5Error, match="unknown space"):
        playback.pose_at(animation, seconds, "world")


def test_poses_at_many_times_are_those_at_each(rng):
    animation = random_animation(rng, joints=5, frames=4)
    times = rng.uniform(-1, 1, size=(2, 3))
    positions, orientations = playback.pose_at(animation, times, wrap="blend")
    assert positions.shape == (2, 3, 5, 3)
    for index in np.ndindex(times.shape):
        one = playback.pose_at(animation, times[index], wrap="blend")
        np.testing.assert_array_equal(positions[index], one[0])
        np.testing.assert_array_equal(orientations[index], one[1])


def test_a_pose_needs_two_frames_only(rng):
    """The others are never looked at, so their number does not matter."""
    animation = random_animation(rng, joints=5, frames=40)
    expected = playback.pose_at(animation, 7.5 / animation.frame_rate, wrap="blend")
    animation.frames[:7] = animation.frames[9:] = np.nan
    actual = playback.pose_at(animation, 7.5 / animation.frame_rate, wrap="blend")
    np.testing.assert_array_equal(actual[0], expected[0])


def swing(frames, length):
    """A joint that swings and moves, `length` steps to a cycle."""
    angle = np.arange(frames) * 2 * np.pi / length
    positions = np.zeros((frames, 1, 3))
    positions[:, 0, 0] = 10 * np.sin(angle)
    half = 0.5 * np.cos(angle) / 2
    orientations = np.zeros((frames, 1, 4))
    orientations[:, 0, 0], orientations[:, 0, 3] = np.cos(half), np.sin(half)
    return encode_local_poses(["hips"], np.array([-1], np.int32), positions, orientations, frame_rate=24)


@pytest.mark.parametrize(
    ("frames", "length", "expected"),
    [(21, 20, "closed"), (20, 20, "open"), (14, 20, "none"), (2, 20, "none"), (1, 20, "none")],
)
def test_how_an_animation_repeats_is_seen_at_its_ends(frames, length, expected):
    assert playback.loop_type(swing(frames, length)) == expected


def test_a_loop_plays_on_by_its_type():
    """Both kinds of one motion are the same motion, whatever the time."""
    times = np.linspace(-2, 3, 101)
    closed = playback.pose_at(swing(21, 20), times)
    opened = playback.pose_at(swing(20, 20), times)
    close(closed[0], opened[0], atol=1e-4)
    ended = playback.pose_at(swing(14, 20), 99.0)
    close(ended[0], skeleton.poses(swing(14, 20), [13])[0][0])
