"""A search for strips and fans that finds fewer of them than the model compiler's.

Every triangle that has two neighbours in a primitive turns around one of its corners. In a fan all turns are
around the same corner, in a strip they alternate between its two sides. So there are six longest primitives
through a triangle, a fan and a strip for each corner, and they can be followed in both directions, where the
compiler only goes forward from its first triangle.

Triangles with few unused neighbours come first, since they are left over alone otherwise. Of the six
primitives the one with the best score is taken: each triangle adds to it, and each unused neighbour of a triangle
lowers it, because it loses a way to be joined.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from .edges import around


@dataclass(frozen=True)
class Strategy:
    """How to choose among primitives.

    Attributes:
        triangle_gain: what a triangle is worth.
        neighbour_loss: what each unused neighbour of a triangle costs.
        oldest_first: of triangles with equally few neighbours, take the one that was added first rather than the
            one added last.
    """

    triangle_gain: int
    neighbour_loss: int
    oldest_first: bool


# Found by trial on some two hundred real models: each is the better one on some of them.
STRATEGIES = (Strategy(3, 1, True), Strategy(20, 7, False))

# The most triangles to follow in one direction, so that time stays linear on meshes with long strips. One more
# primitive costs little compared with that many triangles.
_LONGEST = 128


def cover_primitives(partners: list[int], strategy: Strategy) -> tuple[list[int], list[int]]:
    """Primitives that together use every triangle once.

    Args:
        partners: for each half-edge the one across it, or -1.
        strategy: how to choose.

    Returns:
        The primitives' counts of vertices, negative for fans as in GL commands, and their vertices one
        after another as numbers of corners.
    """
    triangle_count = len(partners) // 3
    owner, following, previous = around(3 * triangle_count)
    gain, loss = strategy.triangle_gain, strategy.neighbour_loss
    free = [True] * triangle_count
    degree: list[int] = (np.array(partners, np.int64).reshape(-1, 3) >= 0).sum(axis=1).tolist()
    # A triangle is added again when its degree changes; its older entries are then skipped.
    waiting: list[deque[int]] = [deque(), deque(), deque(), deque()]
    for triangle in range(triangle_count):
        waiting[degree[triangle]].append(triangle)
    if not strategy.oldest_first:
        for queue in waiting:
            queue.reverse()
    seen = [0] * triangle_count
    stamp = 0
    counts: list[int] = []
    corners: list[int] = []

    while True:
        queue = next((queue for queue in waiting if queue), waiting[0])
        if not queue:
            return counts, corners
        first = queue.popleft() if strategy.oldest_first else queue.pop()
        if not free[first] or waiting[degree[first]] is not queue:
            continue
        # The triangle alone.
        best_value = gain
        best: tuple[bool, list[int], list[int]] = (True, [], [])
        for is_fan in (True, False):
            for pivot in range(3):
                stamp += 1
                seen[first] = stamp
                value = gain
                ways: list[list[int]] = []
                # The two half-edges at the pivot corner are the ways out. Leaving by one of them after
                # entering by the other turns to the next half-edge on one way, to the previous on the other.
                pivot_edge = 3 * first + pivot
                for leaving, turn_back in ((pivot_edge, False), (previous[pivot_edge], True)):
                    way: list[int] = []
                    half_edge, back = leaving, turn_back
                    while len(way) < _LONGEST:
                        entered = partners[half_edge]
                        if entered < 0:
                            break
                        triangle = owner[entered]
                        if not free[triangle] or seen[triangle] == stamp:
                            break
                        seen[triangle] = stamp
                        way.append(half_edge)
                        value += gain - loss * degree[triangle]
                        if not is_fan:
                            back = not back
                        half_edge = previous[entered] if back else following[entered]
                    ways.append(way)
                onward, backward = ways
                length = len(onward) + len(backward) + 1
                # A strip's second triangle turns back by OpenGL's rule. Reversing the strip mends that
                # only for an odd number of triangles.
                if not is_fan and length >= 4 and length % 2 == 0 and len(backward) % 2 == 1:
                    longer = onward if len(onward) >= len(backward) else backward
                    value -= gain - loss * degree[partners[longer.pop()] // 3]
                if value > best_value:
                    best, best_value = (is_fan, onward, backward), value
        is_fan, onward, backward = best
        if is_fan or len(backward) % 2 == 1:
            onward, backward = backward, onward
        crossed = [partners[half_edge] for half_edge in reversed(backward)] + onward
        counts.append(-(len(crossed) + 3) if is_fan else len(crossed) + 3)
        corners += _corners(first, is_fan, crossed, partners)

        taken = [first, *(partners[half_edge] // 3 for half_edge in onward + backward)]
        for triangle in taken:
            free[triangle] = False
        for triangle in taken:
            for across in partners[3 * triangle : 3 * triangle + 3]:
                neighbour = across // 3
                if across >= 0 and free[neighbour]:
                    degree[neighbour] -= 1
                    waiting[degree[neighbour]].append(neighbour)


def _corners(first: int, is_fan: bool, crossed: list[int], partners: list[int]) -> list[int]:
    """The vertices of a primitive, from the half-edges that it crosses or from its one triangle."""
    if not crossed:
        return [3 * first, 3 * first + 1, 3 * first + 2]
    # The half-edge crossed first leads from the last of the first three vertices to the first in a fan, and
    # from the second to the last in a strip.
    base, start = crossed[0] - crossed[0] % 3, crossed[0] + (1 if is_fan else 2)
    corners = [base + (start + k) % 3 for k in range(3)]
    for half_edge in crossed:
        entered = partners[half_edge]
        corners.append(entered - entered % 3 + (entered + 2) % 3)
    return corners
