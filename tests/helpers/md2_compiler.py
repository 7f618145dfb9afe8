"""The GL commands that id's model compiler makes, by its own search, which compares triangles one by one."""

from __future__ import annotations

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Triangles, their texture coordinates, and the table of those."""


def slow_greedy_length(mesh: Arrays) -> int:
    """Length in words of what the compiler makes: its search, letter by letter."""
    xyz, st = mesh[0].tolist(), mesh[1].tolist()
    used = [0] * len(xyz)

    def corner(triangle: int, k: int) -> tuple[int, int]:
        return xyz[triangle][k % 3], st[triangle][k % 3]

    def length(start: int, startv: int, fan: bool) -> list[int]:
        taken = [start]
        used[start] = 2
        if fan:
            m1, m2 = corner(start, startv), corner(start, startv + 2)
        else:
            m1, m2 = corner(start, startv + 2), corner(start, startv + 1)
        going = True
        while going:
            going = False
            for check in range(start + 1, len(xyz)):
                for k in range(3):
                    if corner(check, k) == m1 and corner(check, k + 1) == m2:
                        if used[check]:
                            break
                        if fan or len(taken) % 2 == 1:
                            m2 = corner(check, k + 2)
                        else:
                            m1 = corner(check, k + 2)
                        taken.append(check)
                        used[check] = 2
                        going = True
                        break
                else:
                    continue
                break
        for triangle in taken:
            used[triangle] = 0
        return taken

    words = 1
    for start in range(len(xyz)):
        if used[start]:
            continue
        best: list[int] = []
        for fan in (True, False):
            for startv in range(3):
                taken = length(start, startv, fan)
                if len(taken) > len(best):
                    best = taken
        for triangle in best:
            used[triangle] = 1
        words += 1 + 3 * (len(best) + 2)
    return words
