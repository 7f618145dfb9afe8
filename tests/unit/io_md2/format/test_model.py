"""MD2 models as values."""

from __future__ import annotations

import numpy as np
import pytest
from md2_samples import make_model, odd_model

from io_md2.format.model import (
    FRAME_HEADER_SIZE,
    VERTEX_SIZE,
    GlCommands,
    Model,
    first_frame,
    frame_dtype,
    is_in_range,
)


@pytest.mark.parametrize(("vertices", "size"), [(0, None), (3, None), (3, 100)])
def test_a_frame_takes_its_header_and_four_bytes_for_each_vertex(vertices, size):
    assert frame_dtype(vertices, size).itemsize == (size or FRAME_HEADER_SIZE + VERTEX_SIZE * vertices)


def test_a_grid_has_a_place_for_each_step_where_floats_hold_its_last_one():
    largest = np.finfo(np.float32).max
    scale = np.array([[1, largest, np.nan], [0, -1, np.inf]], np.float32)
    translate = np.array([[0, 0, 0], [largest, -largest, 0]], np.float32)
    assert is_in_range(scale, translate).tolist() == [[True, False, False], [True, True, False]]


def test_the_first_frame_alone_is_a_model_of_one_frame():
    model = odd_model()
    first = first_frame(model)
    assert (first.frame_count, first.vertex_count, first.triangle_count) == (
        1,
        model.vertex_count,
        model.triangle_count,
    )
    assert first.frame_names == model.frame_names[:1]
    np.testing.assert_array_equal(first.vertices[0], model.vertices[0])
    assert model.frame_count > 1


def test_a_model_is_equal_to_a_copy_and_to_nothing_else():
    assert make_model() == make_model()
    assert make_model() != make_model(3)
    assert make_model() != "a model"
    assert GlCommands() != 0


def test_models_of_equal_numbers_in_other_types_differ():
    model, other = make_model(), make_model()
    other.st = other.st.astype(np.int32)
    assert model != other


def test_an_empty_model_has_nothing_to_draw():
    model = Model()
    assert (model.frame_count, model.vertex_count, model.triangle_count) == (0, 0, 0)
    assert model.gl_commands.word_count == 1
