"""Welding of vertices that coincide in every frame.

Texture coordinates are not part of an MD2 vertex, so seams need no copies. Some exporters split vertices at seams and
hard edges all the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import decompress
from .model import GlCommands, Model
from .normals import normal_indices


def weld(model: Model) -> Model:
    """The model with vertices welded that have the same position in every frame.

    Where their normals differ, the welded vertex gets the normal of the compiler's rule. All triangles stay, even those
    that become degenerate; the GL commands are left out.

    Args:
        model: the model; it is not changed.

    Returns:
        The model with the first vertex of each group, in the order of the file.
    """
    rows = model.vertices.transpose(1, 0, 2).reshape(model.vertex_count, 3 * model.frame_count)
    firsts = _first_equal_rows(rows)
    welded = np.unique(firsts)
    triangles = np.searchsorted(welded, firsts)[model.triangles].astype(np.int32)
    vertices = model.vertices[:, welded]
    normals = model.normals[:, welded]
    differing = (model.normals != model.normals[:, firsts]).any(axis=0)
    mixed = np.searchsorted(welded, np.unique(firsts[differing]))
    if len(mixed):
        positions = decompress(vertices, model.scale, model.translate)
        normals[:, mixed] = normal_indices(positions, triangles)[:, mixed]
    return replace(model, triangles=triangles, vertices=vertices, normals=normals, gl_commands=GlCommands())


def _first_equal_rows(rows: NDArray[Any]) -> NDArray[np.int64]:
    """The first row that is equal to each row, (n,)."""
    if rows.size == 0:
        return np.arange(len(rows))
    _values, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    result: NDArray[np.int64] = first[inverse.reshape(-1)]
    return result
