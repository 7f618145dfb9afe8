"""Sets of triangles, and whether two of them are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# That many pairs of triangles are compared at once, which takes about a hundred megabytes.
_PAIRS = 1_000_000
# Any corner of a triangle may be its first.
_TURNS = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
# Seen from this side, sums that are near each other are a range.
_VIEW = np.array([0.5377, -0.8339, 0.7588, 0.2862, -0.6319])


@dataclass(eq=False)
class Triangles:
    """Triangles, counter-clockwise seen from outside.

    Attributes:
        places: of the corners, (T, 3, 3).
        uvs: of the corners, (T, 3, 2).
        owners: a number for each triangle, (T,).
    """

    places: np.ndarray
    uvs: np.ndarray
    owners: np.ndarray

    def __len__(self) -> int:
        return len(self.places)

    def chosen(self, index) -> Triangles:
        """Some of them."""
        return Triangles(self.places[index], self.uvs[index], self.owners[index])

    @classmethod
    def joined(cls, parts: list[Triangles]) -> Triangles:
        """All triangles of several sets; the owner is the number of the set."""
        empty = cls(np.empty((0, 3, 3)), np.empty((0, 3, 2)), np.empty(0, dtype=int))
        owners = [np.full(len(part), number) for number, part in enumerate(parts)]
        return cls(
            np.concatenate([part.places for part in (*parts, empty)]),
            np.concatenate([part.uvs for part in (*parts, empty)]),
            np.concatenate([*owners, empty.owners]).astype(int),
        )


def distances(a: Triangles, b: Triangles) -> tuple[np.ndarray, np.ndarray]:
    """The greatest distance of corners and of their UVs between triangles of the same rank, each (T,).

    Which corner is the first one does not count, the winding does.
    """
    best = np.full(len(a), np.inf)
    best_place, best_uv = np.zeros(len(a)), np.zeros(len(a))
    for turn in _TURNS:
        place, uv = _turned_distances(a, b, turn)
        # Corners may share a place or a coordinate: the turn that suits both best.
        both = place / max(_extent(a.places), 1e-12) + uv
        nearer = both < best
        best[nearer], best_place[nearer], best_uv[nearer] = both[nearer], place[nearer], uv[nearer]
    return best_place, best_uv


def _turned_distances(a: Triangles, b: Triangles, turn: list[int]) -> tuple[np.ndarray, np.ndarray]:
    place = np.sqrt(((a.places - b.places[:, turn]) ** 2).sum(axis=2)).max(axis=1)
    return place, np.abs(a.uvs - b.uvs[:, turn]).max(axis=(1, 2))


def partners(a: Triangles, b: Triangles, place_limit: float, uv_limit: float) -> np.ndarray:
    """For each triangle of `a` a triangle of `b` that equals it and that no other has, -1 where there is none."""
    if len(a) == len(b):
        if equal(a, b, place_limit, uv_limit).all():
            return np.arange(len(a))
        # Where many triangles lie on each other, each suits all of them: most find theirs by the order of all.
        mine, theirs = (np.argsort(_sums(of, place_limit, uv_limit) @ _VIEW) for of in (a, b))
        same = equal(a.chosen(mine), b.chosen(theirs), place_limit, uv_limit)
        left, others = mine[~same], theirs[~same]
        found = _assigned(a.chosen(left), b.chosen(others), place_limit, uv_limit)
        if (found >= 0).all():
            result = np.empty(len(a), dtype=int)
            result[mine[same]], result[left] = theirs[same], others[found]
            return result
    return _assigned(a, b, place_limit, uv_limit)


def _assigned(a: Triangles, b: Triangles, place_limit: float, uv_limit: float) -> np.ndarray:
    """As `partners`, by comparing all triangles that are near each other."""
    result = np.full(len(a), -1)
    if not len(a) or not len(b):
        return result
    first, second = _candidates(a, b, place_limit, uv_limit)
    suits = equal(a.chosen(first), b.chosen(second), place_limit, uv_limit)
    choices: dict[int, list[int]] = {}
    for one, other in zip(first[suits].tolist(), second[suits].tolist(), strict=True):
        choices.setdefault(one, []).append(other)
    taken: dict[int, int] = {}
    for one in choices:
        _assign(one, choices, taken)
    for other, one in taken.items():
        result[one] = other
    return result


def equal(a: Triangles, b: Triangles, place_limit: float, uv_limit: float) -> np.ndarray:
    """Whether triangles of the same rank are the same (T,)."""
    result = np.zeros(len(a), dtype=bool)
    for turn in _TURNS:
        place, uv = _turned_distances(a, b, turn)
        result |= (place <= place_limit) & (uv <= uv_limit)
        if result.all():
            break
    return result


def _candidates(a: Triangles, b: Triangles, place_limit: float, uv_limit: float):
    """Pairs that may be equal: those whose sums over the corners are near."""
    mine, theirs = (_sums(of, place_limit, uv_limit) for of in (a, b))
    seen, order = mine @ _VIEW, np.argsort(theirs @ _VIEW)
    reach = 3.001 * np.abs(_VIEW).sum()
    starts = np.searchsorted((theirs @ _VIEW)[order], seen - reach)
    counts = np.searchsorted((theirs @ _VIEW)[order], seen + reach, side="right") - starts
    blocks = np.cumsum(counts) // _PAIRS
    near = []
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        first = np.repeat(rows, counts[rows])
        ranks = np.arange(len(first)) - np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
        second = order[starts[first] + ranks]
        suits = (np.abs(mine[first] - theirs[second]) <= 3.001).all(axis=1)
        near.append((first[suits], second[suits]))
    return tuple(np.concatenate(part) for part in zip(*near, strict=True))


def _sums(triangles: Triangles, place_limit: float, uv_limit: float) -> np.ndarray:
    """The sums over the corners of each triangle, in units of the limits, (T, 5)."""
    scale = np.array([place_limit] * 3 + [uv_limit] * 2)
    return np.concatenate([triangles.places.sum(axis=1), triangles.uvs.sum(axis=1)], axis=1) / scale


def _assign(one: int, choices: dict[int, list[int]], taken: dict[int, int]) -> None:
    """Gives a triangle one of its choices, if there is a way to move others to another of theirs."""
    wanted_by: dict[int, int] = {}
    held: dict[int, int] = {}
    queue = [one]
    for current in queue:
        for other in choices[current]:
            if other in wanted_by:
                continue
            wanted_by[other] = current
            if other in taken:
                held[taken[other]] = other
                queue.append(taken[other])
                continue
            while True:
                current = taken[other] = wanted_by[other]
                if current == one:
                    return
                other = held[current]


def _extent(places: np.ndarray) -> float:
    return float(np.ptp(places.reshape(-1, 3), axis=0).max()) if len(places) else 0.0
