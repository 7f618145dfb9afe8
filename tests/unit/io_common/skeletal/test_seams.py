"""Vertices that UV seams split: which of them may be merged."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech.io_common.skeletal.skinning import find_merged_vertices, weight_list_ids
from io_idtech.io_common.triangles import is_degenerate
from io_idtech.io_md5.format import Mesh


def mesh_of(weights, triangles):
    """A mesh whose vertices have the given weights: joint, bias, x, y, z."""
    counts = np.array([len(rows) for rows in weights], dtype=np.int32)
    table = np.array([row for rows in weights for row in rows], dtype=float).reshape(-1, 5)
    return Mesh(
        shader="",
        uvs=np.arange(2.0 * len(weights)).reshape(-1, 2),
        weight_starts=(np.cumsum(counts) - counts).astype(np.int32),
        weight_counts=counts,
        triangles=np.array(triangles, dtype=np.int32).reshape(-1, 3),
        weight_joints=table[:, 0].astype(np.int32),
        weight_biases=table[:, 1],
        weight_positions=table[:, 2:],
    )


def points_of(places, triangles):
    """A mesh with one weight for each vertex, at the given places, and those places."""
    return mesh_of([[(0, 1, *place)] for place in places], triangles), np.array(places, dtype=float)


A, B, C, D = (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)


def test_vertices_with_equal_weights_in_any_order_have_one_number():
    one, other = (0, 0.5, 1, 2, 3), (1, 0.5, 3, 2, 1)
    mesh = mesh_of([[one, other], [other, one], [one], [other], [], []], [])
    numbers = weight_list_ids(mesh)
    assert numbers[0] == numbers[1]
    # Vertices without weights have nothing in common.
    assert len(set(numbers.tolist())) == 5


@pytest.mark.parametrize("changed", [(1, 1, 1, 2, 3), (0, 0.5, 1, 2, 3), (0, 1, 1, 2, 3.0000001)])
def test_vertices_that_differ_in_joint_bias_or_position_have_different_numbers(changed):
    numbers = weight_list_ids(mesh_of([[(0, 1, 1, 2, 3)], [changed]], []))
    assert numbers[0] != numbers[1]


def test_negative_zero_is_zero():
    numbers = weight_list_ids(mesh_of([[(0, 1, 0.0, 0, 0)], [(0, 1, -0.0, 0, 0)]], []))
    assert numbers[0] == numbers[1]


def test_copies_along_a_seam_become_the_first_of_them():
    mesh, places = points_of([A, B, C, B, C, D], [[0, 1, 2], [4, 3, 5]])
    assert find_merged_vertices(mesh, places).tolist() == [0, 1, 2, 1, 2, 5]


def test_the_mesh_is_not_changed():
    mesh, places = points_of([A, B, C, B, C, D], [[0, 1, 2], [4, 3, 5]])
    find_merged_vertices(mesh, places)
    assert mesh.triangles.tolist() == [[0, 1, 2], [4, 3, 5]]


def test_vertices_of_no_triangle_stay_alone():
    mesh, places = points_of([A, B, C, A], [[0, 1, 2]])
    assert find_merged_vertices(mesh, places).tolist() == [0, 1, 2, 3]


def test_the_back_of_a_leaf_is_not_merged_with_its_front():
    mesh, places = points_of([A, B, C, A, B, C], [[0, 1, 2], [3, 5, 4]])
    assert find_merged_vertices(mesh, places).tolist() == [0, 1, 2, 3, 4, 5]


def test_both_sides_of_a_leaf_of_two_triangles_are_merged_each_by_itself():
    front, back = [[0, 1, 2], [4, 3, 5]], [[6, 8, 7], [10, 11, 9]]
    places = [A, B, C, B, C, D] * 2
    mesh, vertices = points_of(places, front + back)
    assert find_merged_vertices(mesh, vertices).tolist() == [0, 1, 2, 1, 2, 5, 6, 7, 8, 7, 8, 11]


def test_a_triangle_that_would_collapse_keeps_its_vertices():
    mesh, places = points_of([A, A, C, B], [[0, 1, 2], [0, 3, 2]])
    firsts = find_merged_vertices(mesh, places)
    assert not is_degenerate(firsts[mesh.triangles]).any()


def test_triangles_that_share_their_vertices_in_the_file_go_on_doing_so():
    mesh, places = points_of([A, B, C, B, C, D], [[0, 1, 2], [0, 1, 2], [4, 3, 5]])
    assert find_merged_vertices(mesh, places).tolist() == [0, 1, 2, 1, 2, 5]


@pytest.mark.slow
def test_triangles_of_one_seam_in_a_mesh_of_many_vertices_are_told_apart():
    """Above 2^21 vertices, three indices no longer fit into one 64-bit number."""
    count = (1 << 21) + 6
    places = np.zeros((count, 3))
    places[-6:] = [A, B, C, B, C, D]
    one = np.ones(count)
    mesh = Mesh(
        shader="",
        uvs=np.zeros((count, 2)),
        weight_starts=np.arange(count, dtype=np.int32),
        weight_counts=np.ones(count, dtype=np.int32),
        triangles=np.array([[0, 1, 2], [4, 3, 5]], dtype=np.int32) + (count - 6),
        weight_joints=np.zeros(count, dtype=np.int32),
        weight_biases=one,
        weight_positions=places,
    )
    assert (find_merged_vertices(mesh, places)[-6:] - (count - 6)).tolist() == [0, 1, 2, 1, 2, 5]


def test_a_triangle_with_a_vertex_twice_is_degenerate():
    triangles = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 0], [1, 0, 0], [2, 2, 2]])
    assert is_degenerate(triangles).tolist() == [False, True, True, True, True]


def test_a_mesh_without_vertices_has_nothing_to_merge():
    mesh = mesh_of([], [])
    assert find_merged_vertices(mesh, np.empty((0, 3))).tolist() == []
