"""Verification: points of a file compared with what Blender shows, on some frames, before the file is written."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from ..io_common.triangles import TRIANGULATE

Floats = npt.NDArray[np.floating]
POSITION_TOLERANCE = 1e-4  # the tolerance of positions as a fraction of the model's size

OTHER_TRIANGULATION = (
    "faces are triangulated differently from Blender's {where}, off by up to {amount}. Likely cause: they bend. "
    + TRIANGULATE
)

# How many frames between the first and the last are verified, by the number of frames. Blender needs as long for each
# as the export for ten to twenty frames.
_FRAMES_BETWEEN = ((30, 1), (600, 2))
_MAX_FRAMES_BETWEEN = 3
_MAX_MANY_FRAMES = 200  # how many frames are verified of what may differ on a few frames only


class Verify(Enum):
    """Which frames of an export are verified, named as in the operators' property `verify`."""

    SOME = "SOME"
    ALL = "ALL"
    NONE = "NONE"


def frames_to_verify(count: int, verify: Verify, *, many: bool = False) -> list[int]:
    """The frames to verify, ascending, at equal distances: up to five with SOME, with `many` up to 200."""
    if verify is Verify.NONE or count <= 0:
        return []
    between = next((number for most, number in _FRAMES_BETWEEN if count <= most), _MAX_FRAMES_BETWEEN)
    if many:
        between = min(count, _MAX_MANY_FRAMES) - 2
    if verify is Verify.ALL or count <= max(between, _MAX_FRAMES_BETWEEN) + 2:
        return list(range(count))
    intervals = between + 1
    return [index * (count - 1) // intervals for index in range(intervals + 1)]


@dataclass(frozen=True)
class Difference:
    """The largest difference of one kind of an object."""

    distance: float
    where: str  # such as ``on frame 3``
    detail: Any = None  # what else is known


class Differences(dict[tuple[Hashable, str], Difference]):
    """The largest difference of each kind, by object and kind."""

    size = 0.0  # of the model, which distances are compared with in words

    def note(self, owner: Hashable, kind: str, distance: float, where: str, *, allowed: float = 0.0) -> None:
        """Keeps a difference if it exceeds what is allowed and what is known."""
        known = self.get((owner, kind))
        if distance > allowed and (known is None or distance > known.distance):
            self[owner, kind] = Difference(distance, where)


def longest(offsets: Floats) -> float:
    """The length of the longest of some vectors (…, n); NaN if one of them is."""
    return float(np.sqrt(np.einsum("...i,...i->...", offsets, offsets).max(initial=0.0)))


def diagonal(points: Floats) -> float:
    """The diagonal of the box around the finite ones of some points, (n, 3); 0 if there are none."""
    finite = points[np.isfinite(points).all(axis=1)]
    return float(np.linalg.norm(np.ptp(finite, axis=0))) if len(finite) else 0.0


def amount(distance: float, size: float, whole: str = "model") -> str:
    """A distance in units of the file, and relative to the size of the model, if that is not 0."""
    return f"{distance:.4g} units" + (f" ({distance / size:.2%} of the {whole}'s size)" if size > 0.0 else "")
