"""Degenerate triangles, with fewer than three different vertices: invisible, but real files have and count them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .glcommands import generate_commands
from .model import Model


def is_degenerate(triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which triangles (T, 3) name a vertex more than once, (T,)."""
    a, b, c = triangles.T
    result: NDArray[np.bool_] = (a == b) | (b == c) | (c == a)
    return result


def degenerate_rows(model: Model) -> NDArray[np.int32]:
    """The degenerate triangles of a model: index, three vertices, three entries of ``st``, int32 (n, 7)."""
    numbers = np.flatnonzero(is_degenerate(model.triangles))
    rows = np.column_stack([numbers, model.triangles[numbers], model.triangle_st[numbers]])
    return rows.astype(np.int32)


def with_degenerate(
    model: Model,
    rows: NDArray[np.int32],
    sources: NDArray[np.int32],
    st: NDArray[np.int16],
    *,
    keep_commands: bool = False,
) -> tuple[Model, NDArray[np.int64]]:
    """The model with degenerate triangles put back at their old indices, if their vertices still exist.

    `rows` are what `degenerate_rows` returned of the file, (n, 7), and `st` the file's texture coordinates. `sources`
    is the vertex of the file that each vertex of the model is, negative for none, (V,). The result has new GL commands
    unless `keep_commands` is set.

    Returns the model, and for each of its triangles its index in the given model, -1 for those that were put back.
    """
    vertex_of = np.full(max(int(sources.max(initial=-1)), int(rows[:, 1:4].max(initial=-1))) + 1, -1)
    known = np.flatnonzero(sources >= 0)
    vertex_of[sources[known[::-1]]] = known[::-1]
    vertices = vertex_of[rows[:, 1:4]]
    exists = (vertices >= 0).all(axis=1)
    if not exists.any():
        return model, np.arange(model.triangle_count)
    vertices, entries = vertices[exists], rows[exists, 4:]
    table = model.st
    if not np.array_equal(table, st):
        # The table is a new one, so entries are found by their values.
        rows_of = np.concatenate([table, st[entries].reshape(-1, 2).astype(table.dtype)])
        values, firsts, inverse = np.unique(rows_of, axis=0, return_index=True, return_inverse=True)
        is_new = firsts >= len(table)
        firsts[is_new] = len(table) + np.arange(int(is_new.sum()))
        entries = firsts[inverse.reshape(-1)[len(table) :]].reshape(entries.shape).astype(np.int32)
        table = np.concatenate([table, values[is_new]])
    total = model.triangle_count + len(vertices)
    numbers = np.minimum(rows[exists, 0], total - 1)
    if len(np.unique(numbers)) < len(numbers):
        numbers = np.arange(model.triangle_count, total)
    is_restored = np.zeros(total, bool)
    is_restored[numbers] = True
    previous = np.full(total, -1)
    previous[~is_restored] = np.arange(model.triangle_count)
    triangles, triangle_st = np.empty((2, total, 3), np.int32)
    triangles[~is_restored], triangle_st[~is_restored] = model.triangles, model.triangle_st
    triangles[numbers], triangle_st[numbers] = vertices, entries
    commands = model.gl_commands
    if not keep_commands:
        commands = generate_commands(triangles, triangle_st, table, model.skin_width, model.skin_height)
    result = replace(model, triangles=triangles, triangle_st=triangle_st, st=table, gl_commands=commands)
    return result, previous
