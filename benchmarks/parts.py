"""The seconds that functions of the extension take within a job."""

from __future__ import annotations

import gc
import inspect
import statistics
import sys
import time
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any

from timing import Job, rounds

Functions = dict[str, tuple[str, ...]]
"""For each part its functions, none of which calls another: a module of the extension and a name in it, as in
``io_blender.skeletal.exporting.verification:Verifier.check``."""


def measure_parts(job: Job, functions: Functions) -> tuple[float, dict[str, float]]:
    """The median seconds of a job, and of each of its parts in the same runs."""
    timed = TimedFunctions()
    for part, names in functions.items():
        for name in names:
            module, _, path = name.partition(":")
            owner: Any = sys.modules[f"io_idtech.{module}"]
            *outer, attribute = path.split(".")
            for step in outer:
                owner = getattr(owner, step)
            timed.time(owner, attribute, part)
    whole: list[float] = []
    parts: dict[str, list[float]] = {part: [] for part in functions}
    try:
        for _ in rounds():
            job.prepare()
            gc.collect()
            timed.seconds.clear()
            started = time.perf_counter()
            job.run()
            whole.append(time.perf_counter() - started)
            for part, times in parts.items():
                times.append(timed.seconds[part])
    finally:
        timed.restore()
    return statistics.median(whole[1:]), {part: statistics.median(times[1:]) for part, times in parts.items()}


class TimedFunctions:
    """Functions of the extension that are replaced by timed ones.

    Attributes:
        seconds: of each part so far.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._replaced: list[tuple[Any, str, Any]] = []

    def time(self, owner: Any, name: str, part: str) -> None:
        """Measures a function that is an attribute, or an item of a dictionary."""
        function: Callable[..., Any] = owner[name] if isinstance(owner, dict) else getattr(owner, name)

        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                result = function(*arguments, **named)
            finally:
                self._add(part, started)
            return self._timed_job(result, part) if inspect.isgenerator(result) else result

        self._replaced.append((owner, name, function))
        _assign(owner, name, timed)

    def _add(self, part: str, started: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - started

    def _timed_job(self, job: Generator[Any, None, Any], part: str) -> Generator[Any, None, Any]:
        """A function that yields does its work only then."""
        started = time.perf_counter()
        try:
            return (yield from job)
        finally:
            self._add(part, started)

    def restore(self) -> None:
        """Puts the functions back."""
        while self._replaced:
            _assign(*self._replaced.pop())


def _assign(owner: Any, name: str, function: Callable[..., Any]) -> None:
    if isinstance(owner, dict):
        owner[name] = function
    else:
        setattr(owner, name, function)
