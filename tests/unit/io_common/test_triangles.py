"""Winding, texture space and degenerate triangles."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.triangles import (
    FLIPPED_WINDING,
    drop_degenerate,
    flip_v,
    have_same_triangles,
    is_degenerate,
    lowest_vertex_first,
    neighbors,
    with_area,
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
    assert lowest_vertex_first(none)[0].shape == (0, 3)


def test_triangles_of_one_winding_become_equal_rows_and_those_of_the_other_do_not():
    rows, corners = lowest_vertex_first(np.array([[7, 3, 5], [3, 5, 7], [5, 7, 3], [3, 7, 5]]))
    assert rows[:3].tolist() == [[3, 5, 7]] * 3
    assert rows[3].tolist() == [3, 7, 5]
    assert corners.tolist() == [[1, 2, 0], [3, 4, 5], [8, 6, 7], [9, 10, 11]]


@pytest.mark.parametrize("middle", range(4))
@pytest.mark.parametrize("away", [0.0, 300.0])
@pytest.mark.parametrize("diagonal", [0, 1])
def test_a_face_with_three_of_four_corners_on_a_line_is_split_into_triangles_with_area(middle, away, diagonal):
    """Beside a triangle and a face of four corners without such a line, which stay as they are."""
    line = np.array([(0.0, 0.0, 0.0), (0.3, 0.1, 0.2), (1.2, 0.4, 0.8), (0.0, 2.0, 0.0)])
    face = np.roll(line, middle - 1, axis=0)
    square = np.array([(5.0, 0.0, 0.0), (6.0, 0.0, 0.0), (6.0, 1.0, 0.0), (5.0, 1.0, 0.0)])
    places = np.concatenate([square[:3], face, square]).astype(np.float32) + np.float32(away)
    split = [[(3, 4, 5), (3, 5, 6)], [(3, 4, 6), (4, 5, 6)]]
    loops = np.array([(0, 1, 2), *split[diagonal], (7, 8, 10), (8, 9, 10)], np.int32)
    found = with_area(loops, np.array([0, 1, 1, 2, 2], np.int32), places.astype(float))
    assert found[[0, 3, 4]].tolist() == loops[[0, 3, 4]].tolist()
    assert found[1:3].tolist() == [list(one) for one in split[middle % 2]]


def test_a_face_without_area_and_no_faces_at_all_stay_as_they_are():
    loops = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    assert with_area(loops, np.zeros(2, np.int32), np.zeros((4, 3))).tolist() == loops.tolist()
    assert with_area(loops[:0], np.zeros(0, np.int32), np.zeros((0, 3))).shape == (0, 3)


class TestTrianglesOfTheFile:
    SOURCE = np.array([[0, 1, 2], [2, 1, 3]], np.int32)

    def same(self, triangles, sources):
        result = have_same_triangles(np.array(triangles, np.int32), np.array(sources, np.int32), self.SOURCE, 4)
        return result.tolist()

    def test_order_and_first_corner_do_not_matter(self):
        assert self.same([[3, 2, 1], [1, 2, 0]], [0, 1, 2, 3]) == [True] * 4

    def test_the_vertices_of_a_flipped_triangle_have_changed(self):
        assert self.same([[0, 1, 2], [1, 2, 3]], [0, 1, 2, 3]) == [True, False, False, False]

    def test_the_vertices_of_a_deleted_triangle_have_changed(self):
        assert self.same([[0, 1, 2]], [0, 1, 2, 3]) == [True, False, False, False]

    def test_a_second_copy_of_a_triangle_is_a_change(self):
        assert self.same([[0, 1, 2], [0, 1, 2], [2, 1, 3]], [0, 1, 2, 3]) == [False, False, False, True]

    def test_new_vertices_never_have_the_triangles_of_the_file(self):
        assert self.same([[0, 1, 2], [2, 1, 3], [0, 1, 4]], [0, 1, 2, 3, -1]) == [False, False, True, True, False]


def test_neighbors_share_an_edge_by_place_and_no_third_triangle_does():
    # Vertices 4 and 5 repeat 1 and 2, as along a UV seam.
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    pair = np.array([[0, 1, 2], [4, 3, 5]], np.int32)
    assert neighbors(pair, points).tolist() == [[-1, 1, -1], [-1, -1, 0]]
    assert (neighbors(np.vstack([pair, [[1, 6, 2]]]), points) == -1).all()
    assert neighbors(pair[:0], points).shape == (0, 3)
