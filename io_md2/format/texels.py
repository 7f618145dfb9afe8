"""Texture coordinates: texels, as the table of a file has them, and fractions of the skin, as renderers take them.

Quake II's model compiler writes ``(s + 0.5) / width`` into GL commands, the middle of the texel; the
MD2 specification's own renderer has ``s / width``, its corner. Both are the same function with another ``centre``.
Import, export and generated GL commands use 0.5 throughout, since that is what games draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CENTRE = 0.5
"""Where in its texel a texture coordinate lies: in the middle (Quake II)."""

CORNER = 0.0
"""Where in its texel a texture coordinate lies: in the upper left corner (MD2 specification)."""

_INT32 = np.iinfo(np.int32)


def st_fractions(
    st: NDArray[Any], skin_width: int, skin_height: int, centre: float = CENTRE
) -> NDArray[np.float32]:
    """Texture coordinates as fractions of the skin: (st + centre) / size.

    Args:
        st: (..., 2) integers, in texels from the upper left corner of the skin.
        skin_width: width of the skin; 0 is taken as 1, so that the result is finite.
        skin_height: height of the skin, likewise.
        centre: 0.5 as in Quake II's model compiler, 0 as in the MD2 specification.

    Returns:
        float32, the shape of ``st``, from the upper left corner of the skin.
    """
    return ((np.asarray(st, np.float64) + centre) / _size(skin_width, skin_height)).astype(np.float32)


def st_texels(
    fractions: NDArray[Any], skin_width: int, skin_height: int, centre: float = CENTRE
) -> NDArray[np.int32]:
    """The texel of texture coordinates, the reverse of ``st_fractions``.

    The far edge of the skin is between two texels; the inner one is taken. What is not a number becomes 0.

    Args:
        fractions: (..., 2) floats, fractions of the skin from its upper left corner.
        skin_width: width of the skin; 0 is taken as 1.
        skin_height: height of the skin, likewise.
        centre: 0.5 or 0, as in ``st_fractions``.

    Returns:
        int32, the shape of ``fractions``; what lies beyond 32 bits is clamped.
    """
    values = np.nan_to_num(np.asarray(fractions, np.float64))
    with np.errstate(over="ignore"):
        texels = np.floor(values * _size(skin_width, skin_height) + (0.5 - centre)) - (values == 1.0)
    result: NDArray[np.int32] = np.clip(texels, _INT32.min, _INT32.max).astype(np.int32)
    return result


def flip_t(fractions: NDArray[Any]) -> NDArray[np.float64]:
    """Texture coordinates counted from the opposite edge of the skin: s and 1 - t. It is its own inverse.

    Files count t from the upper edge; OpenGL, OBJ and Blender count from the lower one.

    Args:
        fractions: (..., 2) floats.

    Returns:
        float64, of the same shape.
    """
    result: NDArray[np.float64] = np.array(fractions, np.float64)
    result[..., 1] = 1.0 - result[..., 1]
    return result


def _size(width: int, height: int) -> NDArray[np.float64]:
    return np.maximum(np.array([width, height], np.float64), 1)
