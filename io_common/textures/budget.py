"""Limits of time, memory and file sizes for the textures of one import.

A small archive may expand to an enormous amount of data. Whatever is beyond these limits is skipped with a warning, so
that the files next to a model cannot keep it from being imported. All of Doom 3's own data is within the limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAX_TEXT = 32 << 20
"""Characters in material files."""
MAX_CONFIGS = 4 << 20
"""Characters in .cfg and .skin files."""
MAX_TOKENS = 1_000_000
"""Tokens in material files."""
MAX_SCANNED = 4 << 30
"""Characters in material files that are searched for names, counted for each name."""
MAX_DIRECTORIES = 32 << 20
"""Bytes in the directories of archives."""
MAX_DATA = 512 << 20
"""Bytes of images unpacked from archives."""
MAX_LOADED = 4 << 30
"""Bytes of all images once they are loaded."""
MAX_LOADED_OF_ONE = 512 << 20
"""Bytes of one image once it is loaded: 16,384 by 8,192 pixels of 8 bits."""
MAX_SECONDS = 60.0
"""Seconds."""


@dataclass
class Budget:
    """The remaining amount of each limit."""

    text: int = field(default_factory=lambda: MAX_TEXT)
    configs: int = field(default_factory=lambda: MAX_CONFIGS)
    tokens: int = field(default_factory=lambda: MAX_TOKENS)
    scanned: int = field(default_factory=lambda: MAX_SCANNED)
    directories: int = field(default_factory=lambda: MAX_DIRECTORIES)
    data: int = field(default_factory=lambda: MAX_DATA)
    loaded: int = field(default_factory=lambda: MAX_LOADED)
    seconds: float = field(default_factory=lambda: MAX_SECONDS)
    _since: float | None = None

    def take(self, kind: str, amount: int) -> bool:
        """Subtracts an amount from a field, given by its name; returns False and subtracts nothing if less remains."""
        remaining = getattr(self, kind) - amount
        if remaining < 0:
            return False
        setattr(self, kind, remaining)
        return True

    def renew(self) -> None:
        """Restores all amounts, for another import that uses the same listings of folders and archives."""
        self.__dict__.update(Budget().__dict__)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Subtracts the time that the block takes, unless it is in such a block already."""
        if self._since is not None:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - self._since
            self._since = None

    def is_over(self) -> bool:
        """Whether the time is used up."""
        running = time.monotonic() - self._since if self._since is not None else 0.0
        return running > self.seconds
