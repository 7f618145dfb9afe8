"""Texture coordinates that triangles refer to but that the file lacks.

Two of Egoboo's models have such triangles (index 65535). GL renderers never use these indices, as the GL commands have
texture coordinates of their own, so the missing ones are taken from there (q2pro skips such triangles).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...io_common.counting import counted
from .glcommands import drawn_triangles
from .model import GlCommands
from .texels import st_texels

_INT16 = np.iinfo(np.int16)


def restore_st(
    st: NDArray[np.int16],
    triangles: NDArray[np.int32],
    triangle_st: NDArray[np.int32],
    commands: GlCommands,
    skin_size: tuple[int, int],
) -> tuple[NDArray[np.int16], NDArray[np.int32], str]:
    """Gives each corner of a triangle a texture coordinate that exists, from the GL commands of the same triangles.

    `st` (S, 2) and `skin_size` (width, height) are in texels. `triangle_st` (T, 3) holds indices into `st`, not
    negative; S and over for what is missing. Returns `st` with the missing ones added; the indices into it; and a
    warning, empty if none are missing.
    """
    missing = triangle_st >= len(st)
    if not missing.any():
        return st, triangle_st, ""
    drawn, fractions = drawn_triangles(commands)
    sources, rotations = _match(triangles, drawn)
    rows, corners = np.nonzero(missing)
    found = sources[rows] >= 0
    texels = np.zeros((len(rows), 2), np.int16)
    # The corner of the drawn triangle that is this one.
    drawn_corners = (corners[found] + rotations[rows[found]]) % 3
    exact = st_texels(fractions[sources[rows[found]], drawn_corners], *skin_size)
    texels[found] = np.clip(exact, _INT16.min, _INT16.max).astype(np.int16)
    values, entries = np.unique(texels, axis=0, return_inverse=True)
    result = triangle_st.copy()
    result[rows, corners] = len(st) + entries.reshape(-1)
    affected = int(missing.any(axis=1).sum())
    rest = int((~found).sum())
    warning = f"{counted(affected, 'triangles', 'refer')} to texture coordinates that do not exist; " + (
        f"the GL commands have those of {counted(len(rows) - rest, 'corners')}, "
        f"{counted(rest, 'corners', 'are')} in the upper left corner of the skin"
        if rest
        else "they were taken from the GL commands"
    )
    return np.concatenate([st, values.astype(np.int16)]), result, warning


def _match(
    triangles: NDArray[np.int32], drawn: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each triangle (T, 3) the first drawn one (D, 3) with the same vertices and winding, or -1; and its rotation.

    The rotation counts corners: corner k of the triangle is corner (k + rotation) % 3 of the drawn one.
    """
    keys, starts = _keys(triangles)
    drawn_keys, drawn_starts = _keys(drawn)
    values, firsts = np.unique(drawn_keys, return_index=True)
    if not len(values):
        return np.full(len(triangles), -1), np.zeros(len(triangles), np.int64)
    slots = np.minimum(np.searchsorted(values, keys), len(values) - 1)
    sources = np.where(values[slots] == keys, firsts[slots], -1)
    return sources, (drawn_starts[sources] - starts) % 3


def _keys(triangles: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each triangle, equal for the same vertices and winding, and the corner of its lowest vertex."""
    if not len(triangles):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first = triangles.argmin(axis=1)
    rotated = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1).astype(np.int64)
    return (rotated[:, 0] << 34) + (rotated[:, 1] << 17) + rotated[:, 2], first
