"""Which triangles meet at which edges."""

from __future__ import annotations

import numpy as np

from io_md2.format.edges import EdgeTable, around


def table(*triangles):
    return EdgeTable(np.array(triangles, dtype=np.int32).reshape(-1, 3))


def test_half_edges_are_numbered_by_triangle_and_corner():
    owners, following, previous = around(6)
    assert owners == [0, 0, 0, 1, 1, 1]
    assert following == [1, 2, 0, 4, 5, 3]
    assert previous == [2, 0, 1, 5, 3, 4]


def test_partners_run_along_one_edge_in_both_directions():
    # The edge from 1 to 2 of the first triangle is that from 2 to 1 of the second.
    assert table((0, 1, 2), (2, 1, 3)).partners() == [-1, 3, -1, 1, -1, -1]


def test_triangles_of_opposed_winding_do_not_meet():
    assert table((0, 1, 2), (1, 2, 3)).partners() == [-1] * 6


def test_of_more_than_two_triangles_at_an_edge_the_first_goes_with_the_first():
    partners = table((0, 1, 2), (2, 1, 3), (2, 1, 4)).partners()
    assert (partners[1], partners[3], partners[6]) == (3, 1, -1)


def test_a_degenerate_triangle_is_not_its_own_neighbour():
    assert table((0, 1, 0)).partners() == [-1, -1, -1]


def test_partners_are_mutual_whatever_the_mesh():
    rng = np.random.default_rng(3)
    partners = EdgeTable(rng.integers(0, 9, (200, 3))).partners()
    assert any(partner >= 0 for partner in partners)
    assert all(partners[partner] == edge for edge, partner in enumerate(partners) if partner >= 0)
    assert all(partner // 3 != edge // 3 for edge, partner in enumerate(partners) if partner >= 0)


def test_groups_hold_the_half_edges_of_an_edge_in_order():
    edges = table((0, 1, 2), (0, 1, 3))
    groups = [edges.members[start:end] for start, end in zip(edges.begin, edges.begin[1:], strict=False)]
    assert [0, 3] in groups
    assert sorted(edge for group in groups for edge in group) == list(range(6))


def test_no_triangles_have_no_edges():
    edges = table()
    assert (edges.members, edges.across, edges.partners()) == ([], [], [])
