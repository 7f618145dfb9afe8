"""The search of Quake II's model compiler for strips and fans, in linear time.

For each unused triangle in the order of the list the compiler tries a fan and a strip from each of its
corners over the triangles after it, and takes the longest, the first of equals. It looks through all
triangles for each next one; here a table of edges gives it at once.
"""

from __future__ import annotations

from .edges import EdgeTable


def greedy_primitives(table: EdgeTable, *, stop_at_used: bool) -> tuple[list[int], list[int]]:
    """Return the primitives that the compiler would make.

    Args:
        table: the edges.
        stop_at_used: where several later triangles share an edge, end the primitive if the first of them
            is used, as the compiler does, rather than take the first unused one. It matters only where a
            surface passes an edge more than once.

    Returns:
        The primitives' counts of vertices, negative for fans as in GL commands, and their vertices one
        after another as numbers of corners.
    """
    num_triangles = len(table.across) // 3
    members, across = table.members, table.across
    ends = table.begin[1:]
    # Where in each group to begin looking: what lies before belongs to triangles that will not come again.
    heads = table.begin[:-1]
    # For slots of used triangles, a later slot to go on from: chains are shortened as they are followed.
    skip = list(range(len(members) + 1))
    slot_of = [0] * len(members)
    for slot, half_edge in enumerate(members):
        slot_of[half_edge] = slot
    used = [False] * num_triangles
    tried = [-1] * num_triangles
    stamp = 0
    counts: list[int] = []
    corners: list[int] = []

    for first in range(num_triangles):
        if used[first]:
            continue
        base = 3 * first
        best: list[int] = []
        best_fan, best_corner = True, 0
        for is_fan in (True, False):
            for corner in range(3):
                stamp += 1
                tried[first] = stamp
                path: list[int] = []
                cursors: dict[int, int] = {}
                half_edge = base + (corner + (2 if is_fan else 1)) % 3
                turn_back = True
                while True:
                    group = across[half_edge]
                    if group < 0:
                        break
                    slot, end = heads[group], ends[group]
                    while slot < end and members[slot] < base + 3:
                        slot += 1
                    heads[group] = slot
                    if not stop_at_used:
                        slot = max(slot, cursors.get(group, 0))
                        while slot < end:
                            while skip[slot] != slot:
                                skip[slot] = skip[skip[slot]]
                                slot = skip[slot]
                            if slot >= end or tried[members[slot] // 3] != stamp:
                                break
                            slot += 1
                        cursors[group] = slot
                    if slot >= end:
                        break
                    entered = members[slot]
                    triangle = entered // 3
                    if used[triangle] or tried[triangle] == stamp:
                        break
                    tried[triangle] = stamp
                    path.append(entered)
                    # A fan keeps its centre, a strip swings from one side to the other.
                    half_edge = 3 * triangle + (entered + (2 if turn_back else 1)) % 3
                    turn_back = is_fan or not turn_back
                if len(path) > len(best):
                    best, best_fan, best_corner = path, is_fan, corner
        corners += [base + (best_corner + k) % 3 for k in range(3)]
        used[first] = True
        for entered in best:
            triangle = entered // 3
            used[triangle] = True
            corners.append(3 * triangle + (entered + 2) % 3)
        for triangle in (first, *(entered // 3 for entered in best)):
            for half_edge in range(3 * triangle, 3 * triangle + 3):
                skip[slot_of[half_edge]] = slot_of[half_edge] + 1
        counts.append(-(len(best) + 3) if best_fan else len(best) + 3)
    return counts, corners
