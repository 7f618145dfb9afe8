"""Times jobs alternately, so that other work on the machine affects all of them equally."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# The number of rounds that count, after one that does not; rounds end early after `_SECONDS`.
_MAX_ROUNDS, _MIN_ROUNDS = 31, 5
_SECONDS = 4.0


def nothing() -> None:
    """Does nothing."""


@dataclass(frozen=True)
class Job:
    """A function to be timed, and one that is called before each run without being timed."""

    run: Callable[[], object]
    prepare: Callable[[], object] = nothing


def rounds() -> Iterator[int]:
    """The numbers of the rounds: the first, which does not count, and as many as there is time for."""
    start = time.perf_counter()
    for number in range(_MAX_ROUNDS + 1):
        yield number
        if number >= _MIN_ROUNDS and time.perf_counter() - start > _SECONDS:
            return


def medians(*jobs: Job) -> list[float]:
    """The median time of each job in seconds; the jobs run alternately."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in rounds():
        for job, job_times in zip(jobs, times, strict=True):
            job.prepare()
            gc.collect()
            job_start = time.perf_counter()
            job.run()
            job_times.append(time.perf_counter() - job_start)
    return [statistics.median(job_times[1:]) for job_times in times]
