"""Rules, and the findings that they make."""

from __future__ import annotations

from dataclasses import replace

from io_idtech.io_common.rules import Rule

RULE = Rule(
    "too_many_vertices", True, lambda rule, subject: iter(()), "Quake II", "at most 2,048 vertices",
    "Quake II takes 2048", "remove vertices", "ref_gl/gl_model.c", 2048,
)  # fmt: skip


def test_a_message_says_what_is_wrong_why_and_what_to_do():
    finding = RULE.finding("3000 vertices", 3000)
    assert finding.text == "3000 vertices; Quake II takes 2048: remove vertices"
    assert (finding.is_error, finding.found, finding.limit) == (True, "3000", "2048")


def test_what_the_imported_file_broke_as_well_is_a_warning_without_a_remedy():
    finding = RULE.finding("3000 vertices", is_in_source=True)
    assert finding.text == "3000 vertices; Quake II takes 2048; the imported file already did"
    assert not finding.is_error


def test_a_finding_with_indices_is_about_the_one_mesh():
    assert RULE.finding("x").mesh == -1
    finding = RULE.finding("x", vertices=[3, 1], triangles=[[2]])
    assert (finding.mesh, finding.vertices, finding.triangles) == (0, (3, 1), (2,))


def test_parts_of_a_message_that_are_empty_leave_no_trace():
    assert replace(RULE, why="", remedy="").finding("3000 vertices").text == "3000 vertices"
    assert replace(RULE, limit=0).finding("x").limit == ""
