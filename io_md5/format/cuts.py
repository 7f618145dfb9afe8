"""What an md5camera shows on each frame of its playing time, given its cuts.

The entries of the file are not the frames of the timeline: at a cut c, entry c is the old camera and entry c + 1 the
new one, both at the same instant. Doom 3 finds the entry for a whole frame f of the playing time like this
(``idCameraAnim::GetViewParms``): for each cut c in order, stop if f < c, else add 1 to f. Between two whole frames it
blends that entry with the one after it, so entry c is what the old camera moves towards and is never reached.
A timeline of n frames with k cuts therefore has n + k entries.
"""

from __future__ import annotations

import numpy as np

from .model import Ints


def timeline(cuts: Ints, entry_count: int) -> tuple[Ints, Ints]:
    """The entries that are shown, and when the cuts happen.

    Args:
        cuts: as in the file, each from 0 to N - 1, int32 (K,); odd ones are taken as Doom 3 would take them.
        entry_count: N, at least 1.

    Returns:
        The entry on each whole frame, rising, int32 (n,) with n at least 1; and for each cut the first frame after
        it, from 0 to n, int32 (K,).
    """
    # A frame that has passed a cut has passed those before it, so each cut counts from one frame on, not before the
    # former's; there the cuts before it have added their number.
    instants = np.maximum.accumulate(np.maximum(cuts - np.arange(len(cuts), dtype=np.int32), 0)).astype(
        np.int32
    )
    # One frame more than there can be: a cut at the last entry comes into effect after the last frame.
    passed = np.cumsum(np.bincount(instants, minlength=entry_count + 1))
    entries = (np.arange(entry_count + 1) + passed).astype(np.int32)
    shown = entries[entries < entry_count]
    # The game stays on the last entry once the time is over.
    return (shown if len(shown) else np.array([entry_count - 1], dtype=np.int32)), instants


def numbered(instants: Ints) -> Ints:
    """The cuts of the file, int32 (K,), for the first frame after each of them in rising order, int32 (K,)."""
    return (instants + np.arange(len(instants))).astype(np.int32)
