"""Triangles on fewer than three vertices, removed and put back."""

from __future__ import annotations

import dataclasses

import numpy as np
from md2_samples import fan

from io_idtech.io_common.triangles import is_degenerate
from io_idtech.io_md2.format import Model, check_model, drawn_triangles
from io_idtech.io_md2.format.source_data import degenerate_rows, with_degenerate


def mixed() -> Model:
    """Five triangles, of which the second and the last are degenerate."""
    model = fan(5)
    model.triangles[1] = (1, 1, 2)
    model.triangles[4] = (6, 0, 6)
    return model


def without_degenerate(model: Model) -> Model:
    proper = ~is_degenerate(model.triangles)
    return dataclasses.replace(model, triangles=model.triangles[proper], triangle_st=model.triangle_st[proper])


def test_degenerate_triangles_come_back_in_their_places():
    model = mixed()
    rows = degenerate_rows(model)
    assert rows[:, 0].tolist() == [1, 4]
    sources = np.arange(model.vertex_count, dtype=np.int32)
    again, former = with_degenerate(without_degenerate(model), rows, sources, model.st)
    assert np.array_equal(again.triangles, model.triangles)
    assert np.array_equal(again.triangle_st, model.triangle_st)
    assert np.array_equal(again.st, model.st)
    assert former.tolist() == [0, -1, 1, 2, -1]
    assert check_model(again) == []
    assert len(drawn_triangles(again.gl_commands)[0]) == 5


def test_degenerate_triangles_whose_vertices_are_gone_are_not_restored():
    model = mixed()
    sources = np.arange(model.vertex_count, dtype=np.int32)
    sources[6] = -1
    again, _former = with_degenerate(without_degenerate(model), degenerate_rows(model), sources, model.st)
    assert again.triangles[1].tolist() == [1, 1, 2]
    assert len(again.triangles) == 4
    none, former = with_degenerate(
        without_degenerate(model), degenerate_rows(model), np.full_like(sources, -1), model.st
    )
    assert (len(none.triangles), former.tolist()) == (3, [0, 1, 2])


def test_degenerate_triangles_keep_their_texture_coordinates_in_a_new_table():
    model = mixed()
    few = without_degenerate(model)
    few.st, few.triangle_st = few.st[:3][::-1].copy(), np.zeros_like(few.triangle_st)
    sources = np.arange(model.vertex_count, dtype=np.int32)
    again, _former = with_degenerate(few, degenerate_rows(model), sources, model.st)
    assert np.array_equal(again.st[again.triangle_st[[1, 4]]], model.st[model.triangle_st[[1, 4]]])
    assert len(np.unique(again.st, axis=0)) == len(again.st)
