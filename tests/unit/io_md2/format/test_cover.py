"""A search for strips and fans that uses every triangle once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from md2_meshes import MESHES, grid

from io_md2.format.cover import STRATEGIES, cover_primitives
from io_md2.format.edges import EdgeTable


def drawn(counts, corners):
    """The triangles of primitives as corners, each with its least corner first."""
    triangles, place = [], 0
    for count in counts:
        part = corners[place : place + abs(count)]
        place += abs(count)
        for k in range(len(part) - 2):
            if count < 0:
                triangle = (part[0], part[k + 1], part[k + 2])
            elif k % 2 == 0:
                triangle = (part[k], part[k + 1], part[k + 2])
            else:
                triangle = (part[k + 1], part[k], part[k + 2])
            triangles.append(triangle)
    assert place == len(corners)
    return triangles


def least_first(triangle):
    return min(triangle[k:] + triangle[:k] for k in range(3))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=["oldest first", "newest first"])
@pytest.mark.parametrize("name", MESHES)
def test_every_triangle_is_drawn_once_with_its_winding(name, strategy):
    triangles = MESHES[name][0]
    counts, corners = cover_primitives(EdgeTable(triangles).partners(), strategy)
    # A corner is named by the number of its half-edge: it stands for the vertex there.
    vertices = triangles.reshape(-1)[np.array(corners, dtype=np.int64)].tolist()
    expected = Counter(least_first(tuple(triangle)) for triangle in triangles.tolist())
    assert Counter(map(least_first, drawn(counts, vertices))) == expected


@pytest.mark.parametrize("strategy", STRATEGIES, ids=["oldest first", "newest first"])
def test_a_strip_of_triangles_is_one_primitive(strategy):
    counts, _ = cover_primitives(EdgeTable(grid(20, 1)[0]).partners(), strategy)
    assert counts == [42]


def test_no_triangles_need_no_primitives():
    assert cover_primitives([], STRATEGIES[0]) == ([], [])
