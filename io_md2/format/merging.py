"""Copies of a vertex made one: the only editing of a model that import may do.

Texture coordinates are no part of an MD2 vertex, so that seams need no copies. Exporters that did not know it,
and hard edges, leave vertices that are in the same place in every frame.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import decompress
from .model import GlCommands, Md2Model
from .normals import normal_indices


def merge_copies(model: Md2Model) -> Md2Model:
    """Make one vertex of those that are in the same place in every frame.

    Where their normals differ, the vertex gets the one that the compiler would have given it. Triangles are kept,
    even those that become degenerate; the GL commands are left out.

    Args:
        model: the model; it is not changed.

    Returns:
        The model with the first of each group of copies, in the order of the file.
    """
    rows = model.vertices.transpose(1, 0, 2).reshape(model.num_vertices, 3 * model.num_frames)
    firsts = _first_of_equals(rows)
    kept = np.unique(firsts)
    triangles = np.searchsorted(kept, firsts)[model.triangles].astype(np.int32)
    vertices = model.vertices[:, kept]
    normals = model.normals[:, kept]
    differing = (model.normals != model.normals[:, firsts]).any(axis=0)
    mixed = np.searchsorted(kept, np.unique(firsts[differing]))
    if len(mixed):
        positions = decompress(vertices, model.scale, model.translate)
        normals[:, mixed] = normal_indices(positions, triangles)[:, mixed]
    return replace(model, triangles=triangles, vertices=vertices, normals=normals, gl_commands=GlCommands())


def _first_of_equals(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each row the first one that is equal to it, (n,)."""
    if rows.size == 0:
        return np.arange(len(rows))
    _values, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    result: NDArray[np.int64] = first[inverse.reshape(-1)]
    return result
