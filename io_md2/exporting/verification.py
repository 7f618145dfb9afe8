"""The comparison of a finished model with what Blender shows.

The model is decoded as a game does it: positions from the bytes and grids of frames, texture coordinates from the
table of texels, and both again from the GL commands. They are compared corner by corner with the evaluated triangles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_blender.scene.axes import Conversion
from ...io_common.triangles import TRIANGULATE, bend, drop_degenerate, flip_v
from ..format import Model, commands_match, decompress, drawn_triangles, grid_tolerance, st_fractions

if TYPE_CHECKING:
    from ...io_blender.clips.sampling import Samples
    from ...io_blender.reports import Report
    from .topology import Part

Floats = npt.NDArray[np.floating]

POSITION, UV, TRIANGULATION, COMMANDS, GRID = "POSITION", "UV", "TRIANGULATION", "COMMANDS", "GRID"
UNSTORED = (TRIANGULATION, GRID)
"""The kinds of differences that do not come from stored data of an imported file."""

# Large odd numbers spread the bits of what they are multiplied with (Fibonacci hashing).
_ODD, _OTHER_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(32)

# The tolerance in texels for coordinates at the edge of a texel, which are rounded to single precision.
_TEXEL_ROUNDING = 0.01

# Rounding to the grid of a frame that moves corners by more than these fractions, of the median edge and of the model's
# size, is visible. No real file has more than 0.2 of an edge, except in frames in which the model has no size.
_VISIBLE_OF_EDGE, _VISIBLE_OF_SIZE = 0.25, 5e-4
# How many triangles of an object tell the median length of an edge.
_MEASURED = 200

KEPT_TEXELS = 1.5
"""By how many texels the GL commands of an imported file may differ from its table, which holds whole texels."""


@dataclass(frozen=True)
class Difference:
    """Where a model differs from what Blender shows by more than the format's precision.

    Attributes:
        name: of the object.
        frame: index of the frame.
        distance: the largest one, in units of the file, or of texture coordinates in texels.
        kind: POSITION of vertices, UV of corners, or TRIANGULATION: faces of more than three corners are split along
            other diagonals than in the frame whose triangles the model has; COMMANDS: the GL commands draw other
            triangles than the list has; GRID: the grid is so coarse that the shape suffers.
    """

    name: str
    frame: int
    distance: float
    kind: str


def find_differences(
    model: Model, parts: list[Part], samples: Samples, conversion: Conversion
) -> list[Difference]:
    """The largest difference of each kind in each object, if there is any.

    Positions may be off by one step of the frame's grid on each axis, if that is small against the edges of the model,
    texture coordinates by half a texel, those of GL commands of the imported file by `KEPT_TEXELS`.

    `model` is finished, `parts` are the objects that it was made of, and `samples` are evaluated in the frames to
    verify. `conversion` goes from the scene to the file. If the model has other triangles than the objects, there is
    one difference for each object, with an infinite distance.
    """
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    if len(triangles) != sum(len(part.triangles) for part in parts):
        return [Difference(part.obj.name, 0, np.inf, POSITION) for part in parts]
    worst: dict[tuple[str, str], Difference] = {}
    kept = any(part.stored is not None and part.stored.gl_commands is model.gl_commands for part in parts)
    if not (commands_match(model, KEPT_TEXELS) if kept else _commands_agree(model)):
        _note(worst, Difference("", 0, np.inf, COMMANDS))
    texels = np.maximum((model.skin_width, model.skin_height), 1)
    uvs = flip_v((model.st + 0.5) / texels)
    size = _size(model)
    rows = np.split(np.arange(len(triangles)), np.cumsum([len(part.triangles) for part in parts])[:-1])
    pairs = [_vertex_pairs(triangles[own], part) for own, part in zip(rows, parts, strict=True)]
    edges = [_some_edges(part) for part in parts]
    first = min(samples.verified, default=0)
    for frame, evaluated_parts in samples.verified.items():
        scale, translate = model.scale[frame], model.translate[frame]
        vertices = decompress(model.vertices[frame], scale, translate)
        allowed = np.abs(scale) + 2.0 * grid_tolerance(scale, translate)
        rounding, lengths = 0.0, []
        for index, (part, found) in enumerate(zip(parts, evaluated_parts, strict=True)):
            shown = conversion.points(found.vertices.astype(np.float64))
            off = np.abs(vertices[pairs[index][:, 0]] - shown[pairs[index][:, 1]])
            # NaN fails every comparison, so the test is for what is valid.
            if not (off <= allowed).all():
                _note(worst, Difference(part.obj.name, frame, _longest(off), POSITION))
            else:
                rounding = max(rounding, _longest(off))
                lengths.append(np.linalg.norm(shown[edges[index][:, 0]] - shown[edges[index][:, 1]], axis=1))
            if found.loops is not None:
                moved = bend(shown[part.corners], part.loops, found.loops)
                if moved > np.linalg.norm(allowed):
                    _note(worst, Difference(part.obj.name, frame, moved, TRIANGULATION))
            corner_uvs = part.uvs if found.uvs is None else found.uvs[part.loops]
            if corner_uvs is not None and (frame == first or found.uvs is not None):
                off = np.abs(uvs[triangle_st[rows[index]]] - corner_uvs) * texels
                if not (off <= 0.5 + _TEXEL_ROUNDING).all():
                    _note(worst, Difference(part.obj.name, frame, _longest(off), UV))
        if rounding > _VISIBLE_OF_SIZE * size and rounding > _VISIBLE_OF_EDGE * np.median(
            np.concatenate(lengths)
        ):
            _note(worst, Difference("", frame, rounding, GRID))
    return list(worst.values())


def _vertex_pairs(triangles: npt.NDArray[np.int32], part: Part) -> npt.NDArray[np.int64]:
    """A vertex of the file and the one of the mesh that it stands for, each pair once, (N, 2)."""
    own = part.corners[part.loops].ravel().astype(np.int64)
    keys = np.unique(triangles.ravel().astype(np.int64) << 32 | own)
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)


def _some_edges(part: Part) -> npt.NDArray[np.int32]:
    """The vertices of the mesh at the ends of edges of up to `_MEASURED` triangles, (E, 2)."""
    corners = part.corners[part.loops[:: 1 + len(part.loops) // _MEASURED]]
    return corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)


def _longest(off: Floats) -> float:
    """The length of the longest difference (…, n)."""
    lengths = np.linalg.norm(off, axis=-1)
    return float(np.nan_to_num(lengths, nan=np.inf).max(initial=0.0))


def _note(worst: dict[tuple[str, str], Difference], difference: Difference) -> None:
    known = worst.get((difference.name, difference.kind))
    if known is None or known.distance < difference.distance:
        worst[difference.name, difference.kind] = difference


def _commands_agree(model: Model) -> bool:
    """Whether the GL commands draw the triangles of the list, each as often and with the same texture coordinates."""
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


def warn(differences: list[Difference], model: Model, parts: list[Part], report: Report) -> None:
    """Warns of each difference, with its likely cause."""
    if not differences:
        return
    size = _size(model)
    modified = {part.obj.name for part in parts if any(m.show_viewport for m in part.obj.modifiers)}
    for difference in differences:
        where = f"in frame {difference.frame} ({model.frame_names[difference.frame]})"
        relative = f" ({difference.distance / size:.2%} of the model's size)" if size > 0.0 else ""
        units = f"{difference.distance:.4g} units{relative}"
        if difference.kind == UV:
            cause = (
                "a modifier that moves UVs over time, which MD2 cannot hold"
                if difference.name in modified
                else "UVs that are not finite, or too far outside the skin"
            )
            text = (
                f"texture coordinates differ from Blender's by up to {difference.distance:.3g} texels {where}. "
                f"Likely cause: {cause}"
            )
        elif difference.kind == TRIANGULATION:
            text = (
                f"faces are triangulated differently from Blender's {where}, off by up to {units}. Likely cause: they "
                f"bend. {TRIANGULATE}"
            )
        elif difference.kind == COMMANDS:
            text = "the GL commands draw other triangles than the list has. This is a bug: please report it"
        elif difference.kind == GRID:
            is_shared = len(model.scale) > 1 and (model.scale == model.scale[:1]).all()
            if is_shared:
                remedy = "Turn off Shared Grid"
            elif len(parts) > 1:
                remedy = "Move objects that are far away closer to the others"
            else:
                remedy = (
                    "Move parts that are far away closer to the others, or export them as a file of their own"
                )
            text = (
                f"vertices are rounded by up to {units} {where}, which is visible: a frame has 256 steps on each axis. "
                f"{remedy}"
            )
        else:
            text = (
                f"vertices differ from Blender's by up to {units} {where}. Likely cause: the model is too far from the "
                "origin, or too large, for the precision of the format"
            )
        report.warn(text, difference.name, is_important=True)


def _size(model: Model) -> float:
    """The diagonal of the box around all frames, in units of the file."""
    grids = np.stack([model.translate, model.translate + 255.0 * model.scale]).astype(np.float64)
    diagonal: Any = np.ptp(grids.reshape(-1, 3), axis=0) if grids.size else np.zeros(3)
    return float(np.linalg.norm(diagonal))
