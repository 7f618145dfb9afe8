"""The comparison of a finished model, decoded as a game does it, with what Blender shows: positions, texture
coordinates, and both again from the GL commands, corner by corner with the evaluated triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.scene.axes import Conversion
from ...io_blender.verification import OTHER_TRIANGULATION, Differences, amount, diagonal, longest
from ...io_common.triangles import bend, drop_degenerate, flip_v
from ..format import Model, commands_match, decompress, drawn_triangles, grid_tolerance, st_fractions

if TYPE_CHECKING:
    from ...io_blender.clips.sampling import Samples
    from ...io_blender.reports import Report
    from .mesh import Part

# The kinds of differences: POSITION of vertices; UV of corners, in texels; TRIANGULATION: faces of more than three
# corners are split along other diagonals than in the frame whose triangles the model has; COMMANDS: the GL commands
# draw other triangles than the list has; GRID: the grid is so coarse that the shape suffers. The words are formatted
# with `where`, `distance`, the `amount` in units, and the `remedy`.
POSITION, UV, TRIANGULATION, COMMANDS, GRID = "POSITION", "UV", "TRIANGULATION", "COMMANDS", "GRID"
UNSTORED = (TRIANGULATION, GRID)
"""The kinds of differences that do not come from stored data of an imported file."""
_WARNINGS = {
    POSITION: (
        "vertices differ from Blender's by up to {amount} {where}. Likely cause: the model is too far from the origin, "
        "or too large, for the precision of the format"
    ),
    UV: "texture coordinates differ from Blender's by up to {distance:.3g} texels {where}. Likely cause: {remedy}",
    TRIANGULATION: OTHER_TRIANGULATION,
    COMMANDS: "the GL commands draw other triangles than the list has. This is a bug: please report it",
    GRID: (
        "vertices are rounded by up to {amount} {where}, which is visible: a frame has 256 steps on each axis. {remedy}"
    ),
}

# Large odd numbers spread the bits of what they are multiplied with (Fibonacci hashing).
_ODD, _OTHER_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(32)

# The tolerance in texels for coordinates at the edge of a texel, which are rounded to single precision.
_TEXEL_ROUNDING = 0.01

# Rounding to the grid of a frame that moves corners by more than these fractions, of the median edge and of the model's
# size, is visible. No real file has more than 0.2 of an edge, except in frames in which the model has no size.
_VISIBLE_OF_EDGE, _VISIBLE_OF_SIZE = 0.25, 5e-4

KEPT_TEXELS = 1.5
"""By how many texels the GL commands of an imported file may differ from its table, which holds whole texels."""


def find_differences(model: Model, parts: list[Part], samples: Samples, conversion: Conversion) -> Differences:
    """The largest difference of each kind in each object, infinite if the triangles are others."""
    # Positions may be off by a step of the frame's grid on each axis, if that is small against the edges of the model,
    # texture coordinates by half a texel, those of GL commands of the imported file by `KEPT_TEXELS`.
    result = Differences()
    places = [f"in frame {number} ({name})" for number, name in enumerate(model.frame_names)]
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    if len(triangles) != sum(len(part.triangles) for part in parts):
        for part in parts:
            result.note(part.obj.name, POSITION, np.inf, places[0])
        return result
    kept = any(part.stored is not None and part.stored.model.gl_commands is model.gl_commands for part in parts)
    if not (commands_match(model, KEPT_TEXELS) if kept else _commands_agree(model)):
        result.note("", COMMANDS, np.inf, places[0])
    texels = np.maximum((model.skin_width, model.skin_height), 1)
    uvs = flip_v((model.st + 0.5) / texels)
    size = _size(model)
    rows = np.split(np.arange(len(triangles)), np.cumsum([len(part.triangles) for part in parts])[:-1])
    corners = [part.corners[part.loops] for part in parts]
    first = min(samples.verified, default=0)
    for frame, evaluated_parts in samples.verified.items():
        where = places[frame]
        scale, translate = model.scale[frame], model.translate[frame]
        vertices = decompress(model.vertices[frame], scale, translate)
        allowed = np.abs(scale) + 2.0 * grid_tolerance(scale, translate)
        rounding, lengths = 0.0, []
        for index, (part, found) in enumerate(zip(parts, evaluated_parts, strict=True)):
            name = part.obj.name
            shown = conversion.points(found.vertices.astype(np.float64))
            ends = shown[corners[index]]
            off = np.abs(vertices[triangles[rows[index]]] - ends)
            # NaN fails every comparison, so the test is for what is valid.
            if not (off <= allowed).all():
                result.note(name, POSITION, _finite_or_infinite(off), where)
            else:
                rounding = max(rounding, longest(off))
                lengths.append(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))
            if found.loops is not None:
                moved = bend(shown[part.corners], part.loops, found.loops)
                result.note(name, TRIANGULATION, moved, where, allowed=float(np.linalg.norm(allowed)))
            corner_uvs = part.uvs if found.uvs is None else found.uvs[part.loops]
            if corner_uvs is not None and (frame == first or found.uvs is not None):
                off = np.abs(uvs[triangle_st[rows[index]]] - corner_uvs) * texels
                if not (off <= 0.5 + _TEXEL_ROUNDING).all():
                    result.note(name, UV, _finite_or_infinite(off), where)
        if rounding > _VISIBLE_OF_SIZE * size and rounding > _VISIBLE_OF_EDGE * np.median(np.concatenate(lengths)):
            result.note("", GRID, rounding, where)
    return result


def _finite_or_infinite(off: npt.NDArray[np.floating]) -> float:
    """The length of the longest difference; infinite if one is not a number."""
    return float(np.nan_to_num(longest(off), nan=np.inf))


def _commands_agree(model: Model) -> bool:
    """Whether the GL commands draw the triangles of the list, each as often and with the same coordinates."""
    drawn, drawn_st = drawn_triangles(model.gl_commands)
    if len(drawn) != len(model.triangles):
        return False
    fractions = st_fractions(model.st, model.skin_width, model.skin_height)
    listed = _triangle_hashes(model.triangles, fractions[model.triangle_st])
    return bool(np.array_equal(np.sort(_triangle_hashes(drawn, drawn_st)), np.sort(listed)))


def _triangle_hashes(triangles: npt.NDArray[np.int32], st: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
    """A hash of each triangle, the same for any first corner, but another for the opposite winding, (T,)."""
    # s and t are the halves of one number.
    corners = np.ascontiguousarray(st, dtype=np.float32).view(np.uint64)[..., 0] * _ODD
    corners += triangles.astype(np.uint64) * _OTHER_ODD
    corners ^= corners >> _HALF
    corners *= _ODD
    a, b, c = corners.T
    result: npt.NDArray[np.uint64] = a * (b >> _HALF) + b * (c >> _HALF) + c * (a >> _HALF)
    return result


def warn(differences: Differences, model: Model, parts: list[Part], report: Report) -> None:
    """Warns of each difference, with its likely cause."""
    size = _size(model)
    modified = {part.obj.name for part in parts if any(one.show_viewport for one in part.obj.modifiers)}
    for (name, kind), found in differences.items():
        if kind == UV and name in modified:
            remedy = "a modifier that moves UVs over time, which MD2 cannot hold"
        elif kind == UV:
            remedy = "UVs that are not finite, or too far outside the skin"
        elif len(model.scale) > 1 and (model.scale == model.scale[:1]).all():
            remedy = "Turn off Prevent Vertex Wobble"
        elif len(parts) > 1:
            remedy = "Move objects that are far away closer to the others"
        else:
            remedy = "Move parts that are far away closer to the others, or export them as a file of their own"
        text = _WARNINGS[kind].format(
            where=found.where, distance=found.distance, amount=amount(found.distance, size), remedy=remedy
        )
        report.warn(text, str(name), is_important=True)


def _size(model: Model) -> float:
    """The diagonal of the box around all frames, in units of the file."""
    grids = np.stack([model.translate, model.translate + 255.0 * model.scale]).astype(np.float64)
    return diagonal(grids.reshape(-1, 3))
