"""What one import may spend on its textures.

Archives are small where they are packed and may be endless where they are not, and so may the declarations and the
images in them be. Nobody waits for a model longer than this because of what lies beside it, and what does not fit is
left out with a warning. Everything that Doom 3 brought along, and more, is within these limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAX_TEXT = 32 << 20
"""Characters of material declarations that are read."""
MAX_CONFIGS = 4 << 20
"""Characters of .cfg and .skin files that are read."""
MAX_TOKENS = 1_000_000
"""Words and brackets of declarations that are looked at."""
MAX_SCANNED = 4 << 30
"""Characters of declarations that names are looked for in, each counted for each name."""
MAX_DIRECTORIES = 32 << 20
"""Bytes of the archives' directories."""
MAX_DATA = 512 << 20
"""Bytes of images that are unpacked."""
MAX_PIXELS = 1 << 30
"""Pixels of all images together."""
MAX_PIXELS_OF_ONE = 1 << 27
"""Pixels of one image: 16,384 by 8,192."""
MAX_SECONDS = 60.0
"""Time for all of it."""


@dataclass
class Budget:
    """What is left of it. Each amount is taken before it is spent."""

    text: int = field(default_factory=lambda: MAX_TEXT)
    configs: int = field(default_factory=lambda: MAX_CONFIGS)
    tokens: int = field(default_factory=lambda: MAX_TOKENS)
    scanned: int = field(default_factory=lambda: MAX_SCANNED)
    directories: int = field(default_factory=lambda: MAX_DIRECTORIES)
    data: int = field(default_factory=lambda: MAX_DATA)
    pixels: int = field(default_factory=lambda: MAX_PIXELS)
    seconds: float = field(default_factory=lambda: MAX_SECONDS)
    _since: float | None = None

    def take(self, kind: str, amount: int) -> bool:
        """Takes an amount of one kind (the name of a field); False, and nothing is taken, where less is left."""
        left = getattr(self, kind) - amount
        if left < 0:
            return False
        setattr(self, kind, left)
        return True

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Takes the time of the block; what an import does meanwhile does not count."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - self._since
            self._since = None

    def is_over(self) -> bool:
        """Whether no time is left."""
        running = time.monotonic() - self._since if self._since is not None else 0.0
        return running > self.seconds
