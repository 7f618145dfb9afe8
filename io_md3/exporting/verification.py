"""The comparison of a finished model, decoded as a game does it, with what Blender shows, corner by corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...io_blender.scene.axes import Conversion
from ...io_blender.verification import OTHER_TRIANGULATION, Differences, amount, diagonal, longest
from ...io_common.triangles import bend, drop_degenerate, flip_v
from ..format import UNITS, Model, positions

if TYPE_CHECKING:
    from ...io_blender.clips.sampling import Samples
    from ...io_blender.reports import Report
    from .surfaces import Part

POSITION, UV, TRIANGULATION, GRID = "POSITION", "UV", "TRIANGULATION", "GRID"
_WARNINGS = {
    POSITION: "vertices differ from Blender's by up to {amount} {where}. This is a bug: please report it",
    UV: "texture coordinates differ from Blender's by up to {distance:.3g} of the image {where}. Likely cause: a "
    "modifier that moves UVs over time, which MD3 cannot hold, or UVs that are not finite",
    TRIANGULATION: OTHER_TRIANGULATION,
    GRID: "vertices are rounded by up to {amount} {where}, which is visible: positions have steps of 1/64 unit. Make "
    "the model larger with Scale",
}
_UV_TOLERANCE = 1e-5
# Rounding by more than these fractions, of the median edge and of the model's size, is visible.
_VISIBLE_OF_EDGE, _VISIBLE_OF_SIZE = 0.25, 5e-4


def find_differences(model: Model, parts: list[Part], samples: Samples, conversion: Conversion) -> Differences:
    """The largest difference of each kind in each object; `parts`, surfaces and samples are in one order."""
    result = Differences()
    size = _size(model)
    for index, (part, surface) in enumerate(zip(parts, model.surfaces, strict=True)):
        name = part.obj.name
        triangles = drop_degenerate(surface.triangles)[0]
        if len(triangles) != len(part.loops):
            # Triangles of the file that lie on one line where vertices are merged are not in Blender.
            continue
        corners = part.corners[part.loops]
        uvs = flip_v(surface.st[triangles])
        for frame, shown_parts in samples.verified.items():
            where = f"in frame {frame} ({model.frame_names[frame]})"
            found = shown_parts[index]
            shown = conversion.points(found.vertices.astype(np.float64))
            off = np.abs(positions(surface.vertices[frame])[triangles] - shown[corners])
            if not (off <= 0.5 / UNITS + 1e-3).all():
                result.note(name, POSITION, float(np.nan_to_num(longest(off.reshape(-1, 3)), nan=np.inf)), where)
            elif len(off):
                edges = np.linalg.norm(shown[corners[:, 0]] - shown[corners[:, 1]], axis=1)
                rounding = longest(off.reshape(-1, 3))
                if rounding > _VISIBLE_OF_SIZE * size and rounding > _VISIBLE_OF_EDGE * np.median(edges):
                    result.note("", GRID, rounding, where)
            if found.loops is not None:
                moved = bend(shown[part.corners], part.loops, found.loops[part.rows])
                result.note(name, TRIANGULATION, moved, where, allowed=1.0 / UNITS)
            shown_uvs = part.uvs if found.uvs is None else found.uvs[part.loops]
            if shown_uvs is not None and len(shown_uvs):
                distance = np.abs(uvs - shown_uvs).max()
                if not distance <= _UV_TOLERANCE * (1.0 + np.abs(shown_uvs).max()):
                    result.note(name, UV, float(np.nan_to_num(distance, nan=np.inf)), where)
    return result


def warn(differences: Differences, model: Model, report: Report) -> None:
    """Warns of each difference, with its likely cause."""
    size = _size(model)
    for (name, kind), found in differences.items():
        text = _WARNINGS[kind].format(where=found.where, distance=found.distance, amount=amount(found.distance, size))
        report.warn(text, str(name), is_important=True)


def _size(model: Model) -> float:
    points = [positions(surface.vertices[0]) for surface in model.surfaces]
    return diagonal(np.concatenate(points)) if points else 0.0
