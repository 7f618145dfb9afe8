"""Frames and triangles of a file made from what was imported, with everything that is still valid.

A frame whose vertices all lie on the imported frame's grid keeps that grid, and so its bytes; any other gets the grid
of its own box, as in Quake II's model compiler. A vertex keeps its normal index, often chosen by no known rule, while
it, its triangles and their other vertices have not moved.
Degenerate triangles, with fewer than three different vertices, are invisible, but real files have and count them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io_common.triangles import is_degenerate
from .frames import match_grid, on_all_axes, quantise
from .glcommands import generate_commands
from .model import Model
from .normals import changed_normal_indices, normal_indices

# Frames at a time, so that memory does not grow with the animation.
_FRAMES = 32


@dataclass(frozen=True, eq=False)
class FrameData:
    """Frames as in a file."""

    scale: NDArray[np.float32]  # (F, 3)
    translate: NDArray[np.float32]  # (F, 3)
    vertices: NDArray[np.uint8]  # (F, V, 3)
    normals: NDArray[np.uint8]  # (F, V)


def requantise(
    positions: NDArray[Any],
    triangles: NDArray[Any],
    source: FrameData | None = None,
    *,
    is_source: NDArray[np.bool_] | None = None,
    same_faces: NDArray[np.bool_] | None = None,
    normals: NDArray[np.uint8] | None = None,
    shared: bool = False,
) -> tuple[FrameData, NDArray[np.bool_]]:
    """The frames of positions (F, V, 3), and which of them (F,) kept the imported bytes, normals included."""
    # `source` has the same vertices in the same frames; `is_source` (F,) tells which of its frames are valid,
    # `same_faces` (V,) which vertices kept their triangles. `normals` (F, V) are for vertices that do not keep theirs;
    # those of their faces unless given. With `shared`, all frames have one box.
    count = len(positions)
    if source is None:
        vertices, scale, translate = quantise(positions, shared=shared)
        if normals is None:
            normals = normal_indices(positions, triangles)
        return FrameData(scale, translate, vertices, normals), np.zeros(count, bool)

    matched, on_grid = match_grid(positions, source.scale, source.translate, previous=source.vertices)
    is_source = np.ones(count, bool) if is_source is None else is_source
    keeps_grid = on_grid.all(axis=1) & is_source
    unchanged: NDArray[np.bool_] = on_grid & on_all_axes(matched == source.vertices) & is_source[:, None]
    keeps_normal = _with_faces(unchanged, triangles)
    if same_faces is not None:
        keeps_normal &= same_faces
    is_one_grid = all(bool((of == of[:1]).all()) for of in (source.scale, source.translate))
    if shared and not (keeps_grid.all() and is_one_grid):
        # All frames or none: with a second box for the edited ones, parts that do not move would jitter.
        keeps_grid = np.zeros(count, bool)

    scale, translate = source.scale.copy(), source.translate.copy()
    vertices = matched.copy()
    if not keeps_grid.all():
        vertices[~keeps_grid], scale[~keeps_grid], translate[~keeps_grid] = quantise(
            positions[~keeps_grid], shared=shared
        )
    if normals is None:
        normals = changed_normal_indices(positions, triangles, source.normals, ~keeps_normal)
    else:
        normals = np.where(keeps_normal, source.normals, normals)
    is_same = np.asarray(keeps_grid & unchanged.all(axis=1) & keeps_normal.all(axis=1))
    return FrameData(scale, translate, vertices, normals), is_same


def _with_faces(unchanged: NDArray[np.bool_], triangles: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of the unchanged vertices (F, V) only have triangles of unchanged vertices."""
    result = unchanged.copy()
    frames = np.flatnonzero(~unchanged.all(axis=1))
    has_changed = np.asarray(~unchanged.all(axis=0))
    # Triangles without any vertex that changes in some frame need no look.
    faces = triangles[has_changed[triangles].any(axis=1)]
    for start in range(0, len(frames), _FRAMES):
        rows = frames[start : start + _FRAMES]
        block = result[rows]
        row, face = np.nonzero(~unchanged[rows[:, None, None], faces].all(axis=2))
        block[row[:, None], faces[face]] = False
        result[rows] = block
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
    """The model with degenerate triangles back at their old indices, if their vertices still exist; and each triangle's
    index in the given model, or -1. `sources` (V,) are the vertices in the file, or negative, `st` is the file's."""
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
