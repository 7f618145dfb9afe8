"""Weights of many vertices in one table, in ranges that vertices may share, as in md5mesh files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..format.model import Floats, Ints
from ..format.skinning import VertexWeights

Integers = npt.NDArray[np.int64]


@dataclass(eq=False)
class WeightTable:
    """Weights in ranges, one range for each vertex.

    Attributes:
        starts: the first row of each vertex, int64 (V,).
        counts: the number of rows of each vertex, int64 (V,).
        joints: of the file, -1 for one that no longer exists, int32 (R,).
        biases: float64 (R,).
        points: the position that each gives its vertex in the bind pose, in file coordinates, float64 (R, 3).
    """

    starts: Integers
    counts: Integers
    joints: Ints
    biases: Floats
    points: Floats

    def rows(self, vertices: npt.NDArray[np.integer]) -> Integers:
        """The rows of some vertices, concatenated."""
        counts = self.counts[vertices]
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        return np.arange(len(firsts)) - firsts + np.repeat(self.starts[vertices], counts)

    @cached_property
    def positions(self) -> Floats:
        """The weighted position of each vertex, (V, 3)."""
        vertices = np.arange(len(self.counts))
        rows = VertexWeights(np.repeat(vertices, self.counts), self.rows(vertices), len(self.counts))
        return rows.sums(self.points[rows.weights] * self.biases[rows.weights, None])
