"""The choice of frames in which an export is compared with what Blender shows before it is written."""

from __future__ import annotations

from enum import Enum

# How many frames between the first and the last are verified, by the number of frames. Blender needs as long for each
# as the export for ten to twenty frames.
_FRAMES_BETWEEN = ((30, 1), (600, 2))
_MAX_FRAMES_BETWEEN = 3
# How many frames are verified of what may differ on a few frames only.
_MAX_MANY_FRAMES = 200


class Verify(Enum):
    """Which frames of an export are verified. The names are the identifiers of the operators' property `verify`."""

    SOME = "SOME"
    ALL = "ALL"
    NONE = "NONE"


def frames_to_verify(count: int, verify: Verify, *, many: bool = False) -> list[int]:
    """Indices of the frames to verify, rising.

    With `Verify.SOME`, these are the first, the last and up to three between them at equal distances; with `many` too,
    200 frames at equal distances, or all if there are fewer.
    """
    if verify is Verify.NONE or count <= 0:
        return []
    between = next((number for most, number in _FRAMES_BETWEEN if count <= most), _MAX_FRAMES_BETWEEN)
    if many:
        between = min(count, _MAX_MANY_FRAMES) - 2
    if verify is Verify.ALL or count <= max(between, _MAX_FRAMES_BETWEEN) + 2:
        return list(range(count))
    intervals = between + 1
    return [index * (count - 1) // intervals for index in range(intervals + 1)]
