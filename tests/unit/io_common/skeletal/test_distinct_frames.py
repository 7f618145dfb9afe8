"""The frames whose poses differ most."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.skeletal.model import ROOT
from io_idtech.io_common.skeletal.playback import distinct_frames

PARENTS = np.array([ROOT, 0, 1], dtype=np.int32)
FRAMES = 101
EVEN = [0, 33, 66, 100]


def turned(*degrees):
    """Quaternions about x, (n, 4)."""
    half = np.radians(degrees) / 2
    return np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=1)


@pytest.fixture
def poses():
    """The positions and orientations of a chain of three joints that does not move."""
    positions = np.tile([[0.0, 0, 0], [0, 0, 2], [0, 0, 4]], (FRAMES, 1, 1))
    orientations = np.tile([1.0, 0, 0, 0], (FRAMES, 3, 1))
    return positions, orientations


def test_short_motions_are_found_the_largest_first(poses):
    positions, orientations = poses
    orientations[41:44, 2] = turned(30, 90, 30)
    orientations[70:73, 1] = orientations[70:73, 2] = turned(20, 60, 20)
    assert distinct_frames(PARENTS, positions, orientations, EVEN) == [0, 42, 71, 100]
    assert distinct_frames(PARENTS, positions, orientations, [0, 50, 100]) == [0, 42, 100]


def test_stretched_joints_are_found(poses):
    positions, orientations = poses
    positions[12, 2, 2] = 5.0
    assert 12 in distinct_frames(PARENTS, positions, orientations, EVEN)


def test_the_same_rotation_with_the_other_sign_is_the_same_pose(poses):
    positions, orientations = poses
    orientations[20:40, 1] *= -1.0
    assert distinct_frames(PARENTS, positions, orientations, EVEN) == EVEN


def test_a_jump_or_turn_of_the_root_is_found(poses):
    positions, orientations = poses
    positions[57] += (0.0, 3.0, 0.0)
    orientations[20] = turned(80)[0]
    assert distinct_frames(PARENTS, positions, orientations, EVEN) == [0, 20, 57, 100]
    root = np.array([ROOT], dtype=np.int32)
    assert distinct_frames(root, positions[:, :1], orientations[:, :1], EVEN) == [0, 20, 57, 100]


def test_a_long_way_of_the_root_leaves_short_motions_of_joints(poses):
    positions, orientations = poses
    orientations[:] = turned(*np.linspace(0, 180, FRAMES))[:, None]
    positions += np.linspace(0, 90, FRAMES)[:, None, None]
    orientations[57, 2] = turned(100 + 180 * 0.57)[0]
    assert 57 in distinct_frames(PARENTS, positions, orientations, EVEN)


def test_frames_stay_where_no_pose_differs(poses):
    assert distinct_frames(PARENTS, *poses, EVEN) == EVEN
    root_alone = np.array([ROOT], dtype=np.int32)
    assert distinct_frames(root_alone, poses[0][:, :1], poses[1][:, :1], EVEN) == EVEN
