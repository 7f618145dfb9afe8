"""The comparison of a finished model, decoded as a game does it, with what Blender shows: positions, texture
coordinates, and both again from the GL commands, corner by corner with the evaluated triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...io_blender.scene.axes import Conversion
from ...io_blender.verification import (
    GRID,
    OTHER_TRIANGULATION,
    POSITION,
    TRIANGULATION,
    UV,
    DecodedModel,
    Differences,
    amount,
    compare_corners,
    diagonal,
    warn_of_differences,
)
from ...io_common.triangles import drop_degenerate, flip_v
from ..format import Model, commands_match, decompress, drawn_triangles, grid_tolerance, st_fractions

if TYPE_CHECKING:
    from ...io_blender.clips.sampling import Samples
    from ...io_blender.reports import Report
    from .mesh import Part

COMMANDS = "COMMANDS"  # the GL commands draw other triangles than the list has
UNSTORED = (TRIANGULATION, GRID)
"""The kinds of differences that do not come from stored data of an imported file."""
_WARNINGS = {
    POSITION: (
        "vertices differ from Blender's by up to {amount} {where}. Likely cause: the model is too far from the origin, "
        "or too large, for the precision of the format"
    ),
    UV: "texture coordinates differ from Blender's by up to {distance:.3g} texels {where}. Likely cause: a modifier "
    "that moves UVs over time, which MD2 cannot hold, or UVs that are not finite or too far outside the skin",
    TRIANGULATION: OTHER_TRIANGULATION,
    COMMANDS: "the GL commands draw other triangles than the list has. This is a bug: please report it",
    GRID: "vertices are rounded by up to {amount} {where}, which is visible: a frame has 256 steps on each axis. ",
}

# Large odd numbers spread the bits of what they are multiplied with (Fibonacci hashing).
_ODD, _OTHER_ODD, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(32)

# The tolerance in texels: half of one, and what coordinates at the edge of a texel are off in single precision.
_TEXELS = 0.5 + 0.01

KEPT_TEXELS = 1.5
"""By how many texels the GL commands of an imported file may differ from its table, which holds whole texels."""


def find_differences(model: Model, parts: list[Part], samples: Samples, conversion: Conversion) -> Differences:
    """The largest difference of each kind in each object, infinite if the triangles are others."""
    # Positions may be off by a step of the frame's grid on each axis, if that is small against the edges of the model,
    # texture coordinates by half a texel, those of GL commands of the imported file by `KEPT_TEXELS`.
    result = Differences()
    triangles, triangle_st = drop_degenerate(model.triangles, model.triangle_st)
    if len(triangles) != sum(len(part.triangles) for part in parts):
        for part in parts:
            result.note(part.obj.name, POSITION, np.inf, "in all frames", detail=amount(np.inf, 0.0))
        return result
    kept = any(part.stored is not None and part.stored.model.gl_commands is model.gl_commands for part in parts)
    if not (commands_match(model, KEPT_TEXELS) if kept else _commands_agree(model)):
        result.note("", COMMANDS, np.inf, "in all frames")

    def vertices(frame: int) -> list[npt.NDArray[np.float32]]:
        return [decompress(model.vertices[frame], model.scale[frame], model.translate[frame])] * len(parts)

    def allowed(frame: int) -> npt.NDArray[np.floating]:
        scale = model.scale[frame]
        return np.abs(scale) + 2.0 * grid_tolerance(scale, model.translate[frame])

    texels = np.maximum((model.skin_width, model.skin_height), 1)
    ends = np.cumsum([len(part.triangles) for part in parts])[:-1]
    grids = np.stack([model.translate, model.translate + 255.0 * model.scale]).astype(np.float64)
    decoded = DecodedModel(
        frame_names=model.frame_names,
        size=diagonal(grids.reshape(-1, 3)),
        vertices=vertices,
        allowed=allowed,
        triangles=np.split(triangles, ends),
        uvs=np.split(flip_v((model.st + 0.5) / texels)[triangle_st], ends),
        texels=texels,
        uv_allowed=_TEXELS,
    )
    compare_corners(decoded, parts, samples, conversion, result)
    return result


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
    if len(model.scale) > 1 and (model.scale == model.scale[:1]).all():
        remedy = "Turn off Prevent Vertex Wobble"
    elif len(parts) > 1:
        remedy = "Move objects that are far away closer to the others"
    else:
        remedy = "Move parts that are far away closer to the others, or export them as a file of their own"
    warn_of_differences(differences, _WARNINGS | {GRID: _WARNINGS[GRID] + remedy}, report)
