"""Triangles on fewer than three vertices: they are nothing to see, but real files have them and count them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .glcommands import generate_commands
from .model import Md2Model


def is_degenerate(triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which triangles (T, 3) name a vertex more than once, (T,)."""
    a, b, c = triangles.T
    result: NDArray[np.bool_] = (a == b) | (b == c) | (c == a)
    return result


def degenerate_rows(model: Md2Model) -> NDArray[np.int32]:
    """The degenerate triangles of a model: number, three vertices, three entries of ``st``, int32 (n, 7)."""
    numbers = np.flatnonzero(is_degenerate(model.triangles))
    rows = np.column_stack([numbers, model.triangles[numbers], model.triangle_st[numbers]])
    return rows.astype(np.int32)


def with_degenerate(
    model: Md2Model, rows: NDArray[np.int32], sources: NDArray[np.int32], st: NDArray[np.int16]
) -> tuple[Md2Model, NDArray[np.int64]]:
    """Put degenerate triangles back at their old numbers, as far as their vertices are still there.

    Args:
        model: without them; it is not changed. Its GL commands are made anew.
        rows: what `degenerate_rows` returned of the file, (n, 7).
        sources: the vertex of the file that each vertex of the model is, negative for none, (V,).
        st: the texture coordinates of the file.

    Returns:
        The model, and for each of its triangles the number that it had before, -1 for those that were put back.
    """
    places = np.full(max(int(sources.max(initial=-1)), int(rows[:, 1:4].max(initial=-1))) + 1, -1)
    known = np.flatnonzero(sources >= 0)
    places[sources[known[::-1]]] = known[::-1]
    vertices = places[rows[:, 1:4]]
    there = (vertices >= 0).all(axis=1)
    if not there.any():
        return model, np.arange(model.num_triangles)
    vertices, entries = vertices[there], rows[there, 4:]
    table = model.st
    if not np.array_equal(table, st):
        # The table was made anew: what counts is the values.
        rows_of = np.concatenate([table, st[entries].reshape(-1, 2).astype(table.dtype)])
        values, firsts, inverse = np.unique(rows_of, axis=0, return_index=True, return_inverse=True)
        is_new = firsts >= len(table)
        firsts[is_new] = len(table) + np.arange(int(is_new.sum()))
        entries = firsts[inverse.reshape(-1)[len(table) :]].reshape(entries.shape).astype(np.int32)
        table = np.concatenate([table, values[is_new]])
    total = model.num_triangles + len(vertices)
    numbers = np.minimum(rows[there, 0], total - 1)
    if len(np.unique(numbers)) < len(numbers):
        numbers = np.arange(model.num_triangles, total)
    is_back = np.zeros(total, bool)
    is_back[numbers] = True
    former = np.full(total, -1)
    former[~is_back] = np.arange(model.num_triangles)
    triangles, triangle_st = np.empty((2, total, 3), np.int32)
    triangles[~is_back], triangle_st[~is_back] = model.triangles, model.triangle_st
    triangles[numbers], triangle_st[numbers] = vertices, entries
    commands = generate_commands(triangles, triangle_st, table, model.skin_width, model.skin_height)
    result = replace(model, triangles=triangles, triangle_st=triangle_st, st=table, gl_commands=commands)
    return result, former
