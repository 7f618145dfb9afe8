"""The verification of models with frames of vertices: corners compared with what Blender shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..scene.mesh_data import bend
from ..verification import Differences, Floats, amount, longest

if TYPE_CHECKING:
    from ..reports import Report
    from ..scene.axes import Conversion
    from .sampling import Part, Samples

POSITION, UV, TRIANGULATION, GRID = "POSITION", "UV", "TRIANGULATION", "GRID"
"""The kinds of differences: of vertices; of texture coordinates; faces of more than three corners are split along other
diagonals than in the frame whose triangles the model has; positions are so coarse that the shape suffers."""

# Rounding that moves corners by more than these fractions, of the median edge and of the model's size, is visible. No
# real file has more than 0.2 of an edge, except in frames in which the model has no size.
_VISIBLE_OF_EDGE, _VISIBLE_OF_SIZE = 0.25, 5e-4
# Texture coordinates are rounded to single precision.
_UV_ROUNDING = 1e-5


@dataclass(frozen=True)
class Decoded:
    """A model as a game decodes it."""

    frame_names: list[str]
    size: float
    vertices: Callable[[int], Sequence[Floats]]  # of a frame, (V, 3) of each part
    allowed: Callable[[int], Any]  # by how much the file rounds the vertices of a frame on each axis
    triangles: Sequence[npt.NDArray[np.integer] | None]  # of each part, (T, 3); None for one that is not compared
    uvs: Sequence[Floats]  # of the corners of the triangles, (T, 3, 2)
    texels: Any = 1.0  # the unit in which texture coordinates are compared
    uv_allowed: float = 0.0  # by how much the file rounds them


def compare_corners(parts: Sequence[Part], samples: Samples, conversion: Conversion, model: Decoded) -> Differences:
    """The largest difference of each kind in each object from what Blender shows, corner by corner."""
    result = Differences()
    result.size = model.size
    for frame, shown_parts in samples.verified.items():
        where = f"in frame {frame} ({model.frame_names[frame]})"
        rounded, rounding, edges = model.allowed(frame), 0.0, [np.zeros(0)]
        decoded = zip(parts, shown_parts, model.vertices(frame), model.triangles, model.uvs, strict=True)
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
                off = np.abs(uvs_in_file - shown_uvs) * model.texels
                if not (off <= model.uv_allowed + _UV_ROUNDING * (1.0 + np.abs(shown_uvs)) * model.texels).all():
                    result.note(name, UV, _finite_or_infinite(off), where)
        if rounding > _VISIBLE_OF_SIZE * model.size and rounding > _VISIBLE_OF_EDGE * np.median(np.concatenate(edges)):
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
