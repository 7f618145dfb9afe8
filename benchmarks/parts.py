"""The seconds that functions of the extension take within a job."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from timing import Job, rounds

Functions = dict[str, tuple[str, ...]]
"""For each part its functions, none of which calls another: a module of the extension and a name in it, as in
``io_md5.verification:Verifier.check``."""


def measure_parts(job: Job, functions: Functions) -> tuple[float, dict[str, float]]:
    """The median seconds of a job, and of each of its parts in the same runs."""
    with _timed(functions) as seconds:
        whole: list[float] = []
        parts: dict[str, list[float]] = {part: [] for part in functions}
        for _ in rounds():
            job.prepare()
            gc.collect()
            seconds.update(dict.fromkeys(functions, 0.0))
            started = time.perf_counter()
            job.run()
            whole.append(time.perf_counter() - started)
            for part, times in parts.items():
                times.append(seconds[part])
    return statistics.median(whole[1:]), {part: statistics.median(times[1:]) for part, times in parts.items()}


@contextmanager
def _timed(functions: Functions) -> Iterator[dict[str, float]]:
    """The seconds of each part so far, while its functions are replaced by timed ones."""
    seconds = dict.fromkeys(functions, 0.0)
    replaced: list[tuple[Any, str, Any]] = []

    def timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                seconds[part] += time.perf_counter() - started

        return call

    try:
        for part, names in functions.items():
            for name in names:
                module, _, path = name.partition(":")
                owner: Any = sys.modules[f"io_idtech.{module}"]
                *outer, attribute = path.split(".")
                for step in outer:
                    owner = getattr(owner, step)
                function = getattr(owner, attribute)
                replaced.append((owner, attribute, function))
                setattr(owner, attribute, timed(function, part))
        yield seconds
    finally:
        for owner, attribute, function in reversed(replaced):
            setattr(owner, attribute, function)
