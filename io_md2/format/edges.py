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
        """Builds the table in O(T log T).

        Args:
            corners: (T, 3) integers, equal where a primitive may go on.
        """
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

    def partners(self) -> list[int]:
        """For each half-edge the one of another triangle that runs the other way, or -1.

        Partners are mutual: where a surface passes an edge more than once, the first goes with the first.
        """
        count = len(self.members)
        half_edges = np.arange(count)
        members, across = np.array(self.members, np.int64), np.array(self.across, np.int64)
        begin = np.array(self.begin, np.int64)
        rank = np.empty(count, np.int64)
        rank[members] = half_edges - np.repeat(begin[:-1], np.diff(begin))
        slot = begin[across] + rank
        exists = (across >= 0) & (slot < begin[across + 1])
        partner = np.full(count, -1)
        partner[exists] = members[slot[exists]]
        # A degenerate triangle may border on itself.
        partner[partner // 3 == half_edges // 3] = -1
        result: list[int] = partner.tolist()
        return result


def around(count: int) -> tuple[list[int], list[int], list[int]]:
    """The triangle of each of `count` half-edges, and the next and the previous half-edge of that triangle."""
    half_edges = np.arange(count)
    following = half_edges + np.where(half_edges % 3 == 2, -2, 1)
    previous = half_edges + np.where(half_edges % 3 == 0, 2, -1)
    return (half_edges // 3).tolist(), following.tolist(), previous.tolist()
