"""The joints that channels of Doom 3 name."""

from __future__ import annotations

import pytest

from io_idtech.io_characters.channels import channel_joints

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


def test_many_blanks_and_words_do_not_take_minutes():
    assert channel_joints("-" + " " * 100_000 + "," + "*a " * 100_000, ["a"] * 2000, range(-1, 1999))[
        0
    ] == list(range(2000))
