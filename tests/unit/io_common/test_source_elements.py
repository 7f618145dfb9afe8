"""Vertices and corners of an edited mesh, matched with those of the imported file."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.source_elements import NONE, have_same_triangles, match_corners, match_vertices


def integers(*values: int):
    return np.array(values, np.int32)


def test_an_untouched_mesh_matches_every_vertex():
    assert match_vertices(integers(0, 1, 2), 3, 3).tolist() == [0, 1, 2]


def test_the_first_of_several_copies_is_the_vertex_of_the_file():
    assert match_vertices(integers(0, 1, 1, 0, 2), 5, 3).tolist() == [0, 1, NONE, NONE, 2]


def test_numbers_outside_the_file_match_nothing():
    assert match_vertices(integers(-5, 1, 3, 99), 4, 3).tolist() == [NONE, 1, NONE, NONE]


@pytest.mark.parametrize("numbers", [None, integers(0, 1)])
def test_without_an_attribute_of_the_right_length_no_vertex_is_matched(numbers):
    assert match_vertices(numbers, 3, 3).tolist() == [NONE] * 3


def test_several_corners_may_refer_to_the_same_element():
    assert match_corners(integers(2, 2, 0, -1, 3), 5, 3).tolist() == [2, 2, 0, NONE, NONE]


@pytest.mark.parametrize("numbers", [None, integers(0, 1)])
def test_without_an_attribute_of_the_right_length_corners_are_unknown(numbers):
    assert match_corners(numbers, 3, 3) is None


class TestTriangles:
    SOURCE = np.array([[0, 1, 2], [2, 1, 3]], np.int32)

    def same(self, triangles, sources):
        result = have_same_triangles(np.array(triangles, np.int32), integers(*sources), self.SOURCE, 4)
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
        assert self.same([[0, 1, 2], [2, 1, 3], [0, 1, 4]], [0, 1, 2, 3, NONE]) == [
            False,
            False,
            True,
            True,
            False,
        ]
