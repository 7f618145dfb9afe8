"""The entry of an md5camera that is shown on each frame, given the cuts.

Entries of the file are not frames of the timeline: at a cut c, entry c is the old camera and entry c + 1 the new one,
both at the same instant. Doom 3 finds the entry for a whole frame f like this
(``idCameraAnim::GetViewParms``): for each cut c in order, stop if f < c, else add 1 to f. Between two whole frames it
blends that entry with the next, so entry c is where the old camera moves to, but it is never shown.
A timeline of n frames with k cuts therefore has n + k entries.
"""

from __future__ import annotations

import numpy as np

from .model import Ints


def timeline(cuts: Ints, entry_count: int) -> tuple[Ints, Ints]:
    """The entry of each frame, and the times of the cuts.

    Args:
        cuts: as in the file, each from 0 to N - 1, int32 (K,); invalid ones are handled as in Doom 3.
        entry_count: N, at least 1.

    Returns:
        The entry on each whole frame, rising, int32 (n,) with n at least 1; and for each cut the first frame after
        it, from 0 to n, int32 (K,).
    """
    # A frame after a cut is also after all earlier cuts, so each cut takes effect from one frame on, never before the
    # frame of the previous cut; there the earlier cuts have added their count.
    instants = np.maximum.accumulate(np.maximum(cuts - np.arange(len(cuts), dtype=np.int32), 0)).astype(
        np.int32
    )
    # One frame more than possible: a cut at the last entry takes effect after the last frame.
    passed = np.cumsum(np.bincount(instants, minlength=entry_count + 1))
    entries = (np.arange(entry_count + 1) + passed).astype(np.int32)
    shown = entries[entries < entry_count]
    # The game holds the last entry after the end.
    return (shown if len(shown) else np.array([entry_count - 1], dtype=np.int32)), instants


def cuts_at(instants: Ints) -> Ints:
    """The cuts of a file, int32 (K,), given the first frame after each cut in rising order, int32 (K,)."""
    return (instants + np.arange(len(instants))).astype(np.int32)
