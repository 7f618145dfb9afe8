"""Winding, texture space and degenerate triangles."""

from __future__ import annotations

import numpy as np

from io_common.triangles import (
    FLIPPED_WINDING,
    drop_degenerate,
    flip_v,
    is_degenerate,
    lowest_vertex_first,
)

TRIANGLES = np.array([[0, 1, 2], [3, 3, 1], [2, 1, 0], [4, 1, 4], [5, 0, 0]], np.int32)


def test_flipping_the_winding_twice_changes_nothing():
    flipped = TRIANGLES[:, FLIPPED_WINDING]
    assert flipped[0].tolist() == [0, 2, 1]
    assert np.array_equal(flipped[:, FLIPPED_WINDING], TRIANGLES)


def test_v_counts_from_the_other_edge_and_u_stays():
    assert flip_v(np.array([[0.25, 0.0], [0.5, 0.75]])).tolist() == [[0.25, 1.0], [0.5, 0.25]]


def test_a_triangle_with_a_repeated_vertex_is_degenerate():
    assert is_degenerate(TRIANGLES).tolist() == [False, True, False, True, True]


def test_degenerate_triangles_are_dropped_with_their_rows_of_other_tables():
    triangles, rows = drop_degenerate(TRIANGLES, np.arange(5))
    assert triangles.tolist() == [[0, 1, 2], [2, 1, 0]]
    assert rows.tolist() == [0, 2]


def test_an_empty_table_of_triangles_stays_empty():
    none = np.zeros((0, 3), np.int32)
    assert [len(part) for part in drop_degenerate(none, none)] == [0, 0]
    assert lowest_vertex_first(none).shape == (0, 3)


def test_triangles_of_one_winding_become_equal_rows_and_those_of_the_other_do_not():
    rows = lowest_vertex_first(np.array([[7, 3, 5], [3, 5, 7], [5, 7, 3], [3, 7, 5]]))
    assert rows[:3].tolist() == [[3, 5, 7]] * 3
    assert rows[3].tolist() == [3, 7, 5]
