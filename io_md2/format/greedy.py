"""The search of Quake II's model compiler for strips and fans, in linear time.

For each unused triangle in the order of the list the compiler tries a fan and a strip from each of its
corners over the triangles after it, and takes the longest, the first of equals. It looks through all
triangles for each next one; here a table of edges gives it at once.
"""

from __future__ import annotations

from .edges import EdgeTable


def greedy_primitives(table: EdgeTable) -> tuple[list[int], list[int]]:
    """The primitives that the compiler would make.

    Returns their counts of vertices, negative for fans as in GL commands, and their vertices one after another as
    numbers of corners.
    """
    search = _Search(table)
    counts: list[int] = []
    corners: list[int] = []
    for first in range(len(search.used)):
        if search.used[first]:
            continue
        best: list[int] = []
        best_fan, best_corner = True, 0
        for is_fan in (True, False):
            for corner in range(3):
                path = search.follow(first, corner, is_fan)
                if len(path) > len(best):
                    best, best_fan, best_corner = path, is_fan, corner
        search.used[first] = True
        corners += [3 * first + (best_corner + k) % 3 for k in range(3)]
        for entered in best:
            search.used[entered // 3] = True
            corners.append(entered - entered % 3 + (entered + 2) % 3)
        counts.append(-(len(best) + 3) if best_fan else len(best) + 3)
    return counts, corners


class _Search:
    """The triangles that are used, and the way on from any of them.

    A primitive is never longer than the best one from its triangle, so that all tries together take time
    in proportion to the triangles, if each step does. Where several later triangles share an edge and the
    first of them is used, the compiler ends the primitive.
    """

    def __init__(self, table: EdgeTable) -> None:
        self.members = table.members
        self.across = table.across
        self.ends = table.begin[1:]
        self.used = [False] * (len(table.across) // 3)
        # The number of the last try that each triangle was in.
        self.tried = [0] * len(self.used)
        self.current = 0
        # Where in each group to begin: entries before belong to triangles that the search has passed.
        self.heads = table.begin[:-1]

    def follow(self, first: int, corner: int, is_fan: bool) -> list[int]:
        """The half-edges by which a fan or strip from a corner of a triangle enters the next ones."""
        members, across, heads, used, tried = self.members, self.across, self.heads, self.used, self.tried
        ends = self.ends
        self.current = current = self.current + 1
        path: list[int] = []
        passed = 3 * first + 3
        half_edge = 3 * first + (corner + (2 if is_fan else 1)) % 3
        turn_back = True
        while (group := across[half_edge]) >= 0:
            slot, end = heads[group], ends[group]
            while slot < end and members[slot] < passed:
                slot += 1
            heads[group] = slot
            if slot >= end:
                break
            entered = members[slot]
            triangle = entered // 3
            if used[triangle] or tried[triangle] == current:
                break
            tried[triangle] = current
            path.append(entered)
            # A fan keeps its centre, a strip swings from one side to the other.
            half_edge = 3 * triangle + (entered + (2 if turn_back else 1)) % 3
            turn_back = is_fan or not turn_back
        return path
