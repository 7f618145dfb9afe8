"""Ctrl-C during a conversion: the current file is finished, and no further file is started.

Blender's own handler lets the command run to its end. Python's handler raises KeyboardInterrupt wherever the program
happens to be, and Blender swallows exceptions that are raised in its handlers and operators.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether Ctrl-C was pressed.

    Args:
        notice: printed when it is pressed for the first time; nothing if empty.
    """

    def __init__(self, notice: str) -> None:
        self._notice = notice
        self._is_requested = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        """Handles the signal; the second one interrupts at once."""
        if self._is_requested:
            raise KeyboardInterrupt
        self._is_requested = True
        if self._notice:
            print(f"\n{self._notice}", file=sys.stderr, flush=True)

    def check(self) -> None:
        """Stops here if Ctrl-C was pressed.

        Raises:
            KeyboardInterrupt: it was.
        """
        if self._is_requested:
            raise KeyboardInterrupt


@contextmanager
def deferred_interrupt(notice: str = "") -> Iterator[Interrupt]:
    """Defers Ctrl-C in the block to the calls of `Interrupt.check`."""
    interrupt = Interrupt(notice)
    before = signal.signal(signal.SIGINT, interrupt.handle)
    try:
        yield interrupt
    finally:
        # None is a handler that Python cannot restore: Blender's own, which is not needed after the command.
        if before is not None:
            signal.signal(signal.SIGINT, before)
