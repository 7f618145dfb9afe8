"""Which frames a time lies between, in all families."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .errors import FormatError

Wrap = Literal["blend", "jump", "hold"]
"""What follows the last frame.

``"blend"``: it moves on to the first one, so F frames last F / rate: for loops that end one step before their first
frame (Quake II repeats sequences like this). ``"jump"``: it is reached and at once replaced by the first one, so F
frames last (F - 1) / rate: for loops whose last frame repeats the first (Doom 3's cycles, and ``Animate`` of the MD2
specification). ``"hold"``: it stays.
"""

_Frames = npt.NDArray[np.int32]


def frame_pair(
    seconds: npt.ArrayLike, first: int, last: int, frame_rate: float, wrap: Wrap, error: type[FormatError]
) -> tuple[_Frames, _Frames, npt.NDArray[np.float64]]:
    """The function of each family; `error` is what it raises."""
    if last < first:
        raise error("there are no frames", found=f"{first} to {last}")
    if wrap not in ("blend", "jump", "hold"):
        raise error("unknown wrap", found=repr(wrap), expected="'blend', 'jump' or 'hold'")
    if not (np.isfinite(frame_rate) and frame_rate > 0):
        raise error("the frame rate is not valid", found=f"{frame_rate}", expected="a number above 0")
    with np.errstate(over="ignore", invalid="ignore"):
        position: Any = np.asarray(seconds, dtype=np.float64) * frame_rate
    if not np.isfinite(position).all():
        raise error("a time is not finite", expected="seconds")
    steps = last - first
    if wrap == "hold":
        position = np.clip(position, 0.0, steps)
    else:
        period = steps + 1 if wrap == "blend" else max(steps, 1)
        position = np.mod(position, period)
        # The remainder of a tiny negative number rounds up to the period itself.
        position = np.where(position >= period, 0.0, position)
    if not steps:
        position = np.zeros_like(position)
    before = np.floor(position)
    after = np.where(before + 1 > steps, 0.0 if wrap == "blend" else steps, before + 1)
    return (first + before).astype(np.int32), (first + after).astype(np.int32), position - before
