"""The joints that channels of Doom 3 name, and animations with joints turned and moved as Sauerbraten does."""

from __future__ import annotations

import game_folders
import numpy as np
import pytest

from io_idtech.io_characters.joints import adjusted, adjustments_of, channel_joints
from io_idtech.io_common.declarations.characters import JointAdjustment
from io_idtech.io_common.skeletal import quaternions as quat
from io_idtech.io_common.skeletal.skeleton import local_poses
from io_idtech.io_md5.format import read_animation

JOINT = 2

NAMES = ["origin", "Hips", "Waist", "Neck", "larm", "lleg"]
PARENTS = [-1, 0, 1, 2, 2, 1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("origin", ["origin"]),
        ("*Waist", ["Waist", "Neck", "larm"]),
        ("*waist -larm", ["Waist", "Neck"]),
        ("*Hips -*Waist", ["Hips", "lleg"]),
        ("* Hips - * Waist", ["Hips", "lleg"]),
        ("*origin, -*Hips", ["origin"]),
        ("( *Waist )", ["Waist", "Neck", "larm"]),
        ("-Neck *Waist", ["Waist", "Neck", "larm"]),
        ("", []),
    ],
)
def test_words_add_and_take_out_joints_in_their_order(expression, expected):
    joints, unknown = channel_joints(expression, NAMES, PARENTS)
    assert [NAMES[joint] for joint in joints] == expected
    assert not unknown


def test_joints_that_do_not_exist_are_told_and_the_others_are_there():
    assert channel_joints("Hips *nobody -Tail", NAMES, PARENTS) == ([1], ["nobody", "Tail"])


@pytest.mark.slow
def test_many_blanks_and_words_do_not_take_minutes():
    assert channel_joints("-" + " " * 100_000 + "," + "*a " * 100_000, ["a"] * 2000, range(-1, 1999))[0] == list(
        range(2000)
    )


@pytest.fixture
def animation():
    return read_animation(game_folders.md5anim().encode())


@pytest.mark.parametrize(
    ("rotation", "turned"),
    [
        # What points along the first axis points along the second one then; y is mirrored in the game.
        ((90, 0, 0), ((1, 0, 0), (0, -1, 0))),
        ((0, 90, 0), ((1, 0, 0), (0, 0, 1))),
        ((0, 0, 90), ((0, 1, 0), (0, 0, 1))),
    ],
    ids=["yaw", "pitch", "roll"],
)
def test_a_joint_is_turned_around_the_axes_of_the_game(animation, rotation, turned):
    found = adjusted(animation, {"Waist": JointAdjustment("Waist", rotation)})
    _, orientations = local_poses(found)
    before, after = turned
    assert np.allclose(quat.rotate(orientations[:, JOINT], np.array(before, float)), after, atol=1e-9)


def test_a_joint_is_moved_by_quarters_of_a_unit(animation):
    found = adjusted(animation, {"Waist": JointAdjustment("Waist", translation=(4, 8, -4))})
    positions, _ = local_poses(found)
    assert positions[:, JOINT].tolist() == [[1, -2, 7]] * 4


def test_what_was_adjusted_can_be_restored(animation):
    adjustments = {
        "Waist": JointAdjustment("Waist", (10, 20, 30), (1, 2, 3)),
        "Hips": JointAdjustment("Hips", (0, 45, -60), (0, 0, 9)),
    }
    before, after = (
        local_poses(animation),
        local_poses(adjusted(adjusted(animation, adjustments), adjustments, reverse=True)),
    )
    assert np.allclose(before[0], after[0], atol=1e-9)
    assert np.allclose(np.abs(np.einsum("fji,fji->fj", before[1], after[1])), 1.0, atol=1e-9)


def test_joints_that_the_animation_does_not_have_are_left_out(animation):
    assert adjusted(animation, {"Tail": JointAdjustment("Tail", (1, 2, 3))}) is animation


def test_the_last_adjustment_before_an_animation_applies():
    declared = (
        JointAdjustment("a", (1, 0, 0)),
        JointAdjustment("a", (2, 0, 0), first_animation=1),
        JointAdjustment("a", first_animation=2),
    )
    assert [list(adjustments_of(declared, index).values()) for index in range(3)] == [[declared[0]], [declared[1]], []]
