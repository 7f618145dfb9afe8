"""The work that a call does, counted in lines of Python that run: the same on every machine, unlike seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(function: Callable[..., object], *arguments: object) -> int:
    """How many lines of Python a call runs, in all the functions that it calls; loops count once for each round."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count
