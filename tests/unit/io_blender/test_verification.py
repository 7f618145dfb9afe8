"""Which frames of an export are verified."""

from __future__ import annotations

import pytest

from io_idtech.io_blender.verification import Verify, frames_to_verify


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 1), (2, 2), (5, 5), (6, 3), (30, 3), (31, 4), (600, 4), (601, 5), (100_000, 5)]
)
def test_some_frames_are_the_first_the_last_and_up_to_three_between(count, expected):
    frames = frames_to_verify(count, Verify.SOME)
    assert frames[0] == 0
    assert frames[-1] == count - 1
    assert len(frames) == expected
    assert frames == sorted(set(frames))


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (2, 2), (60, 60), (200, 200), (201, 200), (5000, 200)])
def test_up_to_200_frames_of_what_may_differ_on_a_few_frames_are_verified(count, expected):
    frames = frames_to_verify(count, Verify.SOME, many=True)
    assert (frames[0], frames[-1], len(frames)) == (0, count - 1, expected)
    assert frames == sorted(set(frames))


def test_all_frames_are_verified_on_request():
    assert frames_to_verify(9, Verify.ALL) == list(range(9))


@pytest.mark.parametrize("verify", list(Verify))
def test_nothing_is_verified_where_nothing_is_exported(verify):
    assert frames_to_verify(0, verify) == []


def test_verification_can_be_switched_off():
    assert frames_to_verify(9, Verify.NONE) == []
