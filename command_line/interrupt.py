"""Ctrl-C: a conversion finishes the current file and starts no other; the other commands stop at once.

Blender's own handler lets the command run to its end. Python's handler raises KeyboardInterrupt wherever the program
happens to be. If that is in an operator or a callback, Blender prints a traceback and goes on.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn


class Interrupt:
    """Whether Ctrl-C was pressed; `notice` is printed when it is pressed for the first time, unless empty."""

    def __init__(self, notice: str) -> None:
        self._notice = notice
        self._is_requested = False
        self._exit: Callable[[], NoReturn] | None = None

    @contextmanager
    def exiting_by(self, function: Callable[[], NoReturn]) -> Iterator[None]:
        """Lets the second Ctrl-C call a function that ends the process, in a block that calls operators."""
        self._exit = function
        try:
            yield
        finally:
            self._exit = None

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        """Handles the signal; the second one interrupts at once."""
        if self._is_requested and self._exit is not None:
            self._exit()
        if self._is_requested:
            raise KeyboardInterrupt
        self._is_requested = True
        if self._notice:
            print(f"\n{self._notice}", file=sys.stderr, flush=True)

    def check(self) -> None:
        """Raises KeyboardInterrupt here if Ctrl-C was pressed."""
        if self._is_requested:
            raise KeyboardInterrupt


@contextmanager
def deferred_interrupt(notice: str = "") -> Iterator[Interrupt]:
    """Defers Ctrl-C in the block to the calls of `Interrupt.check`."""
    interrupt = Interrupt(notice)
    with _handled_by(interrupt.handle):
        yield interrupt


@contextmanager
def immediate_interrupt() -> Iterator[None]:
    """Lets Ctrl-C raise KeyboardInterrupt in the block, which calls no operators."""
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None is a handler that Python cannot restore: Blender's own, which is not needed after the command.
        if before is not None:
            signal.signal(signal.SIGINT, before)
