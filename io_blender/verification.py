"""Verification: points of a file compared with what Blender shows, on some frames, before the file is written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..io_common.triangles import TRIANGULATE, bend

if TYPE_CHECKING:
    from .clips.sampling import Part, Samples
    from .reports import Report
    from .scene.axes import Conversion

Floats = npt.NDArray[np.floating]

POSITION_TOLERANCE = 1e-4
"""The tolerance of positions as a fraction of the model's size."""

OTHER_TRIANGULATION = (
    "faces are triangulated differently from Blender's {where}, off by up to {amount}. Likely cause: they bend. "
    + TRIANGULATE
)

# How many frames between the first and the last are verified, by the number of frames. Blender needs as long for each
# as the export for ten to twenty frames.
_FRAMES_BETWEEN = ((30, 1), (600, 2))
_MAX_FRAMES_BETWEEN = 3
# How many frames are verified of what may differ on a few frames only.
_MAX_MANY_FRAMES = 200


class Verify(Enum):
    """Which frames of an export are verified, named as in the operators' property `verify`."""

    SOME = "SOME"
    ALL = "ALL"
    NONE = "NONE"


def frames_to_verify(count: int, verify: Verify, *, many: bool = False) -> list[int]:
    """The frames to verify, rising, at equal distances: up to five with SOME, with `many` up to 200."""
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


# Models with frames of vertices

POSITION, UV, TRIANGULATION, GRID = "POSITION", "UV", "TRIANGULATION", "GRID"
"""The kinds of differences: of vertices; of texture coordinates; faces of more than three corners are split along other
diagonals than in the frame whose triangles the model has; positions are so coarse that the shape suffers."""

# Rounding that moves corners by more than these fractions, of the median edge and of the model's size, is visible. No
# real file has more than 0.2 of an edge, except in frames in which the model has no size.
_VISIBLE_OF_EDGE, _VISIBLE_OF_SIZE = 0.25, 5e-4
# Texture coordinates are rounded to single precision.
_UV_ROUNDING = 1e-5


def compare_corners(
    result: Differences,
    parts: Sequence[Part],
    samples: Samples,
    conversion: Conversion,
    *,
    frame_names: list[str],
    size: float,
    vertices: Callable[[int], Sequence[Floats]],
    allowed: Callable[[int], Any],
    triangles: Sequence[npt.NDArray[np.integer] | None],
    uvs: Sequence[Floats],
    texels: Any = 1.0,
    uv_allowed: float = 0.0,
) -> Differences:
    """Adds the largest difference of each kind in each object from what Blender shows, corner by corner."""
    # Of a model, decoded as a game does it: its size; the `vertices` of a frame, (V, 3) of each part, and by how much
    # the file rounds them on each axis; the `triangles` (T, 3) of each part, or None for one that is not compared; the
    # texture coordinates of their corners, (T, 3, 2), and the unit in which these are compared.
    result.size = size
    for frame, shown_parts in samples.verified.items():
        where = f"in frame {frame} ({frame_names[frame]})"
        rounded, rounding, edges = allowed(frame), 0.0, [np.zeros(0)]
        decoded = zip(parts, shown_parts, vertices(frame), triangles, uvs, strict=True)
        for part, shown, points_in_file, faces, uvs_in_file in decoded:
            if faces is None:
                continue
            name = part.obj.name
            points = conversion.points(shown.vertices.astype(np.float64))
            corners = points[part.corners[part.loops]]
            off = np.abs(points_in_file[faces] - corners)
            # NaN fails every comparison, so the test is for what is valid.
            if not (off <= rounded).all():
                result.note(name, POSITION, _finite_or_infinite(off), where)
            else:
                rounding = max(rounding, longest(off))
                edges.append(np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1))
            if shown.loops is not None:
                moved = bend(points[part.corners], part.loops, shown.loops[part.rows])
                most = float(np.linalg.norm(np.broadcast_to(rounded, 3)))
                result.note(name, TRIANGULATION, moved, where, allowed=most)
            shown_uvs = part.uvs if shown.uvs is None else shown.uvs[part.loops]
            if shown_uvs is not None:
                off = np.abs(uvs_in_file - shown_uvs) * texels
                if not (off <= uv_allowed + _UV_ROUNDING * (1.0 + np.abs(shown_uvs)) * texels).all():
                    result.note(name, UV, _finite_or_infinite(off), where)
        if rounding > _VISIBLE_OF_SIZE * size and rounding > _VISIBLE_OF_EDGE * np.median(np.concatenate(edges)):
            result.note("", GRID, rounding, where)
    return result


def warn_of_differences(differences: Differences, words: dict[str, str], report: Report) -> None:
    """Warns of each difference in the words for its kind, with `where`, `distance` and the `amount` in units."""
    for (name, kind), found in differences.items():
        text = words[kind].format(
            where=found.where, distance=found.distance, amount=amount(found.distance, differences.size)
        )
        report.warn(text, str(name), is_important=True)


def _finite_or_infinite(off: npt.NDArray[np.floating]) -> float:
    """The length of the longest difference; infinite if one is not a number."""
    return float(np.nan_to_num(longest(off), nan=np.inf))
