"""Which element of the imported file each element of an edited mesh is. Needs no Blender.

Import numbers vertices and corners in an integer attribute. Modifiers and edits copy the numbers along with the
elements, so several elements may bear the same one, and new ones bear 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .triangles import lowest_vertex_first

Integers = npt.NDArray[np.int32]

NONE = -1
"""Stands for an element that is not in the file."""


def match_vertices(numbers: npt.NDArray[np.int32] | None, vertex_count: int, source_count: int) -> Integers:
    """The source vertex that each vertex of a mesh is, or NONE, int32 (V,); each is matched at most once.

    Of several vertices with the same number the first one is the original: Blender puts copies after it. `numbers` is
    the attribute, (V,); None if the mesh does not have it. If its length is not `vertex_count`, nothing is matched.
    `source_count` is the number of vertices in the file.
    """
    result = np.full(vertex_count, NONE, dtype=np.int32)
    if numbers is None or len(numbers) != vertex_count:
        return result
    if len(numbers) == source_count and np.array_equal(numbers, np.arange(source_count)):
        return numbers
    values, firsts = np.unique(numbers, return_index=True)
    known = (values >= 0) & (values < source_count)
    result[firsts[known]] = values[known]
    return result


def match_corners(
    numbers: npt.NDArray[np.int32] | None, corner_count: int, source_count: int
) -> Integers | None:
    """The source element that each corner of a mesh refers to, or NONE, int32 (L,); several corners may share one.

    `numbers` is the attribute, (L,); None if the mesh does not have it. `corner_count` is L, and `source_count` the
    number of such elements in the file. Returns None if there is no attribute of that length.
    """
    if numbers is None or len(numbers) != corner_count:
        return None
    return np.where((numbers >= 0) & (numbers < source_count), numbers, NONE).astype(np.int32)


def have_same_triangles(
    triangles: Integers, sources: Integers, source_triangles: Integers, source_count: int
) -> npt.NDArray[np.bool_]:
    """Which vertices have the triangles that they have in the imported file, and no others, (V,).

    `triangles` has indices of the mesh's vertices, (T, 3), and `sources` the source vertex that each of these is, or
    NONE, (V,). `source_triangles` are those of the file, with the same winding, (S, 3); `source_count` is the number of
    its vertices.
    """
    rows = np.concatenate([source_triangles, sources[triangles]])
    _values, ids = np.unique(lowest_vertex_first(rows), axis=0, return_inverse=True)
    ids = ids.reshape(-1)
    count = len(source_triangles)
    size = int(ids.max(initial=-1)) + 1
    differs = np.bincount(ids[:count], minlength=size) != np.bincount(ids[count:], minlength=size)
    # The last entry is that of NONE.
    is_same = np.ones(source_count + 1, dtype=bool)
    is_same[rows[differs[ids]]] = False
    is_same[NONE] = False
    result: npt.NDArray[np.bool_] = is_same[sources]
    return result
