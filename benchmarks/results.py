"""The results of the jobs, which become rows of the tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

LINEAR = 1.1
"""The maximum slope of log(time) over log(size) that counts as linear."""
MEMORY = 6.0
"""The target for peak memory in addition to the result, as a multiple of the file size."""


@dataclass(frozen=True)
class Row:
    """A job compared with something else.

    Attributes:
        job: a description.
        seconds: the time of the job.
        against: what the job is compared with.
        least: the time of that, in seconds.
        target: the maximum ratio, if there is one.
        peer: the seconds that Assimp takes to read the same file, if measured.
        unit: of the first two, if not seconds.
    """

    job: str
    seconds: float
    against: str
    least: float
    target: float | None = None
    peer: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """The time of the job as a multiple of the other time."""
        return self.seconds / self.least


@dataclass(frozen=True)
class Growth:
    """The growth of the cost of a job.

    Attributes:
        job: a description.
        sizes: of the input, in ascending order.
        seconds: the time for each size.
    """

    job: str
    sizes: list[int]
    seconds: list[float]

    @property
    def slope(self) -> float:
        """The slope of a line through the logarithms: 1 is linear, 2 quadratic."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


@dataclass(frozen=True)
class Memory:
    """The memory of an import, in bytes: the file, the result, and the peak in addition to it."""

    job: str
    file: int
    result: int
    above: int

    @property
    def ratio(self) -> float:
        """The peak in addition to the result, as a multiple of the file size."""
        return self.above / self.file


@dataclass
class Results:
    """All results in one version of Blender."""

    blender: str
    numpy: str
    python: str
    rows: list[Row] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The values that `from_json` takes, as JSON can hold them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Results:
        """The results that `to_json` was called on."""
        return cls(
            data["blender"],
            data["numpy"],
            data["python"],
            [Row(**row) for row in data["rows"]],
            [Growth(**row) for row in data["growth"]],
            [Memory(**row) for row in data["memory"]],
        )
