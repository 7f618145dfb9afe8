"""What the jobs add to the tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

LINEAR = 1.1
"""The slope of the logarithm of time over that of size which still counts as linear."""
MEMORY = 6.0
"""The most memory above the result's own, as a multiple of the file's size."""


@dataclass(frozen=True)
class Row:
    """A job against something else.

    Attributes:
        job: what was done.
        seconds: it took.
        against: what it is compared with.
        least: the seconds that that took.
        target: the ratio that it must not pass, if there is one.
        peer: the seconds that Assimp takes to read the same file, if it was asked.
    """

    job: str
    seconds: float
    against: str
    least: float
    target: float | None = None
    peer: float | None = None

    @property
    def ratio(self) -> float:
        """How many times as long the job takes."""
        return self.seconds / self.least


@dataclass(frozen=True)
class Growth:
    """How the cost of a job grows.

    Attributes:
        job: what was done.
        sizes: of its input, rising.
        seconds: it took for each.
    """

    job: str
    sizes: list[int]
    seconds: list[float]

    @property
    def slope(self) -> float:
        """Of the straight line through the logarithms: 1 is linear, 2 quadratic."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


@dataclass(frozen=True)
class Memory:
    """What an import takes, in bytes: the file, what stays of it, and the peak above that."""

    job: str
    file: int
    result: int
    above: int

    @property
    def ratio(self) -> float:
        """The peak above the result, as a multiple of the file's size."""
        return self.above / self.file


@dataclass
class Results:
    """All that was measured in one Blender."""

    blender: str
    numpy: str
    python: str
    rows: list[Row] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Results:
        """The reverse of `to_json`."""
        return cls(
            data["blender"],
            data["numpy"],
            data["python"],
            [Row(**row) for row in data["rows"]],
            [Growth(**row) for row in data["growth"]],
            [Memory(**row) for row in data["memory"]],
        )
