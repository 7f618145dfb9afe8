"""GL commands: what they draw, and how they are made.

The commands are primitives one after another (MD2 specification, "OpenGL commands"): +n begins a strip of n
vertices, -n a fan, each vertex is (float s, float t, int vertex), and 0 ends the list. A GL renderer draws
these and ignores the list of triangles, a software renderer does the reverse, so both must agree.

The k-th triangle of a strip is (k, k+1, k+2) if k is even and (k+1, k, k+2) if it is odd, that of a fan is
(0, k+1, k+2): so OpenGL keeps the winding. n triangles in one primitive take 1 + 3 (n + 2) words, hence T
triangles in P primitives take 3 T + 7 P + 1: the fewer primitives, the shorter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .edges import EdgeTable
from .errors import Md2Error
from .greedy import greedy_primitives
from .model import GlCommands, Model
from .texels import st_fractions
from .validation import validate_commands

# Ten times what any game takes. The search takes several microseconds for each triangle.
_MOST_SEARCHED = 1 << 16

# Three vertices of a triangle fit into a number of 64 bits.
_VERTEX_BITS = 21


def drawn_triangles(commands: GlCommands) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The triangles that GL commands draw, in their order and with their winding.

    Args:
        commands: the commands.

    Returns:
        Indices of vertices (D, 3) int32, and texture coordinates (D, 3, 2) float32 as fractions of the skin.

    Raises:
        Md2Error: the arrays of the commands do not fit together.
    """
    validate_commands(commands)
    sizes = np.abs(commands.counts.astype(np.int64))
    drawn = np.maximum(sizes - 2, 0)
    first = np.repeat(np.cumsum(sizes) - sizes, drawn)
    is_fan = np.repeat(commands.counts < 0, drawn)
    k = np.arange(len(first)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    swapped = ~is_fan & (k % 2 == 1)
    corners = np.stack(
        [
            first + np.where(is_fan, 0, k + swapped),
            first + np.where(swapped, k, k + 1),
            first + k + 2,
        ],
        axis=1,
    )
    return commands.vertices[corners], commands.st[corners]


def commands_match(model: Model, tolerance: float = 0.0) -> bool:
    """Whether the GL commands draw the triangles of the list, each as often; degenerate ones do not count.

    Args:
        model: with GL commands.
        tolerance: by how many texels their texture coordinates may be off, from (st + 0.5) / size. They have
            fractions of texels, which the table of texture coordinates rounds or cuts off.
    """
    drawn, drawn_st = drawn_triangles(model.gl_commands)
    size = np.maximum((model.skin_width, model.skin_height), 1)
    listed, listed_st = _in_order(model.triangles, model.st[model.triangle_st] + 0.5)
    drawn, drawn_st = _in_order(drawn, drawn_st.astype(np.float64) * size)
    if not np.array_equal(listed, drawn):
        return False
    # NaN fails every comparison, so the test is for what is valid. Commands are in single precision.
    allowed = tolerance + 1e-6 * (size + np.abs(listed_st))
    return bool((np.abs(listed_st - drawn_st) <= allowed).all())


def _in_order(triangles: NDArray[Any], st: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The triangles (T, 3) with different vertices, with their texture coordinates (T, 3, 2), in rising order."""
    a, b, c = triangles.T
    is_proper = (a != b) & (b != c) & (c != a)
    triangles, st = triangles[is_proper], st[is_proper]
    corners = (triangles.argmin(axis=1)[:, None] + np.arange(3)) % 3
    triangles = np.take_along_axis(triangles, corners, axis=1)
    st = np.take_along_axis(st, corners[..., None], axis=1)
    order = _unique_order(triangles)
    if order is None:
        keys = np.hstack([triangles, np.round(st.reshape(-1, 6))])
        order = np.lexsort(keys.T[::-1])
    return triangles[order], st[order]


def _unique_order(triangles: NDArray[Any]) -> NDArray[np.intp] | None:
    """The rising order of triangles (T, 3); None if some are equal, or too large for one number of each."""
    if len(triangles) and (triangles.min() < 0 or triangles.max() >> _VERTEX_BITS):
        return None
    a, b, c = triangles.T.astype(np.int64)
    numbers = a << 2 * _VERTEX_BITS | b << _VERTEX_BITS | c
    order = np.argsort(numbers)
    sorted_numbers = numbers[order]
    return None if (sorted_numbers[1:] == sorted_numbers[:-1]).any() else order


def generate_commands(
    triangles: NDArray[Any], triangle_st: NDArray[Any], st: NDArray[Any], skin_width: int, skin_height: int
) -> GlCommands:
    """Strips and fans that draw each triangle once, with its winding and texture coordinates.

    Degenerate and repeated triangles are drawn as often as they are listed. The search is that of Quake II's
    model compiler, in T log T; of a model that no game takes, beyond 65,536 triangles, each is drawn alone.

    Args:
        triangles: (T, 3) integers, indices of vertices.
        triangle_st: (T, 3) integers, indices into ``st``.
        st: (S, 2) integers, texture coordinates in texels.
        skin_width: width of the skin in texels.
        skin_height: height of the skin in texels.

    Raises:
        Md2Error: the two index arrays differ in shape, or ``triangle_st`` has indices outside ``st``.
    """
    if triangles.shape != triangle_st.shape or triangles.shape[1:] != (3,):
        raise Md2Error(
            "triangles and their texture coordinates do not fit together",
            found=f"{triangles.shape} and {triangle_st.shape}",
            expected="(T, 3) twice",
        )
    if len(triangles) == 0:
        return GlCommands()
    if triangle_st.min() < 0 or triangle_st.max() >= len(st):
        raise Md2Error("a triangle's texture coordinate does not exist", expected=f"an index below {len(st)}")

    if len(triangles) > _MOST_SEARCHED:
        counts, corners = np.full(len(triangles), -3, np.int32), np.arange(triangles.size)
    else:
        found = greedy_primitives(EdgeTable(_join(triangles, triangle_st)))
        counts, corners = np.array(found[0], np.int32), np.array(found[1], np.int64)
    return GlCommands(
        counts,
        st_fractions(st, skin_width, skin_height)[triangle_st.reshape(-1)[corners]],
        triangles.reshape(-1)[corners].astype(np.int32),
    )


def _join(triangles: NDArray[Any], triangle_st: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each corner (T, 3), equal where both vertex and texture coordinate are."""
    size = int(triangle_st.max()) + 1
    pairs = triangles.astype(np.int64) * size + triangle_st
    _values, numbers = np.unique(pairs, return_inverse=True)
    return numbers.reshape(triangles.shape)
