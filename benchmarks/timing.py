"""Times jobs in turns, so that whatever else the machine does weighs on all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

# So many rounds count, the more the shorter they are; one before them does not.
_MOST_ROUNDS, _LEAST_ROUNDS = 31, 5
_SECONDS = 4.0


def nothing() -> None:
    """No preparation."""


@dataclass(frozen=True)
class Job:
    """What is timed, and what has to happen before each time without being timed."""

    run: Callable[[], object]
    prepare: Callable[[], object] = nothing


def medians(*jobs: Job) -> list[float]:
    """The median time of each job's runs in seconds; the jobs take turns."""
    times: list[list[float]] = [[] for _ in jobs]
    begun = time.perf_counter()
    while len(times[0]) <= _MOST_ROUNDS:
        for job, mine in zip(jobs, times, strict=True):
            job.prepare()
            gc.collect()
            started = time.perf_counter()
            job.run()
            mine.append(time.perf_counter() - started)
        if len(times[0]) > _LEAST_ROUNDS and time.perf_counter() - begun > _SECONDS:
            break
    return [statistics.median(mine[1:]) for mine in times]
