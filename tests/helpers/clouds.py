"""How far two sets of points are from each other."""

from __future__ import annotations

import numpy as np
from mathutils.kdtree import KDTree


def farthest(points, others) -> float:
    """The greatest distance of a point from the nearest of the others."""
    # The tree would pass over a NaN.
    assert np.isfinite(points).all()
    assert np.isfinite(others).all()
    tree = KDTree(len(others))
    for index, place in enumerate(others.tolist()):
        tree.insert(place, index)
    tree.balance()
    return max(tree.find(place)[2] for place in points.tolist())


def distance(a, b) -> float:
    """The greatest distance of a point of one set from the nearest of the other, both ways."""
    return max(farthest(a, b), farthest(b, a))
