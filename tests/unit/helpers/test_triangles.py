"""The judge of edits finds which triangles of two sets are the same."""

from __future__ import annotations

import tracemalloc

import numpy as np
from triangles import Triangles, partners

LIMIT = 0.6


def rows(heights: np.ndarray) -> Triangles:
    """Equal triangles at some heights."""
    corner = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
    places = corner + heights[:, None, None] * np.array([0.0, 0.0, 1.0])
    return Triangles(places, np.zeros((len(heights), 3, 2)), np.zeros(len(heights), dtype=int))


def test_each_triangle_has_one_of_its_own_where_many_must_give_theirs_away():
    # Each suits two of the others; the last one suits only what the one before would take.
    count = 3000
    heights = np.arange(count, dtype=float)
    a, b = rows(np.r_[heights[1:] - 0.5, -0.5]), rows(heights[::-1])
    found = partners(a, b, LIMIT, LIMIT)
    assert sorted(found) == list(range(count))
    assert np.abs(a.places[:, 0, 2] - b.places[found, 0, 2]).max() <= LIMIT


def test_a_triangle_that_no_other_equals_has_no_partner():
    found = partners(rows(np.array([0.0, 0.1, 5.0])), rows(np.array([0.0, 9.0, 0.2])), LIMIT, LIMIT)
    assert sorted(found) == [-1, 0, 2]
    assert found[2] == -1


def test_thousands_of_triangles_that_lie_on_each_other_have_partners_without_a_list_of_all_pairs():
    heights = np.concatenate([np.zeros(30_000), np.arange(2, 200)])
    noise = np.random.default_rng(1).uniform(0.0, 0.3, len(heights))
    a, b = rows(heights), rows((heights + noise)[::-1])
    tracemalloc.start()
    found = partners(a, b, LIMIT, LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sorted(found) == list(range(len(heights)))
    assert np.abs(a.places - b.places[found]).max() <= LIMIT
    assert peak < 200e6
