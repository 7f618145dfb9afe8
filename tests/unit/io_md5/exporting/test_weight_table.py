"""Weights in ranges that vertices may share."""

from __future__ import annotations

import numpy as np

from io_idtech.io_md5.exporting.weight_table import WeightTable


def table():
    """Vertices 0 and 2 share the rows 1 and 2; vertex 1 has row 0, vertex 3 none."""
    return WeightTable(
        starts=np.array([1, 0, 1, 0]),
        counts=np.array([2, 1, 2, 0]),
        joints=np.array([0, 1, 2], dtype=np.int32),
        biases=np.array([1.0, 0.25, 0.75]),
        points=np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0], [0.0, 8.0, 0.0]]),
    )


def test_rows_come_vertex_by_vertex_in_the_order_asked_for():
    assert table().rows(np.array([1, 2, 3, 0])).tolist() == [0, 1, 2, 1, 2]
    assert table().rows(np.array([], dtype=np.int64)).tolist() == []


def test_a_vertex_is_where_its_weights_put_it_together():
    assert table().positions.tolist() == [[1, 6, 0], [1, 2, 3], [1, 6, 0], [0, 0, 0]]
