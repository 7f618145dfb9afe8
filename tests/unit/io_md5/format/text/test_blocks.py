"""Blocks of an MD5 file: header keys, rows and hierarchies."""

from __future__ import annotations

import re

import pytest
from md5_parsing import animation_refused, mesh_refused, refusal_of, refused
from md5_samples import ANIMATION, MESH, edited, line_of

from io_idtech.io_md5.format import parse_animation, parse_mesh

# Numbers


def test_lines_are_counted_after_comments_of_several_lines():
    text = edited(MESH, "joints {", '/* a\n\n\nb */ joints { // "\n').replace("\n", "\r\n")
    text = edited(text, "( 7 8 9.0625 )", "( 7 8 9.06.25 )")
    mesh_refused(text, "9.06.25", reason="not a number", found="'9.06.25'", expected="a number")


@pytest.mark.parametrize(
    ("old", "new", "what", "found", "expected"),
    [
        ("-2.25 0 64", "-2.25 0", "the joint", "6 numbers", "7"),
        ("-2.25 0 64", "-2.25 0 64 1", "the joint", "8 numbers", "7"),
        ("( -2.25 0 64 ) ( 0.1 -0.2 0.3 )", "", "the joint", "1 number", "7"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1", "the vertex", "4 numbers", "5"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1 2 3", "the vertex", "6 numbers", "5"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert", "the vertex", "0 numbers", "5"),
        ("tri 1 2 1 0", "tri 1 2 1", "the triangle", "3 numbers", "4"),
        ("tri 1 2 1 0", "tri 1 2 1 0 1", "the triangle", "5 numbers", "4"),
        ("weight 1 1 0.75 ( -4.5 0 6 )", "weight 1 1 0.75 ( -4.5 0 )", "the weight", "5 numbers", "6"),
        ("weight 1 1 0.75 ( -4.5 0 6 )", "weight 1 1 0.75 ( -4.5 0 6 6 )", "the weight", "7 numbers", "6"),
    ],
)
def test_a_mesh_row_with_the_wrong_number_of_values_is_refused(old, new, what, found, expected):
    line = line_of(MESH, old)
    refused(
        parse_mesh, edited(MESH, old, new), line,
        reason=f"{what} has the wrong number of values", found=found, expected=expected,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "found"), [("1 60 3", "1 60", "2 numbers"), ("1 60 3", "1 60 3 4", "4 numbers")]
)
def test_a_hierarchy_row_with_the_wrong_number_of_values_is_refused(old, new, found):
    animation_refused(
        edited(ANIMATION, old, new), '"head"',
        reason="the joint has the wrong number of values", found=found, expected="3",
    )  # fmt: skip


def test_a_word_in_place_of_a_number_is_refused():
    text = edited(MESH, "( 0.25 1 )", "( O.25 1 )")
    mesh_refused(text, "vert 1", reason="the vertex has the wrong number", found="1 number", expected="5")


def test_a_joint_row_without_a_name_is_refused():
    words = {"reason": "a joint has no name", "found": "-1", "expected": "a name"}
    mesh_refused(edited(MESH, '"origin"\t-1', "\t-1"), "( -0.5 -0.5 -0.5 )", **words)
    animation_refused(edited(ANIMATION, '"origin"\t-1 0 0', "\t-1 0 0"), "-1 0 0", **words)
    text = edited(MESH, '"hips"\t0', "\t0")
    mesh_refused(text, '"origin"', reason="the joint has the wrong number", found="14 numbers", expected="7")


# Cycles


@pytest.mark.parametrize(
    ("hips", "head", "at"), [(1, 1, '"hips"'), (2, 1, None), (0, 2, '"head"')], ids=["itself", "each other", "last"]
)
def test_a_cycle_of_joints_is_refused(hips, head, at):
    for parse, sample in ((parse_mesh, MESH), (parse_animation, ANIMATION)):
        text = edited(edited(sample, '"hips"\t0 ', f'"hips"\t{hips} '), '"head"\t1 ', f'"head"\t{head} ')
        error = refusal_of(parse, text)
        assert "its own ancestor" in error.reason
        name = re.search("'(.*)'", error.reason)[1]
        assert error.line == line_of(text, f'"{name}"')
        assert at is None or at == f'"{name}"'
        parent = {"hips": hips, "head": head}[name]
        assert error.found == f"parent {parent}"
