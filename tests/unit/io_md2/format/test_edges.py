"""Which triangles meet at which edges."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md2.format.glcommands import EdgeTable


def table(*triangles):
    return EdgeTable(np.array(triangles, dtype=np.int32).reshape(-1, 3))


def test_groups_hold_the_half_edges_of_an_edge_in_order():
    edges = table((0, 1, 2), (0, 1, 3))
    groups = [edges.members[start:end] for start, end in zip(edges.begin, edges.begin[1:], strict=False)]
    assert [0, 3] in groups
    assert sorted(edge for group in groups for edge in group) == list(range(6))


def test_no_triangles_have_no_edges():
    edges = table()
    assert (edges.members, edges.across) == ([], [])
