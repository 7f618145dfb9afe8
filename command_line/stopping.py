"""Ctrl-C while Blender works: the file in hand is finished, and the next one is not begun.

Blender's own handling of it would go on to the end. And Python's would raise an exception wherever the program is just
then: in Blender's handlers and operators it ends without having stopped anything.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether it was asked for.

    Args:
        notice: what is then said; nothing if empty.
    """

    def __init__(self, notice: str) -> None:
        self._notice = notice
        self._asked = False

    def ask(self, _number: int, _frame: FrameType | None) -> None:
        """Handles the signal; a second one does not wait."""
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        if self._notice:
            print(f"\n{self._notice}", file=sys.stderr, flush=True)

    def check(self) -> None:
        """Stops here, if it was asked for.

        Raises:
            KeyboardInterrupt: it was.
        """
        if self._asked:
            raise KeyboardInterrupt


@contextmanager
def stoppable(notice: str = "") -> Iterator[Stop]:
    """Lets Ctrl-C stop the block where it checks for it."""
    stop = Stop(notice)
    before = signal.signal(signal.SIGINT, stop.ask)
    try:
        yield stop
    finally:
        # The application's own, which Python cannot name, is not needed any more: with the command it ends.
        if before is not None:
            signal.signal(signal.SIGINT, before)
