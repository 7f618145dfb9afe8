"""Lines of numbers that are laid out alike."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_md5.format.text.columns import MAX_GAP, Layout, Text

BEHIND = b"\n" * 2000
"""Behind a text, keeps its last lines from being read one by one."""


def read(lines, layout, integers=0):
    data = b"".join(lines)
    text = Text(data + BEHIND)
    return layout.read(text, *text.lines(0, len(data)), integers)


@pytest.mark.parametrize(
    ("line", "word", "lead", "gaps"),
    [
        (b"1 2\n", b"", b"", (b" ", b"\n")),
        (b"\tvert 0 ( 0.5 1 ) 0 1\r\n", b"vert", b"\tvert ", (b" ( ", b" ", b" ) ", b" ", b"\r\n")),
        (b"( -1 ) \n", b"", b"( ", (b" ) \n",)),
    ],
)
def test_the_layout_is_what_stands_between_the_numbers(line, word, lead, gaps):
    layout = Layout.of(line, word)
    assert (layout.lead, layout.gaps, layout.width) == (lead, gaps, len(gaps))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"\n", b""),
        (b"1 x\n", b""),
        (b"1 2", b""),
        (b"tri 0 1 2 3\n", b"vert"),
        (b"vert0 1\n", b"vert"),
        (b"1 // a comment\n", b""),
        (b"1" + b" " * (MAX_GAP + 1) + b"2\n", b""),
    ],
)
def test_a_line_that_holds_anything_else_has_no_layout(line, word):
    assert Layout.of(line, word) is None


def test_lines_of_one_layout_are_read_column_by_column():
    lines = [b"\tw %d ( %g -%g )\n" % (row, row / 4, row / 8) for row in range(100)]
    table = read(lines, Layout.of(lines[0], b"w"), integers=1)
    expected = np.column_stack([np.arange(100), np.arange(100) / 4, -np.arange(100) / 8])
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("odd", [b"1e1 2\n", b"  10   2\n", b"10 2.\n"])
def test_a_few_lines_laid_out_otherwise_are_read_one_by_one(odd):
    lines = [b"10 2\n"] * 50
    lines[25] = odd
    np.testing.assert_array_equal(read(lines, Layout.of(lines[0])), [[10, 2]] * 50)


def test_many_lines_laid_out_otherwise_are_left_to_others():
    assert read([b"10 2\n", *[b" 10 2\n"] * 200], Layout.of(b"10 2\n")) is None


@pytest.mark.parametrize("bad", [b"10 2 3\n", b"10\n", b"10 x\n", b"10 1e99\n"])
def test_a_line_that_is_no_row_is_left_to_others(bad):
    assert read([b"10 2\n"] * 20 + [bad] + [b"10 2\n"] * 20, Layout.of(b"10 2\n")) is None
