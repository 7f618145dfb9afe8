"""GL commands: what they draw, and how they are made; texture coordinates as texels and as fractions.

The commands are primitives one after another (MD2 specification, "OpenGL commands"): +n begins a strip of n vertices,
-n a fan, each vertex is (float s, float t, int vertex), and 0 ends the list. GL renderers draw these, software
renderers the list of triangles. The k-th triangle of a strip is (k, k+1, k+2) if k is even and (k+1, k, k+2) if it is
odd, that of a fan is (0, k+1, k+2). T triangles in P primitives take 3 T + 7 P + 1 words.

Quake II's model compiler writes ``(s + 0.5) / width``, the middle of the texel, into GL commands; the MD2
specification's own renderer has ``s / width``. Import, export and generated GL commands use 0.5, as games draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ...io_common.texts import counted
from ...io_common.triangles import drop_degenerate, lowest_vertex_first
from .model import GlCommands, Md2Error, Model, validate_commands

CENTRE = 0.5
"""Where in its texel a texture coordinate lies: in the middle (Quake II)."""

CORNER = 0.0
"""Where in its texel a texture coordinate lies: in the upper left corner (MD2 specification)."""

_INT16, _INT32 = np.iinfo(np.int16), np.iinfo(np.int32)


def st_fractions(st: npt.ArrayLike, skin_width: int, skin_height: int, centre: float = CENTRE) -> NDArray[np.float32]:
    """Texture coordinates (..., 2) in texels as fractions of the skin, float32: (st + centre) / size.

    Both are from its upper left corner; a size of 0 is taken as 1. ``centre`` is `CENTRE` or `CORNER`.
    """
    return ((np.asarray(st, np.float64) + centre) / _size(skin_width, skin_height)).astype(np.float32)


def st_texels(fractions: npt.ArrayLike, skin_width: int, skin_height: int, centre: float = CENTRE) -> NDArray[np.int32]:
    """The texels of fractions (..., 2) of the skin, int32: the reverse of ``st_fractions``.

    The far edge of the skin is between two texels; the inner one is taken. What is not a number becomes 0, what lies
    beyond 32 bits is clamped.
    """
    values = np.nan_to_num(np.asarray(fractions, np.float64))
    with np.errstate(over="ignore"):
        texels = np.floor(values * _size(skin_width, skin_height) + (0.5 - centre)) - (values == 1.0)
    result: NDArray[np.int32] = np.clip(texels, _INT32.min, _INT32.max).astype(np.int32)
    return result


def _size(width: int, height: int) -> NDArray[np.float64]:
    return np.maximum(np.array([width, height], np.float64), 1)


class _Search:
    """The triangles that are used, and the way on from any triangle, for strips and fans."""

    # Half-edge `3 * triangle + corner` leads from that corner (a vertex and its texture coordinate) to the next one.

    def __init__(self, corners: NDArray[Any]) -> None:
        start = corners.astype(np.int64)
        end = np.roll(start, -1, axis=1)
        size = int(start.max(initial=0)) + 1
        keys, group = np.unique((start * size + end).reshape(-1), return_inverse=True)
        wanted = (end * size + start).reshape(-1)
        found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        across = np.where(keys[found] == wanted, found, -1) if len(keys) else found
        ends = np.cumsum(np.bincount(group, minlength=len(keys))).tolist()
        # Half-edges that join the same corners are a group, ascending; each knows the group that runs the other way.
        self.members: list[int] = np.argsort(group, kind="stable").tolist()
        self.across: list[int] = across.tolist()
        self.ends: list[int] = ends
        # Where in each group to begin: entries before belong to triangles that the search has passed.
        self.heads: list[int] = [0, *ends[:-1]]
        self.used = [False] * len(corners)
        # The number of the last try that each triangle was in.
        self.tried = [0] * len(corners)
        self.current = 0

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
            # The compiler ends a primitive where the first of several later triangles at an edge is used.
            if used[triangle] or tried[triangle] == current:
                break
            tried[triangle] = current
            path.append(entered)
            # A fan keeps its centre, a strip swings from one side to the other.
            half_edge = 3 * triangle + (entered + (2 if turn_back else 1)) % 3
            turn_back = is_fan or not turn_back
        return path


def greedy_primitives(corners: NDArray[Any]) -> tuple[list[int], list[int]]:
    """The counts (negative for fans) and corners of the compiler's strips and fans over corners (T, 3), equal where a
    primitive may go on: for each unused triangle in order the longest from any of its corners, the first of equals."""
    search = _Search(corners)
    counts: list[int] = []
    path_corners: list[int] = []
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
        path_corners += [3 * first + (best_corner + k) % 3 for k in range(3)]
        for entered in best:
            search.used[entered // 3] = True
            path_corners.append(entered - entered % 3 + (entered + 2) % 3)
        counts.append(-(len(best) + 3) if best_fan else len(best) + 3)
    return counts, path_corners


# Ten times what any game takes. The search takes several microseconds for each triangle.
_MOST_SEARCHED = 1 << 16

# Three vertices of a triangle fit into a number of 64 bits.
_VERTEX_BITS = 21


def drawn_triangles(commands: GlCommands) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The triangles that GL commands draw, in their order and with their winding: vertices and texture coordinates.

    The first are int32 (D, 3), the second float32 (D, 3, 2), fractions of the skin. Raises Md2Error if the arrays of
    the commands do not fit together.
    """
    validate_commands(commands)
    sizes = np.abs(commands.counts.astype(np.int64))
    drawn = np.maximum(sizes - 2, 0)
    first = np.repeat(np.cumsum(sizes) - sizes, drawn)
    is_fan = np.repeat(commands.counts < 0, drawn)
    k = np.arange(len(first)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    swapped = ~is_fan & (k % 2 == 1)
    corners = np.stack(
        [first + np.where(is_fan, 0, k + swapped), first + np.where(swapped, k, k + 1), first + k + 2], axis=1
    )
    return commands.vertices[corners], commands.st[corners]


def commands_match(model: Model, tolerance: float = 0.0) -> bool:
    """Whether the GL commands draw the triangles of the list, each as often; degenerate ones do not count.

    Their texture coordinates may be off from (st + 0.5) / size by ``tolerance`` texels: they have fractions of texels,
    which the table of texture coordinates rounds or cuts off.
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
    """The triangles with different vertices, with their texture coordinates (T, 3, 2), in ascending order."""
    triangles, st = drop_degenerate(triangles, st)
    numbers, triangles, corners = _numbered(triangles)
    st = st.reshape(-1, 2)[corners]
    order = np.argsort(numbers)
    if (np.diff(numbers[order]) == 0).any():
        keys = np.hstack([triangles, np.floor(st.reshape(-1, 6))])
        order = np.lexsort(keys.T[::-1])
    return triangles[order], st[order]


def sorted_numbers(triangles: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of triangles with different vertices, in ascending order: equal for equal lists in any order."""
    return np.sort(_numbered(drop_degenerate(triangles)[0])[0])


def _numbered(triangles: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.intp]]:
    """A number for each triangle, equal for the same vertices and winding; see `lowest_vertex_first` for the rest."""
    rows, corners = lowest_vertex_first(triangles)
    a, b, c = rows.T.astype(np.int64)
    return (a << 2 * _VERTEX_BITS) + (b << _VERTEX_BITS) + c, rows, corners


