"""Texture coordinates: texels, as the table of a file has them, and fractions of the skin, as renderers take them.

Quake II's model compiler writes ``(s + 0.5) / width`` into GL commands, the middle of the texel; the
MD2 specification's own renderer has ``s / width``, its corner. Both are the same function with another ``centre``.
Import, export and generated GL commands use 0.5 throughout, since that is what games draw.

Which triangles meet at which edges, for the search for strips and fans.

A corner is a vertex and its texture coordinate: primitives go on only where both are the same. A half-edge
is numbered ``3 * triangle + corner`` and leads from that corner to the next one of its triangle; the number
names the corner as well.

The search of Quake II's model compiler for strips and fans, in linear time.

For each unused triangle in the order of the list the compiler tries a fan and a strip from each of its
corners over the triangles after it, and takes the longest, the first of equals. It looks through all
triangles for each next one; here a table of edges gives it at once.

GL commands: what they draw, and how they are made.

The commands are primitives one after another (MD2 specification, "OpenGL commands"): +n begins a strip of n
vertices, -n a fan, each vertex is (float s, float t, int vertex), and 0 ends the list. A GL renderer draws
these and ignores the list of triangles, a software renderer does the reverse, so both must agree.

The k-th triangle of a strip is (k, k+1, k+2) if k is even and (k+1, k, k+2) if it is odd, that of a fan is
(0, k+1, k+2): so OpenGL keeps the winding. n triangles in one primitive take 1 + 3 (n + 2) words, hence T
triangles in P primitives take 3 T + 7 P + 1: the fewer primitives, the shorter.

Texture coordinates that triangles refer to but that the file lacks.

Two of Egoboo's models have such triangles (index 65535). GL renderers never use these indices, as the GL commands have
texture coordinates of their own, so the missing ones are taken from there (q2pro skips such triangles).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.counting import counted
from .model import GlCommands, Md2Error, Model
from .validation import validate_commands

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


class EdgeTable:
    """Half-edges grouped by the corners that they join.

    Attributes:
        members: half-edges, those of a group together and ascending.
        begin: where each group begins in ``members``; one more entry than groups.
        across: for each half-edge, the group of those that run the other way, or -1.
    """

    def __init__(self, corners: NDArray[Any]) -> None:
        """Builds the table in O(T log T) from corners (T, 3), integers that are equal where a primitive may go on."""
        start = corners.astype(np.int64)
        end = np.roll(start, -1, axis=1)
        size = int(start.max(initial=0)) + 1
        keys, group = np.unique((start * size + end).reshape(-1), return_inverse=True)
        wanted = (end * size + start).reshape(-1)
        found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        across = np.where(keys[found] == wanted, found, -1) if len(keys) else found
        sizes = np.bincount(group, minlength=len(keys))
        self.members: list[int] = np.argsort(group, kind="stable").tolist()
        self.begin: list[int] = [0, *np.cumsum(sizes).tolist()]
        self.across: list[int] = across.tolist()


def greedy_primitives(table: EdgeTable) -> tuple[list[int], list[int]]:
    """The primitives that the compiler would make.

    Returns their counts of vertices, negative for fans as in GL commands, and their vertices one after another as
    numbers of corners.
    """
    search = _Search(table)
    counts: list[int] = []
    corners: list[int] = []
    for first in range(len(search.used)):
        if search.used[first]:
            continue
        best: list[int] = []
        best_fan, best_corner = True, 0
        for is_fan in (True, False):
            for corner in range(3):
                path = search.follow(first, corner, is_fan)
                if len(path) > len(best):
                    best, best_fan, best_corner = path, is_fan, corner
        search.used[first] = True
        corners += [3 * first + (best_corner + k) % 3 for k in range(3)]
        for entered in best:
            search.used[entered // 3] = True
            corners.append(entered - entered % 3 + (entered + 2) % 3)
        counts.append(-(len(best) + 3) if best_fan else len(best) + 3)
    return counts, corners


class _Search:
    """The triangles that are used, and the way on from any of them.

    A primitive is never longer than the best one from its triangle, so that all tries together take time
    in proportion to the triangles, if each step does. Where several later triangles share an edge and the
    first of them is used, the compiler ends the primitive.
    """

    def __init__(self, table: EdgeTable) -> None:
        self.members = table.members
        self.across = table.across
        self.ends = table.begin[1:]
        self.used = [False] * (len(table.across) // 3)
        # The number of the last try that each triangle was in.
        self.tried = [0] * len(self.used)
        self.current = 0
        # Where in each group to begin: entries before belong to triangles that the search has passed.
        self.heads = table.begin[:-1]

    def follow(self, first: int, corner: int, is_fan: bool) -> list[int]:
        """The half-edges by which a fan or strip from a corner of a triangle enters the next ones."""
        members, across, heads, used, tried = self.members, self.across, self.heads, self.used, self.tried
        ends = self.ends
        self.current = current = self.current + 1
        path: list[int] = []
        passed = 3 * first + 3
        half_edge = 3 * first + (corner + (2 if is_fan else 1)) % 3
        turn_back = True
        while (group := across[half_edge]) >= 0:
            slot, end = heads[group], ends[group]
            while slot < end and members[slot] < passed:
                slot += 1
            heads[group] = slot
            if slot >= end:
                break
            entered = members[slot]
            triangle = entered // 3
            if used[triangle] or tried[triangle] == current:
                break
            tried[triangle] = current
            path.append(entered)
            # A fan keeps its centre, a strip swings from one side to the other.
            half_edge = 3 * triangle + (entered + (2 if turn_back else 1)) % 3
            turn_back = is_fan or not turn_back
        return path


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
