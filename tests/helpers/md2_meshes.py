"""Triangles with texture coordinates to search for strips and fans: grids, fans, seams, random tangles."""

from __future__ import annotations

import numpy as np
from md2_compiler import Arrays


def plain(triangles: object) -> Arrays:
    """A mesh whose texture coordinates are its vertices'."""
    array = np.array(triangles, np.int32).reshape(-1, 3)
    count = int(array.max(initial=-1)) + 1
    st = np.stack([np.arange(count) % 128, np.arange(count) // 128 % 64], axis=1).astype(np.int16)
    return array, array.copy(), st


def grid(width: int, height: int) -> Arrays:
    row = np.arange(width)
    a = (np.arange(height)[:, None] * (width + 1) + row).reshape(-1)
    b, c, d = a + 1, a + width + 1, a + width + 2
    return plain(np.stack([a, c, b, b, c, d], axis=1).reshape(-1, 3))


def seamed_grid(width: int, height: int) -> Arrays:
    """A grid whose right half has texture coordinates of its own."""
    triangles, _same, st = grid(width, height)
    right = triangles.min(axis=1) % (width + 1) >= width // 2
    triangle_st = triangles + np.where(right, len(st), 0)[:, None]
    return triangles, triangle_st.astype(np.int32), np.concatenate([st, st[::-1]])


def shuffled(mesh: Arrays, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(mesh[0]))
    turn = (np.arange(3) + rng.integers(0, 3, (len(order), 1))) % 3
    return (np.take_along_axis(mesh[0][order], turn, 1), np.take_along_axis(mesh[1][order], turn, 1), mesh[2])


def tangle(seed: int, vertices: int, count: int) -> Arrays:
    """Random triangles: edges of many triangles, degenerate and repeated ones."""
    rng = np.random.default_rng(seed)
    st = rng.integers(0, 3, (vertices, 2)).astype(np.int16)
    triangles = rng.integers(0, vertices, (count, 3)).astype(np.int32)
    return triangles, triangles.copy(), st


def icosphere() -> Arrays:
    """A closed surface of 80 triangles."""
    top, bottom = 0, 11
    faces = []
    for i in range(5):
        u, v = 1 + i, 1 + (i + 1) % 5
        x, y = 6 + i, 6 + (i + 1) % 5
        faces += [(top, v, u), (u, v, x), (v, y, x), (x, y, bottom)]
    middle: dict[frozenset[int], int] = {}
    result = []
    for face in faces:
        halves = [middle.setdefault(frozenset((face[k], face[(k + 1) % 3])), 12 + len(middle)) for k in range(3)]
        for k in range(3):
            result.append((face[k], halves[k], halves[k - 1]))
        result.append(tuple(halves))
    return plain(result)


MESHES: dict[str, Arrays] = {
    "one triangle": plain([[0, 1, 2]]),
    "two triangles": plain([[0, 1, 2], [2, 1, 3]]),
    "two apart": plain([[0, 1, 2], [3, 4, 5]]),
    "opposed windings": plain([[0, 1, 2], [1, 2, 3]]),
    "fan": plain([[0, i, i + 1] for i in range(1, 9)]),
    "closed fan": plain([[0, 1 + i, 1 + (i + 1) % 6] for i in range(6)]),
    "repeated": plain([[0, 1, 2]] * 5),
    "double-sided": plain([[0, 1, 2], [2, 1, 0], [2, 1, 3], [3, 1, 2]]),
    "degenerate": plain([[0, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 2], [2, 1, 1], [2, 1, 3]]),
    "grid": grid(6, 5),
    "shuffled grid": shuffled(grid(7, 6), 1),
    "seams": shuffled(seamed_grid(8, 5), 2),
    "closed": icosphere(),
    "shuffled closed": shuffled(icosphere(), 3),
    "long strip": grid(150, 1),
    "star": plain([[0, 1, i] for i in range(2, 30)]),
} | {f"tangle {seed}": tangle(seed, 4 + seed, 10 + 4 * seed) for seed in range(24)}