def generate_commands(
    triangles: npt.ArrayLike, triangle_st: npt.ArrayLike, st: npt.ArrayLike, skin_width: int, skin_height: int
) -> GlCommands:
    """Strips and fans that draw each triangle once, with its winding and texture coordinates.

    Degenerate and repeated triangles are drawn as often as they are listed. The search is that of Quake II's model
    compiler, in T log T; of a model that no game takes, beyond 65,536 triangles, each is drawn alone.

    ``triangles`` (T, 3) are indices of vertices, ``triangle_st`` (T, 3) of ``st`` (S, 2), which is in texels. Raises
    Md2Error if the first two differ in shape, or ``triangle_st`` has indices outside ``st``.
    """
    triangles, triangle_st, st = np.asarray(triangles), np.asarray(triangle_st), np.asarray(st)
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
        # Equal where both vertex and texture coordinate are.
        pairs = triangles.astype(np.int64) * (int(triangle_st.max()) + 1) + triangle_st
        found = greedy_primitives(np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape))
        counts, corners = np.array(found[0], np.int32), np.array(found[1], np.int64)
    return GlCommands(
        counts,
        st_fractions(st, skin_width, skin_height)[triangle_st.reshape(-1)[corners]],
        triangles.reshape(-1)[corners].astype(np.int32),
    )


def restore_st(
    st: NDArray[np.int16],
    triangles: NDArray[np.int32],
    triangle_st: NDArray[np.int32],
    commands: GlCommands,
    skin_size: tuple[int, int],
) -> tuple[NDArray[np.int16], NDArray[np.int32], str]:
    """Texture coordinates with those that are missing, from the GL commands; their indices; and a warning, or ""."""
    # In two models of Egoboo, indices are 65535; GL renderers never use them, q2pro skips the triangle.
    if triangle_st.max(initial=-1) < len(st):
        return st, triangle_st, ""
    missing = triangle_st >= len(st)
    drawn, fractions = drawn_triangles(commands)
    rows, corners = np.nonzero(missing)
    numbers, _, turned = _numbered(triangles[rows])
    drawn_numbers, _, drawn_turned = _numbered(drawn)
    known, sources = np.unique(drawn_numbers, return_index=True)
    slots = np.searchsorted(known, numbers)
    found = np.append(known, -1)[slots] == numbers
    sources = sources[slots[found]]
    # The corner of the drawn triangle that is this one.
    drawn_corners = (corners[found] + drawn_turned[sources, 0] - turned[found, 0]) % 3
    texels = np.zeros((len(rows), 2), np.int16)
    exact = st_texels(fractions[sources, drawn_corners], *skin_size)
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
