"""Which triangles meet at which edges, for the search for strips and fans.

A corner is a vertex and its texture coordinate: primitives go on only where both are the same. A half-edge
is numbered ``3 * triangle + corner`` and leads from that corner to the next one of its triangle; the number
names the corner as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class EdgeTable:
    """Half-edges grouped by the corners that they join.

    Attributes:
        members: half-edges, those of a group together and ascending.
        begin: where each group begins in ``members``; one more entry than groups.
        across: for each half-edge, the group of those that run the other way, or -1.
    """

    def __init__(self, corners: NDArray[Any]) -> None:
        """Builds the table in O(T log T) from corners (T, 3), integers that are equal where a primitive may go on."""
        start = corners.astype(np.int64)
        end = np.roll(start, -1, axis=1)
        size = int(start.max(initial=0)) + 1
        keys, group = np.unique((start * size + end).reshape(-1), return_inverse=True)
        wanted = (end * size + start).reshape(-1)
        found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        across = np.where(keys[found] == wanted, found, -1) if len(keys) else found
        sizes = np.bincount(group, minlength=len(keys))
        self.members: list[int] = np.argsort(group, kind="stable").tolist()
        self.begin: list[int] = [0, *np.cumsum(sizes).tolist()]
        self.across: list[int] = across.tolist()
