"""Rules, and the findings that they make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from io_idtech.io_common.rules import Rule
from io_idtech.io_common.texts import listing


def rule(**changes):
    made = Rule(
        "joint_count", True, lambda rule, subject: iter(()), "Doom 3", "at most 110 joints", "Doom 3 takes 110",
        "remove bones", "Model_md5.cpp", 110,
    )  # fmt: skip
    return replace(made, **changes)


def test_a_message_says_what_is_wrong_why_and_what_to_do():
    finding = rule().finding("200 joints", 200, joints=[110, 111])
    assert finding.text == "200 joints; Doom 3 takes 110: remove bones"
    assert (finding.code, finding.is_error, finding.found, finding.limit) == ("joint_count", True, "200", "110")
    assert (finding.engine, finding.remedy, finding.mesh, finding.joints) == ("Doom 3", "remove bones", -1, (110, 111))


def test_parts_of_a_message_that_are_empty_leave_no_trace():
    assert rule(why="", remedy="", limit=0).finding("200 joints").text == "200 joints"
    assert rule(limit=0).finding("200 joints").limit == ""


def test_a_finding_may_have_a_remedy_of_its_own():
    assert rule().finding("200 joints", remedy="merge").text.endswith(": merge")


@pytest.mark.parametrize("values", [[2, 0], (2, 0), np.array([[2], [0]], dtype=np.int32)])
def test_indices_are_plain_integers(values):
    indices = rule().finding("x", joints=values).joints
    assert indices == (2, 0)
    assert {type(index) for index in indices} == {int}


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (list("abcde"), "a, b, c, d, e"), (list("abcdefg"), "a, b, c, d, e and 2 more")],
)
def test_long_lists_of_names_are_cut(names, text):
    assert listing(list(names)) == text
